"""`learn_circuits`: circuits that may read parities and counts, or that may not, whichever have the shorter description."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, cleaned
from gradus._core.run import Run
from gradus._lessons.description import BIT, Lengths, Solution
from gradus._lessons.ensemble import Ensemble
from gradus._lessons.further_inputs import further_price, with_inputs
from gradus._lessons.offers import find_further_inputs, offered
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.walks import LessonSettings

__all__ = ["learn_circuits"]

Ints = npt.NDArray[np.int64]

LEFT, MOST_LEFT = 0.4, 256 * BIT
LEAST_SAVING, SHORT = 20 * BIT, 0.25
"""Inputs alone determine all targets if their errors take at most this share of the labels' length and this many bits, and
they save at least this much; without errors their own description must be short, too."""


class _Alone(NamedTuple):
    """What is left to describe if every target is one of the inputs or a constant."""

    length: int
    determined: bool
    """Whether that is informative enough that no circuit without further inputs is tried."""
    noisy: bool
    """Whether a further input explains most of a target and gets the rest wrong."""


def learn_circuits(
    examples: PackedExamples,
    settings: LessonSettings,
    seed: int,
    run: Run,
    n_circuits: int | None,
    start: GateList | None = None,
) -> tuple[Ensemble, PackedExamples]:
    """Learn circuits, the first one from a start if there is one; returns the ensemble, and the examples that it reads."""
    plain = Ensemble(examples, settings, seed, run.part(weight=1), start)
    run.expect(1)
    further = find_further_inputs(examples, settings.noise, seed, run)
    if not further:
        return _learned(plain, n_circuits), examples
    more = offered(examples, further)
    lengths = Lengths(more, settings.nand, settings.noise)
    alone = _alone(lengths, more)
    if alone.determined and alone.noisy and settings.exact is None:
        settings = settings._replace(exact=False)
    rich = Ensemble(more, settings, seed, run.part(weight=1))
    if alone.determined:
        _learned(rich, n_circuits)
    else:
        _learned(plain, n_circuits)
        if not run.stop() and (alone.length < _length(plain) or _shortened(plain, lengths, more)):
            run.expect(2)
            _learned(rich, n_circuits)
            if not run.stop() and _is_overfitted(rich, plain, alone):
                rich = Ensemble(more, settings._replace(exact=False), seed, run.part(weight=1))
                _learned(rich, n_circuits)
    best = min((ensemble for ensemble in (rich, plain) if ensemble.circuits), key=_length)
    return best, more if best is rich else examples


def _learned(ensemble: Ensemble, n_circuits: int | None) -> Ensemble:
    """Let an ensemble learn; after Ctrl-C it keeps what it has."""
    try:
        ensemble.learn(n_circuits)
        ensemble.run.complete()
    except KeyboardInterrupt:
        ensemble.run.interrupt()
        if not ensemble.circuits:
            raise
    return ensemble


def _length(ensemble: Ensemble) -> int:
    """Return the description length of the best circuit."""
    return ensemble.ranked()[0][0].length


def _is_overfitted(rich: Ensemble, plain: Ensemble, alone: _Alone) -> bool:
    """Return whether gates were built around a further input that alone is shorter, where labels are taken to be wrong."""
    circuit, other = rich.ranked()[0][0], plain.ranked()[0][0]
    doubted = rich.settings.exact is None and other.tolerant and not circuit.tolerant
    return doubted and circuit.length > alone.length


def _errors(examples: PackedExamples) -> Ints:
    """Return how many labels each input gets wrong: shape (targets, inputs)."""
    rows = []
    for target, known in zip(examples.targets, examples.known, strict=True):
        rows.append(np.bitwise_count((examples.inputs ^ target) & known).sum(axis=1, dtype=np.int64))
    return np.array(rows)


def _alone(lengths: Lengths, examples: PackedExamples) -> _Alone:
    """Return what is left if every target is an input or a constant, whichever is shorter."""
    first = len(examples.inputs) - len(examples.further)
    choice, noisy, left = round(BIT * math.log2(2 * first)), False, 0
    used: set[int] = set()
    for target, errors in enumerate(_errors(examples)):
        least = int(np.minimum(errors[:first], lengths.known[target] - errors[:first]).min())
        # A further input has a price of its own; any other is chosen among all of them, or is complemented.
        options = [(lengths.labels(target), -1), (lengths.errors(target, least) + choice, -1)]
        options += [(lengths.errors(target, int(count)), place) for place, count in enumerate(errors[first:], first)]
        price, place = min(options)
        left += price
        if place >= 0:
            used.add(place)
            noisy |= 0 < price <= LEFT * lengths.labels(target)
    outputs = np.array(sorted(used), dtype=np.int64)
    circuit = GateList(len(examples.inputs), np.zeros(0, np.uint8), np.zeros((0, 2), np.int64), outputs)
    length = left + further_price(circuit, examples.further)
    labels = sum(map(lengths.labels, range(len(examples.targets))))
    explained = left <= min(LEFT * labels, MOST_LEFT) and length <= labels - LEAST_SAVING
    # Digits of a sum are also explained by sums that are not quite the right one; then adders of gates are shorter.
    return _Alone(length, explained and (noisy or length <= SHORT * labels), noisy)


def _shortened(plain: Ensemble, lengths: Lengths, examples: PackedExamples) -> bool:
    """Return whether the best circuit gets shorter if a further input takes the place of one of its outputs."""
    solution = plain.ranked()[0][0].solution
    circuit, n_inputs = solution.circuit, len(examples.inputs)
    start = with_inputs(circuit, n_inputs)
    length = lengths.whole(Solution(start, solution.columns, solution.errors))
    for place, errors in enumerate(_errors(examples)[solution.columns, circuit.n_inputs :]):
        best = int(np.argmin(errors))
        outputs, new_errors = start.outputs.copy(), solution.errors.copy()
        outputs[place], new_errors[place] = circuit.n_inputs + best, errors[best]
        if lengths.whole(Solution(cleaned(start._replace(outputs=outputs)), solution.columns, new_errors)) < length:
            return True
    return False
