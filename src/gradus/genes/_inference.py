"""`infer`: from time series to rules, edges and scores in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gradus._core.bits import BoolMatrix
from gradus._core.checks import check_time_limit
from gradus._core.run import Callback, Progress, Run
from gradus._core.wording import counted
from gradus._curriculum.curriculum import find_curriculum
from gradus.errors import ConflictError, DataError, MissingExtraError
from gradus.genes._attractors import LongRun, find_long_run
from gradus.genes._edges import EdgePrior, known_edges
from gradus.genes._learning import experiments, learn_genes, leave_series_out, series_folds
from gradus.genes._model import GeneModel, rule_network
from gradus.genes._priors import flip_rate
from gradus.genes._results import Hierarchy, Inference
from gradus.genes._series import UNKNOWN, Series, as_series, recorded
from gradus.genes._transitions import binarized, transitions

__all__ = ["find_hierarchies", "infer", "nested_hierarchies"]

LEVELS_RANK = (
    "The measured levels, before they were made binary, make edges between correlated genes more probable beforehand."
)


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
        distinguish several series, ``time`` orders the states, ``held`` names genes held at a value (``Rb=0``).
    binarize : "kmeans" or float, optional
        How to make values other than 0 and 1 binary: two clusters per gene, or a threshold. By default they are an error.
    held : mapping of str to int, optional
        Genes held at 0 (knock-out) or 1 (over-expression) in every series: inputs there, never rules.
    steady : Series, DataFrame, path-like, or iterable of these, optional
        Steady states: each row is followed by itself.
    prior : path-like, DataFrame, or iterable of (regulator, target, probability, sign), optional
        Edges known from elsewhere, which the data can outweigh; also a ``.bnet`` or ``.sbml`` model.
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
        several, notes = binarized(several, binarize)
        if several[0].levels is not None:
            notes += (LEVELS_RANK,)
    if held:
        several = tuple(replace(single, held={**single.held, **held}) for single in several)
    several = recorded(several)
    edges = EdgePrior(several[0].genes, *(() if given is None else known_edges(given) for given in (prior, allow, forbid)))
    model = learn_genes(several, edges, noise, run=run)
    network = rule_network(model.genes, model.rules)
    scores = None
    if leave_out and series_folds(several)[0] and not run.stopped:
        scores = leave_series_out(several, edges, noise, run=run)
    hierarchies, exact = _hierarchies(several, model, run)
    long_run: LongRun | None = None
    problems: tuple[str, ...] = ()
    if attractors and not run.stopped:
        try:
            long_run = find_long_run(network, run)
        except MissingExtraError as error:
            problems = (f"Attractors were not looked for: {error}",)
    return Inference(
        model=model,
        network=network,
        series=several,
        scores=scores if scores is not None and scores.parts else None,
        hierarchies=tuple(hierarchies),
        exact_sets=exact,
        long_run=long_run,
        data=(*notes, *_data_sentences(several, model)),
        notes=problems,
        stopped=run.stopped,
    )


def _data_sentences(series: Sequence[Series], model: GeneModel) -> list[str]:
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
            nests = [
                (tuple(place[k] for k in nest.targets), nest.feature_sets, tuple((place[a], place[b]) for a, b in nest.edges))
                for nest in find_hierarchies(moves.X, moves.Y, run)
            ]
            return [Hierarchy(*parts) for parts in nests], True
    return nested_hierarchies([target.best_rule.features for target in model.targets]), False


def find_hierarchies(X: BoolMatrix, Y: BoolMatrix, run: Run) -> list[Hierarchy]:
    """Find the hierarchies of clean transitions from minimum feature sets, as the paper does."""

    def is_stopped(progress: Progress) -> bool:
        return run.stop(replace(progress, stage="hierarchies"))

    curriculum = find_curriculum(X, Y, time_limit=run.seconds_left(), callback=is_stopped)
    return nested_hierarchies([smallest.features for smallest in curriculum.feature_sets], curriculum.order)


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
    for nested in {id(targets): targets for targets in group.values()}.values():
        targets = tuple(k for k in ordered if k in nested)
        feature_sets = tuple(tuple(sorted(members[k])) for k in targets)
        hierarchies.append(Hierarchy(targets, feature_sets, tuple(edge for edge in edges if edge[0] in nested)))
    return sorted(hierarchies, key=lambda nest: (-len(nest.targets), min(nest.targets)))
