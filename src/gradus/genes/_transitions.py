"""Examples from time series: each state with the one that follows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.checks import OnConflict, check_on_conflict
from gradus._core.wording import counted, listed
from gradus.errors import ConflictError, DataError
from gradus.genes._binarize import binarize as binarize_series
from gradus.genes._series import Series, as_series

__all__ = ["Contradiction", "Step", "Transitions", "read_transitions", "states_of", "transitions"]


class Step(NamedTuple):
    """A transition's place: the state at `time` (counted from 0) of the series, and the one after it."""

    series: str
    time: int
    line: int | None

    def __str__(self) -> str:
        place = "" if self.line is None else f" (line {self.line})"
        return f"{self.series} row {self.time + 1}{place}"


class Contradiction(NamedTuple):
    """Steps that leave the same state for different ones."""

    steps: tuple[Step, ...]
    genes: tuple[str, ...]

    def __str__(self) -> str:
        places = ", ".join(map(str, self.steps))
        return f"{places}: the same state is followed by different values of {listed(self.genes)}"


@dataclass(frozen=True, eq=False)
class Transitions:
    """Examples made from time series: inputs are states, targets are the next values.

    Attributes
    ----------
    X, Y : ndarray of bool
        One row per distinct transition, in the order of first appearance.
    input_names, target_names : tuple of str
        All genes, and those whose next value is not constant.
    steps : tuple of Step
        Where each row was first seen.
    counts : ndarray of int
        How often each row was seen.
    constant_targets : dict of str to bool
        The genes left out as targets, with the value they always take.
    skipped : int
        Transitions left out because a value is missing.
    contradictions : tuple of Contradiction
        Empty unless `on_conflict` is another than "raise".
    n_series : int
    notes : tuple of str
        What was done to the values before (binarisation, …).
    """

    X: BoolMatrix
    Y: BoolMatrix
    input_names: tuple[str, ...]
    target_names: tuple[str, ...]
    steps: tuple[Step, ...]
    counts: npt.NDArray[np.int64]
    constant_targets: dict[str, bool] = field(default_factory=dict)
    skipped: int = 0
    contradictions: tuple[Contradiction, ...] = ()
    n_series: int = 1
    notes: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def n_repeated(self) -> int:
        """How many transitions were repeats of an earlier one."""
        return int(self.counts.sum()) - len(self.counts)

    def report(self) -> list[str]:
        """Say in plain sentences what the examples are and what was left out."""
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
    several = [series] if isinstance(series, Series) else list(series)
    if not several:
        raise DataError("there is no series.")
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


def read_transitions(
    source: Any, *, binarize: Literal["kmeans"] | float | None = None, on_conflict: OnConflict = "raise"
) -> Transitions:
    """Make examples from whatever holds time series: a `Series`, a data frame, a file, or several of these."""
    if isinstance(source, Transitions):
        return source
    found = as_series(source)
    if binarize is None:
        return transitions(found, on_conflict=on_conflict)
    made = binarize_series(found, binarize)
    return transitions(made.series, on_conflict=on_conflict, notes=made.notes)


def _all_transitions(several: Sequence[Series], genes: tuple[str, ...]) -> tuple[BoolMatrix, BoolMatrix, list[Step], int]:
    """Every complete transition of every series, in order, and the number of those with a missing value."""
    befores, afters, steps, skipped = [], [], [], 0
    for one in several:
        states = states_of(one, genes)
        complete = np.logical_not(np.isnan(states).any(axis=1))
        usable = complete[:-1] & complete[1:]
        skipped += int((~usable).sum())
        befores.append(states[:-1][usable] == 1)
        afters.append(states[1:][usable] == 1)
        steps += [Step(one.name, int(time), None if one.lines is None else one.lines[time]) for time in np.flatnonzero(usable)]
    if not steps:
        empty = [gene for gene, states in zip(several[0].genes, several[0].states.T, strict=True) if np.isnan(states).all()]
        always = f" ({listed(empty)} has no value at all)" if empty else ""
        why = f"all {skipped} have a missing value{always}" if skipped else "each series has only one state"
        raise DataError(f"the series hold no transition that can be used: {why}.")
    return np.concatenate(befores), np.concatenate(afters), steps, skipped


def states_of(series: Series, genes: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """States with the columns in the order of `genes`, checked to be 0, 1 or missing."""
    states = series.in_order(genes)
    bad = ~(np.isnan(states) | (states == 0) | (states == 1))
    if bad.any():
        time, column = (int(i) for i in np.argwhere(bad)[0])
        line = None if series.lines is None else series.lines[time]
        raise DataError(
            f"{Step(series.name, time, line)} has the value {states[time, column]:g} for {genes[column]!r}; "
            "every value must be 0 or 1 (binarize='kmeans', or --binarize kmeans, makes measured levels binary)."
        )
    return states


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
    found = []
    for rows in several.values():
        differ = (Y[rows] != Y[rows[0]]).any(axis=0)
        found.append(Contradiction(tuple(steps[i] for i in rows), tuple(genes[i] for i in np.flatnonzero(differ))))
    return found, several
