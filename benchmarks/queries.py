"""How many rows the learner needs if it may choose them: random ones against those that `next_examples` asks for.

    python benchmarks/queries.py add6 --runs 20 --noise 0 --circuits 1

Each run begins with the same few random rows and gets more, some at a time, until the vote is right on all patterns. Both ways
have the same learner: its settings and seeds are equal.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

from gradus import LearnResult, learn, problems


def rows_needed(name: str, run: int, first: int, step: int, asks: bool, settings: dict[str, Any]) -> tuple[int, float]:
    """Return the rows with which the vote becomes right on all patterns, and the CPU seconds of all lessons."""
    problem, begin = problems.load(name), time.process_time()
    X, Y = problem.X, problem.Y
    order = np.random.default_rng(run).permutation(len(X))
    rows, used = order[:first].tolist(), set(order[:first].tolist())
    rest = order[first:].tolist()
    place = {pattern.tobytes(): number for number, pattern in enumerate(X)}
    while True:
        result: LearnResult = learn(X[rows], Y[rows], seed=run, **settings)
        if (result.predict(X) == Y).all():
            return len(rows), time.process_time() - begin
        wanted = [place[pattern.tobytes()] for pattern in result.next_examples(step)] if asks else []
        more = [row for row in wanted if row not in used]
        more += [row for row in rest if row not in used and row not in more][: step - len(more)]
        rows += more
        used.update(more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problem")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=16, help="random rows that each run begins with")
    parser.add_argument("--step", type=int, default=4, help="rows added at a time")
    parser.add_argument("--circuits", type=int, help="circuits that vote; by default as many as usual")
    parser.add_argument(
        "--noise", default="auto", help="share of wrong labels; an engineer who asks a device knows that it is 0"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    options = parser.parse_args()
    noise = options.noise if options.noise == "auto" else float(options.noise)
    settings = {"n_circuits": options.circuits, "noise": noise}
    needed = np.zeros((options.runs, 2), dtype=np.int64)
    for run in range(options.runs):
        for asks in (False, True):
            needed[run, int(asks)], seconds = rows_needed(
                options.problem, options.seed + run, options.first, options.step, asks, settings
            )
            what = "asked for" if asks else "random"
            print(f"run {run}: {needed[run, int(asks)]} rows {what}, {seconds:.1f} CPU s", flush=True)
    random, asked = needed.mean(axis=0)
    errors = needed.std(axis=0, ddof=1) / options.runs**0.5 if options.runs > 1 else np.zeros(2)
    print("| problem | runs | random rows (most) | rows asked for (most) | share |\n|---|---|---|---|---|")
    cells = (f"{needed[:, k].mean():.1f} ± {errors[k]:.1f} ({needed[:, k].max()})" for k in (0, 1))
    print(f"| {options.problem} | {options.runs} | {' | '.join(cells)} | {asked / random:.2f} |")


if __name__ == "__main__":
    main()
