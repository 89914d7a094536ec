"""Which targets are learned together: those whose minimum feature sets nest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradus._bits import BoolMatrix
from gradus._curriculum import find_curriculum
from gradus._encoding.conflicts import groups_of_equal_rows
from gradus._inference.prior import Prior
from gradus._search.job import MAX_TARGETS
from gradus.errors import ConflictError, DataError

__all__ = ["Hierarchy", "find_hierarchies"]


@dataclass(frozen=True)
class Hierarchy:
    """Targets that are taught to one network, one after the other.

    Attributes
    ----------
    targets : tuple of int
        Columns of Y, easiest first.
    columns : tuple of int
        Columns of X that may be read.
    feature_sets : tuple of tuple of int
        The minimum feature set of each target, as columns of X, in the order of `targets`.
    edges : tuple of (int, int)
        Pairs (easier, harder) of columns of Y whose sets nest.
    """

    targets: tuple[int, ...]
    columns: tuple[int, ...]
    feature_sets: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]

    def narrowed(self) -> Hierarchy:
        """Return the hierarchy with only the columns of its feature sets to be read."""
        return replace(self, columns=tuple(sorted({column for one in self.feature_sets for column in one})))


def find_hierarchies(
    X: BoolMatrix, Y: BoolMatrix, genes: Sequence[str], targets: Sequence[str], *, prior: Prior, seed: int = 0
) -> list[Hierarchy]:
    """Find the hierarchies of targets; a target whose set nests with no other's is a hierarchy of its own.

    Parameters
    ----------
    X, Y : ndarray of bool, shapes (n, l) and (n, m)
    genes, targets : sequence of str
        Names of the columns of X and Y.
    prior : Prior
        Targets with different sets of possible regulators are never learned together, so that none is used where it
        may not be.
    seed : int
        Decides the order of targets that need equally many columns.

    Returns
    -------
    list of Hierarchy
        The largest first.

    Examples
    --------
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    >>> Y = np.column_stack([X[:, 0], X[:, 0] & X[:, 1], X[:, 0] ^ X[:, 1]])
    >>> found = find_hierarchies(X, Y, ["a", "b"], ["p", "q", "r"], prior=Prior())
    >>> [sorted(hierarchy.targets) for hierarchy in found], found[0].feature_sets[0]
    ([[0, 1, 2]], (0,))
    """
    alike: dict[tuple[int, ...], list[int]] = {}
    for target, name in enumerate(targets):
        columns = prior.regulators(name, genes)
        if not columns:
            raise DataError(f"no gene may regulate {name!r}; allow at least one.")
        _refuse_conflicts(X[:, columns], Y[:, target], name)
        alike.setdefault(columns, []).append(target)
    found: list[Hierarchy] = []
    for columns, members in alike.items():
        found += _nested(X, Y, columns, members, seed)
    return sorted(found, key=lambda one: (-len(one.targets), min(one.targets)))


def _refuse_conflicts(X: BoolMatrix, y: BoolMatrix, name: str) -> None:
    """Raise an error if the regulators cannot explain a target; only a prior causes this, since transitions never conflict."""
    group = groups_of_equal_rows(X)
    for row in range(len(X)):
        differ = np.flatnonzero((group == group[row]) & (y != y[row]))
        if len(differ):
            raise ConflictError(
                f"the regulators allowed for {name!r} have the same values in transitions {row + 1} and {differ[0] + 1}, "
                "but its next value differs; allow more regulators."
            )


def _nested(X: BoolMatrix, Y: BoolMatrix, columns: tuple[int, ...], members: list[int], seed: int) -> list[Hierarchy]:
    """Hierarchies of targets that may have the same regulators."""
    curriculum = find_curriculum(X[:, columns], Y[:, members], seed=seed)
    later = curriculum.hierarchy()
    sets = [tuple(columns[k] for k in found.features) for found in curriculum.feature_sets]
    hierarchies = []
    for component in _components(later):
        ordered = [k for k in curriculum.order if k in component]
        # One network takes a limited number of targets; the easier ones then go to the first.
        for start in range(0, len(ordered), MAX_TARGETS):
            part = ordered[start : start + MAX_TARGETS]
            hierarchies.append(
                Hierarchy(
                    targets=tuple(members[k] for k in part),
                    columns=columns,
                    feature_sets=tuple(sets[k] for k in part),
                    edges=tuple((members[a], members[b]) for a in part for b in later[a] if b in part),
                )
            )
    return hierarchies


def _components(later: dict[int, tuple[int, ...]]) -> list[set[int]]:
    """Find the sets of targets that are connected by nesting."""
    component = {k: {k} for k in later}
    for easier, harder in ((a, b) for a, followers in later.items() for b in followers):
        if component[easier] is not component[harder]:
            joined = component[easier] | component[harder]
            for k in joined:
                component[k] = joined
    return list({id(members): members for members in component.values()}.values())
