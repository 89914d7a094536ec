"""The best node and the best gate for every target at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._compile import compiled
from gradus._lessons.kernel.pricing import flip_output, price_nodes, weigh, weigh_both
from gradus._lessons.kernel.walk import gather
from gradus._lessons.kernel.walk_arrays import Board, Rules, Trail

__all__ = ["scan"]


@compiled
def scan(board: Board, rules: Rules, trail: Trail) -> npt.NDArray[np.int64]:
    """Fewest errors of one node and of one gate, for every output of a board."""
    best = np.empty((len(board.outputs), 2), dtype=np.int64)
    for t in range(len(board.outputs)):
        n_touched = flip_output(board, t)
        n_planes = weigh(board, board.outputs[t], n_touched, False, trail.sums)
        _, n = gather(board, rules, trail, np.int64(-1))
        total0, total1 = price_nodes(board, n, n_planes)
        node, pair = 0, 0
        for a in range(np.uint64(n)):
            a0, a1 = board.ones0[a], board.ones1[a]
            node = min(node, a0 + total1 - a1, total0 - a0 + a1)
            weigh_both(board, a, n, n_planes)
            for b in range(a):
                x0, x1 = board.both0[b], board.both1[b]
                b0, b1 = board.ones0[b], board.ones1[b]
                price = min(x0, x1) + min(a0 - x0, a1 - x1) + min(b0 - x0, b1 - x1)
                pair = min(pair, price + min(total0 - a0 - b0 + x0, total1 - a1 - b1 + x1))
        best[t, 0] = board.errors[t] + node
        best[t, 1] = board.errors[t] + min(node, pair)
    return best
