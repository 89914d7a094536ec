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
from gradus._tables.labels import UNKNOWN, encode_target, plain_label, refuse_quantity
from gradus._tables.measures import measured, rarest
from gradus._tables.model import Model
from gradus._tables.voters import MOST_ROWS

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
FIT_WEIGHT = 24  # how much longer learning a model takes than growing a forest
FOREST = "random forest"
MOST_COMPARED = 20_000
"""Rows that a tree and a forest are learned from: more would take longer than the model that they are compared with."""
MEASURED = ("model", "circuit", "tree", "forest")

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
    """Whether to choose a circuit for the table, in words."""
    measures: Sequence[Mapping[str, Mapping[str, float]]] = ()
    """For each target, what methods find of its classes, see `measured`: of large tables the model alone."""
    compared_rows: int = 0
    """Rows that the tree and the forest were learned from, if not from all that the model was."""

    def mean(self, method: str) -> float:
        """Return the mean over the targets."""
        return float(np.mean(self.accuracy[method]))

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        accuracy = dict(zip(self.accuracy, map(list, self.accuracy.values()), strict=True))
        found = {"rows": self.rows, "folds": self.folds, "accuracy": accuracy, "verdict": self.verdict}
        more = {"measures": [dict(measure) for measure in self.measures], "compared_rows": self.compared_rows}
        return {**found, **{name: value for name, value in more.items() if value}}


class Learned(NamedTuple):
    """A model of a whole table, and its score."""

    model: Model
    seconds: float
    """Seconds that learning and scoring it took."""
    score: HeldOutScore | None
    """The score of models like it on rows held out; None if there was no time for it, or it was not asked for."""


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
    score = None
    if task.folds and run.stopped in (None, "time_limit") and model.about["stopped"] != "interrupted":
        part = run.part(weight=task.folds)
        score = score_unseen(task, model, part) if _is_large(task, model) else score_held_out(task, part)
    if score is not None:
        model.about["held_out"] = score.to_json()
    return Learned(model, run.seconds() - begin, score)


def _is_large(task: HeldOutTask, model: Model) -> bool:
    """Return whether the voters themselves have left out enough rows for a score, so that no other model is learned for it."""
    return task.folds == 1 and "unseen" in model.about and len(next(iter(task.targets.values()))) > 2 * MOST_ROWS


def score_unseen(task: HeldOutTask, model: Model, run: Run) -> HeldOutScore | None:
    """Score a model of a large table by the predictions of its voters for rows that they have not seen; others on a sample."""
    unseen = model.about["unseen"]
    accuracy = {"model": tuple(entry["accuracy"]["accuracy"] for entry in unseen)}
    shown = [entry["accuracy"] for entry in model.about.get("size_curve", ()) if entry["shown"]]
    if len(unseen) == 1 and shown and shown[0] is not None:
        accuracy["circuit"] = (shown[0],)
    codes = np.column_stack([encode_target(column, name)[2] for name, column in task.targets.items()])
    rows = np.random.default_rng(task.settings.seed).permutation(len(codes))
    train, test = rows[:MOST_COMPARED], rows[MOST_COMPARED : 2 * MOST_COMPARED]
    answers = _compared(task, train, test, run)
    labels = np.column_stack([column.astype(object)[test] for column in task.targets.values()])
    known = codes[test] != UNKNOWN
    for method, said in answers.items():
        shares = ((said == labels) & known).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        accuracy[method] = tuple(shares.tolist())
    measures = [{"model": entry[task.settings.goal]} for entry in unseen]
    verdict = _verdict_of_shares({name: float(np.mean(shares)) for name, shares in accuracy.items()}, int(known.sum()))
    in_order = {method: accuracy[method] for method in METHODS if method in accuracy}
    return HeldOutScore(unseen[0]["rows"], 0, in_order, verdict, measures, len(train))


def score_held_out(task: HeldOutTask, run: Run) -> HeldOutScore | None:
    """Score models, and others for comparison, on rows held out; None if it was stopped."""
    # Every part has its share of each class: in parts drawn without that, a class frequent in one part is rare in the others,
    # and the majority looks worse than it is.
    targets = task.targets
    codes = np.column_stack([encode_target(column, name)[2] for name, column in targets.items()])
    known = codes != UNKNOWN
    rows = np.random.default_rng(task.settings.seed).permutation(len(codes))
    rows = rows[np.lexsort(codes[rows].T)]
    parts = [rows[3::4]] if task.folds == 1 else [rows[fold :: task.folds] for fold in range(task.folds)]
    said = {method: np.full(codes.shape, UNKNOWN, dtype=np.int64) for method in METHODS}
    shares = [np.full((len(codes), len(encode_target(column, name)[1])), np.nan) for name, column in targets.items()]
    run.expect(len(parts))
    for fold, part in enumerate(parts):
        train = np.setdiff1d(rows, part)
        train = train[known[train].any(axis=1)]
        fold_run = run.part(weight=1, describe=partial(_in_fold, f"score {fold + 1} of {len(parts)}"))
        answers = _answers(task, train, part, fold_run)
        fold_run.complete()
        if answers is None or ("forest" not in answers.labels and fold + 1 < len(parts)):
            return None
        for method in METHODS:
            if method in answers.labels:
                said[method][part] = _as_codes(answers.labels[method], task.targets)
            else:
                said.pop(method, None)
        for k, share in enumerate(answers.shares):
            if share.shape[1] == shares[k].shape[1]:
                shares[k][part] = share
    seen = np.zeros_like(known)
    seen[np.concatenate(parts)] = True
    counted = known & seen
    right = {method: found == codes for method, found in said.items()}
    accuracy = {}
    for method, hits in right.items():
        accuracy[method] = tuple(((hits & counted).sum(axis=0) / np.maximum(counted.sum(axis=0), 1)).tolist())
    measures = [_measures(codes[:, k], counted[:, k], said, shares[k], k) for k in range(codes.shape[1])]
    n_rows, compared = int(counted.any(axis=1).sum()), MOST_COMPARED if len(codes) - len(parts[0]) > MOST_COMPARED else 0
    return HeldOutScore(n_rows, len(parts), accuracy, _verdict(right, counted), measures, compared)


def _as_codes(labels: npt.NDArray[Any], targets: Mapping[str, npt.NDArray[Any]]) -> Ints:
    """Return predicted labels as the numbers of their classes."""
    columns = []
    for k, (name, column) in enumerate(targets.items()):
        number = {plain_label(label): code for code, label in enumerate(encode_target(column, name)[1])}
        columns.append([number.get(plain_label(label), UNKNOWN) for label in labels[:, k]])
    return np.array(columns, dtype=np.int64).T


def _measures(codes: Ints, rows: Flags, said: Mapping[str, Ints], shares: Floats, k: int) -> dict[str, dict[str, float]]:
    """Measure what the methods say of one target."""
    n_classes = shares.shape[1]
    rare = rarest(codes, n_classes)[0]
    found = {}
    for method in MEASURED:
        if method in said:
            known = shares[rows] if method == "model" and not np.isnan(shares[rows]).any() else None
            found[method] = measured(codes[rows], said[method][rows, k], known, n_classes, rare)
    return found


def _in_fold(name: str, progress: Progress) -> Progress:
    return replace(progress, stage=f"{name}, {progress.stage}")


def _rows(columns: Mapping[str, npt.NDArray[Any]], rows: Ints) -> dict[str, npt.NDArray[Any]]:
    return {name: column[rows] for name, column in columns.items()}


class _Answers(NamedTuple):
    """Predictions of methods for some rows."""

    labels: dict[str, npt.NDArray[Any]]
    shares: list[Floats]
    """Probabilities of the model, for each target."""


def _answers(task: HeldOutTask, train: Ints, test: Ints, run: Run) -> _Answers | None:
    """Return the predictions of each method, learned from the other rows, for test rows; no forest if there is no time."""
    seen, unseen, labels = _rows(task.columns, train), _rows(task.columns, test), _rows(task.targets, train)
    run.expect(FIT_WEIGHT + 1)
    left = run.seconds_left()
    learning = run.part(seconds=None if left is None else FIT_TIME * left, weight=FIT_WEIGHT)
    model = fit_table(seen, labels, task.settings, learning)
    learning.complete()
    if run.stopped in ("callback", "interrupted"):
        return None
    shape = (len(test), len(labels))
    answers = dict(zip(METHODS[:2], np.empty((2, *shape), dtype=object), strict=True))
    answers["model"][:] = model.predict(unseen).reshape(shape)
    answers["circuit"][:] = model.single().predict(unseen).reshape(shape)
    shares = model.predict_proba(unseen)
    sample = train if len(train) <= MOST_COMPARED else np.random.default_rng(0).permutation(train)[:MOST_COMPARED]
    answers |= _compared(task, sample, test, run)
    return _Answers(answers, shares if isinstance(shares, list) else [shares])


def _compared(task: HeldOutTask, train: Ints, test: Ints, run: Run) -> dict[str, npt.NDArray[Any]]:
    """Return the predictions of the majority, a tree and a forest for test rows; as many of these as there is time for."""
    from sklearn.tree import DecisionTreeClassifier

    seen, unseen, labels = _rows(task.columns, train), _rows(task.columns, test), _rows(task.targets, train)
    answers = {method: np.empty((len(test), len(labels)), dtype=object) for method in METHODS[2:]}
    encoded = list(map(encode_target, labels.values(), labels))
    kinds = column_kinds(task.columns) if task.settings.kinds is None else task.settings.kinds
    X, X_test = as_numbers(seen, unseen, kinds, np.column_stack(list(zip(*encoded, strict=True))[2]))
    balanced = "balanced" if task.settings.class_weight == "balanced" else None
    for k, (_, classes, codes) in enumerate(encoded):
        known = codes != UNKNOWN
        answers["majority"][:, k] = classes[np.bincount(codes[known]).argmax()]
        if run.stop(Progress(stage=FOREST, total=N_TREES)):
            answers["tree"][:, k] = answers["majority"][:, k]
            continue
        tree = DecisionTreeClassifier(random_state=0, class_weight=balanced).fit(X[known], codes[known])
        answers["tree"][:, k] = classes[tree.predict(X_test)]
    for k, (_, classes, codes) in enumerate(encoded):
        known = codes != UNKNOWN
        chances = forest_chances(X[known], codes[known], X_test, run.part(weight=1 / len(encoded)), balanced)
        if chances is None:
            del answers["forest"]
            break
        answers["forest"][:, k] = classes[np.unique(codes[known])[chances.argmax(axis=1)]]
    return answers


def forest_chances(X: Floats, codes: Ints, X_test: Floats, run: Run, class_weight: str | None = None) -> Floats | None:
    """Return the chance of each class, ascending, that a random forest gives rows, times its trees; None if it is stopped."""
    shape = len(X_test), len(np.unique(codes))
    chances, table = np.zeros(shape), digest_of(X, codes, X_test, class_weight)
    try:
        for begin in range(0, N_TREES, TREES_AT_ONCE):
            grow = partial(_trees, X, codes, X_test, begin, run, class_weight)
            key = partial(digest_of, FOREST, table, begin)
            chances += run.recall(key, grow, fits=lambda known: known.shape == shape)
    except Stopped:
        return None
    return chances


def _trees(X: Floats, codes: Ints, X_test: Floats, first: int, run: Run, class_weight: str | None) -> Floats:
    """Return the sum of the predictions of some trees of a forest; they have the seeds of a forest that is grown at once."""
    from sklearn.ensemble import RandomForestClassifier

    chances, single = np.zeros((len(X_test), len(np.unique(codes)))), X_test.astype(np.float32)
    for begin, end in run.slices(TREES_AT_ONCE, first=1):
        run.check(Progress(stage=FOREST, done=first + begin, total=N_TREES))
        draws = np.random.RandomState(0)
        draws.randint(np.iinfo(np.int32).max, size=first + begin)
        for tree in (
            RandomForestClassifier(end - begin, random_state=draws, class_weight=class_weight).fit(X, codes).estimators_
        ):
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
    gain = _difference(right["model"], right["majority"], counted)
    return _in_words(gain, None if "forest" not in right else _difference(right["forest"], right["model"], counted))


def _verdict_of_shares(shares: Mapping[str, float], n_rows: int) -> str:
    """Compare shares of rows that are right, measured on different rows."""

    def difference(first: str, second: str) -> tuple[float, float]:
        error = sum(shares[name] * (1 - shares[name]) for name in (first, second)) / max(n_rows, 1)
        return shares[first] - shares[second], float(np.sqrt(error))

    return _in_words(difference("model", "majority"), None if "forest" not in shares else difference("forest", "model"))


def _in_words(gain: tuple[float, float], loss_to_forest: tuple[float, float] | None) -> str:
    """Return whether to choose a circuit for a table, by differences of accuracies and their standard errors."""
    if gain[0] <= gain[1]:
        return "no circuit fits this table: no better than always guessing the most frequent class."
    if loss_to_forest is None:
        return "a circuit is better than always guessing the most frequent class; there was no time to grow a random forest."
    loss, loss_error = loss_to_forest
    if loss > max(MIN_DIFFERENCE, loss_error):
        return f"a random forest is better for this table, by {100 * loss:.1f} points."
    what = "better than" if -loss > max(MIN_DIFFERENCE, loss_error) else "as good as"
    return f"a circuit is a good choice for this table: {what} a random forest."


def _difference(
    first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Return by how much one method is right more often than another on the same cells, and the standard error of that."""
    differ = (first.astype(np.int64) - second)[counted]
    return float(differ.mean()), float(differ.std() / np.sqrt(len(differ)))
