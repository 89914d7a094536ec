"""Random functions with a hierarchy and without one, by name: ``nested1``, ``disjoint7``."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from gradus.problems import Problem

BoolMatrix = npt.NDArray[np.bool_]
NAME = re.compile(r"(nested|disjoint)([1-9][0-9]{0,5})")
N_TARGETS = 4
TOLD = {
    "nested": "each of four targets is a random function of the one before it and of two more inputs",
    "disjoint": "each of four targets is a random function of three inputs of its own",
}


def random_functions(name: str) -> Problem | None:
    """Return the problem that a name stands for; None if it is not one of these."""
    found = NAME.fullmatch(name)
    if found is None:
        return None
    kind, number = found[1], int(found[2])
    stream = np.random.PCG64(np.random.SeedSequence([N_TARGETS, number, len(kind)]))
    n_inputs = 3 * N_TARGETS if kind == "disjoint" else 2 * N_TARGETS + 1
    X = (np.arange(1 << n_inputs)[:, np.newaxis] >> np.arange(n_inputs) & 1).astype(np.bool_)
    columns: list[BoolMatrix] = []
    for k in range(N_TARGETS):
        own = X[:, 3 * k : 3 * k + 3] if kind == "disjoint" else X[:, 2 * k + 1 : 2 * k + 3]
        before = own if kind == "disjoint" else np.column_stack([columns[-1] if columns else X[:, 0], own])
        columns.append(_table(stream)[before @ np.array([1, 2, 4])])
    inputs, targets = [f"x{k}" for k in range(n_inputs)], [f"z{k}" for k in range(N_TARGETS)]
    order = range(N_TARGETS) if kind == "nested" else None
    Y = np.column_stack(columns)
    return Problem(name, input_names=inputs, target_names=targets, pool=X, targets=Y, known_order=order, about=TOLD[kind])


def _table(stream: np.random.PCG64) -> BoolMatrix:
    """Draw a function of three inputs that depends on each of them."""
    while True:
        table: BoolMatrix = (int(stream.random_raw()) % 256 >> np.arange(8) & 1).astype(np.bool_)
        if all((table != table[np.arange(8) ^ 1 << k]).any() for k in range(3)):
            return table
