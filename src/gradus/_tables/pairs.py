"""Circuits that compare classes in pairs, for tables where those with an output for each class are far behind the vote.

What distinguishes two classes is a smaller lesson than what one class has and no other. A row has the class that its
comparisons make likeliest, by weights that the rows of the table suggest, so that no class is without a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix
from gradus._core.run import Run
from gradus._lessons.result import LearnResult
from gradus._lessons.voting import stacked
from gradus._tables.distil import taught_classes
from gradus._tables.labels import CodeBit, TargetEncoding, shown_label
from gradus._tables.model import Model
from gradus._tables.sizes import ERRORS, NEARLY, Sized, SizesTask, distinct_inputs, fold_vote, n_gates
from gradus._tables.voters import MOST_ROWS, N_FOLDS, Learner, rows_by_weight, widened

__all__ = ["are_pairs_tried", "in_pairs", "learn_pairs", "recoded"]

FEWEST_CLASSES, MOST_CLASSES = 4, 12
"""Three classes have three pairs, no more than outputs; of more than twelve there are too many pairs to read."""
BEHIND = 0.05
"""Share of the rows not seen by which the circuit with an output for each class is less often right than the vote."""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def in_pairs(target: TargetEncoding) -> TargetEncoding:
    """Return a target with an output for every pair of classes: 1 where a row rather has the first."""
    bits = []
    for a, b in combinations(range(len(target.classes)), 2):
        first, second = shown_label(target.classes[a]), shown_label(target.classes[b])
        word = "".join("1" if k == a else "0" if k == b else "-" for k in range(len(target.classes)))
        bits.append(CodeBit(f"{target.name} = {first} rather than {second}", word))
    return replace(target, bits=tuple(bits))


def recoded(vote: Model, target: TargetEncoding) -> Model:
    """Return a vote on one target whose circuits have an output for each pair: the one of its first class."""
    # Voters are read by nodes, not by what their outputs mean.
    names = target.output_names
    networks = []
    for network in vote.networks:
        outputs = network.outputs[[a for a, _ in target.pairs]]
        moved = Network(network.n_inputs, network.sources, outputs, network.functions)
        networks.append(moved.with_names(network.input_names, names))
    return replace(vote, networks=tuple(networks), targets=(target,))


def are_pairs_tried(task: SizesTask, sized: Sequence[Sized]) -> bool:
    """Return whether the circuit with an output for each class of the only target is far behind the vote."""
    if not sized:
        return False
    whole = sized[-1]
    targets, codes, unseen = task.examples.targets, task.examples.codes, task.vote.about.get("unseen", [])
    if len(targets) != 1 or targets[0].bits or not FEWEST_CLASSES <= len(targets[0].classes) <= MOST_CLASSES:
        return False
    rows = np.bincount(codes[codes >= 0], minlength=len(targets[0].classes))
    if rows.min() < N_FOLDS or not len(whole.right) or not unseen or "accuracy" not in unseen[0]:
        return False
    if task.most is not None and task.most <= n_gates(whole.network):
        return False
    return bool(unseen[0]["accuracy"]["accuracy"] - whole.right.mean() > BEHIND)


def learn_pairs(task: SizesTask, whole: Sized, make_learner: Callable[..., Learner], run: Run) -> list[Sized]:
    """Return a circuit that compares classes in pairs, if it is clearly better on rows held out than one that does not."""
    target, codes = in_pairs(task.examples.targets[0]), task.examples.codes
    run.expect(2)
    right = _right_in_fold(task, target, make_learner, run.part(weight=1))
    if right is None:
        return []
    # What is known of the circuit with an output for each class begins with the same fold.
    gain = right.astype(np.int64) - whole.right[: len(right)]
    if gain.mean() <= NEARLY + ERRORS * gain.std() / len(gain) ** 0.5:
        return []
    rows = rows_by_weight(task.examples, min(len(codes), MOST_ROWS))
    inputs = task.vote.features.encode({name: cells.take(rows) for name, cells in task.examples.columns.items()})
    network = _compared(task, task.vote, inputs, codes[rows], N_FOLDS, make_learner, run.part(weight=1))
    if network is None:
        return []
    return [Sized(network, tuple(range(target.n_outputs)), True, right, right, target)]


def _right_in_fold(task: SizesTask, target: TargetEncoding, make_learner: Callable[..., Learner], run: Run) -> Flags | None:
    """Return which rows of the first fold a circuit gets right that was taught without it; None after a stop."""
    fold = fold_vote(task, run, 0)
    if fold is None:
        return None
    vote, inputs, test = fold
    codes, weights = task.examples.codes, task.examples.weights
    rows = rows_by_weight(task.examples, min(len(codes), MOST_ROWS), ~test)
    network = _compared(task, vote, inputs[rows], codes[rows], 0, make_learner, run)
    if network is None:
        return None
    alone = Model.fit([network], vote.features, [target], inputs[~test], codes[~test], weights.of(~test))
    mine = codes[test, 0]
    return np.asarray((alone.predict_codes(inputs[test])[0] == mine)[mine >= 0])


def _compared(
    task: SizesTask, vote: Model, inputs: BoolMatrix, codes: Ints, place: int, make_learner: Callable[..., Learner], run: Run
) -> Network | None:
    """Learn every comparison from the rows of its two classes, as the vote has them; None after a stop."""
    kept, n_classes = distinct_inputs(vote, inputs), len(vote.targets[0].classes)
    taught, classes = taught_classes(vote, inputs, codes, np.random.default_rng([task.seed, place]))
    X = np.ascontiguousarray(taught[:, kept])

    def learn_one(pair: tuple[int, int]) -> LearnResult | None:
        rows = np.isin(classes[:, 0], pair)
        learner = make_learner(run=run.part(weight=1), n_tries=1)
        return None if run.stop() else learner(X[rows], classes[rows] == pair[0], task.seed)

    pairs = list(combinations(range(n_classes), 2))
    run.expect(len(pairs))
    found = [result.network for result in run.map(learn_one, pairs) if result is not None]
    if run.stopped is not None or len(found) < len(pairs):
        return None
    network = network_of(stacked(found))
    return widened(network.to_nand() if task.nand else network, kept, inputs.shape[1])
