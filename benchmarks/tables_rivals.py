"""Fit one of the learners that `tables.py` compares with, in the environment that it made for them.

    python tables_rivals.py METHOD FOLDER

Each .npz of the folder holds numbers `X`, class numbers `y` and the rows to answer, `X_test`; in its place come their
probabilities and the CPU seconds of the fit. Settings are the learners' own.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

LEAVES = 8


def learner(method: str) -> Any:
    """Return a learner by its name."""
    if method == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)
    if method == "EBM":
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(random_state=0, n_jobs=1)
    if method == "FIGS":
        from imodels import FIGSClassifier

        return FIGSClassifier(random_state=0)
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=LEAVES, random_state=0)


def answered(method: str, X: Any, y: Any, X_test: Any) -> Any:
    """Return the probabilities of the classes of the test rows."""
    if method != "FIGS" or y.max() < 2:
        return learner(method).fit(X, y).predict_proba(X_test)
    # FIGS has two classes only: one model for each class against the others.
    each = (learner(method).fit(X, (y == label).astype(int)) for label in range(y.max() + 1))
    return np.column_stack([one.predict_proba(X_test)[:, 1] for one in each])


def main() -> None:
    method, folder = sys.argv[1:]
    for file in sorted(Path(folder).glob("*.npz")):
        with np.load(file) as given:
            X, y, X_test = given["X"], given["y"], given["X_test"]
        begin = time.process_time()
        said = answered(method, X, y, X_test)
        np.savez(file, said=said.astype(np.float32), seconds=time.process_time() - begin)


if __name__ == "__main__":
    main()
