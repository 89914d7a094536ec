"""Prior beliefs as tables for the kernels: rules, regulators of a target, and how often values flip.

Inputs that decide one after the other are the most probable rules, then other unate rules, then any function. A unate rule is
a monotone function of its inputs after some of them are negated. So only monotone prototypes are listed, and the 2^k ways of
negating inputs (the signs) are applied by whoever scores them. Truth tables are integers: bit ``x`` is the value in cell
``x``, and bit i of ``x`` is the value of input i.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gradus._core.checks import check_noise
from gradus.genes._set_kernel import ScoreTables, TableParts

__all__ = [
    "MOST_INPUTS", "NOISELESS", "SHARES", "SIZE_PRIOR", "UNKNOWN_COST", "FlipRate", "RulePrior", "SetPrior", "flip_rate",
    "is_majority", "pooled_rate", "rule_prior", "score_tables",
]  # fmt: skip

MOST_INPUTS = 6
SHARES = {"peeled": 0.85, "majority": 0.04, "read_once": 0.02, "unate": 0.08, "any": 0.01}
"""Prior probability of each class of rules; nine of ten published gene rules are nested canalising, and half of the others can
be peeled too."""
REPRESSOR_FIRST, REPRESSOR_AND, ACTIVATOR_AND, PAIRED = 6.0, 0.98, 0.3, 0.12
"""Repressors are peeled off a rule earlier, and with "and"; two inputs come off together now and then; see `_peeled`.

With these and the shares, 306 rules of 25 published models are nearly as probable as with any others; a larger share of
peeled rules would fit them better still, but not models of the cell cycle, which have majorities."""
SIZE_PRIOR = (0.03, 0.12, 0.21, 0.21, 0.20, 0.14, 0.09)
"""Prior probability of 0 to 6 regulators, about what published models have."""
UNKNOWN_COST = 0.2
"""What a transition usually costs a set one of whose genes is unknown there: in about a third of the cells the next value
goes with that gene, and is then a coin toss."""
CLEAN_BELOW, LEAST_RATE, MOST_RATE = 0.002, 0.0005, 0.42
"""Below the first, data count as free of errors; no estimate is outside the other two."""
FIRST_GUESS = 0.1
"""The rate that "auto" starts from: a high one prefers small sets, which do not fit the noise."""
ERRORS_PER_ERROR_SEEN = 1.3
"""Errors in the data for each that the best rule makes, since the best of many rules fits some of the noise (chosen on tuning
seeds)."""


@dataclass(frozen=True, eq=False)
class RulePrior:
    """Monotone prototypes of the rules of k inputs and the prior probability of each."""

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
    row_of = {table: row for row, table in enumerate(tables)}
    for negated, weight_of in enumerate(peeled):
        weights[[row_of[table] for table in weight_of], negated] = SHARES["peeled"] * np.array([*weight_of.values()])
    for kind, members in classes.items():
        weights[[row_of[table] for table in members]] += SHARES[kind] / max(len(members), 1)
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
    weights: dict[int, float] = {}
    for group, pull in shares.items():
        share = pull / singles * (1 - PAIRED if pairs else 1.0) if len(group) == 1 else pull / couples * PAIRED
        own = [_input_table(i, n_inputs) for i in group]
        either, all_of = functools.reduce(operator.or_, own), functools.reduce(operator.and_, own)
        rest = inputs & ~sum(1 << i for i in group)
        both = REPRESSOR_AND if negated >> group[0] & 1 else ACTIVATOR_AND
        for table, weight in _peeled(n_inputs, rest, negated & rest):
            for joined, part in ((either & table, both), (all_of | table, 1 - both)):
                weights[joined] = weights.get(joined, 0.0) + weight * share * part
    return tuple(sorted(weights.items()))


@functools.cache
def _read_once(n_inputs: int, inputs: int) -> tuple[int, ...]:
    """Monotone functions with a formula in which every input occurs once."""
    members = _members(inputs)
    if len(members) == 1:
        return (_input_table(members[0], n_inputs),)
    tables = set()
    for part in _parts(inputs):
        for a in _read_once(n_inputs, part):
            for b in _read_once(n_inputs, inputs & ~part):
                tables |= {a & b, a | b}
    return tuple(sorted(tables))


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
    tables = set()
    for doubled in cells:
        if majority and int(doubled).bit_count() < n_inputs - 1:
            continue
        sums = bits @ (1 + bits[doubled])
        for least in range(1, int(sums.max()) + 1):
            values = sums >= least
            if all((values != values[cells ^ (1 << i)]).any() for i in range(n_inputs)):
                tables.add(sum(1 << int(cell) for cell in np.flatnonzero(values)))
    return tuple(sorted(tables))


@dataclass(frozen=True)
class FlipRate:
    """Share of the next values that are recorded differently from the rule; one rate for all genes."""

    rate: float

    @property
    def clean(self) -> bool:
        """Whether the data look free of errors."""
        return self.rate < CLEAN_BELOW

    def logs(self, unit: float) -> npt.NDArray[np.float64]:
        """Log-likelihood of a unit that is right and of one that is wrong."""
        return unit * np.array([np.log1p(-self.rate), np.log(self.rate)])

    def log_likelihood(self, total: int, unit: float) -> npt.NDArray[np.float64]:
        """Log-likelihood of 0, 1, ... `total` units of error among `total`."""
        right, wrong = self.logs(unit)
        errors = np.arange(total + 1)
        return np.asarray((total - errors) * right + errors * wrong)


NOISELESS = FlipRate(1e-6)
"""No errors: only rules that fit every transition compete, where there are any."""


def flip_rate(noise: str | float) -> FlipRate:
    """Rate for a setting: the one that is given, or one to start from with "auto"."""
    share = check_noise(noise, ("auto",))
    return FlipRate(FIRST_GUESS if isinstance(share, str) else max(share, LEAST_RATE))


def pooled_rate(totals: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]) -> FlipRate:
    """Estimate one rate from the errors of the best rules of all genes."""
    # Were each gene to have its own rate, sets that fit the noise would pass for clean genes.
    rate = ERRORS_PER_ERROR_SEEN * errors.sum() / max(1.0, totals.sum())
    return FlipRate(float(np.clip(rate, LEAST_RATE, MOST_RATE)))


@dataclass(frozen=True, eq=False)
class SetPrior:
    """The prior belief about the regulators of one target."""

    allowed: npt.NDArray[np.int64]
    """Genes that may regulate it."""
    odds: npt.NDArray[np.float64]
    """Log-odds of each gene beyond those of any gene."""
    signs: npt.NDArray[np.float64]
    """Log of twice the probability of falling and of rising with each gene, shape (genes, 2); 0 where nothing is known."""
    majorities: float | None = None
    """Share of majorities among the rules, if something is known of it."""
    unknown_cost: float = UNKNOWN_COST
    """Nats that a transition costs a set one of whose genes is unknown there."""

    @property
    def restricted(self) -> bool:
        """Whether some regulator is ruled out."""
        return len(self.allowed) < len(self.odds)


def score_tables(prior: SetPrior, flips: FlipRate, units: int, unit: float) -> ScoreTables:
    """Join the priors and the flip rates, for a number of units of weight, into what the kernels read."""
    n = len(prior.allowed)
    priors = [rule_prior(k) for k in range(MOST_INPUTS + 1)]
    sizes = np.full(MOST_INPUTS + 1, -np.inf)
    sizes[: min(n, MOST_INPUTS) + 1] = (np.log(SIZE_PRIOR) - _log_choices(prior.odds[prior.allowed]))[: n + 1]
    with np.errstate(divide="ignore"):
        log_any = np.log([rules.any_weight for rules in priors])
    return ScoreTables(
        flips.log_likelihood(units, unit),
        flips.logs(unit),
        prior.unknown_cost * unit,
        np.concatenate([rules.tables for rules in priors]),
        _prior_weights(prior.majorities),
        np.cumsum([0] + [len(rules.tables) for rules in priors]),
        _table_parts(),
        log_any,
        sizes,
        prior.odds,
        prior.signs,
    )


@functools.lru_cache(maxsize=16)
def _prior_weights(majorities: float | None) -> npt.NDArray[np.float64]:
    """Prior of each prototype (rows) with each choice of negated inputs (columns, as many as a size needs)."""
    priors = [rule_prior(k) for k in range(MOST_INPUTS + 1)]
    weights = [rules.weights if majorities is None else rules.with_majorities(majorities) for rules in priors]
    return np.concatenate([np.pad(table, ((0, 0), (0, (1 << MOST_INPUTS) - table.shape[1]))) for table in weights])


@functools.cache
def _table_parts() -> TableParts:
    """Find the distinct halves of the prototypes of each number of inputs, and the distinct quarters of these."""
    tables = [[int(table) for table in rule_prior(k).tables] for k in range(MOST_INPUTS + 1)]
    halves = [_distinct_parts(tables[k], 1 << k) for k in range(MOST_INPUTS + 1)]
    quarters = [_distinct_parts(halves[k], 1 << (k - 1)) if k > 3 else [] for k in range(MOST_INPUTS + 1)]

    def numbers(wholes: list[list[int]], parts: list[list[int]], cells: int, high: bool) -> npt.NDArray[np.int64]:
        """Return the number of the low or high part of each whole."""
        places = []
        for k, known in enumerate(parts):
            place, half = {part: number for number, part in enumerate(known)}, (1 << k) // cells
            for whole in wholes[k]:
                places.append(place[whole >> half if high else whole & ((1 << half) - 1)] if known else 0)
        return np.array(places, np.int64)

    return TableParts(
        numbers(tables, halves, 2, False),
        numbers(tables, halves, 2, True),
        numbers(halves, quarters, 4, False),
        numbers(halves, quarters, 4, True),
        np.cumsum([0] + [len(parts) for parts in halves]),
        np.array([part for parts in quarters for part in parts], np.uint64),
        np.cumsum([0] + [len(parts) for parts in quarters]),
    )


def _distinct_parts(tables: list[int], cells: int) -> list[int]:
    """List the distinct halves of truth tables with a number of cells; none below eight cells."""
    half = cells >> 1
    return sorted({part for table in tables for part in (table & ((1 << half) - 1), table >> half)}) if cells >= 8 else []


def _log_choices(odds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Log of the sum over all sets of 0 to 6 genes of the product of their odds: the number of sets, if the odds are even."""
    # Dividing by it lets odds choose between sets of one size without making sets larger.
    sums = np.zeros(MOST_INPUTS + 1)
    sums[0] = 1.0
    for value in np.exp(odds):
        sums[1:] += value * sums[:-1]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums))
