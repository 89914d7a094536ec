"""How good a model is on rows that it has not seen, beside the majority, a decision tree and a random forest."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from gradus._core.run import Progress, Run
from gradus._tables.cells import read_cells
from gradus._tables.column_kinds import ColumnKind, column_kinds
from gradus._tables.encoding import TableColumn, encode_table
from gradus._tables.fit import FitSettings, fit_table
from gradus._tables.labels import UNKNOWN, encode_target

__all__ = ["METHODS", "HeldOutScore", "as_numbers", "score_held_out"]

METHODS = ("model", "circuit", "majority", "tree", "forest")
"""The model, its best circuit alone, and those that it is compared with."""
N_TREES = 200
SLICE_SECONDS = 0.1
LARGEST = float(np.finfo(np.float32).max)  # trees refuse infinity
NOTABLE_GAIN = 0.015  # of the accuracy: less is no reason to prefer the forest

Ints = npt.NDArray[np.int64]
Columns = Mapping[str, npt.NDArray[Any]]
FOREST = "random forest"
FIT_TIME = 0.4
"""Share of the time left in which the model that is scored is learned; the others that it is compared with take as long."""
FIT_WORK = 4  # forests that can be grown in the time that a model takes


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
        accuracy = {method: list(shares) for method, shares in self.accuracy.items()}
        return {"rows": self.rows, "folds": self.folds, "accuracy": accuracy, "verdict": self.verdict}


def score_held_out(columns: Columns, targets: Columns, settings: FitSettings, folds: int, run: Run) -> HeldOutScore | None:
    """Score models learned with these settings, and others for comparison, on rows held out; None if it was stopped."""
    # With one fold a quarter of the rows is held out, otherwise every row once. Every part has its share of each class: in
    # parts drawn blindly, what is frequent in one is rare in the others, and the majority looks worse than it is.
    codes = np.column_stack([encode_target(column, name)[2] for name, column in targets.items()])
    known = codes != UNKNOWN
    rows = np.random.default_rng(settings.seed).permutation(len(codes))
    rows = rows[np.lexsort(codes[rows].T)]
    parts = [rows[3::4]] if folds == 1 else [rows[fold::folds] for fold in range(folds)]
    right = {method: np.zeros(codes.shape, dtype=np.bool_) for method in METHODS}
    run.expect(len(parts))
    for fold, part in enumerate(parts):
        train = np.setdiff1d(rows, part)
        train = train[known[train].any(axis=1)]
        seen, unseen = ({name: column[chosen] for name, column in columns.items()} for chosen in (train, part))
        labels = {name: column[train] for name, column in targets.items()}
        answers = _answers(seen, labels, unseen, settings, _fold_run(run, fold, len(parts)))
        if answers is None or ("forest" not in answers and fold + 1 < len(parts)):
            return None
        for method in set(right) - set(answers):
            del right[method]
        for method, answer in answers.items():
            right[method][part] = answer == np.column_stack([column[part].astype(object) for column in targets.values()])
    seen = np.zeros_like(known)
    seen[np.concatenate(parts)] = True
    counted = known & seen
    accuracy = {
        method: tuple((hits & counted).sum(axis=0) / np.maximum(counted.sum(axis=0), 1)) for method, hits in right.items()
    }
    plain = {method: tuple(float(share) for share in shares) for method, shares in accuracy.items()}
    return HeldOutScore(int(counted.any(axis=1).sum()), len(parts), plain, _verdict(right, counted))


def _fold_run(run: Run, fold: int, folds: int) -> Run:
    """Return the run of one fold, which says which it is."""
    return run.part(
        weight=1, describe=lambda progress: replace(progress, stage=f"score {fold + 1} of {folds}, {progress.stage}")
    )


def _answers(
    seen: Columns, labels: Columns, unseen: Columns, settings: FitSettings, run: Run
) -> dict[str, npt.NDArray[Any]] | None:
    """Return what each method says of unseen rows after learning from the others; without the forest if there is no time."""
    left = run.seconds_left()
    run.expect(FIT_WORK + 1)
    fitting = run.part(seconds=None if left is None else FIT_TIME * left, weight=FIT_WORK)
    model = fit_table(seen, labels, settings, fitting)
    if model.about["stopped"] in ("callback", "interrupted"):
        return None
    n_rows = len(next(iter(unseen.values())))
    answers = {
        "model": _side_by_side(model.predict(unseen), n_rows),
        "circuit": _side_by_side(model.single().predict(unseen), n_rows),
    }
    answers |= {method: np.empty((n_rows, len(labels)), dtype=object) for method in METHODS[2:]}
    encoded = [encode_target(column, name)[1:] for name, column in labels.items()]
    kinds = column_kinds(seen) if settings.kinds is None else settings.kinds
    X, X_test = as_numbers(seen, unseen, kinds, np.column_stack([codes for _, codes in encoded]))
    growing = run.part(weight=1)
    if growing.stop(Progress(stage=FOREST, total=N_TREES)):
        return None
    for k, (classes, codes) in enumerate(encoded):
        known = codes != UNKNOWN
        tree = DecisionTreeClassifier(random_state=0).fit(X[known], codes[known])
        answers["majority"][:, k] = classes[np.bincount(codes[known]).argmax()]
        answers["tree"][:, k] = classes[tree.predict(X_test)]
    for k, (classes, codes) in enumerate(encoded):
        forest = grow_forest(X[codes != UNKNOWN], codes[codes != UNKNOWN], growing)
        if forest is None:
            del answers["forest"]
            break
        answers["forest"][:, k] = classes[forest.predict(X_test)]
    return answers


def grow_forest(X: npt.NDArray[np.float64], codes: Ints, run: Run) -> RandomForestClassifier | None:
    """Grow a random forest, saying several times a second how far it is; None if it is stopped."""
    forest = RandomForestClassifier(1, warm_start=True, random_state=0)
    done, more = 0, 1
    while done < N_TREES:
        if run.stop(Progress(stage=FOREST, done=done, total=N_TREES)):
            return None
        step = time.monotonic()
        done = min(done + more, N_TREES)
        forest.set_params(n_estimators=done).fit(X, codes)
        # The trees are the same however many are grown at a time.
        more = 2 * more if time.monotonic() - step < SLICE_SECONDS / 2 else max(more // 2, 1)
    return forest


def _side_by_side(predicted: npt.NDArray[Any], n_rows: int) -> npt.NDArray[Any]:
    return predicted.astype(object).reshape(n_rows, -1)


def as_numbers(
    seen: Mapping[str, Any], unseen: Mapping[str, Any], kinds: Sequence[ColumnKind], codes: Ints
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return tables as other learners need them: medians for missing numbers, and one column per category."""
    encoding = encode_table(seen, codes, kinds=kinds)
    parts: tuple[list[Any], list[Any]] = ([], [])
    for column in encoding.columns:
        for table, made in zip((seen, unseen), parts, strict=True):
            if column.kind in ("bit", "above", "after"):
                fill = np.nanmedian(_numbers(column, seen))
                filled = np.nan_to_num(_numbers(column, table), nan=fill)
                made.append(np.clip(filled, -LARGEST, LARGEST)[:, np.newaxis])
            elif column.input_names:
                made.append(column.encode(table[column.name]).astype(np.float64))
    return np.hstack(parts[0]), np.hstack(parts[1])


def _numbers(column: TableColumn, table: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    cells = read_cells(table[column.name])
    return cells.dates(column.day_format) if column.kind == "after" else cells.numbers(column.comma)


def _verdict(right: Mapping[str, npt.NDArray[np.bool_]], counted: npt.NDArray[np.bool_]) -> str:
    """Compare the model with the majority and with the forest, row by row."""
    gain, gain_error = _difference(right["model"], right["majority"], counted)
    if gain <= gain_error:
        return "no circuit suits this table: no better than always guessing the majority."
    if "forest" not in right:
        return "a circuit is better than always guessing the majority; there was no time to grow a random forest."
    loss, loss_error = _difference(right["forest"], right["model"], counted)
    if loss > max(NOTABLE_GAIN, loss_error):
        return f"a random forest suits this table better, by {100 * loss:.1f} points."
    what = "better than" if -loss > max(NOTABLE_GAIN, loss_error) else "as good as"
    return f"a circuit suits this table: {what} a random forest."


def _difference(
    one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Return by how much one is right more often than another on the same cells, and the standard error of that."""
    differ = (one.astype(np.int64) - other)[counted]
    return float(differ.mean()), float(differ.std() / np.sqrt(len(differ)))
