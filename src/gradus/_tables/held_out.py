"""How good a model is on rows that it has not seen, beside the majority, a decision tree and a random forest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.plain import digest_of
from gradus._core.run import Progress, Run, Stopped
from gradus._tables.column_kinds import ColumnKind, column_kinds
from gradus._tables.cuts import encode_table
from gradus._tables.encoding import TableEncoding
from gradus._tables.fit import FitSettings, fit_table
from gradus._tables.labels import UNKNOWN, encode_target, refuse_quantity
from gradus._tables.model import Model

__all__ = ["METHODS", "HeldOutScore", "HeldOutTask", "Learned", "as_numbers", "learn_and_score", "score_held_out"]

METHODS = ("model", "circuit", "majority", "tree", "forest")
"""The model, its best circuit alone, and those that it is compared with."""
N_TREES, TREES_AT_ONCE = 200, 10
LARGEST = float(np.finfo(np.float32).max)  # trees refuse infinity
MIN_DIFFERENCE = 0.015  # of the accuracy: less is no reason to prefer the forest
LEARNING_TIME = 0.5
"""Share of a time limit in which a model is learned that is also scored."""
FIT_TIME = 0.4
"""Share of the time left in which models are learned; those that they are compared with take as long."""
FIT_WEIGHT = 3  # how much longer learning a model takes than growing a forest
FOREST = "random forest"

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class HeldOutTask:
    """A table with its targets, and how models are learned from it that are to be scored."""

    columns: Mapping[str, npt.NDArray[Any]]
    targets: Mapping[str, npt.NDArray[Any]]
    settings: FitSettings
    folds: int
    """With one, a quarter of the rows is held out, otherwise every row once."""


@dataclass(frozen=True)
class HeldOutScore:
    """Accuracies on rows that were held out."""

    rows: int
    """Rows with a known label that were predicted by a model that had not seen them."""
    folds: int
    """Models that were learned for this."""
    accuracy: Mapping[str, tuple[float, ...]]
    """For each of `METHODS`, of each target; without the forest if there was no time to grow it."""
    verdict: str
    """Whether a circuit suits the table, in words."""

    def mean(self, method: str) -> float:
        """Return the mean over the targets."""
        return float(np.mean(self.accuracy[method]))

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        accuracy = dict(zip(self.accuracy, map(list, self.accuracy.values()), strict=True))
        return {"rows": self.rows, "folds": self.folds, "accuracy": accuracy, "verdict": self.verdict}


class Learned(NamedTuple):
    """A model of a whole table, and its score."""

    model: Model
    seconds: float
    """Seconds that learning it took."""
    score: HeldOutScore | None
    """What models like it are worth on rows held out; None if there was no time for it, or it was not asked for."""


def learn_and_score(task: HeldOutTask, run: Run, show_plan: Callable[[TableEncoding], None]) -> Learned:
    """Learn a model from all rows, then score others like it on rows held out; with a time limit in one fold."""
    for name, labels in task.targets.items():
        refuse_quantity(labels, name)
    left = run.seconds_left()
    if left is not None:
        task = replace(task, folds=min(task.folds, 1))
    run.expect(1 + task.folds)
    learning = run.part(seconds=None if left is None or not task.folds else LEARNING_TIME * left, weight=1)
    begin = run.seconds()
    model = fit_table(task.columns, task.targets, task.settings, learning, show_plan)
    learning.complete()
    seconds, score = run.seconds() - begin, None
    if task.folds and run.stopped in (None, "time_limit") and model.about["stopped"] != "interrupted":
        score = score_held_out(task, run.part(weight=task.folds))
    if score is not None:
        model.about["held_out"] = score.to_json()
    return Learned(model, seconds, score)


def score_held_out(task: HeldOutTask, run: Run) -> HeldOutScore | None:
    """Score models, and others for comparison, on rows held out; None if it was stopped."""
    # Every part has its share of each class: in parts drawn blindly, what is frequent in one is rare in the others, and the
    # majority looks worse than it is.
    targets = task.targets
    codes = np.column_stack([encode_target(column, name)[2] for name, column in targets.items()])
    labels = np.column_stack([column.astype(object) for column in targets.values()])
    known = codes != UNKNOWN
    rows = np.random.default_rng(task.settings.seed).permutation(len(codes))
    rows = rows[np.lexsort(codes[rows].T)]
    parts = [rows[3::4]] if task.folds == 1 else [rows[fold :: task.folds] for fold in range(task.folds)]
    right: dict[str, Flags] = dict(zip(METHODS, np.zeros((len(METHODS), *codes.shape), dtype=np.bool_), strict=True))
    run.expect(len(parts))
    for fold, part in enumerate(parts):
        train = np.setdiff1d(rows, part)
        train = train[known[train].any(axis=1)]
        fold_run = run.part(weight=1, describe=partial(_in_fold, f"score {fold + 1} of {len(parts)}"))
        key, shape = partial(digest_of, "fold", train, part), (len(part), len(targets))
        hits = fold_run.recall(key, partial(_hits, task, train, part, labels, fold_run), fits=partial(_are_hits, shape))
        fold_run.complete()
        if hits is None or ("forest" not in hits and fold + 1 < len(parts)):
            return None
        for method in METHODS:
            if method in hits:
                right[method][part] = hits[method]
            else:
                right.pop(method, None)
    seen = np.zeros_like(known)
    seen[np.concatenate(parts)] = True
    counted = known & seen
    accuracy = {}
    for method, all_hits in right.items():
        shares = (all_hits & counted).sum(axis=0) / np.maximum(counted.sum(axis=0), 1)
        accuracy[method] = tuple(shares.tolist())
    return HeldOutScore(int(counted.any(axis=1).sum()), len(parts), accuracy, _verdict(right, counted))


def _hits(task: HeldOutTask, train: Ints, test: Ints, labels: npt.NDArray[Any], run: Run) -> dict[str, Flags] | None:
    """Return which of the test rows each method gets right after learning from the others."""
    answers = _answers(task, train, test, run)
    return None if answers is None else {method: said == labels[test] for method, said in answers.items()}


def _are_hits(shape: tuple[int, int], hits: Any) -> bool:
    """Return whether something from a file is what `_hits` may return."""
    return hits is None or all(name in METHODS and flags.shape == shape for name, flags in hits.items())


def _in_fold(name: str, progress: Progress) -> Progress:
    return replace(progress, stage=f"{name}, {progress.stage}")


def _rows(columns: Mapping[str, npt.NDArray[Any]], rows: Ints) -> dict[str, npt.NDArray[Any]]:
    return {name: column[rows] for name, column in columns.items()}


def _answers(task: HeldOutTask, train: Ints, test: Ints, run: Run) -> dict[str, npt.NDArray[Any]] | None:
    """Return what each method says of the test rows after learning from the others; without the forest if there is no time."""
    from sklearn.tree import DecisionTreeClassifier

    seen, unseen, labels = _rows(task.columns, train), _rows(task.columns, test), _rows(task.targets, train)
    run.expect(FIT_WEIGHT + 1)
    left = run.seconds_left()
    learning = run.part(seconds=None if left is None else FIT_TIME * left, weight=FIT_WEIGHT)
    model = fit_table(seen, labels, task.settings, learning)
    learning.complete()
    if run.stopped in ("callback", "interrupted"):
        return None
    shape = (len(test), len(labels))
    answers = dict(zip(METHODS, np.empty((len(METHODS), *shape), dtype=object), strict=True))
    answers["model"][:] = model.predict(unseen).reshape(shape)
    answers["circuit"][:] = model.single().predict(unseen).reshape(shape)
    encoded = list(map(encode_target, labels.values(), labels))
    kinds = column_kinds(task.columns) if task.settings.kinds is None else task.settings.kinds
    X, X_test = as_numbers(seen, unseen, kinds, np.column_stack(list(zip(*encoded, strict=True))[2]))
    if run.stop(Progress(stage=FOREST, total=N_TREES)):
        return None
    for k, (_, classes, codes) in enumerate(encoded):
        known = codes != UNKNOWN
        tree = DecisionTreeClassifier(random_state=0).fit(X[known], codes[known])
        answers["majority"][:, k] = classes[np.bincount(codes[known]).argmax()]
        answers["tree"][:, k] = classes[tree.predict(X_test)]
    for k, (_, classes, codes) in enumerate(encoded):
        known = codes != UNKNOWN
        chances = forest_chances(X[known], codes[known], X_test, run.part(weight=1 / len(encoded)))
        if chances is None:
            del answers["forest"]
            break
        answers["forest"][:, k] = classes[np.unique(codes[known])[chances.argmax(axis=1)]]
    return answers


def forest_chances(X: Floats, codes: Ints, X_test: Floats, run: Run) -> Floats | None:
    """Return the chance of each class, ascending, that a random forest gives rows, times its trees; None if it is stopped."""
    shape = len(X_test), len(np.unique(codes))
    chances, table = np.zeros(shape), digest_of(X, codes, X_test)
    try:
        for begin in range(0, N_TREES, TREES_AT_ONCE):
            grow = partial(_trees, X, codes, X_test, begin, run)
            key = partial(digest_of, FOREST, table, begin)
            chances += run.recall(key, grow, fits=lambda known: known.shape == shape)
    except Stopped:
        return None
    return chances


def _trees(X: Floats, codes: Ints, X_test: Floats, first: int, run: Run) -> Floats:
    """Return the sum of what some trees of a forest say of rows; they have the seeds of a forest that is grown at once."""
    from sklearn.ensemble import RandomForestClassifier

    chances, single = np.zeros((len(X_test), len(np.unique(codes)))), X_test.astype(np.float32)
    for begin, end in run.slices(TREES_AT_ONCE, first=1):
        run.check(Progress(stage=FOREST, done=first + begin, total=N_TREES))
        draws = np.random.RandomState(0)
        draws.randint(np.iinfo(np.int32).max, size=first + begin)
        for tree in RandomForestClassifier(end - begin, random_state=draws).fit(X, codes).estimators_:
            chances += tree.predict_proba(single)
    return chances


def as_numbers(
    seen: Mapping[str, Any], unseen: Mapping[str, Any], kinds: Sequence[ColumnKind], codes: Ints
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return tables as other learners need them: medians for missing numbers, and one column per category."""
    encoding = encode_table(seen, codes, kinds=kinds)
    parts: tuple[list[Any], list[Any]] = ([], [])
    for column in encoding.columns:
        for table, numbers in zip((seen, unseen), parts, strict=True):
            if column.kind in ("bit", "above", "after"):
                filled = np.nan_to_num(column.numbers(table[column.name]), nan=np.nanmedian(column.numbers(seen[column.name])))
                numbers.append(np.clip(filled, -LARGEST, LARGEST)[:, np.newaxis])
            elif column.input_names:
                numbers.append(column.encode(table[column.name]).astype(np.float64))
    return np.hstack(parts[0]), np.hstack(parts[1])


def _verdict(right: Mapping[str, npt.NDArray[np.bool_]], counted: npt.NDArray[np.bool_]) -> str:
    """Compare the model with the majority and with the forest, row by row."""
    gain, gain_error = _difference(right["model"], right["majority"], counted)
    if gain <= gain_error:
        return "no circuit suits this table: no better than always guessing the majority."
    if "forest" not in right:
        return "a circuit is better than always guessing the majority; there was no time to grow a random forest."
    loss, loss_error = _difference(right["forest"], right["model"], counted)
    if loss > max(MIN_DIFFERENCE, loss_error):
        return f"a random forest suits this table better, by {100 * loss:.1f} points."
    what = "better than" if -loss > max(MIN_DIFFERENCE, loss_error) else "as good as"
    return f"a circuit suits this table: {what} a random forest."


def _difference(
    first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Return by how much one is right more often than another on the same cells, and the standard error of that."""
    differ = (first.astype(np.int64) - second)[counted]
    return float(differ.mean()), float(differ.std() / np.sqrt(len(differ)))
