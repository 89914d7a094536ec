"""Learn 6-bit addition from 300 of its 4,096 patterns, and check it on all of them.

    python examples/learned_adder.py [adder.json]

The order is found from the examples alone. After zero training error the search goes on to smaller circuits, and the smallest
of seven is kept; it turns out to be right on every pattern, also on the 3,796 that it was not shown.
"""

from __future__ import annotations

import sys

import gradus


def main() -> None:
    adder = gradus.problems.load("add6")
    train, test = adder.sample(300, seed=1)
    X, Y = adder.X[train], adder.Y[train]
    learned = gradus.search(X, Y, loss="lgh", order="auto", shrink=5_000_000, attempts=7, seed=1)
    network = learned.network.with_names(adder.input_names, adder.target_names)
    right = (network.predict(adder.X[test]) == adder.Y[test]).all(axis=1)
    print(f"order found: {', '.join(adder.target_names[column] for column in learned.order)}")
    print(f"live gates: {learned.live_gates} of {network.n_gates}; depth {network.depth}")
    print(f"right on {right.sum()} of the {len(test)} patterns it was not shown")
    if len(sys.argv) > 1:
        order = [adder.target_names[column] for column in learned.order]
        network.prune().save(sys.argv[1], about={"order": order, "trained_on": len(train), "seed": 1})


if __name__ == "__main__":
    main()
