"""A quick look at targets before they are taught: how well one node, or one gate on two nodes, explains each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._lessons.board import PackedExamples, load_circuit, new_board
from gradus._lessons.description import BIT
from gradus._lessons.gate_list import GateList
from gradus._lessons.kernel.scan import scan
from gradus._lessons.kernel.walk_arrays import Rules
from gradus._lessons.phases import max_candidates, trail_for

__all__ = ["least_errors"]


def least_errors(task: PackedExamples, circuit: GateList, columns: list[int], seed: int) -> npt.NDArray[np.int64]:
    """Fewest errors of one node and of one gate for every target: shape (targets, 2).

    With many nodes or examples only some of the pairs are looked at.
    """
    board = new_board(task, columns, len(circuit.functions) + 1)
    load_circuit(board, circuit._replace(outputs=np.full(len(columns), -1, dtype=np.int64)))
    rules = Rules(
        error_cost=BIT * np.arange(task.n_examples + 1, dtype=np.int64)[np.newaxis],
        kind=np.zeros(len(columns), dtype=np.int64),
        gate_cost=np.zeros(1, dtype=np.int64),
        exact=False,
        nand=False,
        thresholds=np.zeros(1, dtype=np.int64),
        node_chance=0,
        n_spare=0,
        max_candidates=2 * max_candidates(task.inputs.shape[1]),
        stop_cost=0,
        max_work=0,
    )
    return scan(board, rules, trail_for(board, seed, 1))
