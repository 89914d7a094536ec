"""Compare our searches with the published implementation's means: test accuracy and steps to zero error.

Its figures are means over at least 100 training sets with 21 gates per target in the known order. Ours agree if they differ by
less than three combined standard errors; the step counts are heavy-tailed, so their medians are printed too.

    python benchmarks/reference_means.py --sets 200 --n-jobs 2
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from gradus import search
from gradus.problems import load

PUBLISHED = {
    ("cpar7", 56): {
        "l1": (0.950, 0.005, 2.05, 1.39), "lw": (0.970, 0.004, 2.02, 1.34),
        "llh": (0.976, 0.003, 3.44, 1.67), "lgh": (0.982, 0.002, 2.11, 1.34),
    },
    ("cmaj9", 96): {
        "l1": (0.913, 0.002, 1.91, 1.29), "lw": (0.918, 0.002, 2.39, 1.41),
        "llh": (0.918, 0.002, 2.73, 1.41), "lgh": (0.923, 0.002, 2.07, 1.49),
    },
}  # fmt: skip
"""Test accuracy with its standard error, and million steps to zero error as mean and median."""


def one(name: str, examples: int, loss: str, sample: int) -> tuple[float, int, bool]:
    """Test accuracy and steps of one training."""
    problem = load(name)
    train, test = problem.sample(examples, sample)
    result = search(
        problem.X[train], problem.Y[train], loss=loss, order=None, history=1000 if name == "cpar7" else 250, seed=sample
    )
    right = result.network.predict(problem.X[test]) == problem.Y[test]
    return float(right.mean()), result.iterations, result.converged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--n-jobs", type=int, default=2)
    arguments = parser.parse_args()
    print("| problem | loss | accuracy, published | ours | z | M steps, published mean (median) | ours | failed |")
    print("|---|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(arguments.n_jobs) as pool:
        for (name, examples), losses in PUBLISHED.items():
            for loss, (mean, error, steps, median) in losses.items():
                jobs = [pool.submit(one, name, examples, loss, sample) for sample in range(arguments.sets)]
                accuracy, iterations, converged = (np.array(part) for part in zip(*(j.result() for j in jobs), strict=True))
                accuracy, millions = accuracy[converged], iterations[converged] / 1e6
                own = accuracy.std(ddof=1) / len(accuracy) ** 0.5
                steps_error = millions.std(ddof=1) / len(millions) ** 0.5
                z = (accuracy.mean() - mean) / (own**2 + error**2) ** 0.5
                print(
                    f"| {name}/{examples} | {loss} | {mean:.3f} ± {error:.3f} | {accuracy.mean():.4f} ± {own:.4f} | {z:+.1f} "
                    f"| {steps:.2f} ({median:.2f}) | {millions.mean():.2f} ± {steps_error:.2f} ({np.median(millions):.2f}) "
                    f"| {(~converged).sum()} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
