"""`infer`: from time series to rules, edges and scores in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._core.checks import check_time_limit
from gradus._core.run import Callback, Progress, Run
from gradus._core.wording import counted
from gradus._curriculum.curriculum import find_curriculum
from gradus._pages.html import notebook_table
from gradus.errors import ConflictError, DataError, MissingExtraError
from gradus.genes import _result_tables as result_tables
from gradus.genes._edges import EdgePrior, known_edges
from gradus.genes._evidence import flip_rate, recorded
from gradus.genes._gene_model import GeneModel
from gradus.genes._learning import SeriesScores, learn_genes, leave_series_out, series_folds
from gradus.genes._long_run import LongRun, find_long_run
from gradus.genes._rule_circuits import rule_network
from gradus.genes._series import Series, as_series
from gradus.genes._transitions import binarized, transitions

__all__ = ["Hierarchy", "Inference", "find_hierarchies", "infer", "nested_hierarchies"]

LEVELS_RANK = (
    "The measured levels, before they were made binary, make edges between correlated genes more probable beforehand."
)


@dataclass(frozen=True)
class Hierarchy:
    """Targets whose regulator sets nest."""

    targets: tuple[int, ...]
    """Easiest first."""
    feature_sets: tuple[tuple[int, ...], ...]
    """The regulator set of each, in the order of `targets`."""
    edges: tuple[tuple[int, int], ...]
    """Pairs (easier, harder) of targets whose sets nest, with no set between them."""


@dataclass(frozen=True, eq=False)
class Inference:
    """What `infer` found."""

    model: GeneModel
    """All regulator sets with their posteriors; predicts and simulates."""
    network: Network
    """The best rules as one circuit; a gene without a transition has none, and keeps its value."""
    series: tuple[Series, ...]
    """The data, steady states last."""
    scores: SeriesScores | None
    """How well data that were left out are predicted; None if that was not asked for or nothing can be left out."""
    hierarchies: tuple[Hierarchy, ...]
    """Genes, by their numbers, whose regulator sets nest: the paper's order of teaching."""
    exact_sets: bool
    """Whether the hierarchies come from minimum feature sets, as in the paper; with noisy data they come from the rules."""
    long_run: LongRun | None
    """Attractors and predicted knock-outs; None without AEON."""
    data: tuple[str, ...]
    """Sentences about the data."""
    notes: tuple[str, ...] = ()
    """Sentences about what could not be done."""
    stopped: str | None = None
    """Why the work ended early: "time_limit" or "callback"."""

    @property
    def rules(self) -> Any:
        """The best rule of each gene, as a DataFrame."""
        return result_tables.frame(result_tables.rule_rows(self.model, self.scores))

    @property
    def edges(self) -> Any:
        """Every edge with a posterior of at least 1 %, as a DataFrame."""
        return result_tables.frame(result_tables.edge_rows(self.model))

    @property
    def sets(self) -> Any:
        """The most probable regulator sets of each gene, as a DataFrame."""
        return result_tables.frame(result_tables.set_rows(self.model))

    @property
    def genes(self) -> Any:
        """Accuracy of each gene on what was left out, beside constant and persistence, as a DataFrame."""
        return result_tables.frame(result_tables.gene_rows(self.scores))

    @property
    def suspects(self) -> Any:
        """Recorded values that the rules contradict, as a DataFrame."""
        return result_tables.frame(result_tables.suspect_rows(self.model, self.series))

    @property
    def attractors(self) -> Any:
        """Attractors of the rules, as a DataFrame."""
        return result_tables.frame(result_tables.attractor_rows(self.long_run))

    @property
    def knockouts(self) -> Any:
        """What is predicted when each gene is held at 0 or 1, as a DataFrame."""
        return result_tables.frame(result_tables.held_rows(self.long_run))

    def __repr__(self) -> str:
        edges = sum(len(rule.regulators) for rule in self.model.rules)
        parts = (len(self.model.rules), "rule"), (edges, "edge"), (len(self.series), "series", "series")
        return f"Inference({', '.join(counted(*part) for part in parts)})"

    def _repr_html_(self) -> str:
        rows = result_tables.rule_rows(self.model, self.scores)[1]
        cells = [(row["target"], row["rule"], f"{100 * row['probability']:.0f} %", row["errors"]) for row in rows]
        return notebook_table(repr(self), ["gene", "is on next if", "probability of its regulators", "errors"], cells)

    def predict(self, states: Any) -> BoolMatrix:
        """Next value of each gene after each state: the vote of all regulator sets."""
        return self.model.predict(states)

    def predict_proba(self, states: Any) -> npt.NDArray[np.float64]:
        """Probability that each gene is 1 after each state."""
        return self.model.predict_proba(states)


def infer(
    series: Any,
    *,
    binarize: Literal["kmeans"] | float | None = None,
    held: Mapping[str, int] | None = None,
    steady: Any = None,
    prior: Any = None,
    allow: Any = None,
    forbid: Any = None,
    noise: str | float = "auto",
    leave_out: bool = True,
    attractors: bool = True,
    time_limit: float | None = None,
    callback: Callback | None = None,
) -> Inference:
    """Infer the Boolean rules of a gene network from time series, which may be noisy and incomplete.

    Parameters
    ----------
    series : Series, DataFrame, path-like, or iterable of these
        States of genes at successive times: a row is a state and a column is a gene. Columns ``series`` and ``replicate``
        tell several series apart, ``time`` orders the states, ``held`` names genes held at a value (``Rb=0``).
    binarize : "kmeans" or float, optional
        How to make values other than 0 and 1 binary: two clusters per gene, or a threshold. By default they are an error.
    held : mapping of str to int, optional
        Genes held at 0 (knock-out) or 1 (over-expression) in every series: inputs there, never rules.
    steady : Series, DataFrame, path-like, or iterable of these, optional
        Steady states: each row is followed by itself.
    prior : path-like, DataFrame, or iterable of (regulator, target, probability, sign), optional
        Edges that are believed, as far as the data agree; also a ``.bnet`` or ``.sbml`` model.
    allow, forbid : path-like, DataFrame, or iterable of (regulator, target), optional
        A target that is in `allow` has no other regulators; edges in `forbid` are never used. Genes that this leaves
        without an explanation are reported.
    noise : "auto" or float
        Share of next values that differ from the rules; "auto" estimates it from all genes together.
    leave_out : bool
        Whether to learn again without each series in turn (each block of a single series), to see how well it is predicted.
    attractors : bool
        Whether to find attractors and to predict knock-outs, if AEON is installed.
    time_limit : float, optional
        Seconds; the best so far is returned.
    callback : callable, optional
        Gets a `Progress` several times a second, and stops the work by returning True.

    Returns
    -------
    Inference

    Raises
    ------
    DataError
        If the series cannot be used, or an edge names an unknown gene.
    SettingsError
        If a setting is out of its range.

    Examples
    --------
    >>> import pandas
    >>> states = pandas.DataFrame({"a": [0, 1, 1, 0, 0, 1], "b": [0, 0, 1, 1, 0, 0]})  # a follows not b, b follows a
    >>> found = infer(states)
    >>> found.rules[["target", "rule"]].values.tolist()
    [['a', '!b'], ['b', 'a']]
    >>> found.predict([[1, 1]]).astype(int).tolist()
    [[0, 1]]
    """
    run = Run(check_time_limit(time_limit), callback)
    flip_rate(noise)  # an invalid setting is reported before any work
    several = as_series(series)
    if steady is not None:
        several += tuple(replace(single, steady=True) for single in as_series(steady))
    notes: tuple[str, ...] = ()
    if binarize is not None:
        made = binarized(several, binarize)
        several, notes = made.series, made.notes
        if several[0].levels is not None:
            notes += (LEVELS_RANK,)
    if held:
        several = tuple(replace(single, held={**single.held, **held}) for single in several)
    several = recorded(several)
    known = [() if edges is None else known_edges(edges) for edges in (prior, allow, forbid)]
    edges = EdgePrior(several[0].genes, *known)
    model = learn_genes(several, edges, noise, run=run)
    network = rule_network(model.genes, model.rules)
    scores = None
    if leave_out and series_folds(several)[0] and not run.stopped:
        scores = leave_series_out(several, edges, noise, run=run)
    hierarchies, exact = _hierarchies(several, model, run)
    long_run, problems = _long_run(network, run) if attractors and not run.stopped else (None, ())
    return Inference(
        model=model,
        network=network,
        series=several,
        scores=scores if scores is not None and scores.parts else None,
        hierarchies=tuple(hierarchies),
        exact_sets=exact,
        long_run=long_run,
        data=(*notes, *result_tables.data_sentences(several, model)),
        notes=problems,
        stopped=run.stopped,
    )


def _hierarchies(series: Sequence[Series], model: GeneModel, run: Run) -> tuple[list[Hierarchy], bool]:
    """Find hierarchies of minimum feature sets where the data are clean, else those of the best rules."""
    runs = [single for single in series if not single.steady]
    complete = not any(np.isnan(single.states).any() or single.held for single in runs)
    if model.flips.clean and complete and not run.stopped:
        try:
            moves = transitions(runs)
        except (ConflictError, DataError):
            pass
        else:
            place = [model.genes.index(gene) for gene in moves.target_names]
            return [_renumbered(nest, place) for nest in find_hierarchies(moves.X, moves.Y, run)], True
    return nested_hierarchies([target.best_rule.features for target in model.targets]), False


def _renumbered(nest: Hierarchy, place: Sequence[int]) -> Hierarchy:
    edges = tuple((place[a], place[b]) for a, b in nest.edges)
    return Hierarchy(tuple(place[k] for k in nest.targets), nest.feature_sets, edges)


def find_hierarchies(X: BoolMatrix, Y: BoolMatrix, run: Run) -> list[Hierarchy]:
    """Find the hierarchies of clean transitions from minimum feature sets, as the paper does."""

    def is_stopped(progress: Progress) -> bool:
        return run.stop(replace(progress, stage="hierarchies"))

    curriculum = find_curriculum(X, Y, time_limit=run.seconds_left(), callback=is_stopped)
    return nested_hierarchies([found.features for found in curriculum.feature_sets], curriculum.order)


def nested_hierarchies(sets: Sequence[Sequence[int]], order: Sequence[int] | None = None) -> list[Hierarchy]:
    """Group targets whose regulator sets nest."""
    members = [frozenset(features) for features in sets]
    ordered = sorted(range(len(sets)), key=lambda k: len(members[k])) if order is None else list(order)
    edges = [
        (a, b)
        for a in range(len(sets))
        for b in range(len(sets))
        if members[a] and members[a] < members[b] and not any(members[a] < other < members[b] for other in members)
    ]
    group = {k: {k} for k in ordered}
    for easier, harder in edges:
        joined = group[easier] | group[harder]
        for k in joined:
            group[k] = joined
    hierarchies = []
    for together in {id(targets): targets for targets in group.values()}.values():
        targets = tuple(k for k in ordered if k in together)
        feature_sets = tuple(tuple(sorted(members[k])) for k in targets)
        hierarchies.append(Hierarchy(targets, feature_sets, tuple(edge for edge in edges if edge[0] in together)))
    return sorted(hierarchies, key=lambda nest: (-len(nest.targets), min(nest.targets)))


def _long_run(network: Network, run: Run) -> tuple[LongRun | None, tuple[str, ...]]:
    try:
        return find_long_run(network, run), ()
    except MissingExtraError as error:
        return None, (f"Attractors were not looked for: {error}",)
