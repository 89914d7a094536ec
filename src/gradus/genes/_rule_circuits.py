"""Truth tables of learned rules as formulas that read like biology, and as one circuit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus._circuit import Network
from gradus._circuit.formula_trees import FormulaTree, build, render, short_tree, tokens
from gradus._circuit.gate_list import GateTable, cleaned
from gradus._circuit.network import network_of
from gradus._core.wording import quoted_name
from gradus.genes._gene_model import GeneRule

__all__ = ["rule_network", "rule_text", "rule_tokens"]


def _rule_tree(rule: GeneRule) -> FormulaTree:
    """Find a short nested formula for a rule, over its regulators."""
    n = len(rule.regulators)
    return short_tree(np.asarray(rule.table, np.bool_).reshape((2,) * n).transpose(), most_searched=n)


def rule_text(rule: GeneRule) -> str:
    """Return a rule as text: ``!`` not, ``&`` and, ``|`` or, ``^`` exclusive or; odd names are in quotes."""
    return render(_rule_tree(rule), [quoted_name(name) for name in rule.regulators])


def rule_tokens(rule: GeneRule) -> list[str | tuple[str, bool]]:
    """Return a rule in pieces: operators and brackets as text, and regulators with whether they are on."""
    pieces = tokens(_rule_tree(rule))
    return [piece if isinstance(piece, str) else (rule.regulators[piece[0]], piece[1]) for piece in pieces]


def rule_network(genes: Sequence[str], rules: Sequence[GeneRule]) -> Network:
    """Join rules to one circuit; genes without a transition are left out, so that they keep their value."""
    gates, nodes = GateTable(len(genes)), {name: node for node, name in enumerate(genes)}
    taught = [rule for rule in rules if rule.seen]
    outputs = [build(_rule_tree(rule), gates, [(nodes[name], False) for name in rule.regulators]) for rule in taught]
    names = [rule.target for rule in taught]
    return network_of(cleaned(gates.circuit(outputs)), input_names=list(genes), output_names=names)
