"""`RuleProgram`: a circuit with its columns and classes, as programs in other languages need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gradus._circuit import Network
from gradus._core.gates import SYMBOLS
from gradus._formats.netlist import Gate

__all__ = [
    "MOST_LISTED",
    "RuleColumn",
    "RuleProgram",
    "RuleTarget",
    "RuleTest",
    "date_mark",
    "date_order",
    "joined_gate",
    "plain_program",
]

MOST_LISTED = 6
"""Outputs of a target up to which the class of each pattern is listed; of more, every one adds to scores of the classes."""


class RuleTest(NamedTuple):
    """What an input of the circuit tests in a cell."""

    node: int
    kind: Literal["above", "in", "not in", "missing"]
    """Tests for texts are not true of a missing cell."""
    value: Any = None


@dataclass(frozen=True)
class RuleColumn:
    """A column that is read."""

    name: str
    kind: Literal["number", "date", "text"]
    tests: tuple[RuleTest, ...]
    fill: float | str | None = None
    """The value used for a missing cell."""
    comma: str = ""
    unit: str = ""
    day_format: str = "%Y-%m-%d"
    fold: bool = False
    """Whether small letters and capitals are the same."""


@dataclass(frozen=True)
class RuleTarget:
    """A target, and how its class follows from the outputs of the circuit."""

    name: str
    classes: tuple[Any, ...]
    outputs: tuple[int, ...]
    """Their places among the outputs of the circuit."""
    answers: tuple[int, ...] = ()
    """The class of each pattern; bit i of its number is the value of output i."""
    scores: tuple[tuple[int, ...], ...] = ()
    """Where patterns are not listed: for each class its score, and what each output adds. The first of the best wins."""


@dataclass(frozen=True)
class RuleProgram:
    """A circuit, the tests of columns that are its inputs, and the targets that its outputs decide."""

    network: Network
    columns: tuple[RuleColumn, ...]
    targets: tuple[RuleTarget, ...]


def plain_program(network: Network) -> RuleProgram:
    """Return the program of a circuit whose inputs and outputs are 0 and 1."""
    columns = [RuleColumn(name, "number", (RuleTest(i, "above", 0.5),)) for i, name in enumerate(network.input_names)]
    targets = [RuleTarget(name, (0, 1), (k,), (0, 1)) for k, name in enumerate(network.output_names)]
    return RuleProgram(network, tuple(columns), tuple(targets))


def joined_gate(gate: Gate, names: Callable[[str], str], words: Sequence[str]) -> str:
    """Write a gate with the words of a language for not, and, or, exclusive or, false and true."""
    invert, both, either, differ, false, true = words
    kind, not_a, not_b, not_out = SYMBOLS[gate.function]
    if not gate.sources:
        return true if not_out else false
    if len(gate.sources) == 1:
        return f"{invert}{names(gate.sources[0])}" if not_out else names(gate.sources[0])
    pairs = zip(gate.sources, (not_a, not_b), strict=True)
    a, b = (f"{invert}{names(name)}" if inverted else names(name) for name, inverted in pairs)
    if kind == "xor":
        return f"({a}) {'==' if not_out and differ == '!=' else '=' if not_out else differ} ({b})"
    text = f"{a} {both if kind == 'and' else either} {b}"
    return f"{invert}({text})" if not_out else text


def date_order(day_format: str) -> Iterator[int]:
    """Yield the places of year, month and day among the numbers of a date."""
    letters = [letter for letter in day_format if letter in "Ymd"] or list("Ymd")
    return map(letters.index, "Ymd")


def date_mark(day_format: str) -> str:
    """Return the sign between the numbers of a date."""
    return next((sign for sign in day_format if sign in "-/."), "-")
