"""Circuits too large to be read gate by gate: gates that serve one other gate only, folded into its block."""

from __future__ import annotations

import numpy as np

from gradus._drawing.dot import Circuit

__all__ = ["MOST_GATES", "blocks"]

MOST_GATES = 60
"""Gates that a drawing shows one by one."""
MOST_BLOCKS = 40
LARGEST_BLOCKS = (8, 16, 32, 64, 128)


def blocks(circuit: Circuit, reads: list[list[int]]) -> list[int]:
    """Return a block for each gate, the number of its last gate: nothing outside reads any other gate of the block.

    Parameters
    ----------
    circuit : Network
    reads : list of lists of int
        The nodes that each gate depends on.

    Returns
    -------
    list of int
        As few large blocks as make the drawing readable; -1 for gates that no output depends on.

    Examples
    --------
    >>> from gradus import Network
    >>> network = Network(4, [[0, 1], [2, 3], [4, 5], [5, 6]], [7])
    >>> blocks(network, network.read_sources)
    [3, 3, 3, 3]
    """
    found: list[int] = []
    for largest in LARGEST_BLOCKS:
        found = _grown(circuit, reads, largest)
        if len(set(found)) <= MOST_BLOCKS:
            break
    return found


def _grown(circuit: Circuit, reads: list[list[int]], largest: int) -> list[int]:
    """Let every gate, from the last to the first, join the block of its readers, if all are in one that has room."""
    readers: list[set[int]] = [set() for _ in reads]
    block, size = [-1] * len(reads), [0] * len(reads)
    outputs = set(circuit.outputs.tolist())
    for gate in reversed(np.flatnonzero(circuit.live).tolist()):
        around = readers[gate]
        alone = len(around) != 1 or circuit.n_inputs + gate in outputs
        home = gate if alone or size[next(iter(around))] >= largest else next(iter(around))
        block[gate] = home
        size[home] += 1
        for source in reads[gate]:
            if source >= circuit.n_inputs:
                readers[source - circuit.n_inputs].add(home)
    return block
