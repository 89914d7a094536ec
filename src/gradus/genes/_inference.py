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
from gradus._core.run import Callback
from gradus._core.wording import counted
from gradus._pages.html import notebook_table
from gradus.errors import ConflictError, DataError, MissingExtraError
from gradus.genes import _result_tables as result_tables
from gradus.genes._binarize import binarize as binarize_series
from gradus.genes._evidence import GeneSeries
from gradus.genes._gene_learning import learn_genes
from gradus.genes._gene_model import GeneModel
from gradus.genes._hierarchies import Hierarchy, find_hierarchies, nested_hierarchies
from gradus.genes._known_edges import allowed_regulators, as_beliefs, known_edges
from gradus.genes._long_run import LongRun, find_long_run
from gradus.genes._noise_model import flip_rate
from gradus.genes._recorded_series import recorded_series
from gradus.genes._rule_circuits import rule_network
from gradus.genes._series import Series, as_series
from gradus.genes._series_scores import SeriesScores, leave_series_out, series_folds
from gradus.genes._transitions import transitions
from gradus.genes._work_watch import WorkWatch

__all__ = ["Inference", "infer"]

LEVELS_RANK = (
    "The measured levels, before they were made binary, make edges between correlated genes more probable beforehand."
)


@dataclass(frozen=True, eq=False)
class Inference:
    """What `infer` found.

    Attributes
    ----------
    model : GeneModel
        All regulator sets with their posteriors; predicts and simulates.
    network : Network
        The best rules as one circuit; a gene without a transition has none, and keeps its value.
    series : tuple of Series
        The data, steady states last.
    scores : SeriesScores or None
        How well data that were left out are predicted; None if that was not asked for or nothing can be left out.
    hierarchies : tuple of Hierarchy
        Genes, by their numbers, whose regulator sets nest: the paper's order of teaching.
    exact_sets : bool
        Whether the hierarchies come from minimum feature sets, as in the paper; with noisy data they come from the rules.
    long_run : LongRun or None
        Attractors and predicted knock-outs; None without AEON.
    data : tuple of str
        Sentences about the data.
    notes : tuple of str
        Sentences about what could not be done.
    stopped : str or None
        Why the work ended early: "time limit" or "callback".
    """

    model: GeneModel
    network: Network
    series: tuple[Series, ...]
    scores: SeriesScores | None
    hierarchies: tuple[Hierarchy, ...]
    exact_sets: bool
    long_run: LongRun | None
    data: tuple[str, ...]
    notes: tuple[str, ...] = ()
    stopped: str | None = None

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
    repair: bool = True,
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
        A target that stands in `allow` has no other regulators; edges in `forbid` are never used. Genes that this leaves
        without an explanation are reported.
    noise : "auto" or float
        Share of next values that differ from the rules; "auto" estimates it from all genes together.
    repair : bool
        Whether to learn again with recorded values corrected where the rules contradict them.
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
    seconds = check_time_limit(time_limit)
    flip_rate(noise)  # an invalid setting is reported before any work
    runs, steadies = as_series(series), () if steady is None else as_series(steady)
    cut: tuple[Series, ...] = (*runs, *steadies)
    notes: tuple[str, ...] = ()
    measured: tuple[Series, ...] | None = None
    if binarize is not None:
        made = binarize_series(cut, binarize)
        measured = cut if _has_levels(cut) else None
        cut, notes = made.series, (*made.notes, *([LEVELS_RANK] if measured else []))
    if held:
        cut = tuple(replace(one, held={**one.held, **held}) for one in cut)
    genes, recorded = recorded_series(cut[: len(runs)], cut[len(runs) :], measured)
    settings: dict[str, Any] = {
        "prior": as_beliefs(known_edges(() if prior is None else prior), genes),
        "allow": allowed_regulators(known_edges(() if allow is None else allow), genes),
        "forbid": [(e.regulator, e.target) for e in as_beliefs(known_edges(() if forbid is None else forbid), genes)],
        "noise": noise,
        "repair": repair,
    }
    watch = WorkWatch(seconds, callback)
    model = learn_genes(recorded, genes=genes, watch=watch, **settings)
    network = rule_network(genes, model.rules)
    scores = None
    if leave_out and series_folds(recorded)[0] and not watch.stopped:
        scores = leave_series_out(recorded, genes=genes, watch=watch, **settings)
        scores = scores if scores.parts else None
    hierarchies, exact = _hierarchies(cut[: len(runs)], model, watch)
    long_run, problems = _long_run(network, watch) if attractors and not watch.stopped else (None, ())
    return Inference(
        model=model,
        network=network,
        series=cut,
        scores=scores,
        hierarchies=tuple(hierarchies),
        exact_sets=exact,
        long_run=long_run,
        data=(*notes, *_described(genes, recorded, model)),
        notes=problems,
        stopped=watch.stopped,
    )


def _has_levels(series: Sequence[Series]) -> bool:
    """Whether some gene has more than two values, so that making them binary loses something."""
    together = np.concatenate([one.in_order(series[0].genes) for one in series])
    return any(len(np.unique(column[~np.isnan(column)])) > 2 for column in together.T)


def _hierarchies(runs: Sequence[Series], model: GeneModel, watch: WorkWatch) -> tuple[list[Hierarchy], bool]:
    """Find hierarchies of minimum feature sets where the data are clean, else those of the best rules."""
    if model.flips.clean and not any(np.isnan(one.states).any() or one.held for one in runs) and not watch.stopped:
        try:
            moves = transitions(runs)
        except (ConflictError, DataError):
            pass
        else:
            number = {name: gene for gene, name in enumerate(model.genes)}
            place = [number[name] for name in moves.target_names]
            found = find_hierarchies(moves.X, moves.Y, watch)
            return [_renumbered(one, place) for one in found], True
    return nested_hierarchies([one.best_rule.features for one in model.targets]), False


def _renumbered(one: Hierarchy, place: Sequence[int]) -> Hierarchy:
    edges = tuple((place[a], place[b]) for a, b in one.edges)
    return Hierarchy(tuple(place[k] for k in one.targets), one.feature_sets, edges)


def _long_run(network: Network, watch: WorkWatch) -> tuple[LongRun | None, tuple[str, ...]]:
    try:
        return find_long_run(network, watch), ()
    except MissingExtraError as error:
        return None, (f"Attractors were not looked for: {error}",)


def _described(genes: Sequence[str], recorded: Sequence[GeneSeries], model: GeneModel) -> tuple[str, ...]:
    """Say in plain sentences what the data are."""
    return tuple(result_tables.data_sentences(genes, recorded, model))
