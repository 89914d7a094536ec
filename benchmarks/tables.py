"""Accuracy of circuits on ordinary tables, beside a random forest, a decision tree and the majority class.

    python benchmarks/tables.py FOLDER
    python benchmarks/tables.py FOLDER --only car,titanic --splits 4 --first-split 100
    python benchmarks/tables.py FOLDER --only emotions
    python benchmarks/tables.py FOLDER --only thirteen --splits 3
    python benchmarks/tables.py --only noisy1000,noisy5000

Every table is split into 70 % training and 30 % test rows, ten times at random, stratified by the target. Only the target is
given; which columns are numbers, categories or ids is found on the training rows. "thirteen" stands for the tables in the
folder of that name, whose target is the last column. A condition is one comparison in the text of all rules together. All
seconds are CPU seconds of one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from gradus import BooleanNetworkClassifier
from gradus._cli.data import read_examples
from gradus._core.cells import is_unknown
from gradus._core.run import Run
from gradus._formats.table_files import read_table
from gradus._tables.column_kinds import column_kinds
from gradus._tables.fit import FitSettings, fit_table
from gradus._tables.held_out import as_numbers
from gradus._tables.labels import encode_target

TABLES = ("zoo", "car", "monks1", "titanic", "iris", "wine", "breast_cancer", "digits")
FILE_TARGETS = {"zoo": "race", "car": "Class_Values", "monks1": "result", "titanic": "Survived"}
NOISY = {"noisy1000": (1000, 30), "noisy5000": (5000, 50)}
ID_COLUMNS = {"animal", "ID", "PassengerId", "Name", "Ticket"}
METHODS = ("vote", "circuit", "forest", "tree", "tree of 8", "majority")
THIRTEEN = (
    "anes",
    "biopsy",
    "birthwt",
    "cancer",
    "cars",
    "fair",
    "hdma",
    "iris",
    "mroz",
    "penguins",
    "pima",
    "titanic",
    "turnout",
)

Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Score:
    """One method on one split."""

    accuracy: float
    gates: float = 0
    conditions: float = 0
    seconds: float = 0.0
    columns: tuple[str, ...] = ()


def read(folder: Path | None, name: str) -> tuple[Columns, npt.NDArray[Any]]:
    """Return the columns of a table and its target."""
    if name in FILE_TARGETS or name.startswith("thirteen/"):
        if folder is None:
            sys.exit(f"{name} needs the folder of tables as an argument.")
        file = folder / f"{name}.csv"
        examples = read_examples(file, [FILE_TARGETS.get(name) or read_table(file).columns[-1]])
        labels = next(iter(examples.targets.values()))
        known = ~is_unknown(labels)
        # Labels without those that are unknown may be numbers again.
        return {name: column[known] for name, column in examples.columns.items()}, np.array(labels[known].tolist())
    if name in NOISY:
        n, k = NOISY[name]
        X, y = datasets.make_classification(n, k, n_informative=8, flip_y=0.1, random_state=0)  # half of the redrawn change
    else:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return {f"x{j}": column for j, column in enumerate(X.T)}, (y == 0).astype(int) if name == "digits" else y


def split(columns: Columns, labels: npt.NDArray[Any], seed: int) -> dict[str, Score]:
    """Score every method on one split."""
    parts = train_test_split(np.arange(len(labels)), test_size=0.3, stratify=labels, random_state=seed)
    train, test = ({name: column[rows] for name, column in columns.items()} for rows in parts)
    y, truth = (labels[rows] for rows in parts)
    kinds = column_kinds(train)
    begin = time.process_time()
    model = fit_table(train, {"y": y}, FitSettings(seed=seed, kinds=kinds), Run())
    seconds = time.process_time() - begin
    found = {}
    for name, scored in (("vote", model), ("circuit", model.single())):
        gates = sum(network.n_gates for network in scored.networks)
        conditions = sum(said.n_conditions for said in scored.statements)
        right = float((scored.predict(test) == truth).mean())
        found[name] = Score(right, gates, conditions, seconds, scored.feature_names)
    _, classes, codes = encode_target(y, "y")
    X, X_test = as_numbers(train, test, kinds, codes[:, np.newaxis])
    for name, peer in (
        ("forest", RandomForestClassifier(200, random_state=seed)),
        ("tree", DecisionTreeClassifier(random_state=seed)),
        ("tree of 8", DecisionTreeClassifier(max_leaf_nodes=8, random_state=seed)),
    ):
        begin = time.process_time()
        peer.fit(X, codes)
        seconds = time.process_time() - begin
        found[name] = Score(float((classes[peer.predict(X_test)] == truth).mean()), seconds=seconds)
    found["majority"] = Score(float((truth == classes[np.bincount(codes).argmax()]).mean()))
    return found


def mean_of_tables(scores: Sequence[dict[str, Score]]) -> dict[str, Score]:
    """Return the mean of several tables in one split."""
    means = {}
    for method in METHODS:
        rows = [astuple(scored[method])[:4] for scored in scores]
        means[method] = Score(*np.mean(rows, axis=0).tolist())
    return means


def row(name: str, scores: list[dict[str, Score]]) -> str:
    """Return a line of the table: accuracies with standard errors, gates and seconds."""
    cells = []
    for method in METHODS:
        accuracy = np.array([scored[method].accuracy for scored in scores])
        error = f" ± {100 * accuracy.std(ddof=1) / len(accuracy) ** 0.5:.1f}" if len(accuracy) > 1 else ""
        cells.append(f"{100 * accuracy.mean():.1f}{error if method in ('vote', 'circuit', 'forest') else ''}")
    gates = [np.mean([scored[method].gates for scored in scores]) for method in ("circuit", "vote")]
    conditions = np.mean([scored["circuit"].conditions for scored in scores])
    seconds = [scored["vote"].seconds for scored in scores]
    used = {column for scored in scores for column in scored["vote"].columns}
    ids = f" IDS USED: {', '.join(sorted(used & ID_COLUMNS))}" if used & ID_COLUMNS else ""
    return (
        f"| {name} | {' | '.join(cells)} | {conditions:.1f} | {gates[0]:.1f} | {gates[1]:.0f} "
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
    heads = ("table", *METHODS, "conditions", "gates", "gates of all", "CPU s", "CPU s at most")
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    seeds = range(options.first_split, options.first_split + options.splits)
    for name in options.only.split(","):
        if name == "emotions":
            print(*emotions(options.folder), sep="\n", flush=True)
            continue
        members = [f"thirteen/{member}" for member in THIRTEEN] if name == "thirteen" else [name]
        found = []
        for member in members:
            columns, labels = read(options.folder, member)
            found.append([split(columns, labels, seed) for seed in seeds])
            print(row(member, found[-1]), flush=True)
        if len(members) > 1:
            print(row(f"{name}, mean", list(map(mean_of_tables, zip(*found, strict=True)))), flush=True)


if __name__ == "__main__":
    main()
