"""What an ensemble of networks says of a target: the functions it computes, the rule, the use of each regulator.

Equal functions of different networks are recognised and simplified once; the rules of all targets are joined to one circuit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix
from gradus._logic.formula import Formula, formulas
from gradus._network import Network
from gradus.errors import DataError

__all__ = [
    "EdgeUse",
    "FunctionCatalog",
    "Rule",
    "Sign",
    "TargetFunction",
    "all_states",
    "constant_network",
    "edge_uses",
    "find_rule",
    "join_networks",
    "sign_of",
    "single_output",
]

Sign = Literal["activating", "inhibiting", "both"]
MOST_FOR_ALL_STATES = 12
SAMPLED_STATES = 4096
SHOWN_ALTERNATIVES = 5
SIGNS: tuple[Sign, ...] = ("activating", "inhibiting", "both")


@dataclass(frozen=True, eq=False)
class TargetFunction:
    """A function that networks of an ensemble compute for a target."""

    formula: Formula
    """Simplified as far as possible."""
    network: Network
    """One that computes it; its only output is the target."""
    values: npt.NDArray[np.bool_]
    """The function on the states of the `FunctionCatalog`."""
    signs: dict[str, Sign]
    """For each regulator, what raising it can do."""


class FunctionCatalog:
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
        """Return what each output of a network computes; equal functions of one output are the same object."""
        values = network.predict(self.states)
        return [self._one(network, output, values[:, output]) for output in range(network.n_outputs)]

    def _one(self, network: Network, output: int, values: npt.NDArray[np.bool_]) -> TargetFunction:
        key = (output, np.packbits(values).tobytes())
        if self.exact and key in self._known:
            return self._known[key]
        alone = single_output(network, output)
        formula = next(iter(formulas(alone, xor=False).values()))
        if not self.exact:
            key = (output, formula.text.encode())
        if key not in self._known:
            signs = {gene: sign_of(alone, gene, formula.support) for gene in formula.support}
            self._known[key] = TargetFunction(formula, alone, values, signs)
        return self._known[key]


def single_output(network: Network, output: int) -> Network:
    """Return a network with only one of its outputs and the gates that it needs.

    Examples
    --------
    >>> single_output(Network(2, [[0, 0], [1, 1]], [2, 3]), 1)
    Network(2, [[1, 1]], [2], input_names=['x0', 'x1'], output_names=['z1'])
    """
    return Network(
        network.n_inputs,
        network.sources,
        network.outputs[[output]],
        network.functions,
        input_names=network.input_names,
        output_names=[network.output_names[output]],
    ).prune(absorb=False)


def sign_of(network: Network, gene: str, support: tuple[str, ...]) -> Sign:
    """Find out whether raising an input can only raise a network's one output, only lower it, or do both.

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


@dataclass(frozen=True, eq=False)
class Rule:
    """The rule of a target.

    Attributes
    ----------
    target : str
    text : str
        The formula: of those with the fewest regulators the most frequent.
    regulators : tuple of str
        The genes that it reads.
    share : float
        Part of the networks that compute exactly this.
    agreement : float
        How often a network gives the value of the rule, over states that need not be in the data.
    minimal : bool
        Whether no rule with fewer regulators can fit the data.
    alternatives : tuple of (str, float)
        The most frequent formulas, whatever their size, with their shares.
    network : Network
        The rule as a circuit with one output.
    """

    target: str
    text: str
    regulators: tuple[str, ...]
    share: float
    agreement: float
    minimal: bool
    alternatives: tuple[tuple[str, float], ...]
    network: Network


@dataclass(frozen=True)
class EdgeUse:
    """How an ensemble uses one regulator of one target.

    Attributes
    ----------
    regulator, target : str
    frequency : float
        Part of the networks in which the target depends on the regulator.
    activating, inhibiting, both : float
        Part of the networks in which it does so with this sign.
    sign : {"activating", "inhibiting", "both"} or None
        The most frequent of these; None if no network uses the regulator.
    in_minimum_sets : int
        Minimum regulator sets of the target that hold the regulator.
    """

    regulator: str
    target: str
    frequency: float
    activating: float
    inhibiting: float
    both: float
    sign: Sign | None
    in_minimum_sets: int


def find_rule(target: str, functions: Sequence[TargetFunction], smallest: int) -> Rule:
    """Choose the rule of a target from the functions that the networks of an ensemble compute.

    Parameters
    ----------
    functions : sequence of TargetFunction
        One for each network.
    smallest : int
        Regulators that any rule needs.
    """
    counts = Counter(function.formula.text for function in functions)
    by_text = {function.formula.text: function for function in functions}

    def worth(text: str) -> tuple[int, int, int, str]:
        formula = by_text[text].formula
        return len(formula.support), -counts[text], formula.n_literals, text

    best = by_text[min(counts, key=worth)]
    agreement = np.mean([(function.values == best.values).mean() for function in functions])
    return Rule(
        target=target,
        text=best.formula.text,
        regulators=best.formula.support,
        share=counts[best.formula.text] / len(functions),
        agreement=float(agreement),
        minimal=len(best.formula.support) <= smallest,
        alternatives=tuple((text, n / len(functions)) for text, n in counts.most_common(SHOWN_ALTERNATIVES)),
        network=best.network,
    )


def edge_uses(target: str, functions: Sequence[TargetFunction], minimum_sets: Sequence[Sequence[str]]) -> list[EdgeUse]:
    """Count how often the networks of an ensemble use each regulator of a target, the most frequent first.

    Parameters
    ----------
    functions : sequence of TargetFunction
        One for each network.
    minimum_sets : sequence of sequence of str
        All minimum regulator sets; their members are listed even if no network uses them.
    """
    genes = {gene for function in functions for gene in function.signs} | {g for one in minimum_sets for g in one}
    edges = []
    for gene in sorted(genes):
        signs = Counter(function.signs[gene] for function in functions if gene in function.signs)
        shares = {sign: signs[sign] / len(functions) for sign in SIGNS}
        edges.append(
            EdgeUse(
                regulator=gene,
                target=target,
                frequency=sum(signs.values()) / len(functions),
                **shares,
                sign=_usual(signs),
                in_minimum_sets=sum(gene in one for one in minimum_sets),
            )
        )
    return sorted(edges, key=lambda edge: -edge.frequency)


def _usual(signs: Counter[Sign]) -> Sign | None:
    if not signs:
        return None
    return max(SIGNS, key=lambda sign: signs[sign])


def join_networks(inputs: Sequence[str], parts: Mapping[str, Network]) -> Network:
    """Join circuits with one output each; a circuit may read only some of the inputs.

    Parameters
    ----------
    inputs : sequence of str
        The inputs of the whole.
    parts : mapping of str to Network
        A network with one output for each target; its inputs are found by their names.

    Returns
    -------
    Network
        Its outputs are named and ordered as `parts`.

    Examples
    --------
    >>> inverter = Network(1, [[0, 0]], [1], input_names=["b"])
    >>> join_networks(["a", "b"], {"p": inverter, "q": inverter}).predict([[0, 1], [1, 0]]).astype(int).tolist()
    [[0, 0], [1, 1]]
    """
    place = {name: node for node, name in enumerate(inputs)}
    sources: list[list[int]] = []
    functions: list[int] = []
    outputs = []
    for name, part in parts.items():
        unknown = [read for read in part.input_names if read not in place]
        if unknown:
            raise DataError(f"the circuit of {name!r} reads {unknown[0]!r}, which is not one of the inputs.")
        first = len(inputs) + len(sources)
        node = [place[read] for read in part.input_names] + [first + gate for gate in range(part.n_gates)]
        sources += [[node[a], node[b]] for a, b in part.sources.tolist()]
        functions += part.functions.tolist()
        outputs.append(node[int(part.outputs[0])])
    return Network(
        len(inputs),
        np.array(sources, dtype=np.int64).reshape(-1, 2),
        outputs,
        functions,
        input_names=inputs,
        output_names=list(parts),
    )


def constant_network(name: str, value: bool) -> Network:
    """Return a circuit of one input, named, whose output never changes.

    Examples
    --------
    >>> constant_network("a", False).predict([[0], [1]]).ravel().tolist()
    [False, False]
    """
    return Network(1, [[0, 0], [0, 1], [2, 2]], [2 if value else 3], input_names=[name])
