"""`GeneModel`: the learned network, to read, to predict and to simulate with; its rules as formulas and as one circuit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.formula_trees import FormulaTree, build, render, short_tree, tokens
from gradus._circuit.gate_list import GateTable, cleaned
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix, as_bits
from gradus._core.run import Progress, Run
from gradus._core.wording import quoted_name
from gradus.errors import DataError
from gradus.genes._posterior import TargetPosterior
from gradus.genes._priors import FlipRate
from gradus.genes._repair import Suspect
from gradus.genes._series import UNKNOWN, Series

__all__ = [
    "GeneEdge",
    "GeneModel",
    "GeneRule",
    "Unexplained",
    "best_cut",
    "free_run_matches",
    "most_frequent",
    "rule_network",
    "rule_text",
    "rule_tokens",
    "trusted_genes",
]

LEAST_GAIN = 0.01
"""Share of the values by which a rule must beat the constant on the series that it was fitted to."""


def best_cut(probabilities: npt.NDArray[np.float64]) -> float:
    """Least probability of an edge that is reported, chosen so that the expected F1 score is highest."""
    # With `k` edges reported, it is twice the expected number of right ones over `k` plus the expected number of edges.
    falling = np.sort(probabilities)[::-1]
    if not falling.sum() > 0:
        return 1.0
    expected = 2 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + falling.sum())
    return float(falling[int(expected.argmax())])


@dataclass(frozen=True)
class GeneEdge:
    """One edge with its posterior."""

    regulator: str
    target: str
    probability: float
    """Posterior that the target's rule depends on the regulator."""
    rising: float
    """Probability that the target rises with it, given the edge."""
    is_self: bool


@dataclass(frozen=True)
class GeneRule:
    """The single best rule of a gene."""

    target: str
    regulators: tuple[str, ...]
    table: tuple[int, ...]
    """Next value in each cell; bit i of a cell's number is the value of regulator i."""
    probability: float
    """Posterior weight of the regulator set."""
    errors: float
    total: float
    """Weight of the transitions that the rule gets wrong, and of all."""

    @property
    def seen(self) -> bool:
        """Whether any transition of the gene was recorded."""
        return self.total > 0


@dataclass(frozen=True)
class Unexplained:
    """A gene that the allowed regulators explain much worse than all genes would."""

    gene: str
    log_evidence: float
    """How much better, as a natural log of the Bayes factor, the best set of any genes is."""
    regulators: tuple[str, ...]
    """That set."""


@dataclass(frozen=True, eq=False)
class GeneModel:
    """A network learned from series."""

    genes: tuple[str, ...]
    targets: tuple[TargetPosterior, ...]
    """Ranked sets and edges of each gene."""
    flips: FlipRate
    """How often recorded next values differ from the rules."""
    constants: npt.NDArray[np.bool_]
    """The value each gene has most often."""
    trusted: npt.NDArray[np.bool_]
    """Genes that their rules predict better than the constant in free runs; the others are constant in `simulate`."""
    suspects: tuple[Suspect, ...] = ()
    """Recorded values that the rules contradict."""
    unexplained: tuple[Unexplained, ...] = ()
    stopped: str | None = None
    """Why learning ended early: "time_limit" or "callback"."""

    @property
    def edge_probabilities(self) -> npt.NDArray[np.float64]:
        """Posterior of each edge, shape (targets, regulators)."""
        return np.array([target.edges for target in self.targets])

    def likely_edges(self) -> npt.NDArray[np.bool_]:
        """Edges to report, shape (targets, regulators): those for which the expected F1 score is highest.

        Edges between genes and self-edges are chosen apart from each other.
        """
        probabilities, own = self.edge_probabilities, np.eye(len(self.genes), dtype=np.bool_)
        return np.where(own, probabilities >= best_cut(probabilities[own]), probabilities >= best_cut(probabilities[~own]))

    @property
    def rules(self) -> tuple[GeneRule, ...]:
        """The best rule of each gene."""
        rules = []
        for gene, target in zip(self.genes, self.targets, strict=True):
            best = target.best_rule
            table = tuple((best.table >> cell) & 1 for cell in range(1 << len(best.features)))
            names = tuple(self.genes[i] for i in best.features)
            rules.append(GeneRule(gene, names, table, best.weight, best.errors, target.total))
        return tuple(rules)

    def edges(self, least: float = 0.5) -> list[GeneEdge]:
        """Edges with at least this posterior, the most probable first; self-edges are marked."""
        edges = [
            GeneEdge(self.genes[i], self.genes[g], float(target.edges[i]), float(target.rising[i]), i == g)
            for g, target in enumerate(self.targets)
            for i in np.flatnonzero(target.edges >= least).tolist()
        ]
        return sorted(edges, key=lambda edge: (-edge.probability, self.genes.index(edge.target), edge.regulator))

    def _states(self, states: Any) -> BoolMatrix:
        bits = as_bits(states, "states")
        if bits.shape[1] != len(self.genes):
            raise DataError(f"states has {bits.shape[1]} columns but the model has {len(self.genes)} genes.")
        return bits

    def predict_proba(self, states: Any) -> npt.NDArray[np.float64]:
        """Probability that each gene is 1 after each state, averaged over sets and rules."""
        bits = self._states(states)
        return np.column_stack([target.predict_proba(bits) for target in self.targets])

    def predict(self, states: Any) -> BoolMatrix:
        """Next value of each gene after each state; a tie keeps the present value."""
        bits = self._states(states)
        votes = self.predict_proba(bits)
        return np.where(votes == 0.5, bits, votes > 0.5)

    def simulate(self, states: Any, steps: int) -> npt.NDArray[np.bool_]:
        """Free runs, shape (steps + 1, runs, genes): the states given, and what follows.

        Genes whose rules predict free runs no better than a constant take the constant after the first state.
        """
        rows = [self._states(states)]
        for _ in range(steps):
            rows.append(np.where(self.trusted, self.predict(rows[-1]), self.constants))
        return np.array(rows)


def most_frequent(series: Sequence[Series]) -> npt.NDArray[np.bool_]:
    """Value that each gene has most often after the first state of a series; 1 on a tie."""
    states = np.concatenate([single.codes if single.steady else single.codes[1:] for single in series])
    return np.asarray((states == 1).sum(axis=0) >= (states == 0).sum(axis=0))


def free_run_matches(model: GeneModel, runs: Sequence[Series]) -> list[tuple[BoolMatrix, BoolMatrix]]:
    """Run freely from the first state of each series; where each run agrees, and where the value is known: (steps, genes)."""
    first = np.array([np.where(single.codes[0] == UNKNOWN, model.constants, single.codes[0] == 1) for single in runs])
    held = np.array([single.is_held for single in runs])
    states, steps = first, []
    for _ in range(max(len(single.codes) for single in runs) - 1):
        states = np.where(held, first, np.where(model.trusted, model.predict(states), model.constants))
        steps.append(states)
    compared = []
    for number, single in enumerate(runs):
        after = single.codes[1:]
        known = (after != UNKNOWN) & ~held[number]
        reached = np.array([step[number] for step in steps[: len(after)]], bool).reshape(after.shape)
        compared.append(((reached == (after == 1)) & known, known))
    return compared


def trusted_genes(model: GeneModel, series: Sequence[Series], run: Run) -> npt.NDArray[np.bool_]:
    """Genes whose rules beat the constant in free runs of the series; others are left out until all that remain do."""
    # The gain over the constant must exceed its standard error over the series, since rules were fitted to these series.
    runs = [single for single in series if not single.steady and len(single.codes) > 1]
    trusted = np.ones(len(model.genes), np.bool_)
    for done in range(len(trusted) if runs else 0):
        if run.stop(Progress(stage="free runs", done=done, total=len(trusted))):
            break
        right, known, constant = np.zeros((3, len(runs), len(trusted)), np.int64)
        for number, (matches, is_known) in enumerate(free_run_matches(replace(model, trusted=trusted), runs)):
            right[number], known[number] = matches.sum(axis=0), is_known.sum(axis=0)
            constant[number] = (((runs[number].codes[1:] == 1) == model.constants) & is_known).sum(axis=0)
        gains = right - constant
        error = gains.std(axis=0) * len(runs) ** 0.5
        worse = (gains.sum(axis=0) < error + LEAST_GAIN * known.sum(axis=0)) & (right < known).any(axis=0)
        if not (trusted & worse).any():
            break
        trusted &= ~worse
    return trusted


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
    known = [rule for rule in rules if rule.seen]
    outputs = [build(_rule_tree(rule), gates, [(nodes[name], False) for name in rule.regulators]) for rule in known]
    names = [rule.target for rule in known]
    return network_of(cleaned(gates.circuit(outputs)), input_names=list(genes), output_names=names)
