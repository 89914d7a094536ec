"""Learn 6-bit addition from 80 of its 4,096 patterns, and check it on all the others.

    python examples/learned_adder.py [adder.json | adder.svg | adder.v | …]

No order of the targets is given: each lesson adds the target that needs the fewest gates. If all goes well, the result is the
ripple-carry adder of the textbooks, with 24 gates.
"""

from __future__ import annotations

import sys

import gradus


def main() -> None:
    adder = gradus.problems.load("add6")
    train, test = adder.sample(80, seed=1)
    learned = gradus.learn(adder.X[train], adder.Y[train], seed=1)
    network = learned.network.with_names(adder.input_names, adder.target_names)
    right = (network.predict(adder.X[test]) == adder.Y[test]).all(axis=1)
    print(f"order found: {', '.join(adder.target_names[column] for column in learned.order)}")
    print(f"{network.n_gates} gates, depth {network.depth}")
    print(f"right on {right.sum()} of the {len(test)} patterns that it was not shown")
    for path in sys.argv[1:]:
        gradus.export(network, path)


if __name__ == "__main__":
    main()
