"""`learn_circuits`: an ensemble that may read parities and counts, or one that may not, whichever has the shorter description."""

from __future__ import annotations

import numpy as np

from gradus._circuit.gate_list import GateList, cleaned
from gradus._core.run import Run
from gradus._lessons.description import Lengths, Solution
from gradus._lessons.ensemble import Ensemble
from gradus._lessons.further_inputs import further_price
from gradus._lessons.offers import find_further_inputs, offered
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.walks import LessonSettings

__all__ = ["learn_circuits"]

DETERMINED = 0.5
"""Circuits of at most this share of the length of the labels are determined by them: no other kind is tried."""


def learn_circuits(
    examples: PackedExamples, settings: LessonSettings, seed: int, run: Run, n_circuits: int | None
) -> tuple[Ensemble, PackedExamples]:
    """Learn circuits; returns the ensemble, and the examples with the inputs that its circuits read."""
    plain = Ensemble(examples, settings, seed, run)
    further = find_further_inputs(examples, settings.noise, seed, run)
    if not further:
        return _learned(plain, n_circuits), examples
    more = offered(examples, further)
    rich = Ensemble(more, settings, seed, run)
    lengths = Lengths(more, settings.nand, settings.noise)
    enough = DETERMINED * sum(map(lengths.labels, range(len(examples.targets))))
    alone = _length_alone(lengths, more)
    if alone <= enough:
        _learned(rich, n_circuits)
        if not run.stop() and _length(rich) > enough:
            _learned(plain, n_circuits)
    else:
        _learned(plain, n_circuits)
        if not run.stop() and (alone < _length(plain) or _shortened(plain, lengths, more)):
            _learned(rich, n_circuits)
    best = min((ensemble for ensemble in (rich, plain) if ensemble.circuits), key=_length)
    return best, more if best is rich else examples


def _learned(ensemble: Ensemble, n_circuits: int | None) -> Ensemble:
    """Let an ensemble learn; after Ctrl-C it keeps what it has."""
    try:
        ensemble.learn(n_circuits)
    except KeyboardInterrupt:
        ensemble.run.interrupt()
        if not ensemble.circuits:
            raise
    return ensemble


def _length(ensemble: Ensemble) -> int:
    """Return the description length of the best circuit."""
    return ensemble.ranked()[0][0].length


def _errors(examples: PackedExamples) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return how many labels each further input gets wrong: shape (targets, further inputs)."""
    inputs = examples.inputs[len(examples.inputs) - len(examples.further) :]
    wrong = [
        np.bitwise_count((inputs ^ target) & known) for target, known in zip(examples.targets, examples.known, strict=True)
    ]
    return np.array([counts.sum(axis=1, dtype=np.int64) for counts in wrong])


def _length_alone(lengths: Lengths, examples: PackedExamples) -> int:
    """Return the length if every target is a further input or a constant, whichever is shorter."""
    total, used = 0, set()
    for target, errors in enumerate(_errors(examples).tolist()):
        best = min(range(len(errors)), key=errors.__getitem__)
        left = lengths.errors(target, errors[best])
        total += min(left, lengths.labels(target))
        used |= {best} if left < lengths.labels(target) else set()
    outputs = len(examples.inputs) - len(examples.further) + np.array(sorted(used), dtype=np.int64)
    circuit = GateList(len(examples.inputs), np.zeros(0, np.uint8), np.zeros((0, 2), np.int64), outputs)
    return total + further_price(circuit, examples.further)


def _shortened(plain: Ensemble, lengths: Lengths, examples: PackedExamples) -> bool:
    """Return whether the best circuit gets shorter if a further input takes the place of one of its outputs."""
    solution = plain.ranked()[0][0].solution
    circuit, n_inputs = solution.circuit, len(examples.inputs)
    moved = n_inputs - circuit.n_inputs
    node = np.concatenate([np.arange(circuit.n_inputs), np.arange(len(circuit.functions)) + n_inputs])
    start = GateList(n_inputs, circuit.functions, node[circuit.sources], node[circuit.outputs])
    length = lengths.whole(Solution(start, solution.columns, solution.errors))
    for place, errors in enumerate(_errors(examples)[solution.columns]):
        best = int(np.argmin(errors))
        outputs, new_errors = start.outputs.copy(), solution.errors.copy()
        outputs[place], new_errors[place] = n_inputs - moved + best, errors[best]
        if lengths.whole(Solution(cleaned(start._replace(outputs=outputs)), solution.columns, new_errors)) < length:
            return True
    return False
