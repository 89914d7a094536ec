"""Errors of a network on packed patterns, compiled: every pattern of a problem in microseconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradus._compile import compiled
from gradus._intrinsics import popcount

__all__ = ["count_errors"]


@compiled
def count_errors(sources: Any, outputs: Any, inputs: Any, targets: Any, mask: Any) -> Any:
    """Count, for each output, the patterns in the mask on which it differs from its target.

    Parameters
    ----------
    sources : ndarray of int64, shape (n_gates, 2)
    outputs : ndarray of int64, shape (m,)
        Node that gives each target.
    inputs, targets : ndarray of uint64, shapes (l, words) and (m, words)
        Packed patterns, see `gradus._bits.pack`.
    mask : ndarray of uint64, shape (words,)
        Which patterns count.

    Returns
    -------
    ndarray of int64, shape (m,)
    """
    n_inputs, words = inputs.shape
    n_gates = len(sources)
    live = np.zeros(n_inputs + n_gates, dtype=np.uint8)
    for output in outputs:
        live[output] = 1
    for gate in range(n_gates - 1, -1, -1):
        if live[n_inputs + gate]:
            live[sources[gate, 0]] = 1
            live[sources[gate, 1]] = 1
    values = np.empty((n_inputs + n_gates, words), dtype=np.uint64)
    values[:n_inputs] = inputs
    for gate in range(n_gates):
        if live[n_inputs + gate]:
            a, b = sources[gate, 0], sources[gate, 1]
            for word in range(words):
                values[n_inputs + gate, word] = ~(values[a, word] & values[b, word])
    errors = np.zeros(len(outputs), dtype=np.int64)
    for k in range(len(outputs)):
        total = np.uint64(0)
        for word in range(words):
            total += popcount((values[outputs[k], word] ^ targets[k, word]) & mask[word])
        errors[k] = np.int64(total)
    return errors
