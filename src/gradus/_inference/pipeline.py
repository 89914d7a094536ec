"""`infer`: from transitions to rules, edges and scores in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gradus._bits import BoolMatrix
from gradus._defaults import DEFAULT_LEFT_OUT_NETWORKS, DEFAULT_NETWORKS
from gradus._formats.series import Transitions
from gradus._inference.functions import FunctionTable
from gradus._inference.hierarchies import Hierarchy, find_hierarchies
from gradus._inference.join import constant_network, join_networks
from gradus._inference.leave_one_out import LeaveOneOut, folds, score
from gradus._inference.prior import Prior
from gradus._inference.rules import EdgeUse, Rule, edge_uses, find_rule
from gradus._minfs import all_minimum_feature_sets
from gradus._network import Network
from gradus._search.learner import SearchResult
from gradus._search.many import search_many
from gradus.errors import DataError, SettingsError

__all__ = ["Inference", "infer"]

MOST_SETS = 1000
SHRINK = 100_000
"""Steps of shrinking a network; with a handful of transitions more change nothing."""
MAX_ITERATIONS, RESTARTS = 10_000_000, 2


@dataclass(frozen=True, eq=False)
class Inference:
    """What `infer` found.

    Attributes
    ----------
    transitions : Transitions
        The examples.
    hierarchies : tuple of Hierarchy
        Targets learned together.
    rules : tuple of Rule
        One for each target.
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
    transitions: Transitions,
    *,
    networks: int = DEFAULT_NETWORKS,
    seed: int = 0,
    prior: Prior | None = None,
    leave_one_out: bool = True,
    left_out_networks: int = DEFAULT_LEFT_OUT_NETWORKS,
    regulators: Literal["all", "minimum"] = "all",
    loss: str = "lgh",
    gates_per_target: int = 21,
    history: int = 250,
    shrink: int = SHRINK,
    workers: int | None = 1,
    callback: Callable[[int, int], None] | None = None,
) -> Inference:
    """Find the rules by which genes follow each other.

    Parameters
    ----------
    transitions : Transitions
        See `gradus._formats.series.transitions`.
    networks : int
        Networks in each ensemble.
    seed : int
        The result depends on the transitions, the settings and the seed alone.
    prior : Prior, optional
        Edges that may, or may not, be used.
    leave_one_out : bool
        Whether to learn everything again without each transition, to see how well it is predicted.
    left_out_networks : int
        Networks in each ensemble that is learned without a transition, at most `networks`.
    regulators : {"all", "minimum"}
        What a network may read: every gene that the prior allows, or only those in the minimum regulator sets of its
        targets. The first shows what the data leave open; the second gives simpler rules.
    loss, gates_per_target, history, shrink
        As for `gradus.search`.
    workers : int, optional
        Processes; None for as many as there are cores.
    callback : callable, optional
        Is given the networks trained so far and in all.

    Returns
    -------
    Inference

    Raises
    ------
    DataError
        If the prior names unknown genes or leaves a target without regulators.
    ConflictError
        If the regulators that the prior leaves cannot explain a target.

    Examples
    --------
    >>> from gradus._formats.series import Series, transitions
    >>> states = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]  # a follows not b, b follows a
    >>> found = infer(transitions(Series(["a", "b"], states)), networks=10)
    >>> [(rule.target, rule.text) for rule in found.rules]
    [('a', '!b'), ('b', 'a')]
    """
    for name, count in (("networks", networks), ("left_out_networks", left_out_networks)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise SettingsError(f"{name} is {count!r}; it must be a whole number of at least 1.")
    if regulators not in ("all", "minimum"):
        raise SettingsError(f"regulators is {regulators!r}; it must be 'all' or 'minimum'.")
    known = Prior() if prior is None else prior
    known.check(transitions.input_names)
    settings = {
        "loss": loss, "gates_per_target": gates_per_target, "history": history, "shrink": shrink,
        "max_iter": MAX_ITERATIONS, "n_restarts": RESTARTS,
    }  # fmt: skip
    plan = list(_plan(transitions, known, seed, leave_one_out))
    if regulators == "minimum":
        plan = [replace(ensemble, hierarchy=ensemble.hierarchy.narrowed()) for ensemble in plan]
    counts = [networks if one.left_out is None else min(networks, left_out_networks) for one in plan]
    trained = _train(plan, counts, seed, settings, workers, callback)
    return _assemble(transitions, known, plan, trained, networks, seed, leave_one_out)


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
    workers: int | None,
    callback: Callable[[int, int], None] | None,
) -> Iterator[list[SearchResult]]:
    """Yield the networks of each ensemble in turn."""
    seeds = np.random.SeedSequence(seed).generate_state(len(plan), np.uint64).tolist()
    jobs = (
        {**job, **settings}
        for ensemble, own, count in zip(plan, seeds, counts, strict=True)
        for job in ensemble.jobs(count, own)
    )
    results = search_many(jobs, workers=workers)
    done = 0
    for count in counts:
        yield [next(results) for _ in range(count)]
        done += count
        if callback is not None:
            callback(done, sum(counts))


def _assemble(
    transitions: Transitions,
    prior: Prior,
    plan: Sequence[_Ensemble],
    trained: Iterator[list[SearchResult]],
    networks: int,
    seed: int,
    leave_one_out: bool,
) -> Inference:
    rules: dict[str, Rule] = {}
    edges: list[EdgeUse] = []
    unfitted: dict[str, int] = {}
    shares: dict[tuple[int, int], float] = {}
    minimum_sets, cut = _minimum_sets(transitions, prior)
    for ensemble, results in zip(plan, trained, strict=True):
        if ensemble.left_out is not None:
            shares |= _predictions(transitions, ensemble, [one for one in results if one.converged] or results)
            continue
        fitted = [one for one in results if one.converged]
        if len(fitted) < len(results):
            unfitted |= {ensemble.target_names[k]: len(results) - len(fitted) for k in ensemble.hierarchy.targets}
        _read(ensemble, fitted or results, minimum_sets, rules, edges)
    ordered = tuple(rules[name] for name in transitions.target_names)
    return Inference(
        transitions=transitions,
        hierarchies=tuple(ensemble.hierarchy for ensemble in plan if ensemble.left_out is None),
        rules=ordered,
        minimum_sets=minimum_sets,
        cut=cut,
        edges=tuple(sorted(edges, key=lambda edge: transitions.target_names.index(edge.target))),
        leave_one_out=_scores(transitions, shares) if leave_one_out else None,
        network=_whole(transitions, ordered),
        n_networks=networks,
        unfitted=unfitted,
        seed=seed,
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
) -> None:
    """Add what an ensemble says about its targets to the rules and the edges."""
    genes = [ensemble.names[column] for column in ensemble.hierarchy.columns]
    names = [ensemble.target_names[k] for k in ensemble.hierarchy.targets]
    table = FunctionTable(len(genes))
    functions = [table.describe(one.network.with_names(genes, names)) for one in results]
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
    ordered = {gene: parts[gene] for gene in transitions.input_names}
    return join_networks(transitions.input_names, ordered)
