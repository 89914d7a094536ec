"""Infer the fission yeast cell cycle from ten states and compare the rules with the published model on all 1,024 states.

The series is a path of a published model (Davidich & Bornholdt 2008), so that the inferred rules can be scored on states
that no network has seen: once with networks that read all genes, once with networks that read only the minimum regulator
sets. For comparison there are two trivial guesses: that a gene stays as it is, and that it takes its usual next value.

Run it with: python examples/fission_yeast.py
"""

from __future__ import annotations

import numpy as np

import gradus

SERIES = gradus.problems.YEAST_SERIES
# Every state of the genes, and the next one by the published model.
STATES = (np.arange(2 ** len(SERIES.genes))[:, np.newaxis] >> np.arange(len(SERIES.genes)) & 1).astype(bool)
TRUTH = gradus.problems.fission_yeast_model(STATES)


def accuracy_by_gene(network: gradus.Network) -> dict[str, float]:
    """Share of all 1,024 states on which a gene's rule gives the next value of the published model."""
    right = (network.predict(STATES) == TRUTH).mean(axis=0)
    return dict(zip(network.output_names, right.tolist(), strict=True))


def baselines() -> tuple[dict[str, float], dict[str, float]]:
    """Accuracy of staying as it is, and of the next value that is usual in the series."""
    usual = SERIES.states[1:].mean(axis=0) > 0.5
    stays, same = (STATES == TRUTH).mean(axis=0), (usual == TRUTH).mean(axis=0)
    return dict(zip(SERIES.genes, stays, strict=True)), dict(zip(SERIES.genes, same, strict=True))


def main() -> None:
    found = {kind: gradus.infer(SERIES, regulators=kind) for kind in ("all", "minimum")}
    scores = {kind: accuracy_by_gene(one.network) for kind, one in found.items()}
    stays, usual = baselines()
    print(f"{len(SERIES.states) - 1} transitions, scored on all {2 ** len(SERIES.genes):,} states of the published model\n")
    print(f"{'gene':<13}{'all genes':>11}{'minimum sets':>14}{'stays':>8}{'usual':>8}   rule (networks read all genes)")
    rules = {rule.target: rule.text for rule in found["all"].rules}
    for gene in SERIES.genes:
        values = f"{scores['all'][gene]:>11.3f}{scores['minimum'][gene]:>14.3f}{stays[gene]:>8.3f}{usual[gene]:>8.3f}"
        print(f"{gene:<13}{values}   {rules.get(gene, 'never changes in the series')}")
    means = [np.mean(list(one.values())) for one in (scores["all"], scores["minimum"], stays, usual)]
    print(f"{'mean':<13}{means[0]:>11.3f}{means[1]:>14.3f}{means[2]:>8.3f}{means[3]:>8.3f}\n")
    for kind, one in found.items():
        overall = one.leave_one_out.overall if one.leave_one_out is not None else None
        if overall is not None:
            print(
                f"transitions left out, networks that read {'all genes' if kind == 'all' else 'minimum sets'}: "
                f"vote {overall.vote:.3f}, single network {overall.single:.3f}; "
                f"stays as it is {overall.persistence:.3f}, usual value {overall.majority:.3f}"
            )


if __name__ == "__main__":
    main()
