"""The paper's hierarchies: which genes are taught before which, because their regulator sets nest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradus._core.bits import BoolMatrix
from gradus._curriculum import find_curriculum
from gradus.genes._work_watch import WorkWatch

__all__ = ["Hierarchy", "find_hierarchies", "nested_hierarchies"]


@dataclass(frozen=True)
class Hierarchy:
    """Targets whose regulator sets nest.

    Attributes
    ----------
    targets : tuple of int
        Easiest first.
    feature_sets : tuple of tuple of int
        The regulator set of each, in the order of `targets`.
    edges : tuple of (int, int)
        Pairs (easier, harder) of targets whose sets nest, with no set between them.
    """

    targets: tuple[int, ...]
    feature_sets: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]


def find_hierarchies(X: BoolMatrix, Y: BoolMatrix, watch: WorkWatch | None = None) -> list[Hierarchy]:
    """Find the hierarchies of clean transitions from minimum feature sets, as the paper does."""
    watch = WorkWatch() if watch is None else watch
    curriculum = find_curriculum(
        X,
        Y,
        time_limit=watch.seconds_left(),
        callback=lambda progress: watch.stop("hierarchies", progress.done, progress.total),
    )
    return nested_hierarchies([one.features for one in curriculum.feature_sets], curriculum.order)


def nested_hierarchies(sets: Sequence[Sequence[int]], order: Sequence[int] | None = None) -> list[Hierarchy]:
    """Group targets whose regulator sets nest."""
    members = [frozenset(one) for one in sets]
    ordered = sorted(range(len(sets)), key=lambda k: len(members[k])) if order is None else list(order)
    edges = [
        (a, b)
        for a in range(len(sets))
        for b in range(len(sets))
        if members[a] and members[a] < members[b] and not any(members[a] < one < members[b] for one in members)
    ]
    group = {k: {k} for k in ordered}
    for easier, harder in edges:
        joined = group[easier] | group[harder]
        for k in joined:
            group[k] = joined
    found = [
        Hierarchy(
            tuple(targets := [k for k in ordered if k in together]),
            tuple(tuple(sorted(members[k])) for k in targets),
            tuple(edge for edge in edges if edge[0] in together),
        )
        for together in {id(one): one for one in group.values()}.values()
    ]
    return sorted(found, key=lambda one: (-len(one.targets), min(one.targets)))
