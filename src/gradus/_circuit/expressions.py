"""Boolean expressions: a parser that names the place of every error and accepts any depth of brackets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus.errors import FormatError

__all__ = ["Expression", "parse_expression"]

Column: TypeAlias = npt.NDArray[Any]

# In a program, numbers from 0 up are variables, and these are everything else.
NOT, AND, OR, XOR, IMPLIES, EQUALS, FALSE, TRUE = -1, -2, -3, -4, -5, -6, -7, -8
OPEN = -9  # an open bracket, seen on the parser's stack only

SYMBOLS = {"&": AND, "&&": AND, "|": OR, "||": OR, "^": XOR, "=>": IMPLIES, "<=>": EQUALS}
BINDING = {NOT: 6, AND: 5, XOR: 4, OR: 3, IMPLIES: 2, EQUALS: 1}
CONSTANTS = {"0": FALSE, "1": TRUE, "false": FALSE, "true": TRUE}
WORDS = {"and": "&", "or": "|", "not": "!", "xor": "^"}
BINARY: dict[int, Callable[[Column, Column], Column]] = {
    AND: lambda a, b: a & b,
    OR: lambda a, b: a | b,
    XOR: lambda a, b: a ^ b,
    IMPLIES: lambda a, b: ~a | b,
    EQUALS: lambda a, b: ~(a ^ b),
}
TOKEN = re.compile(r"(?P<space>\s+)|(?P<name>\w[\w.:@]*)|(?P<symbol><=>|=>|&&|\|\||[!~&|^()])|(?P<other>.)", re.DOTALL)


@dataclass(frozen=True)
class Expression:
    """A parsed Boolean expression: a program for a stack machine, so that deep expressions need no recursion."""

    variables: tuple[str, ...]
    """The names it reads, in the order in which they first appear."""
    program: tuple[int, ...]
    """Postfix code: a number from 0 up pushes that variable, a negative one is an operation."""
    height: int
    """The largest number of values on the stack at once."""

    def evaluate(self, columns: Mapping[str, Column]) -> Column:
        """Evaluate the expression on columns of Booleans, or on packed words where every bit is an example."""
        values = [columns[name] for name in self.variables]
        shape_of = next(iter(columns.values()))
        stack: list[Column] = []
        for code in self.program:
            if code >= 0:
                stack.append(values[code])
            elif code == NOT:
                stack.append(~stack.pop())
            elif code in (FALSE, TRUE):
                zeros = np.zeros_like(shape_of)
                stack.append(zeros if code == FALSE else ~zeros)
            else:
                right = stack.pop()
                stack.append(BINARY[code](stack.pop(), right))
        return stack[0]

    @property
    def is_variable(self) -> bool:
        """Whether it is a bare variable and nothing else."""
        return self.program == (0,)


def parse_expression(
    text: str, *, path: str | PathLike[str] | None = None, line: int | None = None, column: int = 1
) -> Expression:
    """Parse a Boolean expression."""
    # Precedence from high to low: ``!`` or ``~`` (not), ``&`` (and), ``^`` (exclusive or), ``|`` (or), ``=>`` (implies, to the
    # right), ``<=>`` (equals); ``0``, ``1``, ``false`` and ``true`` are constants. ``&`` and ``^`` side by side must be
    # bracketed, because tools disagree on which of them takes precedence.
    return _Parser(text, path, line, column).parse()


class _Parser:
    """The shunting-yard algorithm: operators wait on a stack until their operands have been output."""

    def __init__(self, text: str, path: str | PathLike[str] | None, line: int | None, column: int) -> None:
        self._text, self._path, self._line, self._column = text, path, line, column
        self._program: list[int] = []
        self._waiting: list[tuple[int, int]] = []  # (operation, place in the text)
        self._numbers: dict[str, int] = {}
        self._height = self._tallest = 0

    def parse(self) -> Expression:
        wants_operand = True
        for token in TOKEN.finditer(self._text):
            kind, found, place = token.lastgroup, token.group(), token.start()
            if kind == "space":
                continue
            if kind == "other":
                raise self._error(f"the character {found!r} has no meaning in an expression.", place)
            wants_operand = self._operand(found, place) if wants_operand else self._operator(found, place)
        self._finish(wants_operand)
        return Expression(tuple(self._numbers), tuple(self._program), self._tallest)

    def _operand(self, found: str, place: int) -> bool:
        """Take a token where a value must begin; return whether a value must still follow."""
        if found in ("!", "~", "("):
            self._waiting.append((OPEN if found == "(" else NOT, place))
            return True
        if found in SYMBOLS or found == ")":
            raise self._error(f"expected a name, a constant, '!' or '(', found {found!r}.", place)
        self._emit(self._value(found, place))
        return False

    def _value(self, found: str, place: int) -> int:
        constant = CONSTANTS.get(found.lower())
        if constant is not None:
            return constant
        if found.isdecimal():
            raise self._error(f"{found} is neither a constant (0 or 1) nor a name.", place)
        if found.lower() in WORDS:
            raise self._error(f"{found!r} is not a name here; write {WORDS[found.lower()]!r} for the operator.", place)
        return self._numbers.setdefault(found, len(self._numbers))

    def _operator(self, found: str, place: int) -> bool:
        """Take a token after a complete value; return whether a value must follow."""
        if found == ")":
            while self._waiting and self._waiting[-1][0] != OPEN:
                self._emit(self._waiting.pop()[0])
            if not self._waiting:
                raise self._error("this ')' closes nothing.", place)
            self._waiting.pop()
            return False
        if found not in SYMBOLS:
            hint = f" (write {WORDS[found.lower()]!r})" if found.lower() in WORDS else ""
            raise self._error(f"expected an operator or ')', found {found!r}{hint}.", place)
        operation = SYMBOLS[found]
        while self._waiting and self._goes_before(self._waiting[-1][0], operation, place):
            self._emit(self._waiting.pop()[0])
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
            self._emit(operation)

    def _emit(self, code: int) -> None:
        self._program.append(code)
        if code >= 0 or code in (FALSE, TRUE):
            self._height += 1
            self._tallest = max(self._tallest, self._height)
        elif code != NOT:
            self._height -= 1

    def _error(self, message: str, place: int) -> FormatError:
        before = self._text[:place]
        lines = before.count("\n")
        column = place - before.rfind("\n") if lines else self._column + place
        line = self._line + lines if self._line is not None else (lines + 1 if lines else None)
        return FormatError(message, path=self._path, line=line, column=column)
