"""Infer the fission yeast cell cycle from ten states and compare the rules with the published model on all 1,024 states.

The series is a path of a published model (Davidich & Bornholdt 2008), so that the inferred rules can be scored on states
that were never seen: the single best rule of each gene, and the vote of all regulator sets. For comparison there are two
trivial guesses: that a gene stays as it is, and that it takes its usual next value.

Run it with: python examples/fission_yeast.py
"""

from __future__ import annotations

import numpy as np

import gradus

SERIES = gradus.genes.YEAST_SERIES
# Every state of the genes, and the next one by the published model.
STATES = (np.arange(2 ** len(SERIES.genes))[:, np.newaxis] >> np.arange(len(SERIES.genes)) & 1).astype(bool)
TRUTH = gradus.genes.fission_yeast_model(STATES)


def main() -> None:
    found = gradus.genes.infer(SERIES)
    usual = SERIES.states[1:].mean(axis=0) > 0.5
    guesses = {"rule": found.network.predict(STATES), "vote": found.predict(STATES), "stays": STATES, "usual": usual}
    right = {name: (guess == TRUTH).mean(axis=0) for name, guess in guesses.items()}
    print(f"{len(SERIES.states) - 1} transitions, scored on all {2 ** len(SERIES.genes):,} states of the published model\n")
    print(f"{'gene':<13}" + "".join(f"{name:>8}" for name in right) + "   the rule")
    rules = dict(zip(found.rules["target"], found.rules["rule"], strict=True))
    for column, gene in enumerate(SERIES.genes):
        print(f"{gene:<13}" + "".join(f"{shares[column]:>8.3f}" for shares in right.values()) + f"   {rules[gene]}")
    print(f"{'mean':<13}" + "".join(f"{shares.mean():>8.3f}" for shares in right.values()) + "\n")
    if found.scores is not None:
        left = found.scores.overall
        print(
            f"steps left out in turn: vote {left.one_step:.3f}; "
            f"stays as it is {left.persistence:.3f}, usual value {left.constant:.3f}"
        )


if __name__ == "__main__":
    main()
