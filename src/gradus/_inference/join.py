"""One network of many: circuits over the same inputs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gradus._network import Network
from gradus.errors import DataError

__all__ = ["constant_network", "join_networks"]


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
    outputs = []
    for name, part in parts.items():
        unknown = [read for read in part.input_names if read not in place]
        if unknown:
            raise DataError(f"the circuit of {name!r} reads {unknown[0]!r}, which is none of the inputs.")
        first = len(inputs) + len(sources)
        node = [place[read] for read in part.input_names] + [first + gate for gate in range(part.n_gates)]
        sources += [[node[a], node[b]] for a, b in part.sources.tolist()]
        outputs.append(node[int(part.outputs[0])])
    return Network(
        len(inputs), np.array(sources, dtype=np.int64).reshape(-1, 2), outputs, input_names=inputs, output_names=list(parts)
    )


def constant_network(name: str, value: bool) -> Network:
    """Return a circuit of one input, named, whose output never changes.

    Examples
    --------
    >>> constant_network("a", False).predict([[0], [1]]).ravel().tolist()
    [False, False]
    """
    return Network(1, [[0, 0], [0, 1], [2, 2]], [2 if value else 3], input_names=[name])
