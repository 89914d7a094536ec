"""The best node and the best gate for every target at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._compile import compiled
from gradus._lessons.kernel.pricing import flip_output, price_nodes, weigh, weigh_both, weigh_cells
from gradus._lessons.kernel.walk import gather
from gradus._lessons.kernel.walk_arrays import Board, Rules, Trail

__all__ = ["scan"]


@compiled
def scan(board: Board, rules: Rules, trail: Trail) -> npt.NDArray[np.int64]:
    """Fewest errors of one node and of one gate, for every output of a board."""
    best = np.empty((len(board.outputs), 2), dtype=np.int64)
    for t in range(len(board.outputs)):
        n_touched = flip_output(board, t)
        n_planes, _ = weigh(board, board.outputs[t], n_touched, False, trail.sums)
        _, n = gather(board, rules, trail, np.int64(-1))
        zero, total = price_nodes(board, board.outputs[t], n, n_planes)
        node, pair = 0, 0
        for a in range(np.uint64(n)):
            sum_a = board.node_sums[a]
            node = min(node, zero + sum_a, zero + total - sum_a)
            weigh_both(board, a, n, n_planes)
            pair = min(pair, (2 * zero + total - weigh_cells(board, a, a, total)) // 2)
        best[t, 0] = board.errors[t] + node
        best[t, 1] = board.errors[t] + min(node, pair)
    return best
