"""What `infer` found, and its tables as rows of named values: for data frames, CSV files, JSON and the page alike."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._core.checks import check_count, check_time_limit
from gradus._core.run import Callback, Run
from gradus._core.wording import counted, listed
from gradus._pages.html import notebook_table
from gradus.errors import DataError, MissingExtraError
from gradus.genes._advice import Advice, Experiment, advise
from gradus.genes._attractors import Attractor, LongRun
from gradus.genes._candidates import Candidate, candidates, is_settled, open_question
from gradus.genes._learning import SeriesScores, experiments
from gradus.genes._model import GeneModel, rule_text
from gradus.genes._series import UNKNOWN, Series, as_series
from gradus.genes._transitions import gather_evidence

__all__ = [
    "TABLES", "Hierarchy", "Inference", "allowed_states", "as_document", "data_sentences", "edge_rows", "experiment_rows",
    "held_places", "named_sets", "rests_on", "rule_rows", "suspect_rows", "table_csv",
]  # fmt: skip

Row = dict[str, Any]
LEAST_EDGE = 0.01
MOST_SETS = 20
DIGITS = 6
OPEN = ("share", "decided", "question")
COLUMNS = {
    "rules": (*("target", "rule", "regulators", "probability", "errors", "transitions", "learned"), *OPEN),
    "candidates": ("target", "rank", "rule", "regulators", "share"),
    "edges": ("regulator", "target", "probability", "sign", "sign_probability", "self", "reported"),
    "sets": ("target", "regulators", "probability", "errors"),
    "genes": ("gene", "one_step", "free_run", "constant", "persistence", "persistent_run", "scored", "learned"),
    "suspects": ("series", "state", "line", "gene", "recorded", "probability"),
    "attractors": ("attractor", "states", "on", "off", "changing", "rests_on"),
    "knockouts": ("gene", "held_at", "attractors", "fixed_points", "turned_on", "turned_off", "freed"),
    "experiments": ("experiment", "bits", "held", "on", "off", "decides"),
}
"""The columns of each table."""


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
        return pandas.DataFrame(TABLES[name](self), columns=list(COLUMNS[name]))

    def __repr__(self) -> str:
        edges = sum(len(rule.regulators) for rule in self.model.rules)
        parts = (len(self.model.rules), "rule"), (edges, "edge"), (len(self.series), "series", "series")
        return f"Inference({', '.join(counted(*part) for part in parts)})"

    def _repr_html_(self) -> str:
        rows = rule_rows(self)
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
            How many, the best first; none decides again what those before it decide.
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


def held_places(hold: Sequence[str] | None, genes: tuple[str, ...]) -> list[int]:
    """Return the numbers of the genes that an experiment can hold; of all if not given."""
    for gene in hold or ():
        if gene not in genes:
            raise DataError(f"{gene!r} cannot be held, since it is not one of the genes: {listed(genes)}.")
    return [place for place, gene in enumerate(genes) if hold is None or gene in hold]


def allowed_states(states: Any, genes: tuple[str, ...]) -> BoolMatrix:
    """Read the states that an experiment can begin in."""
    rows = np.concatenate([single.binary(genes) for single in as_series(states)])
    if np.isnan(rows).any() or not len(rows):
        raise DataError("the states that an experiment can begin in must be given, each without a missing value.")
    return np.asarray(rows == 1)


def rule_rows(found: Inference) -> list[Row]:
    """List the best rule of each gene that has a transition; `learned` is empty where nothing was left out."""
    model, scores = found.model, found.scores
    learned = {} if scores is None else {score.gene: score.learned for score in scores.genes if score.scored}
    evidence = gather_evidence(found.series)
    return [
        {
            "target": rule.target,
            "rule": rule_text(rule),
            "regulators": " ".join(rule.regulators),
            "probability": rule.probability,
            "errors": rule.errors,
            "transitions": rule.total,
            "learned": learned.get(rule.target),
            "share": left[0].share,
            "decided": left[0].decided,
            "question": open_question(left, model.genes, known),
        }
        for rule, left, known in zip(model.rules, found.left, evidence, strict=True)
        if rule.seen
    ]


def candidate_rows(found: Inference) -> list[Row]:
    """List the rules that the data leave to each gene, the most probable first."""
    rows = []
    for target, left in zip(found.model.rules, found.left, strict=True):
        for rank, candidate in enumerate(left if target.seen else (), start=1):
            table = tuple((candidate.table >> cell) & 1 for cell in range(1 << len(candidate.features)))
            names = tuple(found.model.genes[i] for i in candidate.features)
            cells = target.target, rank, rule_text(replace(target, regulators=names, table=table)), " ".join(names)
            rows.append(dict(zip(COLUMNS["candidates"], (*cells, candidate.share), strict=True)))
    return rows


def edge_rows(model: GeneModel) -> list[Row]:
    """List the edges, the most probable first, and self-edges after the others."""
    place, likely = {gene: i for i, gene in enumerate(model.genes)}, model.likely_edges()
    rows = [
        {
            "regulator": edge.regulator,
            "target": edge.target,
            "probability": edge.probability,
            "sign": "activating" if edge.rising >= 0.5 else "inhibiting",
            "sign_probability": max(edge.rising, 1 - edge.rising),
            "self": edge.is_self,
            "reported": bool(likely[place[edge.target], place[edge.regulator]]),
        }
        for edge in model.edges(LEAST_EDGE)
    ]
    return sorted(rows, key=lambda row: bool(row["self"]))


def set_rows(model: GeneModel) -> list[Row]:
    """List the most probable regulator sets of each gene."""
    return [
        {
            "target": model.genes[g],
            "regulators": " ".join(model.genes[i] for i in ranked.features),
            "probability": ranked.weight,
            "errors": ranked.errors,
        }
        for g, target in enumerate(model.targets)
        if target.total
        for ranked in target.sets[:MOST_SETS]
    ]


def gene_rows(scores: SeriesScores | None) -> list[Row]:
    """List how well each gene is predicted where it was left out; empty if that was not measured."""
    return [] if scores is None else [{**asdict(score), "learned": score.learned} for score in scores.genes]


def suspect_rows(model: GeneModel, series: Sequence[Series]) -> list[Row]:
    """List recorded values that the rules contradict; states are counted from 1."""
    rows = []
    for cell in model.suspects:
        place = series[cell.series].step(cell.row)
        rows.append(
            {
                "series": place.series,
                "state": cell.row + 1,
                "line": place.line,
                "gene": model.genes[cell.gene],
                "recorded": cell.recorded,
                "probability": cell.probability,
            }
        )
    return rows


def rests_on(found: Inference, attractor: Attractor) -> tuple[str, ...]:
    """Genes whose rules are not decided where the attractor needs them: with others it would not be there, or be another."""
    place = {gene: i for i, gene in enumerate(found.model.genes)}
    fixed = {place[gene]: 1 for gene in attractor.on} | {place[gene]: 0 for gene in attractor.off}
    rules = zip(found.model.rules, found.left, strict=True)
    return tuple(rule.target for rule, left in rules if rule.seen and not is_settled(left, fixed))


def attractor_rows(found: Inference) -> list[Row]:
    """List the attractors."""
    rows = []
    for number, end in enumerate(() if found.long_run is None else found.long_run.attractors, start=1):
        genes = (" ".join(names) for names in (end.on, end.off, end.changing, rests_on(found, end)))
        rows.append(dict(zip(COLUMNS["attractors"], (number, end.states, *genes), strict=True)))
    return rows


def held_rows(long_run: LongRun | None) -> list[Row]:
    """List what is predicted for each gene held at 0 and at 1."""
    return [
        {
            "gene": held.gene,
            "held_at": held.value,
            "attractors": held.attractors,
            "fixed_points": held.fixed_points,
            "turned_on": " ".join(held.on),
            "turned_off": " ".join(held.off),
            "freed": " ".join(held.free),
        }
        for held in (() if long_run is None else long_run.held)
    ]


def data_sentences(series: Sequence[Series], model: GeneModel) -> list[str]:
    """Describe the data in plain sentences, without those that would count or list nothing."""
    runs = [single for single in series if not single.steady]
    codes, genes = np.concatenate([single.codes for single in series]), np.array(model.genes)
    n_transitions = sum(len(single.transitions()) for single in runs)
    n_experiments, n_missing = len(set(experiments(runs))), int((codes == UNKNOWN).sum())
    of = f" of {counted(n_experiments, 'experiment')}" if n_experiments < len(runs) else ""
    steady = sum(len(single.codes) for single in series if single.steady)
    long_steps = sum(len(single.codes) - 1 for single in runs) - n_transitions
    held = sorted({gene for single in series for gene in single.held})
    without_rule = genes[[target.total == 0 for target in model.targets]]
    constant = genes[~((codes == 0).any(axis=0) & (codes == 1).any(axis=0))]
    clean, rate, share = model.flips.clean, 100 * model.flips.rate, 100 * n_missing / codes.size
    sentences = [
        (1, f"{len(runs)} series{of} of {counted(len(genes), 'gene')} gave {counted(n_transitions, 'transition')}."),
        (steady, f"{counted(steady, 'steady state')} counted as followed by the same state."),
        (n_missing, f"{counted(n_missing, 'value')} of {codes.size:,} ({share:.1f} %) are missing; each costs one cell."),
        (
            long_steps,
            f"{counted(long_steps, 'step')} longer than usual join states that are not successive, and do not count.",
        ),
        (len(held), f"Genes that were held in some series, and have no rule there: {', '.join(held)}."),
        (len(without_rule), f"Genes without any transition, and so without a rule: {', '.join(without_rule)}."),
        (clean, "The data look free of errors."),
        (not clean, f"About {rate:.1f} % of the next values differ from what the rules say."),
        (
            model.suspects,
            f"{counted(len(model.suspects), 'recorded value')} contradict the rules and may be wrong measurements.",
        ),
        (len(constant), f"Genes that never change: {', '.join(constant)}."),
    ]
    return [sentence for applies, sentence in sentences if applies]


def experiment_rows(advice: Advice) -> list[Row]:
    """List the experiments that were advised."""
    rows = []
    for number, chosen in enumerate(advice, start=1):
        on, off = (" ".join(gene for gene, value in chosen.state.items() if value == side) for side in (1, 0))
        held = " ".join(f"{gene}={value}" for gene, value in chosen.held.items())
        decides = " ".join(f"{gene}={bits:.1f}" for gene, bits in chosen.genes.items())
        rows.append(dict(zip(COLUMNS["experiments"], (number, chosen.bits, held, on, off, decides), strict=True)))
    return rows


TABLES: dict[str, Callable[[Inference], list[Row]]] = {
    "rules": rule_rows,
    "candidates": candidate_rows,
    "edges": lambda found: edge_rows(found.model),
    "sets": lambda found: set_rows(found.model),
    "genes": lambda found: gene_rows(found.scores),
    "suspects": lambda found: suspect_rows(found.model, found.series),
    "attractors": attractor_rows,
    "knockouts": lambda found: held_rows(found.long_run),
}
"""The rows of each table."""


def table_csv(name: str, rows: list[dict[str, Any]]) -> str:
    r"""Return one of the tables as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = COLUMNS[name]
    writer.writerow(columns)
    writer.writerows([_plain(row[column]) for column in columns] for row in rows)
    return text.getvalue()


def _plain(value: Any) -> Any:
    """Round numbers, write yes and no as 1 and 0, and leave unknown cells empty."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return "" if value != value else round(value, DIGITS)
    return "" if value is None else value


def as_document(found: Inference, advice: Advice = ()) -> dict[str, Any]:
    """Return everything as dictionaries and lists that JSON can hold."""
    genes = found.model.genes
    overall = None if found.scores is None else found.scores.overall
    return {
        "genes": list(genes),
        "data": list(found.data),
        "notes": list(found.notes),
        "stopped": found.stopped,
        "noise": found.model.flips.rate,
        "clean": found.model.flips.clean,
        **{name: [_json_row(row) for row in rows(found)] for name, rows in TABLES.items()},
        "experiments": [asdict(chosen) for chosen in advice],
        "overall": None if overall is None else _json_row({**vars(overall)}),
        "left_out": None if found.scores is None else ("series" if found.scores.whole_series else "blocks"),
        "unexplained": [
            {"gene": gene.gene, "log_evidence": gene.log_evidence, "regulators": list(gene.regulators)}
            for gene in found.model.unexplained
        ],
        "hierarchies": [
            {
                "targets": [genes[k] for k in nest.targets],
                "feature_sets": named_sets(nest, genes),
                "edges": [[genes[a], genes[b]] for a, b in nest.edges],
            }
            for nest in found.hierarchies
        ],
    }


def named_sets(nest: Hierarchy, genes: Sequence[str]) -> dict[str, list[str]]:
    """Return the regulator set of each target of a hierarchy, by names."""
    pairs = zip(nest.targets, nest.feature_sets, strict=True)
    return {genes[target]: [genes[i] for i in features] for target, features in pairs}


def _json_row(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN."""
    return {name: None if isinstance(value, float) and value != value else value for name, value in row.items()}
