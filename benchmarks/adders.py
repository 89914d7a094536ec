"""Adding two k-bit numbers, no order given: accuracy, gates and CPU seconds, as the number of targets grows.

    python benchmarks/adders.py 12/160 16/200 24/300 32/400 64/800 --sets 5

A case is bits/examples. Training set i and 4,000 other rows are drawn at random; the targets are shuffled, and one circuit is
learned.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

from gradus import kendall_tau, learn, problems


def fit(bits: int, n: int, number: int) -> tuple[float, int, float, float]:
    """Learn one training set: accuracy on other rows, gates, agreement with the order from the lowest bit, and CPU seconds."""
    problem, rng = problems.load(f"add{bits}"), np.random.default_rng([number, bits, n])
    X, T = rng.random((n, 2 * bits)) < 0.5, rng.random((4000, 2 * bits)) < 0.5
    columns = rng.permutation(bits)
    Y, U = problem.evaluate(X)[:, columns], problem.evaluate(T)[:, columns]
    begin = time.process_time()
    result = learn(X, Y, n_circuits=1)
    seconds = time.process_time() - begin
    order = np.argsort(columns).tolist()
    return float((result.predict(T) == U).mean()), result.n_gates, kendall_tau(result.order, order), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="+", metavar="BITS/EXAMPLES")
    parser.add_argument("--sets", type=int, default=5, help="training sets per case")
    parser.add_argument("--first-set", type=int, default=0, help="number of the first training set")
    options = parser.parse_args()
    fit(10, 120, 0)  # compiles
    print(
        "| bits/examples | sets | accuracy | gates | 5 k - 6 | tau | CPU s, mean (max) |",
        "|---|---|---|---|---|---|---|",
        sep="\n",
    )
    for case in options.cases:
        bits, n = map(int, case.split("/"))
        numbers = range(options.first_set, options.first_set + options.sets)
        accuracy, gates, tau, seconds = np.array([fit(bits, n, number) for number in numbers]).T
        means = f"{accuracy.mean():.4f} | {gates.mean():.1f} | {5 * bits - 6} | {tau.mean():.2f}"
        print(f"| {case} | {len(numbers)} | {means} | {seconds.mean():.2f} ({seconds.max():.2f}) |", flush=True)


if __name__ == "__main__":
    main()
