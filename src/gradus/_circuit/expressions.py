"""Boolean expressions as text: read into gates by a parser that names the place of every error and accepts any depth."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gradus._circuit.gate_list import GateTable, Literal
from gradus._core.gates import AND, ONE, OR, XOR, ZERO
from gradus.errors import FormatError

__all__ = ["names_in", "parse_expression"]

OPERATORS = {"&": "&", "&&": "&", "|": "|", "||": "|", "^": "^", "=>": "=>", "<=>": "<=>"}
PRECEDENCE = {"!": 6, "&": 5, "^": 4, "|": 3, "=>": 2, "<=>": 1}
FUNCTIONS = {"&": AND, "|": OR, "^": XOR, "=>": 11, "<=>": 9}
"""Truth tables of gates, see `gradus._core.gates`."""
WORDS = {"and": "&", "or": "|", "not": "!", "xor": "^"}
CONSTANTS = {"0": ZERO, "1": ONE, "false": ZERO, "true": ONE}
TOKEN = re.compile(r"(?P<space>\s+)|(?P<name>\w[\w.:@]*)|(?P<symbol><=>|=>|&&|\|\||[!~&|^()])|(?P<other>.)", re.DOTALL)


def names_in(text: str) -> list[str]:
    """Return the names that an expression reads, in the order in which they first appear; it may still be invalid."""
    names = (token.group() for token in TOKEN.finditer(text) if token.lastgroup == "name")
    return [name for name in dict.fromkeys(names) if name.lower() not in CONSTANTS]


def parse_expression(
    text: str, gates: GateTable, nodes: Mapping[str, int], *, line: int | None = None, column: int = 1
) -> Literal:
    """Build a Boolean expression of gates, given the node of each name in it."""
    # Precedence from high to low: ``!`` or ``~`` (not), ``&`` (and), ``^`` (exclusive or), ``|`` (or), ``=>`` (implies, to the
    # right), ``<=>`` (equals); ``0``, ``1``, ``false`` and ``true`` are constants. ``&`` and ``^`` side by side must be
    # bracketed, because tools disagree on which of them takes precedence.
    return _Parser(text, gates, nodes, line, column).parse()


class _Parser:
    """The shunting-yard algorithm: operators wait on a stack until their operands have been built."""

    def __init__(self, text: str, gates: GateTable, nodes: Mapping[str, int], line: int | None, column: int) -> None:
        self._text, self._gates, self._nodes, self._line, self._column = text, gates, nodes, line, column
        self._built: list[Literal] = []
        self._waiting: list[tuple[str, int]] = []  # operators and open brackets, with their places in the text

    def parse(self) -> Literal:
        wants_operand = True
        for token in TOKEN.finditer(self._text):
            kind, word, place = token.lastgroup, token.group(), token.start()
            if kind == "space":
                continue
            if kind == "other":
                raise self._error(f"the character {word!r} has no meaning in an expression.", place)
            wants_operand = self._operand(word, place) if wants_operand else self._operator(word, place)
        self._finish(wants_operand)
        return self._built[0]

    def _operand(self, word: str, place: int) -> bool:
        """Take a token where a value must begin; return whether a value must still follow."""
        if word in ("!", "~", "("):
            self._waiting.append(("(" if word == "(" else "!", place))
            return True
        if word in OPERATORS or word == ")":
            raise self._error(f"expected a name, a constant, '!' or '(', found {word!r}.", place)
        self._built.append((self._node(word, place), False))
        return False

    def _node(self, word: str, place: int) -> int:
        constant = CONSTANTS.get(word.lower())
        if constant is not None:
            return self._gates.gate(constant, 0, 0)
        if word.isdecimal():
            raise self._error(f"{word} is neither a constant (0 or 1) nor a name.", place)
        if word.lower() in WORDS:
            raise self._error(f"{word!r} is not a name here; write {WORDS[word.lower()]!r} for the operator.", place)
        return self._nodes[word]

    def _operator(self, word: str, place: int) -> bool:
        """Take a token after a complete value; return whether a value must follow."""
        if word == ")":
            while self._waiting and self._waiting[-1][0] != "(":
                self._build(self._waiting.pop()[0])
            if not self._waiting:
                raise self._error("this ')' closes nothing.", place)
            self._waiting.pop()
            return False
        if word not in OPERATORS:
            hint = f" (write {WORDS[word.lower()]!r})" if word.lower() in WORDS else ""
            raise self._error(f"expected an operator or ')', found {word!r}{hint}.", place)
        operator = OPERATORS[word]
        while self._waiting and self._goes_before(self._waiting[-1][0], operator, place):
            self._build(self._waiting.pop()[0])
        self._waiting.append((operator, place))
        return True

    def _goes_before(self, earlier: str, operator: str, place: int) -> bool:
        if earlier == "(":
            return False
        if {earlier, operator} == {"&", "^"}:
            raise self._error("'&' and '^' are side by side; put brackets around one of them.", place)
        return PRECEDENCE[earlier] > PRECEDENCE[operator] or (earlier == operator and operator != "=>")

    def _build(self, operator: str) -> None:
        """Apply an operator to the latest operands."""
        node, inverted = self._built.pop()
        if operator == "!":
            self._built.append((node, not inverted))
        else:
            self._built.append(self._gates.of(FUNCTIONS[operator], self._built.pop(), (node, inverted)))

    def _finish(self, wants_operand: bool) -> None:
        if wants_operand:
            nothing = not self._built and not self._waiting
            raise self._error("there is no expression." if nothing else "the expression is incomplete.", len(self._text))
        while self._waiting:
            operator, place = self._waiting.pop()
            if operator == "(":
                raise self._error("this '(' is never closed.", place)
            self._build(operator)

    def _error(self, message: str, place: int) -> FormatError:
        before = self._text[:place]
        lines = before.count("\n")
        column = place - before.rfind("\n") if lines else self._column + place
        line = self._line + lines if self._line is not None else (lines + 1 if lines else None)
        return FormatError(message, line=line, column=column)
