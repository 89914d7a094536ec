"""What shrinking and keeping the smallest of several networks do to test accuracy, on five beds.

For each bed, loss and training set, seven searches run to zero error and then go on shrinking, so that the networks with and
without shrinking start from the same point and every difference is paired. Rows are appended to a file as they come; a second
call goes on where the first one stopped.

    python benchmarks/shrink_study.py run rows.jsonl --sets 50 --shrink 5000000 --workers 2
    python benchmarks/shrink_study.py table rows.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from gradus._network import Network
from gradus._search.front import attempt_seeds
from gradus._search.settings import Settings
from gradus._search.workspace import Workspace
from gradus.problems import load

BEDS = {"cpar7": 40, "cmaj9": 64, "add6": 80, "sub5": 64, "cmux15": 64}
LOSSES = ("l1", "lgh")
ATTEMPTS = 7


def accuracy(problem, test, sources):
    """Test accuracy over all targets of a network whose outputs are in the problem's order."""
    m = problem.Y.shape[1]
    nodes = problem.X.shape[1] + len(sources)
    network = Network(problem.X.shape[1], sources, range(nodes - m, nodes))
    return float((network.predict(problem.X[test]) == problem.Y[test]).mean())


def one_set(bed: str, loss: str, sample: int, shrink: int) -> list[dict]:
    """Seven searches on one training set, before and after shrinking."""
    problem = load(bed)
    train, test = problem.sample(BEDS[bed], sample)
    settings = Settings(loss=loss, history=1000 if bed == "cpar7" else 250, max_iter=64_000_000, n_restarts=3, shrink=shrink)
    X, Y = np.asarray(problem.X)[train].astype(bool), np.asarray(problem.Y)[train].astype(bool)
    work = Workspace(X, Y, settings)
    rows = []
    for attempt, words in enumerate(attempt_seeds(sample, ATTEMPTS)):
        iterations = search(work, words)
        row = {"bed": bed, "loss": loss, "sample": sample, "attempt": attempt, "iterations": iterations}
        converged = work.best_cost == 0
        rows.append(row | _measure(problem, test, work, converged) | {"shrunk": False})
        if converged:
            work.start_shrinking()
            work.shrink(shrink)
        rows.append(row | _measure(problem, test, work, converged) | {"shrunk": True})
    return rows


def search(work: Workspace, words) -> int:
    """Search to zero error with restarts; return the steps taken."""
    work.seed(words)
    iterations = 0
    for _ in range(work.settings.n_restarts + 1):
        work.start()
        iterations += work.descend(work.settings.max_iter)
        if not work.cost:
            break
    return iterations


def _measure(problem, test, work, converged):
    right = accuracy(problem, test, work.best_sources())
    return {"converged": converged, "gates": work.best_live_gates(), "accuracy": right}


def run(path: Path, sets: int, shrink: int, workers: int, beds: list[str]) -> None:
    done = {(row["bed"], row["loss"], row["sample"]) for row in _rows(path)} if path.exists() else set()
    todo = [(bed, loss, sample) for sample in range(sets) for bed in beds for loss in LOSSES]
    todo = [key for key in todo if key not in done]
    with ProcessPoolExecutor(workers, initializer=os.nice, initargs=(10,)) as pool, open(path, "a") as file:
        futures = [pool.submit(one_set, *key, shrink) for key in todo]
        for count, future in enumerate(as_completed(futures), 1):
            file.write("".join(json.dumps(row) + "\n" for row in future.result()))
            file.flush()
            print(f"{count} of {len(todo)}", flush=True)


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def summarise(rows: list[dict]) -> list[dict]:
    """Mean accuracy with standard error for each bed, loss, with or without shrinking, best of 1 and of 7."""
    sets: dict[tuple, list[dict]] = {}
    for row in rows:
        sets.setdefault((row["bed"], row["loss"], row["shrunk"], row["sample"]), []).append(row)
    cells: dict[tuple, list[dict]] = {}
    for (bed, loss, shrunk, _), attempts in sets.items():
        attempts = sorted(attempts, key=lambda row: row["attempt"])
        for best_of in (1, ATTEMPTS):
            smallest = min(attempts[:best_of], key=lambda row: (not row["converged"], row["gates"]))
            cells.setdefault((bed, loss, shrunk, best_of), []).append(smallest)
    table = []
    for (bed, loss, shrunk, best_of), kept in cells.items():
        good = [row for row in kept if row["converged"]]
        values = np.array([row["accuracy"] for row in good])
        table.append(
            {
                "bed": f"{bed}/{BEDS[bed]}", "loss": loss, "shrink": shrunk, "best_of": best_of, "sets": len(kept),
                "not_converged": len(kept) - len(good), "accuracy": values.mean(),
                "se": values.std(ddof=1) / len(values) ** 0.5, "gates": np.mean([row["gates"] for row in good]),
            }
        )  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("run", "table"))
    parser.add_argument("rows", type=Path)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--shrink", type=int, default=5_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--beds", nargs="+", default=list(BEDS), choices=list(BEDS))
    arguments = parser.parse_args()
    if arguments.verb == "run":
        run(arguments.rows, arguments.sets, arguments.shrink, arguments.workers, arguments.beds)
        return
    print("| bed | loss | shrink | best of | sets | not converged | test accuracy | live gates |")
    print("|---|---|---|---|---|---|---|---|")
    for cell in summarise(_rows(arguments.rows)):
        print(
            f"| {cell['bed']} | {cell['loss']} | {'yes' if cell['shrink'] else 'no'} | {cell['best_of']} | {cell['sets']} "
            f"| {cell['not_converged']} | {cell['accuracy']:.4f} ± {cell['se']:.4f} | {cell['gates']:.1f} |"
        )


if __name__ == "__main__":
    main()
