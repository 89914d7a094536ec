"""One rival on one training set: benchmarks/rivals.py runs this file in an environment of its own, without Gradus.

    python benchmarks/rival_fits.py RIVAL DATA.npz

The file holds X, y, X_test and y_test (numbers, with categories as one column each), and the seed. Where a rival has several
settings, the one that is best on a quarter of the training rows is taken, and the rival learns again from all of them; all
seconds of that count. Prints accuracy on the test rows, size and CPU seconds as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Fitted = tuple[Callable[[Array], Array], float]


@dataclass(frozen=True)
class Rival:
    """What to install, the settings to choose from, how it is fitted, and what its size counts."""

    packages: tuple[str, ...]
    settings: tuple[Any, ...]
    fit: Callable[[Array, Array, Any, int], Fitted]
    unit: str


def _gplearn(X: Array, y: Array, parsimony: float, seed: int) -> Fitted:
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    gates = [
        make_function(function=np.multiply, name="and_", arity=2),
        make_function(function=np.maximum, name="or_", arity=2),
        make_function(function=lambda a, b: np.abs(a - b), name="xor_", arity=2),
        make_function(function=lambda a: 1 - a, name="not_", arity=1),
    ]
    found = SymbolicRegressor(
        function_set=gates, const_range=None, metric="mean absolute error",
        parsimony_coefficient=parsimony, random_state=seed,
    ).fit(X, y)  # fmt: skip
    gates = sum(getattr(node, "arity", 0) == 2 for node in found._program.program)
    return lambda rows: found.predict(rows) > 0.5, gates


def _gosdt(X: Array, y: Array, regularization: float, seed: int) -> Fitted:
    from gosdt import GOSDTClassifier, ThresholdGuessBinarizer

    cut = ThresholdGuessBinarizer(n_estimators=40, max_depth=1, random_state=seed) if X.max() > 1 else None
    bits = cut.fit_transform(X, y) if cut else X.astype(bool)
    found = GOSDTClassifier(regularization=regularization, time_limit=10).fit(bits, y)

    def splits(node: Any) -> int:
        return 1 + splits(node.left_child) + splits(node.right_child) if hasattr(node, "left_child") else 0

    return lambda rows: found.predict(cut.transform(rows) if cut else rows.astype(bool)), splits(found.trees_[0].tree)


def _figs(X: Array, y: Array, max_rules: int, seed: int) -> Fitted:
    from imodels import FIGSClassifier

    found = FIGSClassifier(max_rules=max_rules, random_state=seed).fit(X, y)
    return found.predict, found.complexity_


def _ebm(X: Array, y: Array, _: None, seed: int) -> Fitted:
    from interpret.glassbox import ExplainableBoostingClassifier

    found = ExplainableBoostingClassifier(random_state=seed, n_jobs=1).fit(X, y)
    return found.predict, len(found.term_names_)


def _tsetlin(X: Array, y: Array, setting: tuple[int, int, float], seed: int) -> Fitted:
    from tmu.models.classification.vanilla_classifier import TMClassifier
    from tmu.preprocessing.standard_binarizer.binarizer import StandardBinarizer

    clauses, threshold, s = setting
    cut = StandardBinarizer(max_bits_per_feature=10)
    bits = cut.fit_transform(X).astype(np.uint32)
    found = TMClassifier(clauses, threshold, s, seed=seed + 1)
    for _ in range(max(25, 50_000 // len(bits))):
        found.fit(bits, y.astype(np.uint32))
    literals = sum(found.number_of_include_actions(c, clause) for c in (0, 1) for clause in range(clauses))
    return lambda rows: found.predict(cut.transform(rows).astype(np.uint32)), literals


def _espresso(X: Array, y: Array, _: None, seed: int) -> Fitted:
    from pyeda.boolalg.espresso import FTYPE, RTYPE, espresso

    y = y.reshape(len(X), -1)
    rows: dict[tuple[int, ...], Array] = {}
    for bits, outputs in zip(X, y, strict=True):  # of rows that contradict each other, the first is kept
        rows.setdefault(tuple(int(bit) + 1 for bit in bits), outputs)
    listed = {(row, tuple(int(bit) for bit in outputs)) for row, outputs in rows.items()}
    cover = espresso(X.shape[1], y.shape[1], listed, intype=FTYPE | RTYPE)
    # A product of k literals is k-1 gates of two inputs, a sum of k products as many; inverters are free.
    gates = sum(sum(bit != 3 for bit in row) - 1 for row, _ in cover)
    gates += sum(max(0, sum(outputs[k] == 1 for _, outputs in cover) - 1) for k in range(y.shape[1]))

    def predict(new: Array) -> Array:
        answer = np.zeros((len(new), y.shape[1]), bool)
        for row, outputs in cover:
            asked = np.array(row)
            fits = ((asked == 3) | (new.astype(int) + 1 == asked)).all(axis=1)
            answer |= fits[:, np.newaxis] & (np.array(outputs) == 1)
        return answer

    return predict, gates


RIVALS = {
    "gplearn": Rival(("gplearn==0.4.3",), (0.001,), _gplearn, "gates"),
    "espresso": Rival(("pyeda==0.29.0", "numpy"), (None,), _espresso, "gates"),
    "GOSDT": Rival(("gosdt==1.0.4", "scikit-learn<1.6"), (0.05, 0.01, 0.005), _gosdt, "splits"),
    "FIGS": Rival(("imodels==3.0.4", "six"), (5, 12, 30), _figs, "splits"),
    "EBM": Rival(("interpret-core==0.7.8",), (None,), _ebm, "terms"),
    "Tsetlin": Rival(
        ("tmu==0.8.3", "numpy<2"), ((20, 15, 3.9), (100, 50, 5.0)), _tsetlin, "literals"
    ),
}  # fmt: skip


def chosen(rival: Rival, X: Array, y: Array, seed: int) -> Any:
    """Return the setting that is best on a quarter of the training rows."""
    if len(rival.settings) == 1:
        return rival.settings[0]
    order = np.random.default_rng(seed).permutation(len(X))
    aside, kept = order[: len(X) // 4], order[len(X) // 4 :]
    scores = []
    for setting in rival.settings:
        predict, _ = rival.fit(X[kept], y[kept], setting, seed)
        scores.append((predict(X[aside]) == y[aside]).mean())
    return rival.settings[int(np.argmax(scores))]


def main() -> None:
    rival, data = RIVALS[sys.argv[1]], np.load(sys.argv[2])
    seed = int(data["seed"])
    begin = time.process_time()
    predict, size = rival.fit(data["X"], data["y"], chosen(rival, data["X"], data["y"], seed), seed)
    seconds = time.process_time() - begin
    right = predict(data["X_test"]).reshape(data["y_test"].shape) == data["y_test"]
    print(json.dumps({"accuracy": float(right.mean()), "size": float(size), "seconds": seconds}))


if __name__ == "__main__":
    main()
