"""Accuracy on unseen rows against the number of examples: the README's picture, from the published rows.

python benchmarks/sample_sizes.py docs/figures/sizes.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from matplotlib.figure import Figure

from gradus_paper.figures.style import COLOURS

RESULTS = Path(__file__).parents[1] / "docs" / "results"
PAPER, BEYOND = RESULTS / "results.parquet", RESULTS / "beyond" / "results.parquet"
TITLES = {"cpar7": "7-bit parity, 128 rows", "add6": "6-bit addition, 4,096 rows"}
LARGEST = {"cpar7": 64, "add6": 112}
CURVES = [
    ("lessons, no order given", COLOURS["lessons"], BEYOND, [("method", "=", "lessons"), ("noise", "=", 0.0)]),
    ("the paper's $L_{gh}$, order given", COLOURS["lgh"], PAPER, [("loss", "=", "lgh"), ("order", "=", "known")]),
    ("plain loss $L_1$", COLOURS["l1"], PAPER, [("loss", "=", "l1"), ("order", "=", "known")]),
    ("random forest", COLOURS["forest"], BEYOND, [("method", "=", "forest"), ("noise", "=", 0.0)]),
]


def accuracies(path: Path, name: str, wanted: list[tuple[str, str, object]]) -> dict[int, list[float]]:
    """Return the accuracies of the published rows of a problem, by size."""
    filters = [("problem", "=", name), ("n_train", "<=", LARGEST[name]), ("status", "=", "done"), *wanted]
    found: dict[int, list[float]] = {}
    for row in pq.read_table(path, columns=["n_train", "test_accuracy_mean"], filters=filters).to_pylist():
        found.setdefault(row["n_train"], []).append(row["test_accuracy_mean"])
    return dict(sorted(found.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("picture")
    given = parser.parse_args()
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2, sharey=True), TITLES, strict=True):
        for label, colour, path, wanted in CURVES:
            points = accuracies(path, name, wanted)
            means = 100 * np.array([np.mean(some) for some in points.values()])
            spread = 196 * np.array([np.std(some, ddof=1) / len(some) ** 0.5 for some in points.values()])
            axes.plot(list(points), means, "o-", ms=3.5, color=colour, label=label)
            axes.fill_between(list(points), means - spread, np.minimum(means + spread, 100), color=colour, alpha=0.18, lw=0)
        axes.set(title=TITLES[name], xlabel="training examples")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("unseen values right, %")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(given.picture, dpi=150)


if __name__ == "__main__":
    main()
