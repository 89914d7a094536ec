"""Edges known before the data: read from files and models, expected from other genes, and ranked by measured levels."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.network import part_of
from gradus._core.bits import column_names
from gradus._core.files import read_guard, read_text
from gradus._formats.circuits import read_network
from gradus._formats.registry import READ
from gradus.errors import DataError, FormatError, SettingsError
from gradus.genes._priors import SHARES, SetPrior
from gradus.genes._series import Series

__all__ = [
    "EdgePrior",
    "KnownEdge",
    "expected_majorities",
    "expected_signs",
    "hub_odds",
    "known_edges",
    "level_odds",
    "model_edges",
    "sign_odds",
]

BASE_RATE = 0.05
"""Probability of an edge of which nothing is known; only other values have an effect."""
LEAST_PROBABILITY = 0.001
USUAL_PROBABILITY, SIGN_PROBABILITY = 0.9, 0.95
"""Probability of a known edge, and that its sign is right, where the file gives none."""
PSEUDO_EDGES = 3.0
"""Edges added to the count of every regulator; the more, the less a hub differs from others."""
RECIPROCAL = 0.8
"""Log-odds of an edge if the opposite one is certain: published models have about twice as many such pairs as chance."""
SELF_RISING = 0.9
"""Probability that a gene that regulates itself activates itself, as 37 of 41 self-edges of published models do."""
PSEUDO_SIGNS = 4.0
"""Signed edges, half of either sign, added to the count of every regulator."""
PSEUDO_RULES, MAJORITY_SHARES = 2.0, (0.02, 0.04, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5)
"""Rules with the usual share of majorities added to the count of every network; the nearest share is
taken, so that genes share their tables of weights."""
LEAST_ODDS, MOST_ODDS = -1.0, 2.0
"""Limits of what levels may add to the log-odds of an edge: successive states are much alike, so they are weak evidence."""
FEWEST_TRANSITIONS = 10
"""With fewer, no correlation is computed."""
MOST_INPUTS_READ = 16
"""Rules of a published model with more inputs than this give edges without signs."""
HEADINGS = {"regulator": "regulator", "source": "regulator", "from": "regulator", "target": "target", "to": "target"}
HEADINGS |= {"probability": "probability", "confidence": "probability", "sign": "sign", "effect": "sign"}
ORDER = ("regulator", "target", "probability", "sign")
SIGNS = {"+": 1, "1": 1, "+1": 1, "->": 1, "activating": 1, "activation": 1, "activator": 1, "positive": 1}
SIGNS |= {"-": -1, "−": -1, "-1": -1, "-|": -1, "inhibiting": -1, "inhibition": -1, "repressing": -1, "repression": -1}
SIGNS |= {"repressor": -1, "inhibitor": -1, "negative": -1, "": 0, "0": 0, "?": 0, "both": 0, "unknown": 0}
Levels = npt.NDArray[np.float64]


class KnownEdge(NamedTuple):
    """An edge, how probable it is, and its sign: +1, -1, or 0 if it is not known."""

    regulator: str
    target: str
    probability: float = USUAL_PROBABILITY
    sign: int = 0


@dataclass(frozen=True, eq=False)
class EdgePrior:
    """Edges known from elsewhere, the only edges allowed, and forbidden edges."""

    genes: tuple[str, ...]
    believed: Sequence[KnownEdge] = ()
    allowed: Sequence[KnownEdge] = ()
    """A target in one of these has no other regulators."""
    forbidden: Sequence[KnownEdge] = ()

    def __post_init__(self) -> None:
        for edge in (*self.believed, *self.allowed, *self.forbidden):
            for gene in edge[:2]:
                if gene not in self.genes:
                    near = difflib.get_close_matches(gene, self.genes, 1)
                    remedy = f"did you mean {near[0]!r}?" if near else "leave it out, or name it as the series do."
                    raise DataError(
                        f"the edge {edge.regulator} → {edge.target} names {gene!r}, which is not one of the genes; {remedy}"
                    )
            if not 0 <= edge.probability <= 1 or edge.sign not in (-1, 0, 1):
                raise SettingsError(f"{edge} must have a probability from 0 to 1 and a sign of -1, 0 or 1.")

    def of_target(self, target: int, *, free: bool = False) -> SetPrior:
        """Prior for one target; with `free`, as if every edge were allowed."""
        name, place = self.genes[target], {gene: column for column, gene in enumerate(self.genes)}
        odds, signs = np.zeros(len(self.genes)), np.zeros((len(self.genes), 2))
        for edge in self.believed:
            if edge.target == name:
                odds[place[edge.regulator]] = _log_odds(edge.probability) - _log_odds(BASE_RATE)
                if edge.sign:
                    signs[place[edge.regulator]] = sign_odds(edge.sign, SIGN_PROBABILITY)
        allowed = {place[edge.regulator] for edge in self.allowed if edge.target == name} or set(range(len(self.genes)))
        allowed -= {place[edge.regulator] for edge in self.forbidden if edge.target == name}
        return SetPrior(np.arange(len(self.genes)) if free else np.array(sorted(allowed), np.int64), odds, signs)


def sign_odds(sign: int, probability: float) -> npt.NDArray[np.float64]:
    """Log of twice the probability of falling and of rising with a regulator whose sign is believed."""
    rising = probability if sign > 0 else 1 - probability
    return np.asarray(np.log(2 * np.clip([1 - rising, rising], LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)))


def _log_odds(probability: float) -> float:
    kept = float(np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
    return float(np.log(kept / (1 - kept)))


def known_edges(source: Any) -> tuple[KnownEdge, ...]:
    """Read edges from whatever holds them."""
    if isinstance(source, str | PathLike):
        if Path(source).suffix.lower() in READ:
            return model_edges(read_network(source))
        with read_guard(source, "a table of edges"):
            return _edges_in(read_text(source))
    headings = column_names(source, "the table of edges")
    if headings is None:
        return _parsed([(number, [str(cell) for cell in edge]) for number, edge in enumerate(source, start=1)])
    rows = [["" if cell is None or cell != cell else str(cell) for cell in row] for row in source.itertuples(index=False)]
    return _parsed(list(enumerate([list(headings), *rows])))


def _edges_in(text: str) -> tuple[KnownEdge, ...]:
    """Read edges from the text of a CSV file."""
    edges = _parsed([(line, row) for line, row in enumerate(csv.reader(text.splitlines(), strict=True), start=1) if row])
    if not edges:
        raise FormatError("holds no edge; expected lines of regulator,target.")
    return edges


def _parsed(rows: Sequence[tuple[int, list[str]]]) -> tuple[KnownEdge, ...]:
    """Turn rows of cells with the numbers of their lines into edges."""
    columns, start = {name: place for place, name in enumerate(ORDER)}, 0
    if rows and rows[0][1] and HEADINGS.get(rows[0][1][0].strip().lower()):
        named = [HEADINGS.get(cell.strip().lower()) for cell in rows[0][1]]
        columns, start = {name: named.index(name) for name in ORDER if name in named}, 1
        if not {"regulator", "target"} <= set(columns):
            raise FormatError("the headings must name a column regulator and a column target.")
    return tuple(
        _edge({name: row[place].strip() for name, place in columns.items() if place < len(row)}, line)
        for line, row in rows[start:]
    )


def _edge(cells: Mapping[str, str], line: int) -> KnownEdge:
    if not cells.get("regulator") or not cells.get("target"):
        raise FormatError("expected a regulator and a target, with a comma between.", line=line)
    try:
        probability = float(cells.get("probability") or USUAL_PROBABILITY)
    except ValueError:
        probability = -1.0
    sign = SIGNS.get(cells.get("sign", "").lower())
    if not 0 <= probability <= 1:
        raise FormatError(f"the probability is {cells['probability']!r}; it must be from 0 to 1.", line=line)
    if sign is None:
        raise FormatError(f"the sign is {cells['sign']!r}; write +, - or nothing.", line=line)
    return KnownEdge(cells["regulator"], cells["target"], probability, sign)


def model_edges(model: Network) -> tuple[KnownEdge, ...]:
    """List the edges of a Boolean model: each gene that a rule depends on, with its sign where it has one."""
    edges = []
    for target, node in zip(model.output_names, model.outputs.tolist(), strict=True):
        rule, inputs = part_of(model, node)
        names = [model.input_names[i] for i in inputs]
        if len(names) > MOST_INPUTS_READ:
            edges += [KnownEdge(name, target) for name in names]
            continue
        cells = (np.arange(1 << len(names))[:, None] >> np.arange(len(names))) & 1 == 1
        values = rule.predict(cells)[:, 0]
        for i, name in enumerate(names):
            low, high = values[~cells[:, i]], values[cells[:, i]]
            rises, falls = bool((high & ~low).any()), bool((low & ~high).any())
            if rises or falls:
                edges.append(KnownEdge(name, target, USUAL_PROBABILITY, int(rises) - int(falls)))
    return tuple(edges)


def hub_odds(edges: npt.NDArray[np.float64], target: int) -> npt.NDArray[np.float64]:
    """Log-odds of each regulator of a target from how many other genes it seems to regulate."""
    # Networks have hubs: a gene that regulates many others is more probably a regulator here too; so is one that the target
    # itself regulates. The target's own row is left out, so that it does not confirm itself.
    n = len(edges)
    others = np.array([h for h in range(n) if h != target], np.int64)
    if len(others) < 2:
        return np.zeros(n)
    rest = edges[others].copy()
    rest[np.arange(len(others)), others] = 0.0
    counts = rest.sum(axis=0) * n / max(1, n - 2)
    usual = float(counts.mean())
    odds: npt.NDArray[np.float64] = np.log((counts + PSEUDO_EDGES) / (usual + PSEUDO_EDGES))
    odds += RECIPROCAL * np.where(np.arange(n) == target, 0.0, edges[:, target] - edges[others, target].mean())
    own = float(edges[others, others].sum())
    odds[target] = np.log((own + PSEUDO_EDGES / 2) / (usual + PSEUDO_EDGES / 2))
    return odds


def expected_signs(edges: npt.NDArray[np.float64], rising: npt.NDArray[np.float64], target: int) -> npt.NDArray[np.float64]:
    """Log of twice the probability of falling and of rising with each regulator, from its signs in the rules of others."""
    others = np.arange(len(edges)) != target
    weight = edges * others[:, None] * (1 - np.eye(len(edges)))
    rises, falls = (weight * rising).sum(axis=0), (weight * (1 - rising)).sum(axis=0)
    share = (rises + PSEUDO_SIGNS / 2) / (rises + falls + PSEUDO_SIGNS)
    share[target] = SELF_RISING
    return np.asarray(np.log(2 * np.column_stack([1 - share, share])))


def expected_majorities(rules: npt.NDArray[np.float64], majorities: npt.NDArray[np.float64], target: int) -> float:
    """Share of majorities among the rules, from those of other genes: some networks are made of them, most have none."""
    others = np.arange(len(rules)) != target
    share = (PSEUDO_RULES * SHARES["majority"] + majorities[others].sum()) / (PSEUDO_RULES + rules[others].sum())
    return min(MAJORITY_SHARES, key=lambda usual: abs(np.log(usual / share)))


def level_odds(series: Sequence[Series]) -> Levels | None:
    """Log-odds of each edge from measured levels, shape (targets, regulators); None if no series has levels."""
    # For each pair of genes: the partial correlation between the level of one and the next level of the other, given the
    # present level of the latter, turned into half the log of a Bayes factor. Self-edges have 0: every level that changes
    # slowly goes with its own next one.
    befores, afters, varies = [], [], []
    for single in series:
        if single.levels is not None and not single.steady:
            for before, after in single.transitions():
                befores.append(single.levels[before])
                afters.append(single.levels[after])
                varies.append(~single.is_held)
    if len(befores) < FEWEST_TRANSITIONS:
        return None
    now, then, free = _standard(np.array(befores)), _standard(np.array(afters)), np.array(varies)
    odds = np.array([_target_odds(now[free[:, g]], then[free[:, g], g], g) for g in range(now.shape[1])])
    np.fill_diagonal(odds, 0.0)
    return odds


def _standard(levels: Levels) -> Levels:
    """Center and scale each gene; missing levels have the mean."""
    known = np.ma.masked_invalid(levels)
    deviations = np.ma.filled(known.std(axis=0), 0.0)
    return np.asarray(np.ma.filled((known - known.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0), 0.0))


def _target_odds(now: Levels, then: Levels, target: int) -> Levels:
    """Half the log Bayes factor, by the Bayesian information criterion, of each regulator beside the target's own level."""
    if len(then) < FEWEST_TRANSITIONS:
        return np.zeros(now.shape[1])
    own = now[:, target]
    ground = np.column_stack([np.ones(len(own)), own])
    rest = then - ground @ np.linalg.lstsq(ground, then, rcond=None)[0]
    others = now - ground @ np.linalg.lstsq(ground, now, rcond=None)[0]
    below = np.sqrt((rest**2).sum() * (others**2).sum(axis=0))
    correlations = np.divide(rest @ others, below, out=np.zeros(len(below)), where=below > 1e-9)
    gains = -len(then) * np.log1p(-np.minimum(correlations**2, 1 - 1e-12)) - np.log(len(then))
    return np.asarray(np.clip(gains / 4, LEAST_ODDS, MOST_ODDS))
