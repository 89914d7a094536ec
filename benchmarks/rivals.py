"""Circuits beside programs that look for formulas, two-level logic or readable rules, each in an environment of its own.

    python benchmarks/rivals.py WHEELS --cars car.csv
    python benchmarks/rivals.py WHEELS --page interpretable_rules --only "parity of 5"

WHEELS is a folder of wheels, made beforehand from a package index (the environments go into a folder inside it):

    pip download --only-binary :all: -d WHEELS gplearn==0.4.3
    pip wheel -w WHEELS pyeda==0.29.0      # espresso: there is only its source

and so on for what RIVALS in benchmarks/rival_fits.py lists. Writes the tables of docs/symbolic_regression.md,
docs/logic_minimisation.md and docs/interpretable_rules.md: mean accuracy on the test rows, size and CPU seconds of one core.
The MONK's problems have their published training rows (and all 432 rows as test rows, as published); all else is drawn
as often as --draws says.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import gradus
from gradus._cli.data import read_examples
from gradus._core.run import Run
from gradus._tables.fit import FitSettings, fit_table
from rival_fits import RIVALS

Array = npt.NDArray[Any]
# The published training rows: bit i-1 is the row that the files call data_i, in the order of the full table.
MONKS_ROWS = (
    0xAA00E18EA0854500230082810828090809032007209211014004E1AB201C48909840DB30C5EA08DA444438E00884B19602500C240030,
    0x853501002035A12D3935063A8E04F92BEA40B0259646B1238D19E9701190AB84496A081904A270986C3AF35044FB7A020AD003445748,
    0xA128034D806061022802104801A00482801585904A102D10403208B906A00240086803C340A0871160440D0D906F1C1033C88800895E,
)
MONKS_WRONG = ((), (), (5, 61, 203, 213, 214, 391))  # published training labels that are not as the rule says
MONKS_VALUES = (3, 3, 2, 3, 4, 2)


@dataclass(frozen=True)
class Draw:
    """Training and test rows: columns as they are, the same as numbers with one column for each category, and labels."""

    columns: dict[str, Array]
    X: Array
    y: Array
    train: Array
    test: Array
    truth: Array
    """The labels of all rows without those that were flipped."""


def monks(number: int) -> Iterator[Draw]:
    """Yield the published split of a MONK's problem."""
    rows = np.array(list(itertools.product(*(range(1, n + 1) for n in MONKS_VALUES))))
    a1, a2, _, a4, a5, _ = rows.T
    truth = ((a1 == a2) | (a5 == 1), (rows == 1).sum(axis=1) == 2, ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3)))[
        number - 1
    ]
    labels = truth.copy()
    labels[np.array(MONKS_WRONG[number - 1], int) - 1] ^= True
    train = np.array([i for i in range(432) if MONKS_ROWS[number - 1] >> i & 1])
    columns = {f"a{k + 1}": np.char.add("v", column.astype(str)) for k, column in enumerate(rows.T)}
    yield Draw(columns, one_hot(columns), labels, train, np.arange(432), truth)


def flipped(function: Callable[[Array], Array], inputs: int, n_train: int, share: float) -> Iterator[Draw]:
    """Yield random rows of bits with a share of the training labels flipped, and 5,000 test rows with none."""
    for seed in itertools.count():
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (n_train + 5000, inputs))
        truth = function(X)
        labels = truth ^ (rng.random(len(X)) < share)
        train, test = np.split(np.arange(len(X)), [n_train])
        yield Draw({f"x{k}": column for k, column in enumerate(X.T)}, X, labels, train, test, truth)


def table(columns: dict[str, Array], labels: Array) -> Iterator[Draw]:
    """Yield splits of a table into 70 % training and 30 % test rows, stratified."""
    X = one_hot(columns)
    for seed in itertools.count():
        train, test = train_test_split(np.arange(len(X)), test_size=0.3, stratify=labels, random_state=seed)
        yield Draw(columns, X, labels, train, test, labels)


def one_hot(columns: dict[str, Array]) -> Array:
    """Return columns as numbers: those of words with one column for each word."""
    parts = [
        column[:, np.newaxis] == np.unique(column) if column.dtype.kind in "UO" else column[:, np.newaxis]
        for column in columns.values()
    ]
    return np.hstack(parts).astype(float)


def problem(name: str) -> Iterator[Draw]:
    """Yield the rows of a built-in problem, with several outputs."""
    found = gradus.problems.load(name)
    for seed in itertools.count():
        train, test = found.sample({"add4": 64, "cpar7": 32, "cmux15": 96}[name], seed=seed)
        rows = np.concatenate([train, test])
        X, Y = np.asarray(found.X)[rows].astype(int), np.asarray(found.Y)[rows].astype(int)
        parts = np.arange(len(train)), np.arange(len(train), len(rows))
        yield Draw(dict(zip(found.input_names, X.T, strict=True)), X, Y, *parts, Y)


def cars(file: Path | None) -> Iterator[Draw]:
    """Yield splits of the car table: is a car acceptable, from six columns of words."""
    if file is None:
        sys.exit("The car table needs --cars FILE.csv.")
    examples = read_examples(file, ["Class_Values"])
    columns = {name: np.asarray(column).astype(str) for name, column in examples.columns.items()}
    yield from table(columns, np.asarray(examples.targets["Class_Values"]).astype(str) != "unacc")


def cancer() -> Iterator[Draw]:
    """Yield splits of the breast cancer table of scikit-learn: 30 columns of numbers."""
    data = load_breast_cancer()
    columns = {str(name): column for name, column in zip(data.feature_names, data.data.T, strict=True)}
    yield from table(columns, data.target == 1)


def xor(X: Array) -> Array:
    """Return the exclusive or of two columns."""
    return X[:, 0] ^ X[:, 1] == 1


def parity(X: Array) -> Array:
    """Return the parity of five columns."""
    return X[:, :5].sum(axis=1) % 2 == 1


NOISY = {
    "exclusive or, 12 columns, 40 % flipped, 5,000 rows": lambda _: flipped(xor, 12, 5000, 0.4),
    "parity of 5 of 16 columns, 10 % flipped, 500 rows": lambda _: flipped(parity, 16, 500, 0.1),
}
MONKS = {f"MONK's {k}, {n} rows": lambda _, k=k: monks(k) for k, n in ((1, 124), (2, 169), (3, 122))}
LOGIC = {
    "4-bit addition, 64 of 256 rows": lambda _: problem("add4"),
    "parities of 1 to 7 bits, 32 of 128 rows": lambda _: problem("cpar7"),
    "15-input multiplexer, 96 of 32,768 rows": lambda _: problem("cmux15"),
}
TABLES = {"car, 1,209 rows": cars, "breast cancer, 398 rows": lambda _: cancer()}
PAGES = {
    "symbolic_regression": (("gplearn",), MONKS | NOISY),
    "logic_minimisation": (("espresso",), LOGIC | MONKS | NOISY),
    "interpretable_rules": (("GOSDT", "FIGS", "EBM", "Tsetlin"), MONKS | NOISY | TABLES),
}


def circuit(draw: Draw, seed: int) -> dict[str, dict[str, float]]:
    """Score the circuit of ``gradus.learn`` on rows of bits."""
    begin = time.process_time()
    learned = gradus.learn(draw.X[draw.train].astype(int), np.atleast_2d(draw.y.T).T[draw.train].astype(int), seed=seed)
    seconds = time.process_time() - begin
    right = learned.predict(draw.X[draw.test].astype(int)) == np.atleast_2d(draw.truth[draw.test].T).T
    return {"Gradus (gates)": {"accuracy": float(right.mean()), "size": float(learned.n_gates), "seconds": seconds}}


def rules(draw: Draw, seed: int) -> dict[str, dict[str, float]]:
    """Score the vote and the circuit shown of the table estimator."""
    parts = [{name: column[rows] for name, column in draw.columns.items()} for rows in (draw.train, draw.test)]
    begin = time.process_time()
    model = fit_table(parts[0], {"y": draw.y[draw.train]}, FitSettings(seed=seed), Run())
    seconds = time.process_time() - begin
    scores = {}
    for name, scored in (("Gradus, rules shown (conditions)", model.single()), ("Gradus, vote", model)):
        right = scored.predict(parts[1]) == draw.truth[draw.test]
        size = sum(statement.n_conditions for statement in model.single().statements)
        scores[name] = {"accuracy": float(right.mean()), "size": float(size), "seconds": seconds}
    return scores


def environments(names: tuple[str, ...], wheels: Path) -> dict[str, Path]:
    """Install each rival in an environment of its own, unless that was done before, and return their interpreters."""
    pythons = {name: wheels / "environments" / name / "bin" / "python" for name in names}
    for name, python in pythons.items():
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
            install = ["-m", "pip", "install", "--quiet", "--no-index", "--find-links", wheels, *RIVALS[name].packages]
            subprocess.run([python, *install], check=True)
    return pythons


def rival(name: str, python: Path, draw: Draw, seed: int) -> dict[str, float]:
    """Score a rival on the same rows, in its environment."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data.npz")
        X, y = draw.X, draw.y.astype(int)
        np.savez(
            file, X=X[draw.train], y=y[draw.train], X_test=X[draw.test], y_test=draw.truth[draw.test].astype(int), seed=seed
        )
        script = [python, Path(__file__).with_name("rival_fits.py"), name, file]
        done = subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")
    scores: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return scores


def row(name: str, scores: list[dict[str, dict[str, float]]]) -> str:
    """Return the line of a problem: accuracy (with its standard error), size and seconds of each method."""
    cells = []
    for method in scores[0]:
        found = {key: np.array([score[method][key] for score in scores]) for key in scores[0][method]}
        right = 100 * found["accuracy"]
        error = f" ± {right.std(ddof=1) / len(right) ** 0.5:.1f}" if len(right) > 1 else ""
        cells.append(f"{right.mean():.1f}{error}; {found['size'].mean():.0f}; {found['seconds'].mean():.1f} s")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--cars", type=Path, help="the car table of the UCI repository as CSV")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--page", choices=PAGES, action="append", help="only the table of this page")
    parser.add_argument("--only", default="", help="only problems whose name begins so")
    options = parser.parse_args()
    # Compiled code is loaded once, and is no part of any fit.
    gradus.BooleanNetworkClassifier(n_circuits=2, random_state=0).fit([[0.5], [1.5], [2.5]] * 4, [0, 1, 0] * 4)
    for page in options.page or PAGES:
        names, problems = PAGES[page]
        ours = rules if page == "interpretable_rules" else circuit
        pythons = environments(names, options.wheels.resolve())
        print(f"\n{page}", flush=True)
        heading = True
        for title, draws in problems.items():
            if not title.startswith(options.only):
                continue
            scores = []
            for seed, draw in enumerate(itertools.islice(draws(options.cars), options.draws)):
                scores.append(ours(draw, seed) | {name: rival(name, pythons[name], draw, seed) for name in names})
            if heading:
                heads = [name if name not in RIVALS else f"{name} ({RIVALS[name].unit})" for name in scores[0]]
                print(f"| | {' | '.join(heads)} |\n|---{'|---' * len(heads)}|")
                heading = False
            print(row(title, scores), flush=True)


if __name__ == "__main__":
    main()
