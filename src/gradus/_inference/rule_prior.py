"""Prior over Boolean rules: nested canalising rules first, then read-once and other unate ones, then any function.

A unate rule is a monotone function of its inputs after some of them are negated. So only monotone prototypes are listed, and
the 2^k ways of negating inputs (the signs) are applied by whoever scores them. Truth tables are integers: bit ``x`` is the
value in cell ``x``, and bit i of ``x`` is the value of input i.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_INPUTS", "RulePrior", "is_nested_canalising", "rule_prior"]

MOST_INPUTS = 6
SHARES = {"nested": 0.70, "majority": 0.05, "read_once": 0.08, "unate": 0.16, "any": 0.01}
"""Prior probability of each class of rules; the published gene rules are nested canalising in four cases of five or more."""

REPRESSOR_FIRST, REPRESSOR_AND, ACTIVATOR_AND = 2.0, 0.95, 0.35
"""Repressors are peeled off a rule earlier, and with "and"; see `_nested`."""


@dataclass(frozen=True, eq=False)
class RulePrior:
    """Monotone prototypes of the rules of k inputs and what each is worth before any data.

    Attributes
    ----------
    n_inputs : int
    tables : ndarray of uint64
        Truth tables of monotone functions that depend on all inputs: all of them up to four inputs, then the nested, the
        read-once (five inputs) and the threshold ones.
    weights : ndarray of float, shape (tables, 2 ** n_inputs)
        Prior probability of each, given which inputs are negated; with `any_weight` each column adds up to 1.
    any_weight : float
        Prior probability that the rule is a function drawn uniformly from all of them.
    """

    n_inputs: int
    tables: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]
    any_weight: float


@functools.cache
def rule_prior(n_inputs: int) -> RulePrior:
    """Prior over the rules of a number of inputs, from 0 to 6.

    Examples
    --------
    >>> prior = rule_prior(2)
    >>> [format(int(table), "04b") for table in prior.tables]  # and, or
    ['1000', '1110']
    >>> len(rule_prior(3).tables), len(rule_prior(5).tables), len(rule_prior(6).tables)
    (9, 585, 3228)
    """
    if n_inputs == 0:
        return RulePrior(0, np.array([0, 1], np.uint64), np.array([[0.5], [0.5]]), 0.0)
    everything, signs = (1 << n_inputs) - 1, 1 << n_inputs
    nested = [dict(_nested(n_inputs, everything, negated)) for negated in range(signs)]
    classes = {
        "majority": set(_thresholds(n_inputs, majority=True)) - set(nested[0]),
        "read_once": set(_read_once(n_inputs, everything)) - set(nested[0]) if n_inputs < MOST_INPUTS else set(),
        "unate": set(_monotone(n_inputs) if n_inputs < 5 else _thresholds(n_inputs)) - set(nested[0]),
    }
    tables = sorted({*nested[0], *(table for members in classes.values() for table in members)})
    weights = np.zeros((len(tables), signs))
    for row, table in enumerate(tables):
        weights[row] = [SHARES["nested"] * one.get(table, 0.0) for one in nested]
        weights[row] += sum(SHARES[kind] / len(members) for kind, members in classes.items() if table in members)
    # Small numbers of inputs have no rules of some classes, whose share goes to the others.
    weights *= (1 - SHARES["any"]) / weights.sum(axis=0)
    return RulePrior(n_inputs, np.array(tables, np.uint64), weights, SHARES["any"])


def is_nested_canalising(table: int, n_inputs: int) -> bool:
    """Whether a monotone truth table is nested canalising in all of its inputs.

    Examples
    --------
    >>> is_nested_canalising(0b11101000, 3)  # majority
    False
    """
    return table in dict(_nested(n_inputs, (1 << n_inputs) - 1, 0))


def _input_table(i: int, n_inputs: int) -> int:
    return sum(1 << x for x in range(1 << n_inputs) if x >> i & 1)


def _members(inputs: int) -> list[int]:
    return [i for i in range(MOST_INPUTS) if inputs >> i & 1]


@functools.cache
def _nested(n_inputs: int, inputs: int, negated: int) -> tuple[tuple[int, float], ...]:
    """Nested canalising monotone functions of some inputs: peel one input off at a time, with "and" or "or".

    A rule with few layers can be peeled in many orders, so plain conjunctions and disjunctions weigh most. Negated inputs
    come off earlier and mostly with "and": a gene with a repressor present is off, whatever activates it.
    """
    members = _members(inputs)
    if len(members) == 1:
        return ((_input_table(members[0], n_inputs), 1.0),)
    pulls = {i: REPRESSOR_FIRST if negated >> i & 1 else 1.0 for i in members}
    found: dict[int, float] = {}
    for i in members:
        own, rest = _input_table(i, n_inputs), inputs & ~(1 << i)
        share = pulls[i] / sum(pulls.values())
        both = REPRESSOR_AND if negated >> i & 1 else ACTIVATOR_AND
        for table, weight in _nested(n_inputs, rest, negated & rest):
            found[own & table] = found.get(own & table, 0.0) + weight * share * both
            found[own | table] = found.get(own | table, 0.0) + weight * share * (1 - both)
    return tuple(sorted(found.items()))


@functools.cache
def _read_once(n_inputs: int, inputs: int) -> tuple[int, ...]:
    """Monotone functions with a formula in which every input stands once."""
    members = _members(inputs)
    if len(members) == 1:
        return (_input_table(members[0], n_inputs),)
    found = set()
    for part in _parts(inputs):
        for a in _read_once(n_inputs, part):
            for b in _read_once(n_inputs, inputs & ~part):
                found |= {a & b, a | b}
    return tuple(sorted(found))


def _parts(inputs: int) -> Iterator[int]:
    """Proper parts that hold the lowest input, so that each split in two comes once."""
    lowest, part = inputs & -inputs, inputs
    while part:
        part = (part - 1) & inputs
        if part & lowest:
            yield part


@functools.cache
def _all_monotone(n_inputs: int) -> tuple[int, ...]:
    if n_inputs == 0:
        return (0, 1)
    shift, smaller = 1 << (n_inputs - 1), _all_monotone(n_inputs - 1)
    return tuple(low | high << shift for low in smaller for high in smaller if low & ~high == 0)


@functools.cache
def _monotone(n_inputs: int) -> tuple[int, ...]:
    """Monotone functions that depend on every input."""
    negatives = [_input_table(i, n_inputs) for i in range(n_inputs)]
    full = (1 << (1 << n_inputs)) - 1
    return tuple(
        table
        for table in _all_monotone(n_inputs)
        if all((table & ones) >> (1 << i) != table & ~ones & full for i, ones in enumerate(negatives))
    )


@functools.cache
def _thresholds(n_inputs: int, majority: bool = False) -> tuple[int, ...]:
    """Functions that are 1 where a sum of inputs, each counted once or twice, reaches a threshold, and depend on all.

    With `majority`, at most one input counts once: it decides where the others are balanced, as the present value does in
    models of the cell cycle.
    """
    cells = np.arange(1 << n_inputs)
    bits = (cells[:, None] >> np.arange(n_inputs)) & 1
    found = set()
    for doubled in cells:
        if majority and int(doubled).bit_count() < n_inputs - 1:
            continue
        sums = bits @ (1 + bits[doubled])
        for least in range(1, int(sums.max()) + 1):
            values = sums >= least
            if all((values != values[cells ^ (1 << i)]).any() for i in range(n_inputs)):
                found.add(sum(1 << int(cell) for cell in np.flatnonzero(values)))
    return tuple(sorted(found))
