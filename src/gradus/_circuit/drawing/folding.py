"""Circuits too large to be read gate by gate: gates folded into blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus._circuit import Network
from gradus._circuit.drawing.diagram import first_targets, teaching_order

__all__ = ["MOST_GATES", "blocks"]

MOST_GATES = 60
"""Gates that a drawing shows one by one."""
MOST_BLOCKS = 40
LARGEST_BLOCKS = (8, 16, 32, 64, 128)


def blocks(circuit: Network, order: Sequence[str | int] | None = None) -> list[int]:
    """Return a block for each gate, the number of its last gate; -1 for gates that no output depends on."""
    # A gate that serves only gates of one block belongs to that block, so that a block has one output. Where gates are shared
    # so much that this leaves too many blocks, the gates that are new for a target, in the order in which the targets are
    # taught, are one block.
    found: list[int] = []
    for largest in LARGEST_BLOCKS:
        found = _cones(circuit, largest)
        if len(set(found)) <= MOST_BLOCKS:
            return found
    by_target = _new_gates(circuit, order)
    return by_target if len(set(by_target)) > 1 else found


def _cones(circuit: Network, largest: int) -> list[int]:
    """Let every gate, from the last to the first, join the block of its readers, if all are in one that has room."""
    reads = circuit.read_sources
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


def _new_gates(circuit: Network, order: Sequence[str | int] | None) -> list[int]:
    """Put the gates into blocks by the first target that uses them; a block reads only blocks of earlier targets."""
    first = first_targets(circuit, teaching_order(circuit.output_names, order))[circuit.n_inputs :].tolist()
    live = circuit.live.tolist()
    last = {target: gate for gate, target in enumerate(first) if live[gate]}
    return [last[target] if alive else -1 for target, alive in zip(first, live, strict=True)]
