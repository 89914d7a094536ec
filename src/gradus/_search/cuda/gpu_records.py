"""The records that host and kernel exchange: those of ``records.cuh`` as NumPy types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BATCH", "COUNTERS", "EMPTY", "JOB", "POINTERS", "RESULT", "SLOT", "unpack_wiring"]

EMPTY = np.uint32(0xFFFFFFFF)
"""Sentinel for an empty slot, in place of the number of a search."""


def _record(longs: Sequence[str], shorts: Sequence[str], arrays: Mapping[str, int] | None = None) -> np.dtype[Any]:
    """Return a record of 64-bit numbers followed by 32-bit ones, padded to whole 64 bits as a C compiler does."""
    fields: list[Any] = [(name, np.uint64, (length,)) for name, length in (arrays or {}).items()]
    fields += [(name, np.uint64) for name in longs] + [(name, np.uint32) for name in shorts]
    return np.dtype(fields + [("filler", np.uint32)] * (len(shorts) % 2))


JOB = _record(("max_iter",), ("examples", "loss", "history", "restarts", "limit_ms"), {"seed": 2})
SLOT = _record(("step", "iterations"), ("search", "restart", "cost", "best", "first", "place", "began_ms"), {"random": 2})
RESULT = _record(("iterations",), ("cost", "restarts", "live", "stopped"))
COUNTERS = _record(("next", "finished", "steps", "ran_ns"), ())

POINTERS = (
    "inputs", "targets", "jobs", "slots", "wiring", "history",
    "best", "results", "finished", "counters", "active",
)  # fmt: skip
BATCH = _record(
    (*POINTERS, "rounds"), ("n_inputs", "n_gates", "n_targets", "n_searches", "n_active", "history_room", "now_ms", "stop")
)


def unpack_wiring(words: npt.NDArray[np.uint32], n_gates: int, *, wide: bool) -> npt.NDArray[np.int64]:
    """Turn rows of packed wiring into sources, shape (rows, n_gates, 2).

    Examples
    --------
    >>> unpack_wiring(np.array([[0x03020100]], dtype=np.uint32), 2, wide=False).tolist()
    [[[0, 1], [2, 3]]]
    """
    nodes = np.ascontiguousarray(words).astype("<u4", copy=False).view("<u2" if wide else "u1")
    return nodes[:, : 2 * n_gates].reshape(len(words), n_gates, 2).astype(np.int64)
