"""What an ensemble says: a rule for each target, and how often each regulator is used, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradus._inference.functions import Sign, TargetFunction
from gradus._network import Network

__all__ = ["EdgeUse", "Rule", "edge_uses", "find_rule"]

SHOWN_ALTERNATIVES = 5
SIGNS: tuple[Sign, ...] = ("activating", "inhibiting", "both")


@dataclass(frozen=True, eq=False)
class Rule:
    """The rule of a target.

    Attributes
    ----------
    target : str
    text : str
        The formula: of those with the fewest regulators the most frequent.
    regulators : tuple of str
        The genes that stand in it.
    share : float
        Part of the networks that compute exactly this.
    agreement : float
        How often a network gives the value of the rule, over states that need not be in the data.
    minimal : bool
        Whether no rule with fewer regulators can fit the data.
    alternatives : tuple of (str, float)
        The most frequent formulas, whatever their size, with their shares.
    network : Network
        The rule as a circuit with one output.
    """

    target: str
    text: str
    regulators: tuple[str, ...]
    share: float
    agreement: float
    minimal: bool
    alternatives: tuple[tuple[str, float], ...]
    network: Network


@dataclass(frozen=True)
class EdgeUse:
    """How an ensemble uses one regulator of one target.

    Attributes
    ----------
    regulator, target : str
    frequency : float
        Part of the networks in which the target depends on the regulator.
    activating, inhibiting, both : float
        Part of the networks in which it does so with this sign.
    sign : {"activating", "inhibiting", "both"} or None
        The most frequent of these; None if no network uses the regulator.
    in_minimum_sets : int
        Minimum regulator sets of the target that hold the regulator.
    """

    regulator: str
    target: str
    frequency: float
    activating: float
    inhibiting: float
    both: float
    sign: Sign | None
    in_minimum_sets: int


def find_rule(target: str, functions: Sequence[TargetFunction], smallest: int) -> Rule:
    """Choose the rule of a target from the functions that the networks of an ensemble compute.

    Parameters
    ----------
    target : str
    functions : sequence of TargetFunction
        One for each network.
    smallest : int
        Regulators that any rule needs.

    Returns
    -------
    Rule
    """
    counts = Counter(function.formula.text for function in functions)
    by_text = {function.formula.text: function for function in functions}

    def worth(text: str) -> tuple[int, int, int, str]:
        formula = by_text[text].formula
        return len(formula.support), -counts[text], formula.n_literals, text

    best = by_text[min(counts, key=worth)]
    agreement = np.mean([(function.values == best.values).mean() for function in functions])
    return Rule(
        target=target,
        text=best.formula.text,
        regulators=best.formula.support,
        share=counts[best.formula.text] / len(functions),
        agreement=float(agreement),
        minimal=len(best.formula.support) <= smallest,
        alternatives=tuple((text, n / len(functions)) for text, n in counts.most_common(SHOWN_ALTERNATIVES)),
        network=best.network,
    )


def edge_uses(target: str, functions: Sequence[TargetFunction], minimum_sets: Sequence[Sequence[str]]) -> list[EdgeUse]:
    """Tell how often the networks of an ensemble use each regulator of a target, the most frequent first.

    Parameters
    ----------
    target : str
    functions : sequence of TargetFunction
        One for each network.
    minimum_sets : sequence of sequence of str
        All minimum regulator sets; their members are listed even if no network uses them.

    Returns
    -------
    list of EdgeUse
    """
    genes = {gene for function in functions for gene in function.signs} | {g for one in minimum_sets for g in one}
    edges = []
    for gene in sorted(genes):
        signs = Counter(function.signs[gene] for function in functions if gene in function.signs)
        shares = {sign: signs[sign] / len(functions) for sign in SIGNS}
        edges.append(
            EdgeUse(
                regulator=gene,
                target=target,
                frequency=sum(signs.values()) / len(functions),
                **shares,
                sign=_usual(signs),
                in_minimum_sets=sum(gene in one for one in minimum_sets),
            )
        )
    return sorted(edges, key=lambda edge: -edge.frequency)


def _usual(signs: Counter[Sign]) -> Sign | None:
    if not signs:
        return None
    return max(SIGNS, key=lambda sign: signs[sign])
