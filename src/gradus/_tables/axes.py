"""`Axis`: the cells of a column that a formula distinguishes, and the comparisons between them.

Inputs of one column depend on each other: a number above 5 is above 3, and a cell has one category. So a formula selects a
set of cells of each column, such as ranges between its cuts, and some sets are a single comparison in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from gradus._core.wording import quoted_name
from gradus._tables.cells import shown_date
from gradus._tables.encoding import TableColumn

__all__ = ["Axis", "Test", "column_axis", "signal_axis"]

MOST_CELLS = 6
"""Cells of a column of categories up to which every set of them is tried."""
MISSING, UNKNOWN = "missing", "others"
"""Keys of inputs; also cells of a column of categories: without a value, and of a category that no input names. All others are
tuples of one text."""


class Test(NamedTuple):
    """One comparison, or the name of a step."""

    text: str
    """With names quoted that are not plain words."""
    plain: str
    """With names as they are."""
    nodes: tuple[int, ...]
    """The nodes that it depends on."""
    patterns: tuple[int, ...]
    """The values of these nodes of which it is true; bit i is the value of node i of them."""


@dataclass(frozen=True)
class Axis:
    """The values that the nodes of one column, or one step, can have together."""

    nodes: tuple[int, ...]
    cells: tuple[int, ...]
    """The values that the nodes can have together; bit i of each is the value of node i."""
    words: dict[int, tuple[str, str]]
    """The comparisons, quoted and plain, by the set of cells of which they are true: bit i stands for cell i."""

    @property
    def full(self) -> int:
        """The set of all cells."""
        return (1 << len(self.cells)) - 1

    def where(self, node: int) -> int:
        """Return the cells in which a node is true."""
        place = self.nodes.index(node)
        return sum(1 << i for i, cell in enumerate(self.cells) if cell >> place & 1)

    def said(self, cells: int) -> list[str]:
        """Return the comparisons that together select some cells of a column; none if these are all."""
        if cells in self.words or cells == self.full:
            return [self.words[cells][0]] if cells in self.words else []
        pairs = combinations(self.words, 2)
        return next(([self.words[a][0], self.words[b][0]] for a, b in pairs if a & b == cells), [])

    def test(self, cells: int) -> Test:
        """Return the comparison that is true of some cells."""
        return Test(*self.words[cells], self.nodes, tuple(cell for i, cell in enumerate(self.cells) if cells >> i & 1))


def signal_axis(node: int, name: str, plain: str) -> Axis:
    """Return the two values of a step."""
    return Axis((node,), (0, 1), {2: (name, plain), 1: (f"!{name}", f"!{plain}")})


def column_axis(column: TableColumn, nodes: Sequence[int], keys: Sequence[Any]) -> Axis:
    """Return the cells that inputs of a column, given by their keys, distinguish."""
    if column.kind in ("above", "after"):
        return _number_axis(column, nodes, keys)
    cells: dict[int, list[Any]] = {}
    for value in _values(column):
        cells.setdefault(sum(_is_true(column, key, value) << i for i, key in enumerate(keys)), []).append(value)
    members = list(cells.values())
    words = {}
    for chosen in _sets(list(cells), len(nodes)):
        values = {value for i, alike in enumerate(members) if chosen >> i & 1 for value in alike}
        said = [_said(column, values, shown) for shown in (quoted_name, str)]
        if said[0]:
            words[chosen] = (said[0], said[1])
    return Axis(tuple(nodes), tuple(cells), words)


def _number_axis(column: TableColumn, nodes: Sequence[int], keys: Sequence[Any]) -> Axis:
    """Return the ranges between cuts, from the lowest, and the missing cell if that is distinguished."""
    cuts = sorted(key for key in keys if key != MISSING)
    ranges = [sum((key != MISSING and key <= cut) << i for i, key in enumerate(keys)) for cut in cuts]
    apart = MISSING in keys
    cells = (0, *ranges, *([1 << list(keys).index(MISSING)] if apart else []))
    texts = [shown_date(cut) if column.kind == "after" else str(cut) for cut in cuts]
    # Where missing cells are distinguished by other inputs, they are in the lowest cell, and "<=" is not true of them.
    unsure = column.missing and not apart
    full = (1 << len(cells)) - 1
    words: dict[int, tuple[str, str]] = {}
    for low in range(len(cuts) + 1):
        for high in range(low, len(cuts) + 1):
            chosen = (1 << (high + 1)) - (1 << low)
            if chosen != full:
                between = (texts[low - 1] if low else "", texts[high] if high < len(cuts) else "")
                words[chosen] = tuple(_range(shown(column.name), *between, unsure) for shown in (quoted_name, str))  # type: ignore[assignment]  # two
    if apart:
        words[1 << (len(cells) - 1)] = (f"{quoted_name(column.name)} is missing", f"{column.name} is missing")
    for chosen, (text, plain) in list(words.items()):
        words.setdefault(full ^ chosen, (f"!({text})", f"!({plain})"))
    return Axis(tuple(nodes), cells, words)


def _range(name: str, low: str, high: str, unsure: bool) -> str:
    """Write that a number is above one cut and not above another; an empty text is no cut."""
    if low and high:
        return f"{low} < {name} <= {high}"
    if low:
        return f"{name} > {low}"
    if high:
        return f"!({name} > {high})" if unsure else f"{name} <= {high}"
    return f"{name} is not missing"


def _values(column: TableColumn) -> list[Any]:
    """Return the values of a column of categories or bits that can be distinguished."""
    gone = [] if column.fill is not None else [MISSING]
    if column.kind == "bit":
        return [("0",), ("1",), *gone]
    named = dict.fromkeys(text for group in column.values for text in group)
    return [*((text,) for text in named), *([UNKNOWN] if column.kind == "group" else [("",)]), *gone]


def _is_true(column: TableColumn, key: Any, value: Any) -> bool:
    """Return whether an input is true of a value."""
    if column.missing and key == MISSING:
        return bool(value == MISSING)
    if value == MISSING:
        return False
    if column.kind == "bit":
        return bool(value == ("1",))
    if column.others and key == UNKNOWN:
        return value == UNKNOWN or (value[0],) not in column.values
    return value != UNKNOWN and value[0] in key


def _sets(cells: Sequence[int], n_nodes: int) -> Iterator[int]:
    """Yield sets of cells to find words for: all, or of many cells those of one or two inputs."""
    full = (1 << len(cells)) - 1
    if len(cells) <= MOST_CELLS:
        yield from range(1, full)
        return
    basic = [1 << i for i in range(len(cells))]
    basic += [sum(1 << i for i, cell in enumerate(cells) if cell >> place & 1) for place in range(n_nodes)]
    pairs = {first | second for first in basic for second in basic} - {0, full}
    yield from sorted(pairs | {full ^ chosen for chosen in pairs})


def _said(column: TableColumn, values: Collection[Any], shown: Callable[[str], str]) -> str:
    """Write one comparison for a cell that has one of some values; empty if that takes more."""
    name, cells = shown(column.name), _values(column)
    rest = [value for value in cells if value not in values]
    for chosen, verb in ((values, "is"), (rest, "is not")):
        if [*chosen] == [MISSING] and column.missing:
            return f"{name} {verb} missing"
        if column.others and {*chosen} == {value for value in cells if _is_true(column, UNKNOWN, value)}:
            return f"{name} {verb} another"
        if column.kind == "bit" and [*chosen] == [("1",)]:
            return name if verb == "is" else f"!{name}"
    if column.kind != "group":
        return ""
    for chosen, single, several in ((values, "=", "in"), (rest, "!=", "not in")):
        if not {UNKNOWN, MISSING} & {*chosen}:
            texts = [shown(value[0]) for value in cells if value in chosen]
            return f"{name} {single} {texts[0]}" if len(texts) == 1 else f"{name} {several} {{{', '.join(texts)}}}"
    return ""
