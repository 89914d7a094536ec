"""Files that the tests of the command line read."""

from __future__ import annotations

import csv
from pathlib import Path

from gradus import problems


def write_csv(path: Path, header, rows) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def write_problem(path: Path, name: str, examples: int | None = None) -> Path:
    problem = problems.load(name)
    rows = problem.sample(examples, seed=0)[0] if examples else range(problem.n_patterns)
    table = [[*problem.X[row].astype(int), *problem.Y[row].astype(int)] for row in rows]
    return write_csv(path, [*problem.input_names, *problem.target_names], table)


def write_series(path: Path, series) -> Path:
    return write_csv(path, series.genes, series.states.astype(int).tolist())
