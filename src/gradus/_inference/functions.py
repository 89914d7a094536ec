"""What a network says about one target: its formula, its regulators, and the sign of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix
from gradus._logic.formula import Formula, formulas
from gradus._network import Network

__all__ = ["FunctionTable", "Sign", "TargetFunction"]

Sign = Literal["activating", "inhibiting", "both"]
MOST_FOR_ALL_STATES = 12
SAMPLED_STATES = 4096


@dataclass(frozen=True, eq=False)
class TargetFunction:
    """A function that networks of an ensemble compute for a target.

    Attributes
    ----------
    formula : Formula
        Simplified as far as possible.
    network : Network
        One that computes it; its only output is the target.
    values : ndarray of bool
        The function on the states of the `FunctionTable`.
    signs : dict from str to {"activating", "inhibiting", "both"}
        For each regulator, what raising it can do.
    """

    formula: Formula
    network: Network
    values: npt.NDArray[np.bool_]
    signs: dict[str, Sign]


class FunctionTable:
    """Recognises equal functions of the same inputs, and simplifies each only once.

    Parameters
    ----------
    n_inputs : int
        Up to 12 inputs functions are compared on every state; beyond, by their formulas.
    seed : int
        Draws the states on which wide functions are evaluated.
    """

    def __init__(self, n_inputs: int, seed: int = 0) -> None:
        self.exact = n_inputs <= MOST_FOR_ALL_STATES
        self.states = all_states(n_inputs) if self.exact else _random_states(n_inputs, seed)
        self._known: dict[tuple[int, bytes], TargetFunction] = {}

    def describe(self, network: Network) -> list[TargetFunction]:
        """Say what each output of a network computes; equal functions of one output are the same object."""
        values = network.predict(self.states)
        return [self._one(network, output, values[:, output]) for output in range(network.n_outputs)]

    def _one(self, network: Network, output: int, values: npt.NDArray[np.bool_]) -> TargetFunction:
        key = (output, np.packbits(values).tobytes())
        if self.exact and key in self._known:
            return self._known[key]
        alone = single_output(network, output)
        formula = next(iter(formulas(alone).values()))
        if not self.exact:
            key = (output, formula.text.encode())
        if key not in self._known:
            signs = {gene: sign_of(alone, gene, formula.support) for gene in formula.support}
            self._known[key] = TargetFunction(formula, alone, values, signs)
        return self._known[key]


def single_output(network: Network, output: int) -> Network:
    """Return a network without all but one of its outputs, and without the gates that it does not need.

    Examples
    --------
    >>> single_output(Network(2, [[0, 0], [1, 1]], [2, 3]), 1)
    Network(2, [[1, 1]], [2], input_names=['x0', 'x1'], output_names=['z1'])
    """
    return Network(
        network.n_inputs,
        network.sources,
        network.outputs[[output]],
        input_names=network.input_names,
        output_names=[network.output_names[output]],
    ).prune()


def sign_of(network: Network, gene: str, support: tuple[str, ...]) -> Sign:
    """Say whether raising an input can only raise a network's one output, only lower it, or do both.

    Examples
    --------
    >>> sign_of(Network(2, [[0, 1]], [2]), "x0", ("x0", "x1"))
    'inhibiting'
    """
    place = network.input_names.index(gene)
    columns = [network.input_names.index(name) for name in support]
    if len(columns) <= MOST_FOR_ALL_STATES:
        patterns = all_states(len(columns))
        states = np.zeros((len(patterns), network.n_inputs), dtype=np.bool_)
        states[:, columns] = patterns
    else:
        states = _random_states(network.n_inputs, 0)
    low, high = states.copy(), states.copy()
    low[:, place], high[:, place] = False, True
    off, on = network.predict(low)[:, 0], network.predict(high)[:, 0]
    raises, lowers = bool((on & ~off).any()), bool((off & ~on).any())
    return "both" if raises and lowers else "activating" if raises else "inhibiting"


def all_states(n: int) -> BoolMatrix:
    """Every state of n genes, the first gene changing fastest.

    Examples
    --------
    >>> all_states(2).astype(int).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    return np.asarray((np.arange(1 << n)[:, np.newaxis] >> np.arange(n)) & 1, dtype=np.bool_)


def _random_states(n: int, seed: int) -> BoolMatrix:
    return np.random.default_rng(seed).random((SAMPLED_STATES, n)) < 0.5
