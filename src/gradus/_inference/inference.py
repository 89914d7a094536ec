"""`infer`: from time series to rules, edges and scores in one call."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gradus._bits import BoolMatrix
from gradus._checks import OnConflict, check_choice, check_count, check_seed, check_time_limit
from gradus._formats.transitions import Transitions, read_transitions
from gradus._inference.hierarchies import Hierarchy, find_hierarchies
from gradus._inference.leave_one_out import LeaveOneOut, folds, score
from gradus._inference.prior import Prior
from gradus._inference.rules import EdgeUse, FunctionCatalog, Rule, constant_network, edge_uses, find_rule, join_networks
from gradus._minfs import all_minimum_feature_sets
from gradus._network import Network
from gradus._progress import Callback, Progress
from gradus._search.many import search_many
from gradus._search.search import SearchResult
from gradus.errors import DataError, SettingsError
from gradus.losses import LossName

__all__ = ["DEFAULT_LEFT_OUT_NETWORKS", "DEFAULT_NETWORKS", "Inference", "infer"]

DEFAULT_NETWORKS = 100
DEFAULT_LEFT_OUT_NETWORKS = 20
MOST_SETS = 1000
MAX_ITERATIONS, RESTARTS = 10_000_000, 2
SECONDS_TO_READ = 0.2
"""What reading the trained networks may take after the time limit."""
SECONDS_PER_REPORT = 0.1


@dataclass(frozen=True, eq=False)
class Inference:
    """What `infer` found.

    Attributes
    ----------
    transitions : Transitions
        The examples: each state with the next.
    hierarchies : tuple of Hierarchy
        Targets learned together.
    rules : tuple of Rule
        One for each gene whose next value varies.
    minimum_sets : dict of str to tuple of tuple of str
        All minimum regulator sets of each target, or the first 1,000 of those in `cut`.
    cut : tuple of str
        Targets that have more than 1,000 minimum regulator sets, so that not all are listed.
    edges : tuple of EdgeUse
        Every regulator that a network uses or a minimum set holds.
    leave_one_out : LeaveOneOut or None
        None if it was not asked for. Networks that do not fit the other transitions have no vote, unless there are no
        others.
    network : Network
        The rules as one circuit: the next value of every gene that is a target or never changes.
    n_networks : int
        Networks in each ensemble.
    unfitted : dict of str to int
        For targets whose ensemble has networks that do not fit every transition: how many. They are left out, unless
        there are no others.
    seed : int
    stopped : bool
        Whether the time limit or the callback stopped the training: there are then rules only for the genes that have
        networks, and no scores.
    """

    transitions: Transitions
    hierarchies: tuple[Hierarchy, ...]
    rules: tuple[Rule, ...]
    minimum_sets: dict[str, tuple[tuple[str, ...], ...]]
    cut: tuple[str, ...]
    edges: tuple[EdgeUse, ...]
    leave_one_out: LeaveOneOut | None
    network: Network
    n_networks: int
    unfitted: dict[str, int]
    seed: int
    stopped: bool = False


@dataclass(frozen=True, eq=False)
class _Ensemble:
    """Networks to be trained on the same examples."""

    X: BoolMatrix
    Y: BoolMatrix
    hierarchy: Hierarchy
    names: tuple[str, ...]
    target_names: tuple[str, ...]
    left_out: int | None

    def jobs(self, count: int, seed: int) -> Iterator[dict[str, Any]]:
        columns, targets = list(self.hierarchy.columns), list(self.hierarchy.targets)
        for one in np.random.SeedSequence(seed).generate_state(count, np.uint64).tolist():
            yield {"X": self.X[:, columns], "Y": self.Y[:, targets], "order": None, "seed": one}


def infer(
    series: Any,
    *,
    binarize: Literal["kmeans"] | float | None = None,
    on_conflict: OnConflict = "raise",
    prior: Prior | None = None,
    regulators: Literal["all", "minimum"] = "all",
    n_networks: int = DEFAULT_NETWORKS,
    leave_one_out: bool = True,
    n_left_out_networks: int = DEFAULT_LEFT_OUT_NETWORKS,
    loss: LossName = "lgh",
    gates_per_target: int = 21,
    history: int = 250,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
) -> Inference:
    """Infer the Boolean rules of a gene network from time series.

    Parameters
    ----------
    series : Series, DataFrame, path-like, or iterable of these
        States of genes at successive times: a row is a state and a column is a gene. A column ``series`` tells several
        series apart, a column ``time`` orders the states.
    binarize : "kmeans" or float, optional
        How to make values other than 0 and 1 binary: two clusters per gene, or a threshold. By default they are an error.
    on_conflict : {"raise", "ignore", "first"}
        What to do if a state is followed by different states: raise an error that names them, leave out all transitions
        from that state, or keep the one that was seen first.
    prior : Prior, optional
        Edges that may, or may not, be used.
    regulators : {"all", "minimum"}
        What a network may read: every gene that the prior allows, or only those in the minimum regulator sets of its
        targets. The first shows what the data leave open; the second gives simpler rules.
    n_networks : int
        Networks in each ensemble.
    leave_one_out : bool
        Whether to learn everything again without each transition, to see how well it is predicted.
    n_left_out_networks : int
        Networks in each ensemble that is learned without a transition, at most `n_networks`.
    loss, gates_per_target, history
        As for `gradus.search`.
    time_limit : float, optional
        Seconds for training; the rules then come from the networks that are trained by then.
    seed : int
        The result depends on the series, the settings and the seed alone.
    n_jobs : int, optional
        Threads; None for as many as there are cores.
    callback : callable, optional
        Is given a `Progress` several times a second: `done` of `total` networks. Returning True stops the training.

    Returns
    -------
    Inference

    Raises
    ------
    DataError
        If the series cannot be used, or the prior names unknown genes or leaves a target without regulators.
    ConflictError
        If a state is followed by different states and `on_conflict` is "raise", or the regulators that the prior leaves
        cannot explain a target.
    SettingsError
        If a setting is out of its range, or training was stopped before there was any network.

    Examples
    --------
    >>> import pandas
    >>> states = pandas.DataFrame({"a": [0, 1, 1, 0, 0], "b": [0, 0, 1, 1, 0]})  # a follows not b, b follows a
    >>> found = infer(states, n_networks=10)
    >>> [(rule.target, rule.text) for rule in found.rules]
    [('a', '!b'), ('b', 'a')]
    """
    check_count("n_networks", n_networks)
    check_count("n_left_out_networks", n_left_out_networks)
    check_choice("regulators", regulators, ("all", "minimum"))
    check_seed(seed)
    seconds = check_time_limit(time_limit)
    transitions = read_transitions(series, binarize=binarize, on_conflict=on_conflict)
    known = Prior() if prior is None else prior
    known.check(transitions.input_names)
    settings = {
        "loss": loss,
        "gates_per_target": gates_per_target,
        "history": history,
        "max_iter": MAX_ITERATIONS,
        "n_restarts": RESTARTS,
    }
    plan = list(_plan(transitions, known, seed, leave_one_out))
    if regulators == "minimum":
        plan = [replace(ensemble, hierarchy=ensemble.hierarchy.narrowed()) for ensemble in plan]
    counts = [n_networks if one.left_out is None else min(n_networks, n_left_out_networks) for one in plan]
    end = math.inf if seconds is None else time.monotonic() + seconds
    trained = _train(plan, counts, seed, settings, end, n_jobs, callback)
    return _assemble(transitions, known, plan, trained, n_networks, seed, leave_one_out, end)


def _plan(transitions: Transitions, prior: Prior, seed: int, leave_one_out: bool) -> Iterator[_Ensemble]:
    """List the ensembles: on all transitions first, then without each of them, everything found anew."""
    X, Y = transitions.X, transitions.Y
    genes, targets = transitions.input_names, transitions.target_names
    for hierarchy in find_hierarchies(X, Y, genes, targets, prior=prior, seed=seed):
        yield _Ensemble(X, Y, hierarchy, genes, targets, None)
    for fold in folds(Y) if leave_one_out else []:
        rest = np.delete(np.arange(len(X)), fold.row)
        X_rest, Y_rest = X[rest], Y[rest][:, list(fold.targets)]
        names = tuple(targets[k] for k in fold.targets)
        for hierarchy in find_hierarchies(X_rest, Y_rest, genes, names, prior=prior, seed=seed):
            yield _Ensemble(X_rest, Y_rest, hierarchy, genes, names, fold.row)


def _train(
    plan: Sequence[_Ensemble],
    counts: Sequence[int],
    seed: int,
    settings: dict[str, Any],
    end: float,
    n_jobs: int | None,
    callback: Callback | None,
) -> Iterator[list[SearchResult]]:
    """Yield the networks of each ensemble in turn; once the time is over, only those that are trained."""
    seeds = np.random.SeedSequence(seed).generate_state(len(plan), np.uint64).tolist()

    if end < math.inf:
        settings = {**settings, "callback": lambda _: time.monotonic() >= end}
    jobs = (
        {**job, **settings}
        for ensemble, own_seed, count in zip(plan, seeds, counts, strict=True)
        for job in ensemble.jobs(count, own_seed)
    )
    results: Any = search_many(jobs, n_jobs=n_jobs)
    done, next_report, stopped = 0, -math.inf, False
    for count in counts:
        trained: list[SearchResult] = []
        while len(trained) < count and not stopped:
            result = next(results)
            stopped = result.stopped
            if stopped:
                break
            trained.append(result)
            done += 1
            if callback is not None and (time.monotonic() >= next_report or done == sum(counts)):
                stopped = callback(Progress(stage="networks", done=done, total=sum(counts))) is True
                next_report = time.monotonic() + SECONDS_PER_REPORT
            stopped = stopped or time.monotonic() >= end
        yield trained
    if stopped:
        results.close()


def _assemble(
    transitions: Transitions,
    prior: Prior,
    plan: Sequence[_Ensemble],
    trained: Iterator[list[SearchResult]],
    n_networks: int,
    seed: int,
    leave_one_out: bool,
    end: float,
) -> Inference:
    """Turn trained ensembles into rules, edges and scores; an ensemble without networks was not trained in time."""
    rules: dict[str, Rule] = {}
    edges: list[EdgeUse] = []
    unfitted: dict[str, int] = {}
    shares: dict[tuple[int, int], float] = {}
    minimum_sets, cut = _minimum_sets(transitions, prior)
    stopped = False
    for ensemble, results in zip(plan, trained, strict=True):
        if not results:
            stopped = True
            continue
        if ensemble.left_out is not None:
            shares |= _predictions(transitions, ensemble, [one for one in results if one.converged] or results)
            continue
        fitted = [one for one in results if one.converged]
        if len(fitted) < len(results):
            unfitted |= {ensemble.target_names[k]: len(results) - len(fitted) for k in ensemble.hierarchy.targets}
        _read(ensemble, fitted or results, minimum_sets, rules, edges, end + SECONDS_TO_READ)
    if not rules:
        raise SettingsError("the time limit or the callback stopped the training before there was any network.")
    ordered = tuple(rules[name] for name in transitions.target_names if name in rules)
    return Inference(
        transitions=transitions,
        hierarchies=tuple(ensemble.hierarchy for ensemble in plan if ensemble.left_out is None),
        rules=ordered,
        minimum_sets=minimum_sets,
        cut=cut,
        edges=tuple(sorted(edges, key=lambda edge: transitions.target_names.index(edge.target))),
        leave_one_out=_scores(transitions, shares) if leave_one_out and not stopped else None,
        network=_whole(transitions, ordered),
        n_networks=n_networks,
        unfitted=unfitted,
        seed=seed,
        stopped=stopped,
    )


def _minimum_sets(transitions: Transitions, prior: Prior) -> tuple[dict[str, tuple[tuple[str, ...], ...]], tuple[str, ...]]:
    """Find the minimum sets of each target, at most `MOST_SETS`, and the targets that have more."""
    found, cut = {}, []
    for k, name in enumerate(transitions.target_names):
        columns = prior.regulators(name, transitions.input_names)
        sets = all_minimum_feature_sets(transitions.X[:, columns], transitions.Y[:, k], limit=MOST_SETS + 1)
        if len(sets) > MOST_SETS:
            cut.append(name)
        found[name] = tuple(tuple(transitions.input_names[columns[i]] for i in one) for one in sets[:MOST_SETS])
    return found, tuple(cut)


def _read(
    ensemble: _Ensemble,
    results: Sequence[SearchResult],
    minimum_sets: dict[str, tuple[tuple[str, ...], ...]],
    rules: dict[str, Rule],
    edges: list[EdgeUse],
    end: float,
) -> None:
    """Add the rules and the edges of an ensemble's targets."""
    genes = [ensemble.names[column] for column in ensemble.hierarchy.columns]
    names = [ensemble.target_names[k] for k in ensemble.hierarchy.targets]
    catalog = FunctionCatalog(len(genes))
    functions = []
    for one in results:
        functions.append(catalog.describe(one.network.with_names(genes, names)))
        if time.monotonic() >= end:  # the limit holds for reading too; the first networks speak for the rest
            break
    for place, name in enumerate(names):
        own = [described[place] for described in functions]
        rules[name] = find_rule(name, own, len(minimum_sets[name][0]))
        edges += edge_uses(name, own, minimum_sets[name])


def _predictions(
    transitions: Transitions, ensemble: _Ensemble, results: Sequence[SearchResult]
) -> dict[tuple[int, int], float]:
    """Part of the networks that predict 1 for each target of the transition left out."""
    row = ensemble.left_out
    if row is None:
        raise DataError("no transition was left out.")
    state = transitions.X[row : row + 1, list(ensemble.hierarchy.columns)]
    mean = np.mean([one.network.predict(state)[0] for one in results], axis=0)
    return {
        (row, transitions.target_names.index(ensemble.target_names[k])): float(mean[place])
        for place, k in enumerate(ensemble.hierarchy.targets)
    }


def _scores(transitions: Transitions, shares: dict[tuple[int, int], float]) -> LeaveOneOut:
    return score(transitions.X, transitions.Y, transitions.input_names, transitions.target_names, shares)


def _whole(transitions: Transitions, rules: Sequence[Rule]) -> Network:
    """Join the rules, and those of genes whose next value never changes, in the order of the genes."""
    parts = {rule.target: rule.network for rule in rules}
    parts |= {name: constant_network(name, value) for name, value in transitions.constant_targets.items()}
    ordered = {gene: parts[gene] for gene in transitions.input_names if gene in parts}
    return join_networks(transitions.input_names, ordered)
