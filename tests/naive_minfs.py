"""Slow, readable twins of the minimum feature set solver."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


def discordant_masks(X, y):
    """The set of columns in which each pair of rows with different targets differs, without the empty ones."""
    X, y = np.asarray(X), np.asarray(y)
    masks = set()
    for i, j in combinations(range(len(X)), 2):
        if y[i] != y[j]:
            masks.add(frozenset(np.flatnonzero(X[i] != X[j]).tolist()))
    masks.discard(frozenset())
    return masks


def all_minimum_sets(X, y):
    """Every minimum set, by trying all sets of columns in the order of their sizes."""
    masks = discordant_masks(X, y)
    for size in range(np.shape(X)[1] + 1):
        found = [s for s in combinations(range(np.shape(X)[1]), size) if all(mask & set(s) for mask in masks)]
        if found:
            return found
    raise AssertionError("the set of all columns is always feasible")


def is_feasible(X, y, features):
    """Whether rows that agree on the features agree on the target."""
    seen = {}
    rows = map(tuple, np.asarray(X)[:, list(features)].tolist())
    return all(seen.setdefault(row, label) == label for row, label in zip(rows, y, strict=True))


def planted(n, k, size, seed):
    """Random Boolean rows with a target that is a random function of a few columns, which are returned sorted."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, k)) < 0.5
    columns = np.sort(rng.choice(k, size, replace=False))
    values = rng.random(2**size) < 0.5
    return X, values[X[:, columns] @ (1 << np.arange(size))], tuple(columns.tolist())


def milp_size(X, y):
    """Size of a minimum set by SciPy's integer programming solver, on the masks that contain no other."""
    masks = discordant_masks(X, y)
    minimal = [mask for mask in masks if not any(other < mask for other in masks)]
    if not minimal:
        return 0
    constraints = np.array([[column in mask for column in range(np.shape(X)[1])] for mask in minimal], dtype=float)
    answer = milp(np.ones(np.shape(X)[1]), integrality=1, bounds=Bounds(0, 1), constraints=LinearConstraint(constraints, lb=1))
    assert answer.success
    return round(answer.fun)
