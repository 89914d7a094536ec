"""Accuracy on unseen rows against the number of examples: lessons, a random forest, and the paper's search.

    python benchmarks/sample_sizes.py docs/figures/sizes.png [--sets 10]

Draws the README's picture. Training sets are numbers 20000 and up of each problem; no setting was chosen on them. Curves of
the paper's losses come from docs/results/results.parquet. Ten sets take about four minutes on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier

import gradus

PUBLISHED = Path(__file__).parents[1] / "docs" / "results" / "results.parquet"
SIZES = {"cpar7": (8, 12, 16, 20, 24, 32, 40), "add6": (16, 24, 32, 40, 48, 56, 64, 72, 80, 96)}
TITLES = {"cpar7": "7-bit parity, 128 rows", "add6": "6-bit addition, 4,096 rows"}
LARGEST = {"cpar7": 64, "add6": 112}
FIRST_SET = 20000


def measured(name: str, sets: int) -> dict[str, dict[int, list[float]]]:
    """Accuracies of lessons and a forest on the same training sets, by size."""
    problem = gradus.problems.load(name)
    found: dict[str, dict[int, list[float]]] = {"lessons": {}, "forest": {}}
    for size in SIZES[name]:
        for number in range(sets):
            train, test = problem.sample(size, seed=FIRST_SET + number)
            X, Y = problem.X[train], problem.Y[train]
            for method, predict in {
                "lessons": gradus.learn(X, Y, seed=number).predict,
                "forest": RandomForestClassifier(200, random_state=number).fit(X, Y).predict,
            }.items():
                right = float((predict(problem.X[test]) == problem.Y[test]).mean())
                found[method].setdefault(size, []).append(right)
        print(name, size, *(f"{method} {np.mean(some[size]):.4f}" for method, some in found.items()), flush=True)
    return found


def published(name: str, loss: str) -> dict[int, list[float]]:
    """Accuracies of the paper's search in the published rows, the order given, by size."""
    columns = ["n_train", "test_accuracy_mean"]
    chosen = [("problem", "=", name), ("loss", "=", loss), ("order", "=", "known"), ("n_train", "<=", LARGEST[name])]
    found: dict[int, list[float]] = {}
    for row in pq.read_table(PUBLISHED, columns=columns, filters=[*chosen, ("status", "=", "done")]).to_pylist():
        found.setdefault(row["n_train"], []).append(row["test_accuracy_mean"])
    return dict(sorted(found.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("picture")
    parser.add_argument("--sets", type=int, default=10)
    given = parser.parse_args()
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2, sharey=True), SIZES, strict=True):
        ours = measured(name, given.sets)
        for label, colour, points in [
            (f"lessons, no order given ({given.sets} training sets)", "#0072b2", ours["lessons"]),
            ("the paper's $L_{gh}$, order given", "#d55e00", published(name, "lgh")),
            ("plain loss $L_1$", "#555555", published(name, "l1")),
            (f"random forest ({given.sets} training sets)", "#009e73", ours["forest"]),
        ]:
            means = 100 * np.array([np.mean(some) for some in points.values()])
            spread = 196 * np.array([np.std(some, ddof=1) / len(some) ** 0.5 for some in points.values()])
            axes.plot(list(points), means, "o-", ms=3.5, color=colour, label=label)
            axes.fill_between(list(points), means - spread, np.minimum(means + spread, 100), color=colour, alpha=0.18, lw=0)
        axes.set(title=TITLES[name], xlabel="training examples")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("unseen values right, %")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(given.picture, dpi=150)


if __name__ == "__main__":
    main()
