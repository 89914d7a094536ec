"""Prior over Boolean rules: inputs that decide one after the other first, then other unate rules, then any function.

A unate rule is a monotone function of its inputs after some of them are negated. So only monotone prototypes are listed, and
the 2^k ways of negating inputs (the signs) are applied by whoever scores them. Truth tables are integers: bit ``x`` is the
value in cell ``x``, and bit i of ``x`` is the value of input i.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_INPUTS", "SHARES", "RulePrior", "is_majority", "rule_prior"]

MOST_INPUTS = 6
SHARES = {"peeled": 0.85, "majority": 0.04, "read_once": 0.02, "unate": 0.08, "any": 0.01}
"""Prior probability of each class of rules; nine of ten published gene rules are nested canalising, and half of the others can
be peeled too."""

REPRESSOR_FIRST, REPRESSOR_AND, ACTIVATOR_AND, PAIRED = 6.0, 0.98, 0.3, 0.12
"""Repressors are peeled off a rule earlier, and with "and"; two inputs come off together now and then; see `_peeled`.

With these and the shares, 306 rules of 25 published models are nearly as probable as with any; a larger share of peeled rules
would suit them better still, but not models of the cell cycle, which have majorities."""


@dataclass(frozen=True, eq=False)
class RulePrior:
    """Monotone prototypes of the rules of k inputs and how probable each is before any data."""

    tables: npt.NDArray[np.uint64]
    """Truth tables of monotone functions that depend on all inputs: all of them up to four inputs, then those that can be
    peeled, the read-once (five inputs) and the threshold ones."""
    weights: npt.NDArray[np.float64]
    """Prior probability of each, given which inputs are negated (columns, which with `any_weight` add up to 1)."""
    any_weight: float
    """Prior probability that the rule is a function drawn uniformly from all of them."""
    majorities: npt.NDArray[np.bool_]
    """Which prototypes are majorities."""

    def with_majorities(self, share: float) -> npt.NDArray[np.float64]:
        """Weights with another share of majorities, in proportion; as they are where no rule is one."""
        inside = self.weights[self.majorities].sum(axis=0)
        if not inside.any():
            return self.weights
        structured = 1 - self.any_weight
        factors = np.where(self.majorities[:, None], share / inside, (structured - share) / (structured - inside))
        return np.asarray(self.weights * factors)


@functools.cache
def rule_prior(n_inputs: int) -> RulePrior:
    """Prior over the rules of a number of inputs, from 0 to 6."""
    if n_inputs == 0:
        return RulePrior(np.array([0, 1], np.uint64), np.array([[0.5], [0.5]]), 0.0, np.zeros(2, np.bool_))
    everything, signs = (1 << n_inputs) - 1, 1 << n_inputs
    peeled = [dict(_peeled(n_inputs, everything, negated)) for negated in range(signs)]
    listed = set().union(*peeled)
    majorities = set(_thresholds(n_inputs, majority=True)) - listed
    classes = {
        "majority": majorities,
        "read_once": set(_read_once(n_inputs, everything)) - listed if n_inputs < MOST_INPUTS else set(),
        "unate": set(_monotone(n_inputs) if n_inputs < 5 else _thresholds(n_inputs)) - listed,
    }
    tables = sorted({*listed, *(table for members in classes.values() for table in members)})
    weights = np.zeros((len(tables), signs))
    for row, table in enumerate(tables):
        weights[row] = [SHARES["peeled"] * weight_of.get(table, 0.0) for weight_of in peeled]
        weights[row] += sum(SHARES[kind] / len(members) for kind, members in classes.items() if table in members)
    # Small numbers of inputs have no rules of some classes, whose share goes to the others.
    weights *= (1 - SHARES["any"]) / weights.sum(axis=0)
    among = np.array([table in majorities for table in tables])
    return RulePrior(np.array(tables, np.uint64), weights, SHARES["any"], among)


def is_majority(table: int, n_inputs: int) -> bool:
    """Whether a truth table is a majority of its inputs, some of them negated."""
    return table in _signed_majorities(n_inputs)


@functools.cache
def _signed_majorities(n_inputs: int) -> frozenset[int]:
    prior = rule_prior(n_inputs)
    cells = range(1 << n_inputs)
    prototypes = [int(table) for table in prior.tables[prior.majorities]]
    return frozenset(sum(1 << (x ^ signs) for x in cells if table >> x & 1) for table in prototypes for signs in cells)


def _input_table(i: int, n_inputs: int) -> int:
    return sum(1 << x for x in range(1 << n_inputs) if x >> i & 1)


def _members(inputs: int) -> list[int]:
    return [i for i in range(MOST_INPUTS) if inputs >> i & 1]


@functools.cache
def _peeled(n_inputs: int, inputs: int, negated: int) -> tuple[tuple[int, float], ...]:
    """Monotone functions from which one input or two of one sign are peeled off at a time, with "and" or "or"."""
    # One at a time gives the nested canalising functions. A rule with few layers can be peeled in many orders, so plain
    # conjunctions and disjunctions weigh most. Negated inputs come off earlier and mostly with "and": a gene with a repressor
    # present is off, whatever activates it. Two come off together if they only act together: "and not (a and b)", or "or (a
    # and b)".
    members = _members(inputs)
    if len(members) == 1:
        return ((_input_table(members[0], n_inputs), 1.0),)
    repressors = [i for i in members if negated >> i & 1]
    activators = [i for i in members if not negated >> i & 1]
    pairs = [*combinations(repressors, 2), *combinations(activators, 2)] if len(members) > 2 else []
    pulls = {i: REPRESSOR_FIRST if negated >> i & 1 else 1.0 for i in members}
    shares = {(i,): pulls[i] for i in members} | {(i, j): pulls[i] * pulls[j] for i, j in pairs}
    singles, couples = sum(pulls.values()), sum(shares[pair] for pair in pairs)
    found: dict[int, float] = {}
    for group, pull in shares.items():
        share = pull / singles * (1 - PAIRED if pairs else 1.0) if len(group) == 1 else pull / couples * PAIRED
        own = [_input_table(i, n_inputs) for i in group]
        either, all_of = functools.reduce(operator.or_, own), functools.reduce(operator.and_, own)
        rest = inputs & ~sum(1 << i for i in group)
        both = REPRESSOR_AND if negated >> group[0] & 1 else ACTIVATOR_AND
        for table, weight in _peeled(n_inputs, rest, negated & rest):
            for joined, part in ((either & table, both), (all_of | table, 1 - both)):
                found[joined] = found.get(joined, 0.0) + weight * share * part
    return tuple(sorted(found.items()))


@functools.cache
def _read_once(n_inputs: int, inputs: int) -> tuple[int, ...]:
    """Monotone functions with a formula in which every input occurs once."""
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
    """Functions that are 1 where a sum of inputs, each counted once or twice, reaches a threshold, and depend on all."""
    # With `majority`, at most one input counts once: it decides where the others are balanced, as the present value does in
    # models of the cell cycle.
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
