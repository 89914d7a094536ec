"""Circuits of several sizes learned from one vote, how good each size is on rows not seen, and which one is shown.

The voters of one fold of the rows have not seen that fold. So their vote teaches circuits of every size from the other rows,
and the fold measures how good these are. The circuit that is shown is learned in the same way from all voters and all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.gate_list import is_constant
from gradus._core.bits import BoolMatrix
from gradus._core.run import Run
from gradus._lessons.small_circuits import fit_small
from gradus._tables.distil import taught_rows
from gradus._tables.labels import TargetEncoding, output_parts
from gradus._tables.model import Model
from gradus._tables.read_voters import read_voters
from gradus._tables.voters import MOST_ROWS, N_FOLDS, Learner, TableExamples, Voter, rows_by_weight, widened

__all__ = [
    "ERRORS", "NEARLY", "SIZES", "Sized", "SizesTask", "curve_entry", "distinct_inputs", "fold_vote", "learn_sizes", "n_gates",
    "shown_place", "size_curve",
]  # fmt: skip

SIZES = (1, 2, 3, 5, 8, 13, 20)
"""Gates of the small circuits that are tried."""
N_WHOLE, N_TRIES, FOLD_TRIES = 3, 6, 3
"""Circuits of which the best is taken: as large as it takes, small, and small in a fold."""
NEARLY, ERRORS = 0.01, 1.0
"""By how much a circuit may be less often right than the best and still be nearly as good: a share of the rows, and standard
errors of the difference."""
ROWS_SCORED = 5000
"""Rows that are enough for a score: of large tables not every fold is scored."""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SizesTask:
    """What circuits of several sizes are learned from."""

    voters: Sequence[Voter]
    vote: Model
    examples: TableExamples
    folds: Ints
    """The fold of each row."""
    seed: int
    nand: bool
    most: int | None = None
    """The most gates that are asked for."""


class Sized(NamedTuple):
    """A circuit of one size."""

    network: Network
    order: tuple[int, ...]
    complete: bool
    """Whether learning was not stopped."""
    right: Flags
    """Which rows that were held out circuits of this size get right; empty if there was no time to score."""
    clear: Flags
    """For which of these exactly the rules hold that should."""
    target: TargetEncoding | None = None
    """The only target, if the outputs have another code than those of the other sizes."""


def learn_sizes(task: SizesTask, make_learner: Callable[..., Learner], run: Run) -> list[Sized]:
    """Learn circuits of all sizes, small ones first; the last one is as large as it takes."""
    n_folds = max(1, min(N_FOLDS, ROWS_SCORED // len(task.folds)))
    run.expect(2 + n_folds)
    examples = task.examples
    rows = rows_by_weight(examples, min(examples.n_rows, MOST_ROWS))
    inputs = task.vote.features.encode({name: cells.take(rows) for name, cells in examples.columns.items()})
    X, Y = taught_rows(task.vote, inputs, examples.codes[rows], np.random.default_rng([task.seed, len(task.voters)]))
    kept = distinct_inputs(task.vote, inputs)
    X = np.ascontiguousarray(X[:, kept])
    part = run.part(weight=1)
    whole = make_learner(run=part, n_tries=N_WHOLE)(X, Y, task.seed)
    part.complete()
    sizes = _sizes(n_gates(whole.network), Y.shape[1], task.most)
    part = run.part(weight=1)
    small = fit_small(X, Y, sizes, n_tries=N_TRIES, seed=task.seed, nand=task.nand, run=part)
    part.complete()
    order, complete = tuple(range(Y.shape[1])), whole.stopped is None
    circuits = [(network, order, part.stopped is None) for network in small] + [(whole.network, whole.order, complete)]
    circuits = [(widened(network, kept, inputs.shape[1]), order, done) for network, order, done in circuits]
    rights = _scored(task, sizes[: len(small)], make_learner, run.part(weight=n_folds), n_folds) if complete else []
    nothing = np.zeros((2, 0), dtype=np.bool_)
    sized = [Sized(*circuit, *np.hstack([nothing, *(right[k] for right in rights)])) for k, circuit in enumerate(circuits)]
    # A circuit may be smaller than allowed: one that is no larger than an earlier one is dropped.
    largest = [-1, *accumulate(map(n_gates, small), max)]
    return [one for k, one in enumerate(sized) if k == len(small) or n_gates(one.network) > largest[k]]


def _sizes(largest: int, n_outputs: int, most: int | None) -> list[int]:
    """Return the sizes to try below that of a circuit that is as large as it takes."""
    # Fewer gates than half of the outputs leave too many of these to inputs and constants.
    wanted = {*(size for size in SIZES if size >= n_outputs // 2), *([] if most is None else [most])}
    return sorted(size for size in wanted if size < largest)


def _scored(
    task: SizesTask, sizes: Sequence[int], make_learner: Callable[..., Learner], run: Run, n_folds: int
) -> list[list[Flags]]:
    """Return, for each fold that is scored and each size, which rows circuits get right that were taught without the fold."""

    def right(fold: int) -> list[Flags]:
        part = run.part(weight=1)
        rights = _right_in_fold(task, sizes, make_learner, part, fold)
        part.complete()
        return rights

    run.expect(n_folds)
    found = run.map(right, range(n_folds))
    return [rights for rights in found if rights] if run.stopped is None else []


def _right_in_fold(
    task: SizesTask, sizes: Sequence[int], make_learner: Callable[..., Learner], run: Run, fold: int
) -> list[Flags]:
    found = fold_vote(task, run, fold)
    if found is None:
        return []
    vote, inputs, test = found
    targets, codes = task.examples.targets, task.examples.codes
    features, weights = vote.features, task.examples.weights
    rows = rows_by_weight(task.examples, min(len(codes), MOST_ROWS), ~test)
    seen, learned_from = inputs[rows], codes[rows]
    X, Y = taught_rows(vote, seen, learned_from, np.random.default_rng([task.seed, fold]))
    kept = distinct_inputs(vote, seen)
    X = np.ascontiguousarray(X[:, kept])
    run.expect(2)
    small = run.part(weight=1)
    circuits = fit_small(X, Y, sizes, n_tries=FOLD_TRIES, seed=task.seed, nand=task.nand, run=small)
    small.complete()
    circuits.append(make_learner(run=run.part(weight=1), n_tries=1)(X, Y, task.seed).network)
    known = codes[test] >= 0
    rights = []
    for narrow in circuits:
        network = widened(narrow, kept, inputs.shape[1])
        alone = Model.fit([network], features, targets, inputs[~test], codes[~test], weights.of(~test))
        answers = np.column_stack(alone.predict_codes(inputs[test]))
        clear = _clear(network.predict(inputs[test]), targets, codes[test])
        rights.append(np.array([(answers == codes[test])[known], clear[known]]))
    return rights


def fold_vote(task: SizesTask, run: Run, fold: int) -> tuple[Model, BoolMatrix, Flags] | None:
    """Return the vote of the voters that have not seen a fold, all rows as its inputs, and which rows are in the fold."""
    mine = [voter for voter in task.voters if voter.fold == fold]
    test = task.folds == fold
    if not mine or not test.any():
        return None
    return *read_voters(mine, task.examples, run, test), test


def distinct_inputs(vote: Model, inputs: BoolMatrix) -> Ints:
    """Return the inputs to learn from: of those that circuits use, and of cuts between which no row lies the shortest one."""
    features, packed = vote.features, np.packbits(inputs, axis=0)
    used = np.any([network.cone(range(network.n_outputs))[: network.n_inputs] for network in vote.networks], axis=0)
    best: dict[tuple[int, bytes], int] = {}
    for node in np.flatnonzero(used).tolist() if used.any() else range(len(used)):
        j, name = features.input_columns[node], features.input_names[node]
        key = (j, packed[:, node].tobytes())
        if key not in best or len(name) < len(features.input_names[best[key]]):
            best[key] = node
    return np.array(sorted(best.values()), dtype=np.int64)


def _clear(outputs: BoolMatrix, targets: Sequence[TargetEncoding], codes: Ints) -> Flags:
    """Return for which rows and targets the outputs are those of the row's class, and no others."""
    parts = zip(targets, output_parts(targets), codes.T, strict=True)
    said = []
    for target, part, column in parts:
        words = target.codewords[column].astype(np.float64)
        said.append(((outputs[:, part] == words) | np.isnan(words)).all(axis=1))
    return np.column_stack(said)


def shown_place(sized: Sequence[Sized], most: int | None = None) -> int:
    """Choose the circuit that is shown: the smallest one that is nearly as good as the best on rows not seen."""
    fits = [k for k, one in enumerate(sized) if most is None or n_gates(one.network) <= most] or [0]
    if most is not None or not len(sized[0].right) or sized[-1].target is not None:
        return fits[-1]
    # Where the right class is only the likeliest one, the rules differ from the prediction.
    best = max(sized, key=lambda one: float(one.clear.mean())).clear
    for k in fits:
        behind = best.astype(np.int64) - sized[k].clear
        if behind.mean() <= NEARLY + ERRORS * behind.std() / len(behind) ** 0.5:
            return k
    return fits[-1]


def size_curve(sized: Sequence[Sized], place: int, model: Model, targets: tuple[TargetEncoding, ...]) -> list[dict[str, Any]]:
    """Return the gates, conditions and accuracy on rows not seen of every size, as JSON can hold them."""
    curve: list[dict[str, Any]] = []
    for k, one in enumerate(sized):
        coded = targets if one.target is None else (one.target,)
        names = [name for target in coded for name in target.output_names]
        network = one.network.with_names(model.features.input_names, names)
        accuracy = float(one.right.mean()) if len(one.right) else None
        alone = replace(model, networks=(network,), targets=coded, readers=(), apart=False)
        curve.append(curve_entry(alone, accuracy, k == place))
    return curve


def n_gates(network: Network) -> int:
    """Return the number of gates without constants."""
    return int(np.count_nonzero(~is_constant(network.functions)))


def curve_entry(model: Model, accuracy: float | None, shown: bool) -> dict[str, Any]:
    """Describe the circuit that a model shows by its place on the curve of sizes."""
    conditions = sum(said.n_conditions for said in model.statements)
    return {"gates": n_gates(model.network), "conditions": conditions, "accuracy": accuracy, "shown": shown}
