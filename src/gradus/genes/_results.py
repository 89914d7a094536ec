"""What `infer` found, and its tables as rows of named values: for data frames, CSV files, JSON and the page alike."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._core.checks import check_count, check_time_limit
from gradus._core.run import Callback, Run
from gradus._core.wording import counted
from gradus._pages.html import notebook_table
from gradus.errors import MissingExtraError
from gradus.genes._advice import Advice, Experiment, advise, allowed_states, held_places
from gradus.genes._attractors import Attractor, LongRun
from gradus.genes._candidates import Candidate, candidates, is_settled, open_question
from gradus.genes._learning import SeriesScores
from gradus.genes._model import GeneModel, rule_text
from gradus.genes._series import Series
from gradus.genes._transitions import gather_evidence

__all__ = ["EXPERIMENTS", "TABLES", "Hierarchy", "Inference", "named_sets", "rests_on"]

Row = dict[str, Any]
Cells = tuple[Any, ...]
LEAST_EDGE = 0.01
MOST_SETS = 20


class Table(NamedTuple):
    """A table of what was found."""

    columns: tuple[str, ...]
    cells: Callable[[Any], Iterable[Cells]]

    def rows(self, found: Any) -> list[Row]:
        """Name the cells of each row."""
        return [dict(zip(self.columns, cells, strict=True)) for cells in self.cells(found)]


TABLES: dict[str, Table] = {}
"""The tables of an inference, by name."""


def _table(name: str, columns: str) -> Callable[[Callable[[Inference], Iterable[Cells]]], None]:
    """Register what lists the cells of a table."""

    def register(cells: Callable[[Inference], Iterable[Cells]]) -> None:
        TABLES[name] = Table(tuple(columns.split()), cells)

    return register


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
        return self._frame("rules")

    @property
    def candidates(self) -> Any:
        """The rules that the data leave to each gene, with their shares of the posterior, as a DataFrame."""
        return self._frame("candidates")

    @property
    def edges(self) -> Any:
        """Every edge with a posterior of at least 1 %, as a DataFrame."""
        return self._frame("edges")

    @property
    def sets(self) -> Any:
        """The most probable regulator sets of each gene, as a DataFrame."""
        return self._frame("sets")

    @property
    def genes(self) -> Any:
        """Accuracy of each gene on what was left out, beside constant and persistence, as a DataFrame."""
        return self._frame("genes")

    @property
    def suspects(self) -> Any:
        """Recorded values that the rules contradict, as a DataFrame."""
        return self._frame("suspects")

    @property
    def attractors(self) -> Any:
        """Attractors of the rules, as a DataFrame."""
        return self._frame("attractors")

    @property
    def knockouts(self) -> Any:
        """What is predicted when each gene is held at 0 or 1, as a DataFrame."""
        return self._frame("knockouts")

    @functools.cached_property
    def left(self) -> tuple[tuple[Candidate, ...], ...]:
        """The rules that the data leave to each gene, the most probable first."""
        return tuple(candidates(target, stopped=self.stopped is not None) for target in self.model.targets)

    def _frame(self, name: str) -> Any:
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("tables in Python are data frames; run pip install pandas.") from error
        return pandas.DataFrame(TABLES[name].rows(self), columns=list(TABLES[name].columns))

    def __repr__(self) -> str:
        edges = sum(len(rule.regulators) for rule in self.model.rules)
        parts = (len(self.model.rules), "rule"), (edges, "edge"), (len(self.series), "series", "series")
        return f"Inference({', '.join(counted(*part) for part in parts)})"

    def _repr_html_(self) -> str:
        rows = TABLES["rules"].rows(self)
        cells = [(row["target"], row["rule"], f"{100 * row['probability']:.0f} %", row["errors"]) for row in rows]
        return notebook_table(repr(self), ["gene", "is on next if", "probability of its regulators", "errors"], cells)

    def next_experiments(
        self,
        n: int = 5,
        *,
        states: Any = None,
        hold: Sequence[str] | None = None,
        steps: int | None = None,
        time_limit: float | None = None,
        callback: Callback | None = None,
    ) -> tuple[Experiment, ...]:
        """Choose the experiments that are expected to decide most of what the data leave open.

        Parameters
        ----------
        n : int
            How many, the best first; each adds to those before it.
        states : Series, DataFrame, path-like, or iterable of these, optional
            States that an experiment can begin in, one per row; any state if not given.
        hold : sequence of str, optional
            Genes that can be knocked out or over-expressed, one at a time; all if not given, none with ``()``.
        steps : int, optional
            Steps that each is recorded for; as many as the series have (the median).
        time_limit : float, optional
            Seconds; the experiments chosen by then are returned.
        callback : callable, optional
            Gets a `Progress` several times a second, and stops the work by returning True.

        Returns
        -------
        tuple of Experiment
            With its state, the gene held, the expected bits, and the bits of each gene.

        Examples
        --------
        >>> from gradus.genes import YEAST_SERIES, infer
        >>> found = infer(YEAST_SERIES, leave_out=False, attractors=False)
        >>> first, second = found.next_experiments(2, hold=())
        >>> first.bits > second.bits > 1
        True
        """
        run, genes = Run(check_time_limit(time_limit), callback), self.model.genes
        lengths = [len(single.codes) - 1 for single in self.series if not single.steady] or [1]
        length = int(np.median(lengths)) if steps is None else check_count("steps", steps)
        allowed = None if states is None else allowed_states(states, genes)
        return advise(self.model, check_count("n", n), allowed, held_places(hold, genes), max(1, length), run)

    def predict(self, states: Any) -> BoolMatrix:
        """Next value of each gene after each state: the vote of all regulator sets."""
        return self.model.predict(states)

    def predict_proba(self, states: Any) -> npt.NDArray[np.float64]:
        """Probability that each gene is 1 after each state."""
        return self.model.predict_proba(states)


def named_sets(nest: Hierarchy, genes: Sequence[str]) -> dict[str, list[str]]:
    """Return the regulator set of each target of a hierarchy, by names."""
    pairs = zip(nest.targets, nest.feature_sets, strict=True)
    return {genes[target]: [genes[i] for i in features] for target, features in pairs}


@_table("rules", "target rule regulators probability errors transitions learned share decided question")
def _rules(found: Inference) -> Iterator[Cells]:
    """List the best rule of each gene that has a transition; `learned` is empty where nothing was left out."""
    scores, evidence = found.scores, gather_evidence(found.series)
    learned = {} if scores is None else {score.gene: score.learned for score in scores.genes if score.scored}
    for rule, left, known in zip(found.model.rules, found.left, evidence, strict=True):
        if rule.seen:
            described = rule.target, rule_text(rule), " ".join(rule.regulators), rule.probability, rule.errors, rule.total
            open_ = left[0].share, left[0].decided, open_question(left, found.model.genes, known)
            yield *described, learned.get(rule.target), *open_


@_table("candidates", "target rank rule regulators share")
def _candidates(found: Inference) -> Iterator[Cells]:
    """List the rules that the data leave to each gene, the most probable first."""
    for target, left in zip(found.model.rules, found.left, strict=True):
        for rank, candidate in enumerate(left if target.seen else (), start=1):
            table = tuple((candidate.table >> cell) & 1 for cell in range(1 << len(candidate.features)))
            names = tuple(found.model.genes[i] for i in candidate.features)
            text = rule_text(replace(target, regulators=names, table=table))
            yield target.target, rank, text, " ".join(names), candidate.share


@_table("edges", "regulator target probability sign sign_probability self reported")
def _edges(found: Inference) -> Iterator[Cells]:
    """List the edges, the most probable first, and self-edges after the others."""
    place, likely = {gene: i for i, gene in enumerate(found.model.genes)}, found.model.likely_edges()
    for edge in sorted(found.model.edges(LEAST_EDGE), key=lambda edge: edge.is_self):
        sign = ("activating", edge.rising) if edge.rising >= 0.5 else ("inhibiting", 1 - edge.rising)
        reported = bool(likely[place[edge.target], place[edge.regulator]])
        yield edge.regulator, edge.target, edge.probability, *sign, edge.is_self, reported


@_table("sets", "target regulators probability errors")
def _sets(found: Inference) -> Iterator[Cells]:
    """List the most probable regulator sets of each gene."""
    genes = found.model.genes
    for name, target in zip(genes, found.model.targets, strict=True):
        for ranked in target.sets[:MOST_SETS] if target.total else ():
            yield name, " ".join(genes[i] for i in ranked.features), ranked.weight, ranked.errors


@_table("genes", "gene one_step free_run constant persistence persistent_run scored learned")
def _genes(found: Inference) -> Iterator[Cells]:
    """List how well each gene is predicted where it was left out; empty if that was not measured."""
    for score in () if found.scores is None else found.scores.genes:
        yield *astuple(score), score.learned


@_table("suspects", "series state line gene recorded probability")
def _suspects(found: Inference) -> Iterator[Cells]:
    """List recorded values that the rules contradict; states are counted from 1."""
    for cell in found.model.suspects:
        place, gene = found.series[cell.series].step(cell.row), found.model.genes[cell.gene]
        yield place.series, cell.row + 1, place.line, gene, cell.recorded, cell.probability


def rests_on(found: Inference, attractor: Attractor) -> tuple[str, ...]:
    """Genes whose rules are not decided where the attractor needs them: with others it would not be there, or be another."""
    place = {gene: i for i, gene in enumerate(found.model.genes)}
    fixed = {place[gene]: 1 for gene in attractor.on} | {place[gene]: 0 for gene in attractor.off}
    rules = zip(found.model.rules, found.left, strict=True)
    return tuple(rule.target for rule, left in rules if rule.seen and not is_settled(left, fixed))


@_table("attractors", "attractor states on off changing rests_on")
def _attractors(found: Inference) -> Iterator[Cells]:
    """List the attractors."""
    for number, end in enumerate(() if found.long_run is None else found.long_run.attractors, start=1):
        yield number, end.states, *map(" ".join, (end.on, end.off, end.changing, rests_on(found, end)))


@_table("knockouts", "gene held_at attractors fixed_points turned_on turned_off freed")
def _knockouts(found: Inference) -> Iterator[Cells]:
    """List what is predicted for each gene held at 0 and at 1."""
    for held in () if found.long_run is None else found.long_run.held:
        changed = map(" ".join, (held.on, held.off, held.free))
        yield held.gene, held.value, held.attractors, held.fixed_points, *changed


def _experiments(advice: Advice) -> Iterator[Cells]:
    """List the experiments that were advised."""
    for number, chosen in enumerate(advice, start=1):
        on, off = (" ".join(gene for gene, value in chosen.state.items() if value == side) for side in (1, 0))
        held = " ".join(f"{gene}={value}" for gene, value in chosen.held.items())
        yield number, chosen.bits, held, on, off, " ".join(f"{gene}={bits:.1f}" for gene, bits in chosen.genes.items())


EXPERIMENTS = Table(("experiment", "bits", "held", "on", "off", "decides"), _experiments)
"""The table of experiments that were advised."""
