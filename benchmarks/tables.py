"""Accuracy of circuits on ordinary tables, beside a random forest, a decision tree and the majority class.

    python benchmarks/tables.py FOLDER
    python benchmarks/tables.py FOLDER --only car,titanic --splits 4 --first-split 100
    python benchmarks/tables.py FOLDER --only emotions
    python benchmarks/tables.py --only noisy1000,noisy5000

Every table is split into 70 % training and 30 % test rows, ten times at random. Only the target is given; which columns are
numbers, categories or ids is found on the training rows. All seconds are CPU seconds of one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from gradus import BooleanNetworkClassifier
from gradus._cli.data import read_examples
from gradus._core.run import Run
from gradus._tables.column_kinds import column_kinds
from gradus._tables.fit import FitSettings, fit_table
from gradus._tables.held_out import as_numbers
from gradus._tables.labels import encode_target

TABLES = ("zoo", "car", "monks1", "titanic", "iris", "wine", "breast_cancer", "digits")
FILE_TARGETS = {"zoo": "race", "car": "Class_Values", "monks1": "result", "titanic": "Survived"}
NOISY = {"noisy1000": (1000, 30), "noisy5000": (5000, 50)}
ID_COLUMNS = {"animal", "ID", "PassengerId", "Name", "Ticket"}
METHODS = ("vote", "circuit", "forest", "tree", "majority")

Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Score:
    """One method on one split."""

    accuracy: float
    gates: int = 0
    seconds: float = 0.0
    columns: tuple[str, ...] = ()


def read(folder: Path | None, name: str) -> tuple[Columns, npt.NDArray[Any]]:
    """Return the columns of a table and its target."""
    if name in FILE_TARGETS:
        if folder is None:
            sys.exit(f"{name} needs the folder of tables as an argument.")
        examples = read_examples(folder / f"{name}.csv", [FILE_TARGETS[name]])
        return examples.columns, next(iter(examples.targets.values()))
    if name in NOISY:
        n, k = NOISY[name]
        X, y = datasets.make_classification(n, k, n_informative=8, flip_y=0.1, random_state=0)  # half of the redrawn change
    else:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return {f"x{j}": column for j, column in enumerate(X.T)}, (y == 0).astype(int) if name == "digits" else y


def split(columns: Columns, labels: npt.NDArray[Any], seed: int) -> dict[str, Score]:
    """Score every method on one split."""
    order = np.random.default_rng(seed).permutation(len(labels))
    cut = round(0.7 * len(labels))
    train, test = ({name: column[rows] for name, column in columns.items()} for rows in (order[:cut], order[cut:]))
    y, truth = labels[order[:cut]], labels[order[cut:]]
    kinds = column_kinds(train)
    begin = time.process_time()
    model = fit_table(train, {"y": y}, FitSettings(seed=seed, kinds=kinds), Run())
    seconds = time.process_time() - begin
    found = {}
    for name, scored in (("vote", model), ("circuit", model.single())):
        gates = sum(network.n_gates for network in scored.networks)
        found[name] = Score(float((scored.predict(test) == truth).mean()), gates, seconds, scored.feature_names)
    _, classes, codes = encode_target(y, "y")
    X, X_test = as_numbers(train, test, kinds, codes[:, np.newaxis])
    for name, peer in (
        ("forest", RandomForestClassifier(200, random_state=seed)),
        ("tree", DecisionTreeClassifier(random_state=seed)),
    ):
        begin = time.process_time()
        peer.fit(X, codes)
        seconds = time.process_time() - begin
        found[name] = Score(float((classes[peer.predict(X_test)] == truth).mean()), 0, seconds)
    found["majority"] = Score(float((truth == classes[np.bincount(codes).argmax()]).mean()))
    return found


def row(name: str, scores: list[dict[str, Score]]) -> str:
    """Return a line of the table: accuracies with standard errors, gates and seconds."""
    cells = []
    for method in METHODS:
        accuracy = np.array([scored[method].accuracy for scored in scores])
        error = f" ± {100 * accuracy.std(ddof=1) / len(accuracy) ** 0.5:.1f}" if len(accuracy) > 1 else ""
        cells.append(f"{100 * accuracy.mean():.1f}{error if method in ('vote', 'circuit', 'forest') else ''}")
    gates = [np.mean([scored[method].gates for scored in scores]) for method in ("circuit", "vote")]
    seconds = [scored["vote"].seconds for scored in scores]
    used = {column for scored in scores for column in scored["vote"].columns}
    ids = f" IDS USED: {', '.join(sorted(used & ID_COLUMNS))}" if used & ID_COLUMNS else ""
    return (
        f"| {name} | {' | '.join(cells)} | {gates[0]:.0f} | {gates[1]:.0f} "
        f"| {np.mean(seconds):.1f} | {max(seconds):.1f}{ids} |"
    )


def emotions(folder: Path) -> Iterator[str]:
    """Six labels at once, with the training and test rows of the files."""
    parts = [read_examples(folder / f"emotions-{part}.arff") for part in ("train", "test")]
    begin = time.process_time()
    table, labels = parts[0].columns, parts[0].targets
    model = fit_table(table, labels, FitSettings(), Run())
    yield f"emotions: {model.network.n_gates} gates, {time.process_time() - begin:.1f} CPU s"
    yield "| label | training rows: vote | circuit | majority | test rows: vote | circuit | majority |"
    yield "|---|---|---|---|---|---|---|"
    cells: list[list[str]] = [[] for _ in labels]
    for part in parts:
        truth = np.column_stack(list(part.targets.values()))
        usual = np.array([np.bincount(column).argmax() for column in labels.values()])
        for predicted in (model.predict(part.columns), model.single().predict(part.columns), usual):
            for k, share in enumerate((predicted == truth).mean(axis=0)):
                cells[k].append(f"{100 * share:.1f}")
    for name, found in zip(labels, cells, strict=True):
        yield f"| {name} | {' | '.join(found)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", default=",".join(TABLES), help="tables, with commas between")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first-split", type=int, default=0)
    options = parser.parse_args()
    # Compiled code is loaded once, and is no part of any fit.
    BooleanNetworkClassifier(n_circuits=2, random_state=0).fit([[0.5], [1.5], [2.5]] * 4, [0, 1, 0] * 4)
    print("| table | vote | one circuit | forest | tree | majority | gates | gates of all | CPU s | CPU s at most |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in options.only.split(","):
        if name == "emotions":
            print(*emotions(options.folder), sep="\n", flush=True)
            continue
        columns, labels = read(options.folder, name)
        seeds = range(options.first_split, options.first_split + options.splits)
        print(row(name, [split(columns, labels, seed) for seed in seeds]), flush=True)


if __name__ == "__main__":
    main()
