"""How columns become inputs: cuts and groups of categories, chosen for the targets; every cut must pay for its description.

The rule is that of Fayyad and Irani (1993): a range of values is cut in two where that gives most information about the
classes, if it saves more bits than it takes to describe the place of the cut and the classes on either side. With several
targets a cut is shared by those for which it pays. Of a column of categories, each with enough rows becomes an
input, and so do a few groups of similar categories.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from gradus._core.checks import check_choice
from gradus._tables.cells import MIN_ROWS_ID, Cells, named_columns, read_cells
from gradus._tables.column_kinds import ColumnKind, column_kinds
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus.errors import DataError

__all__ = [
    "FEW_VALUES",
    "MAX_CUTS",
    "MIN_ROWS",
    "Missing",
    "choose_category_bits",
    "complete_rows",
    "cut_column",
    "cuts_between",
    "encode_table",
    "readable_cut",
]

Missing = Literal["category", "median", "drop"]
"""What a missing cell is."""
MIN_MISSING = 2  # rows without a value before "is missing" becomes an input

MAX_CUTS = 7
MAX_SINGLE = 12  # categories with an input of their own
MIN_ROWS = 2
GROUP_CUTS = 2
FEW_VALUES = 5
"""Up to this number of different values, each is distinguished from its neighbours, informative or not."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def encode_table(
    table: Any,
    codes: Any,
    names: Sequence[str] | None = None,
    *,
    kinds: Sequence[ColumnKind] | None = None,
    types: Mapping[str, str] | None = None,
    missing: Missing = "category",
    max_cuts: int = MAX_CUTS,
) -> TableEncoding:
    """Decide how each column of a table becomes inputs, with the targets in view."""
    check_choice("missing", missing, get_args(Missing))
    columns = named_columns(table, names)
    found = column_kinds(columns, types=types) if kinds is None else tuple(kinds)
    classes = np.asarray(codes, dtype=np.int64)
    classes = classes[:, np.newaxis] if classes.ndim == 1 else classes
    rules = tuple(
        _describe(read_cells(column), kind, classes, missing, max_cuts)
        for column, kind in zip(columns.values(), found, strict=True)
    )
    if not any(rule.input_names for rule in rules):
        # A circuit needs something to read, even where nothing is informative.
        j, name = next((j, kind.name) for j, kind in enumerate(found) if kind.kind != "dropped")
        stand_in = TableColumn(name, "group", ((read_cells(columns[name]).texts()[0],),), reason="1 category")
        rules = (*rules[:j], stand_in, *rules[j + 1 :])
    encoding = TableEncoding(rules)
    first: dict[str, int] = {}  # there may be a column "x > 3" beside a column x that is cut at 3
    for name, column in zip(encoding.input_names, encoding.input_columns, strict=True):
        other = encoding.columns[first.setdefault(name, column)].name
        if first[name] != column:
            raise DataError(
                f"columns {other!r} and {encoding.columns[column].name!r} both give an input {name!r}; rename one."
            )
    return encoding


def complete_rows(table: Any, kinds: Sequence[ColumnKind]) -> npt.NDArray[np.bool_]:
    """Return which rows have a value in every column that is used: those to learn from if missing cells are dropped."""
    columns = named_columns(table)
    used = [_without_value(read_cells(columns[kind.name]), kind) for kind in kinds if kind.used]
    n = len(next(iter(columns.values())))
    missing: npt.NDArray[np.bool_] = np.array(used, dtype=np.bool_).reshape(len(used), n)
    return np.asarray(~missing.any(axis=0))


def _without_value(cells: Cells, kind: ColumnKind) -> npt.NDArray[np.bool_]:
    """Return which rows have no value; among numbers and dates, words for missing cells do not count as values either."""
    if kind.kind == "category":
        return cells.missing
    return np.isnan(cells.dates(kind.reading) if kind.kind == "date" else cells.numbers(kind.reading))


def _describe(cells: Cells, kind: ColumnKind, codes: Ints, missing: Missing, max_cuts: int) -> TableColumn:
    has_bit = missing == "category" and kind.n_missing >= MIN_MISSING and kind.n_missing < len(cells.place)
    if not kind.used:
        # Whether there is a value may be informative even where the value is not.
        return TableColumn(kind.name, "out", missing=has_bit and kind.kind != "dropped", reason=kind.reason)
    if kind.kind == "category":
        return _describe_categories(cells, kind, codes, missing, has_bit)
    reading = kind.reading
    numbers = cells.dates(reading) if kind.kind == "date" else cells.numbers(reading)
    fill = float(np.nanmedian(numbers)) if missing != "category" else None
    if kind.kind == "bit":
        fill = None if fill is None else float(fill > 0.5)
        return TableColumn(
            kind.name, "bit", missing=has_bit, fill=fill, comma=reading.comma, unit=reading.unit, reason=kind.reason
        )
    if kind.kind == "date":
        cuts = cut_column(numbers, codes, max_cuts=max_cuts, days=True)
        pattern = reading.day_format or "%Y-%m-%d"
        return TableColumn(kind.name, "after", cuts, missing=has_bit, fill=fill, day_format=pattern, reason=kind.reason)
    cuts = cut_column(numbers, codes, max_cuts=max_cuts)
    return TableColumn(
        kind.name, "above", cuts, missing=has_bit, fill=fill, comma=reading.comma, unit=reading.unit, reason=kind.reason
    )


def _describe_categories(cells: Cells, kind: ColumnKind, codes: Ints, missing: Missing, has_bit: bool) -> TableColumn:
    # Values that differ only in blanks around them, or as 1 and 1.0, are one category.
    spelled = {text: text for text in cells.texts()} if kind.exact else cells.spellings
    fold = any(old != new for old, new in spelled.items())
    pairs = [(spelled.get(text), gone) for text, gone in zip(cells.texts(), cells.missing_values, strict=True)]
    texts = sorted({text for text, gone in pairs if text is not None and not gone})
    number = {text: i for i, text in enumerate(texts)}
    place = np.array([-1 if gone or text is None else number[text] for text, gone in pairs], dtype=np.int64)[cells.place]
    # In a short table it is not known which categories are rare.
    least = 1 if len(place) < MIN_ROWS_ID else MIN_ROWS
    groups, others = choose_category_bits(texts, place, codes, min_rows=least)
    fill = None
    if missing != "category" and (place >= 0).any():
        fill = texts[int(np.bincount(place[place >= 0]).argmax())]
    return TableColumn(kind.name, "group", groups, others=others, missing=has_bit, fill=fill, fold=fold, reason=kind.reason)


def cut_column(
    values: Floats,
    codes: Ints,
    *,
    max_cuts: int = MAX_CUTS,
    few_values: int = FEW_VALUES,
    fallback: bool = True,
    price: float = 1.0,
    days: bool = False,
) -> tuple[float | int, ...]:
    """Choose the numbers that the values of a column are compared with."""
    present = ~np.isnan(values)
    distinct, place = np.unique(values[present], return_inverse=True)
    if len(distinct) < 2 or max_cuts < 1:
        return ()
    if len(distinct) <= min(few_values, max_cuts + 1):
        chosen = list(range(1, len(distinct)))
    else:
        chosen = _paying_cuts(_Counts.of(place.ravel(), codes[present], len(distinct)), max_cuts, price, fallback)
    return tuple(cuts_between(distinct, chosen, days=days))


def cut_places(place: Ints, codes: Ints, n_distinct: int, max_cuts: int = MAX_CUTS) -> list[int]:
    """Choose cuts that pay between values given by their ranks; cut i lies below rank i."""
    return _paying_cuts(_Counts.of(place, codes, n_distinct), max_cuts, 1.0, False)


class _Counts(NamedTuple):
    """Rows below each distinct value: all of them, and those of each class of each target."""

    rows: Ints
    classes: tuple[Ints, ...]

    @classmethod
    def of(cls, place: Ints, codes: Ints, n_distinct: int) -> _Counts:
        rows = np.bincount(place, minlength=n_distinct)
        classes = []
        for target in codes.T:
            known = target >= 0
            n_classes = int(target.max(initial=0)) + 1
            cells = np.bincount(place[known] * n_classes + target[known], minlength=n_distinct * n_classes)
            classes.append(_running(cells.reshape(n_distinct, n_classes)))
        return cls(_running(rows), tuple(classes))


def _running(counts: Ints) -> Ints:
    return np.concatenate([np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)])


class _Split(NamedTuple):
    """The best way to cut a range of values in two; ranges sort by what the cut saves."""

    loss: float
    cut: int
    low: int
    high: int


def _paying_cuts(counts: _Counts, max_cuts: int, price: float, fallback: bool) -> list[int]:
    """Cut the range that saves most, then its parts, while a cut pays."""
    whole = _best_split(counts, 0, len(counts.rows) - 1, price)
    if whole is None:
        return []
    if whole.loss >= 0:
        return [whole.cut] if fallback else []
    heap = [whole]
    chosen: list[int] = []
    while heap and len(chosen) < max_cuts:
        _, cut, low, high = heapq.heappop(heap)
        chosen.append(cut)
        for part in (_best_split(counts, low, cut, price), _best_split(counts, cut, high, price)):
            if part is not None and part.loss < 0:
                heapq.heappush(heap, part)
    return sorted(chosen)


def _best_split(counts: _Counts, low: int, high: int, price: float) -> _Split | None:
    """Return the best cut within a range of distinct values, with its loss in bits: negative if it pays."""
    if high - low < 2:
        return None
    saved = np.zeros(high - low - 1)
    nearest = np.full(high - low - 1, -np.inf)
    for classes in counts.classes:
        net = _net_gain(classes[low], classes[low + 1 : high], classes[high], price)
        saved += np.maximum(net, 0.0)
        nearest = np.maximum(nearest, net)
    # Where no target gains, the cut that comes nearest to it is the best.
    saved = np.where(saved > 0, saved, nearest)
    best = int(np.argmax(np.round(saved, 9)))  # rounded, so that equal gains tie on every machine
    rows = int(counts.rows[high] - counts.rows[low])
    place = math.log2(max(rows - 1, 1)) + math.log2(max(len(counts.classes), 1))
    return _Split(price * place - float(saved[best]), low + 1 + best, low, high)


def _net_gain(below: Ints, cuts: Ints, above: Ints, price: float) -> Floats:
    """Bits that each cut saves for one target, less those that describe the classes on either side."""
    whole, left, right = (above - below)[np.newaxis], cuts - below, above - cuts
    (n, h, k), (n1, h1, k1), (n2, h2, k2) = (_entropy(part) for part in (whole, left, right))
    sides = np.log2(np.maximum(3.0**k - 2, 1)) - (k * h - k1 * h1 - k2 * h2)
    gain = n * h - n1 * h1 - n2 * h2 - price * sides
    return np.where(k > 1, gain, -np.inf)  # one class alone has no information


def _entropy(counts: Ints) -> tuple[Floats, Floats, Floats]:
    """Rows, entropy per row and number of classes of each row of counts."""
    n = counts.sum(axis=1).astype(np.float64)
    share = counts / np.maximum(n, 1)[:, np.newaxis]
    entropy = -(share * np.log2(np.where(counts > 0, share, 1.0))).sum(axis=1)
    return n, entropy, (counts > 0).sum(axis=1).astype(np.float64)


def cuts_between(distinct: Floats, places: Sequence[int], *, days: bool = False) -> list[float | int]:
    """Return readable numbers between the distinct values before and at some places."""
    # Among whole numbers, and days, "above 8" means the same as "above 8.5".
    whole = bool((np.isfinite(distinct) & (distinct == np.floor(distinct))).all())
    cuts: list[float | int] = []
    for place in places:
        low, high = float(distinct[place - 1]), float(distinct[place])
        midnight = _midnight(low, high) if days else None
        cut = readable_cut(low, high) if midnight is None else midnight
        cuts.append(math.floor(cut) if whole else cut)
    return cuts


def _midnight(low: float, high: float) -> int | None:
    """Return the midnight next to the middle between two dates, in days from 1970; None if there is none between them."""
    cut = math.floor(low / 2 + high / 2)
    return cut if cut >= low else cut + 1 if cut + 1 < high else None


def readable_cut(low: float, high: float) -> float | int:
    """Return the number with the fewest digits in the middle half between two values, so that names can be read."""
    middle, reach = low / 2 + high / 2, high / 4 - low / 4
    for digits in range(1, 18):
        cut = float(f"{middle:.{digits}g}")
        if abs(cut - middle) <= reach and low <= cut < high:
            return _plain(cut)
    return _plain(low)


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def choose_category_bits(
    categories: Sequence[str], place: Ints, codes: Ints, *, max_single: int = MAX_SINGLE, min_rows: int = MIN_ROWS
) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """Choose the groups of categories for which each input is true, and whether one more input means "none with an input"."""
    # Every category with at least `min_rows` rows gets an input, the most frequent ones if there are more than `max_single`;
    # the others are rare, and together get one if they have enough rows. Where there are too many for an input each,
    # categories are also sorted by how often they go with a class, and cut into groups like numbers.
    present = place >= 0
    counts = np.bincount(place[present], minlength=len(categories))
    by_count = sorted(range(len(categories)), key=lambda i: (-counts[i], categories[i]))
    single = [i for i in by_count if counts[i] >= min_rows][:max_single]
    rare = [i for i in by_count if i not in set(single) and counts[i]]
    groups: list[tuple[str, ...]] = sorted((categories[i],) for i in single)
    if len(groups) == 2 and not rare and present.all():
        groups = groups[1:]  # of two categories, "is the second" is enough
    if not groups and rare and present.all():
        return (), False
    if rare and len(single) == max_single:
        groups += _groups(categories, place[present], codes[present], counts)
    others = bool(counts[rare].sum() >= min_rows) if rare else False
    return tuple(groups), others


def _groups(categories: Sequence[str], place: Ints, codes: Ints, counts: Ints) -> list[tuple[str, ...]]:
    """Cut the categories, in the order of how often they go with the commonest class of a target, into groups."""
    found: list[tuple[str, ...]] = []
    for target in codes.T:
        known = target >= 0
        if not known.any():
            continue
        common = int(np.bincount(target[known]).argmax())
        hits = np.bincount(place[known & (target == common)], minlength=len(categories))
        rows = np.bincount(place[known], minlength=len(categories))
        # Half a row of each kind is added, so that a category with one row does not count as certain.
        share = (hits + 0.5) / (rows + 1.0)
        order = np.lexsort((np.arange(len(categories)), share))
        rank = np.empty(len(categories), dtype=np.int64)
        rank[order] = np.arange(len(categories))
        for cut in cut_places(rank[place], target[:, np.newaxis], len(categories), GROUP_CUTS):
            low = [categories[i] for i in order[:cut] if counts[i]]
            high = [categories[i] for i in order[cut:] if counts[i]]
            group = tuple(sorted(low if len(low) <= len(high) else high))
            if len(group) > 1 and group not in found:
                found.append(group)
    return found
