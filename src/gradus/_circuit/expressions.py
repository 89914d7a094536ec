"""Boolean expressions: a parser that names the place of every error and accepts any depth of brackets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gradus._circuit.gate_list import GateTable, Literal
from gradus._core.gates import ONE, ZERO
from gradus.errors import FormatError

__all__ = ["Expression", "parse_expression"]

# In a program, numbers from 0 up are variables, and these are everything else.
NOT, AND, OR, XOR, IMPLIES, EQUALS, FALSE, TRUE = -1, -2, -3, -4, -5, -6, -7, -8
OPEN = -9  # an open bracket, seen on the parser's stack only

SYMBOLS = {"&": AND, "&&": AND, "|": OR, "||": OR, "^": XOR, "=>": IMPLIES, "<=>": EQUALS}
BINDING = {NOT: 6, AND: 5, XOR: 4, OR: 3, IMPLIES: 2, EQUALS: 1}
WORDS = {"and": "&", "or": "|", "not": "!", "xor": "^"}
CONSTANTS = {"0": FALSE, "1": TRUE, "false": FALSE, "true": TRUE}
FUNCTIONS = {AND: 8, OR: 14, XOR: 6, IMPLIES: 11, EQUALS: 9}
"""Truth tables of gates, see `gradus._core.gates`."""
TOKEN = re.compile(r"(?P<space>\s+)|(?P<name>\w[\w.:@]*)|(?P<symbol><=>|=>|&&|\|\||[!~&|^()])|(?P<other>.)", re.DOTALL)


class Expression(NamedTuple):
    """A parsed Boolean expression: a program for a stack machine, so that deep expressions need no recursion."""

    variables: tuple[str, ...]
    """The names it reads, in the order in which they first appear."""
    program: tuple[int, ...]
    """Postfix code: a number from 0 up pushes that variable, a negative one is an operation."""

    def built(self, gates: GateTable, nodes: Mapping[str, int]) -> Literal:
        """Build the expression of gates, given the node of each variable."""
        stack: list[Literal] = []
        for code in self.program:
            if code >= 0:
                stack.append((nodes[self.variables[code]], False))
            elif code == NOT:
                node, inverted = stack.pop()
                stack.append((node, not inverted))
            elif code in (FALSE, TRUE):
                stack.append((gates.gate(ZERO if code == FALSE else ONE, 0, 0), False))
            else:
                right = stack.pop()
                stack.append(gates.of(FUNCTIONS[code], stack.pop(), right))
        return stack[0]


def parse_expression(text: str, *, line: int | None = None, column: int = 1) -> Expression:
    """Parse a Boolean expression."""
    # Precedence from high to low: ``!`` or ``~`` (not), ``&`` (and), ``^`` (exclusive or), ``|`` (or), ``=>`` (implies, to the
    # right), ``<=>`` (equals); ``0``, ``1``, ``false`` and ``true`` are constants. ``&`` and ``^`` side by side must be
    # bracketed, because tools disagree on which of them takes precedence.
    return _Parser(text, line, column).parse()


class _Parser:
    """The shunting-yard algorithm: operators wait on a stack until their operands have been output."""

    def __init__(self, text: str, line: int | None, column: int) -> None:
        self._text, self._line, self._column = text, line, column
        self._program: list[int] = []
        self._waiting: list[tuple[int, int]] = []  # (operation, place in the text)
        self._numbers: dict[str, int] = {}

    def parse(self) -> Expression:
        wants_operand = True
        for token in TOKEN.finditer(self._text):
            kind, word, place = token.lastgroup, token.group(), token.start()
            if kind == "space":
                continue
            if kind == "other":
                raise self._error(f"the character {word!r} has no meaning in an expression.", place)
            wants_operand = self._operand(word, place) if wants_operand else self._operator(word, place)
        self._finish(wants_operand)
        return Expression(tuple(self._numbers), tuple(self._program))

    def _operand(self, word: str, place: int) -> bool:
        """Take a token where a value must begin; return whether a value must still follow."""
        if word in ("!", "~", "("):
            self._waiting.append((OPEN if word == "(" else NOT, place))
            return True
        if word in SYMBOLS or word == ")":
            raise self._error(f"expected a name, a constant, '!' or '(', found {word!r}.", place)
        self._program.append(self._value(word, place))
        return False

    def _value(self, word: str, place: int) -> int:
        constant = CONSTANTS.get(word.lower())
        if constant is not None:
            return constant
        if word.isdecimal():
            raise self._error(f"{word} is neither a constant (0 or 1) nor a name.", place)
        if word.lower() in WORDS:
            raise self._error(f"{word!r} is not a name here; write {WORDS[word.lower()]!r} for the operator.", place)
        return self._numbers.setdefault(word, len(self._numbers))

    def _operator(self, word: str, place: int) -> bool:
        """Take a token after a complete value; return whether a value must follow."""
        if word == ")":
            while self._waiting and self._waiting[-1][0] != OPEN:
                self._program.append(self._waiting.pop()[0])
            if not self._waiting:
                raise self._error("this ')' closes nothing.", place)
            self._waiting.pop()
            return False
        if word not in SYMBOLS:
            hint = f" (write {WORDS[word.lower()]!r})" if word.lower() in WORDS else ""
            raise self._error(f"expected an operator or ')', found {word!r}{hint}.", place)
        operation = SYMBOLS[word]
        while self._waiting and self._goes_before(self._waiting[-1][0], operation, place):
            self._program.append(self._waiting.pop()[0])
        self._waiting.append((operation, place))
        return True

    def _goes_before(self, earlier: int, operation: int, place: int) -> bool:
        if earlier == OPEN:
            return False
        if {earlier, operation} == {AND, XOR}:
            raise self._error("'&' and '^' are side by side; put brackets around one of them.", place)
        return BINDING[earlier] > BINDING[operation] or (earlier == operation and operation != IMPLIES)

    def _finish(self, wants_operand: bool) -> None:
        if wants_operand:
            nothing = not self._program and not self._waiting
            raise self._error("there is no expression." if nothing else "the expression is incomplete.", len(self._text))
        while self._waiting:
            operation, place = self._waiting.pop()
            if operation == OPEN:
                raise self._error("this '(' is never closed.", place)
            self._program.append(operation)

    def _error(self, message: str, place: int) -> FormatError:
        before = self._text[:place]
        lines = before.count("\n")
        column = place - before.rfind("\n") if lines else self._column + place
        line = self._line + lines if self._line is not None else (lines + 1 if lines else None)
        return FormatError(message, line=line, column=column)
