"""Transitions: series made binary, as examples for exact learning, and as weighted transitions of every gene."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix, pack
from gradus._core.checks import OnConflict, check_on_conflict
from gradus._core.wording import counted, listed
from gradus.errors import ConflictError, DataError, SettingsError
from gradus.genes._series import UNKNOWN, Codes, Series, Step, as_series
from gradus.genes._set_kernel import PackedTarget
from gradus.problems import Problem

__all__ = [
    "Contradiction",
    "TargetEvidence",
    "Transitions",
    "binarized",
    "from_series",
    "gather_evidence",
    "pack_target",
    "transitions",
    "two_means_boundary",
]

NAMES_LISTED = 8


def binarized(series: Series | Iterable[Series], how: Any = "kmeans") -> tuple[tuple[Series, ...], tuple[str, ...]]:
    """Make series binary, each gene with one threshold for all, and describe how it was done."""
    # A gene with a single value becomes 0. Where some gene has more than two values, what was measured is kept as levels.
    several = _several(series)
    if how != "kmeans" and (isinstance(how, bool) or not isinstance(how, numbers.Real) or not np.isfinite(float(how))):
        raise SettingsError(f"binarize is {how!r}; it must be 'kmeans', a finite number or None.")
    threshold = None if how == "kmeans" else float(how)
    genes = several[0].genes
    measured = [_finite(single, genes) for single in several]
    columns = np.concatenate(measured).T
    bounds = np.array([two_means_boundary(column) if threshold is None else threshold for column in columns])
    has_levels = any(len(np.unique(column[~np.isnan(column)])) > 2 for column in columns)
    made = []
    for single, values in zip(several, measured, strict=True):
        with np.errstate(invalid="ignore"):
            states = np.where(np.isnan(values), np.nan, values > bounds)
        made.append(replace(single, genes=genes, states=states, levels=values if has_levels else None))
    return tuple(made), _notes(genes, bounds, threshold)


def _several(series: Series | Iterable[Series]) -> list[Series]:
    several = [series] if isinstance(series, Series) else list(series)
    if not several:
        raise DataError("there is no series.")
    return several


def two_means_boundary(values: npt.NDArray[np.float64]) -> float:
    """Return the value halfway between the two tightest clusters, or NaN if there is one value only."""
    known = np.sort(values[~np.isnan(values)])
    if len(known) < 2 or known[0] == known[-1]:
        return float("nan")
    # Scaled to [0, 1], so that squares neither overflow nor lose digits beside a large mean.
    half_width = known[-1] / 2 - known[0] / 2
    scaled = (known / 2 - known[0] / 2) / half_width
    sums = np.cumsum(scaled)
    sizes = np.arange(1, len(known))
    # The sum of squares within is smallest where the sum of squares between is largest.
    between = sums[:-1] ** 2 / sizes + (sums[-1] - sums[:-1]) ** 2 / (len(known) - sizes)
    between[known[1:] == known[:-1]] = -np.inf  # equal values are never separated
    split = int(np.argmax(between))
    return float(known[split] / 2 + known[split + 1] / 2)


def _finite(series: Series, genes: tuple[str, ...]) -> npt.NDArray[np.float64]:
    states = series.in_order(genes)
    infinite = np.isinf(states)
    if infinite.any():
        time, column = (int(i) for i in np.argwhere(infinite)[0])
        raise DataError(f"{series.name} row {time + 1} has an infinite value for {genes[column]!r}.")
    return states


def _notes(genes: tuple[str, ...], bounds: npt.NDArray[np.float64], threshold: float | None) -> tuple[str, ...]:
    if threshold is not None:
        return (f"Values above {threshold:g} were made 1, all others 0.",)
    shown = [f"{gene} {bound:.4g}" for gene, bound in zip(genes, bounds, strict=True) if not np.isnan(bound)]
    single = [gene for gene, bound in zip(genes, bounds, strict=True) if np.isnan(bound)]
    notes = [f"Each gene's values were split in two clusters; 1 is above: {listed(shown, NAMES_LISTED)}."] if shown else []
    return (*notes, *([f"Genes with a single value became 0: {listed(single, NAMES_LISTED)}."] if single else []))


@dataclass(frozen=True)
class Contradiction:
    """Steps that leave the same state for different ones."""

    steps: tuple[Step, ...]
    genes: tuple[str, ...]

    def __str__(self) -> str:
        places = ", ".join(map(str, self.steps))
        return f"{places}: the same state is followed by different values of {listed(self.genes)}"


@dataclass(frozen=True, eq=False)
class Transitions:
    """Examples made from time series: inputs are states, targets are the next values."""

    X: BoolMatrix
    Y: BoolMatrix
    """One row per distinct transition, in the order of first appearance."""
    input_names: tuple[str, ...]
    target_names: tuple[str, ...]
    """All genes, and those whose next value is not constant."""
    steps: tuple[Step, ...]
    """Where each row was first seen."""
    counts: npt.NDArray[np.int64]
    """How often each row was seen."""
    constant_targets: dict[str, bool] = field(default_factory=dict)
    """The genes left out as targets, with the value they always take."""
    skipped: int = 0
    """Transitions left out because a value is missing."""
    contradictions: tuple[Contradiction, ...] = ()
    """Empty unless `on_conflict` is another than "raise"."""
    n_series: int = 1
    notes: tuple[str, ...] = ()
    """What was done to the values before (binarisation, …)."""
    left_out: int = 0

    @property
    def n_repeated(self) -> int:
        """How many transitions were repeats of an earlier one."""
        return int(self.counts.sum()) - len(self.counts)

    def report(self) -> list[str]:
        """Describe in plain sentences what the examples are and what was left out."""
        lines = [
            *self.notes,
            f"{self.n_series} series of {counted(len(self.input_names), 'gene')} gave "
            f"{counted(len(self.X), 'distinct transition')}.",
        ]
        if self.n_repeated:
            verb, each = ("was a repeat", "counts") if self.n_repeated == 1 else ("were repeats", "count")
            lines.append(f"{counted(self.n_repeated, 'transition')} {verb} of an earlier one and {each} once.")
        if self.skipped:
            verb = "was" if self.skipped == 1 else "were"
            lines.append(f"{counted(self.skipped, 'transition')} {verb} left out because a value is missing.")
        if self.constant_targets:
            named = [f"{name} (always {int(value)})" for name, value in self.constant_targets.items()]
            what = "a target because its next value" if len(named) == 1 else "targets because their next value"
            lines.append(f"Left out as {what} never changes: {', '.join(named)}.")
        lines += [f"Contradiction: {contradiction}." for contradiction in self.contradictions]
        if self.left_out:
            lines.append(f"{counted(self.left_out, 'contradictory transition')} left out.")
        return lines


def transitions(
    series: Series | Iterable[Series], *, on_conflict: OnConflict = "raise", notes: Sequence[str] = ()
) -> Transitions:
    """Make examples from time series: each state is an input, the state after it the target."""
    # No transition crosses from one series to the next; a repeated transition counts once; a gene whose next value never
    # changes is left out as a target; a transition with a missing value is left out.
    check_on_conflict(on_conflict)
    several = _several(series)
    genes = several[0].genes
    X, Y, steps, skipped = _all_transitions(several, genes)
    first, group = _groups(np.hstack([X, Y]))  # each different transition once
    X, Y, steps, counts = X[first], Y[first], [steps[i] for i in first], np.bincount(group, minlength=len(first))
    contradictions, contradictory = _contradictions(X, Y, steps, genes)
    if contradictions and on_conflict == "raise":
        states = counted(len(contradictions), "state")
        raise ConflictError(
            f"{states} with different successors, so that no rule can fit: {listed(contradictions, between='; ')}.",
            "Use on_conflict='ignore' to leave them out, or 'first' to keep the first of each.",
        )
    keep = np.ones(len(X), dtype=np.bool_)
    for rows in contradictory.values():
        keep[rows if on_conflict == "ignore" else rows[1:]] = False
    X, Y, counts = X[keep], Y[keep], counts[keep]
    if not len(X):
        raise DataError("every transition contradicts another; none is left.")
    changing = np.logical_xor(Y, Y[0]).any(axis=0)
    if not changing.any():
        raise DataError(
            f"each gene's next value is the same in the {counted(len(X), 'transition')} left, so there is nothing to learn."
        )
    return Transitions(
        X=X,
        Y=np.ascontiguousarray(Y[:, changing]),
        input_names=genes,
        target_names=tuple(gene for gene, keep in zip(genes, changing, strict=True) if keep),
        steps=tuple(step for step, kept in zip(steps, keep, strict=True) if kept),
        counts=counts,
        constant_targets={genes[i]: bool(Y[0, i]) for i in np.flatnonzero(~changing)},
        skipped=skipped,
        contradictions=tuple(contradictions),
        n_series=len(several),
        notes=tuple(notes),
        left_out=int((~keep).sum()),
    )


def from_series(
    series: Any, *, name: str = "series", binarize: Literal["kmeans"] | float | None = None, on_conflict: OnConflict = "raise"
) -> Problem:
    """Make a problem from time series: each state is an input, and the next state its target.

    Parameters
    ----------
    series : Series, DataFrame, path-like, or iterable of these
    name : str
        Samples depend on it.
    binarize : "kmeans" or float, optional
        How to make values other than 0 and 1 binary: two clusters per gene, or a threshold.
    on_conflict : {"raise", "ignore", "first"}
        What to do if a state is followed by different states: raise an error that names them, leave out all transitions
        from that state, or keep the one that was seen first.

    Returns
    -------
    Problem
        Repeated transitions count once; a gene whose next value never changes is not a target. What was done is in `about`.

    Examples
    --------
    >>> import pandas
    >>> from_series(pandas.DataFrame({"a": [0, 1, 1], "b": [0, 0, 1]}))
    Problem('series', 2 inputs, 1 target, 2 patterns)
    """
    several = as_series(series)
    notes: tuple[str, ...] = ()
    if binarize is not None:
        several, notes = binarized(several, binarize)
    moves = transitions(several, on_conflict=on_conflict, notes=notes)
    return Problem(
        name,
        input_names=moves.input_names,
        target_names=moves.target_names,
        pool=moves.X,
        targets=moves.Y,
        about=" ".join(moves.report()),
    )


def _all_transitions(several: Sequence[Series], genes: tuple[str, ...]) -> tuple[BoolMatrix, BoolMatrix, list[Step], int]:
    """Every complete transition of every series, in order, and the number of those with a missing value."""
    befores, afters, steps, skipped = [], [], [], 0
    for series in several:
        states = series.binary(genes)
        complete = np.logical_not(np.isnan(states).any(axis=1))
        usable = complete[:-1] & complete[1:]
        skipped += int((~usable).sum())
        befores.append(states[:-1][usable] == 1)
        afters.append(states[1:][usable] == 1)
        steps += [series.step(int(time)) for time in np.flatnonzero(usable)]
    if not steps:
        empty = [gene for gene, states in zip(several[0].genes, several[0].states.T, strict=True) if np.isnan(states).all()]
        always = f" ({listed(empty)} has no value at all)" if empty else ""
        why = f"all {skipped} have a missing value{always}" if skipped else "each series has only one state"
        raise DataError(f"the series hold no transition that can be used: {why}.")
    return np.concatenate(befores), np.concatenate(afters), steps, skipped


def _groups(rows: BoolMatrix) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """First row of each group of equal rows, in the order of appearance, and the group of each row."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    keys = packed.view([("", np.void, packed.shape[1])]).ravel() if packed.shape[1] else np.zeros(len(rows))
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse.ravel()]


def _contradictions(
    X: BoolMatrix, Y: BoolMatrix, steps: Sequence[Step], genes: tuple[str, ...]
) -> tuple[list[Contradiction], dict[int, list[int]]]:
    """States with more than one successor: for people, and as {first row: all rows}."""
    _, group = _groups(X)
    members: dict[int, list[int]] = {}
    for row, which in enumerate(group.tolist()):
        members.setdefault(which, []).append(row)
    several = {rows[0]: rows for rows in members.values() if len(rows) > 1}
    contradictions = []
    for rows in several.values():
        differ = (Y[rows] != Y[rows[0]]).any(axis=0)
        contradictions.append(Contradiction(tuple(steps[i] for i in rows), tuple(genes[i] for i in np.flatnonzero(differ))))
    return contradictions, several


@dataclass(frozen=True, eq=False)
class TargetEvidence:
    """Transitions of one gene: distinct known inputs (0, 1 or 2 for unknown) and next values, each with its weight."""

    inputs: Codes
    nexts: Codes
    units: npt.NDArray[np.int64]
    """The weights in whole units."""
    unit: float
    """What one unit weighs."""

    @property
    def total(self) -> float:
        """Weight of all transitions."""
        return float(self.units.sum() * self.unit)


def gather_evidence(series: Sequence[Series]) -> tuple[TargetEvidence, ...]:
    """Count the distinct transitions of every gene, where it was not held and its next value is known."""
    befores, afters, held = [], [], []
    for single in series:
        rows = np.array(single.transitions(), np.int64).reshape(-1, 2)
        befores.append(single.codes[rows[:, 0]])
        afters.append(single.codes[rows[:, 1]])
        held.append(np.tile(single.is_held, (len(rows), 1)))
    inputs, nexts = np.concatenate(befores), np.concatenate(afters)
    counts = (nexts != UNKNOWN) & ~np.concatenate(held)
    targets = []
    for gene, used in enumerate(counts.T):
        distinct, units = np.unique(np.column_stack([inputs[used], nexts[used, gene]]), axis=0, return_counts=True)
        targets.append(TargetEvidence(distinct[:, :-1], distinct[:, -1], units.astype(np.int64), 1.0))
    return tuple(targets)


def pack_target(target: TargetEvidence) -> PackedTarget:
    """Bit rows of one gene's transitions, one plane for each binary digit of the weights."""
    planes = max(1, int(target.units.max(initial=1)).bit_length())
    digits = (target.units[:, None] >> np.arange(planes)) & 1 == 1
    rising = (target.nexts == 1)[:, None]
    if len(target.nexts) == 0:
        empty = np.zeros((target.inputs.shape[1], 1), np.uint64)
        return PackedTarget(empty, empty, empty[:1], empty[:1], 0)
    return PackedTarget(
        pack(target.inputs == 1),
        pack(target.inputs == 0),
        pack(digits & rising),
        pack(digits & ~rising),
        int(target.units.sum()),
    )
