"""Results as JSON and back, without pickles: named tuples and arrays of numbers; and digests of what work depends on."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

__all__ = ["digest_of", "plain", "restored"]

NUMBERS = "biuf"
"""Kinds of numbers that arrays may hold."""
SIMPLE = frozenset({float, int, str, bool, type(None)})


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers, texts, arrays, and named tuples, lists and dictionaries of these."""
    if isinstance(value, np.ndarray):
        kept = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {"array": base64.b64encode(kept.tobytes()).decode(), "type": kept.dtype.str, "shape": list(kept.shape)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"kind": type(value).__name__, "fields": list(map(plain, value))}
    if isinstance(value, tuple):
        return {"tuple": list(map(plain, value))}
    if isinstance(value, list):
        return list(map(plain, value))
    if isinstance(value, dict):
        return {"pairs": [[str(key), plain(entry)] for key, entry in value.items()]}
    return value.item() if isinstance(value, np.generic) else value


def restored(document: Any, kinds: Sequence[type]) -> Any:
    """Return what `plain` was given; named tuples of no other kinds are made, and anything else raises an error."""
    if isinstance(document, list):
        return [restored(entry, kinds) for entry in document]
    if not isinstance(document, dict):
        return document
    if "array" in document:
        return _array(document)
    if "kind" in document:
        kind = {kind.__name__: kind for kind in kinds}[document["kind"]]
        return kind(*restored(document["fields"], kinds))
    if "tuple" in document:
        return tuple(restored(document["tuple"], kinds))
    return {key: restored(entry, kinds) for key, entry in document["pairs"]}


def _array(document: dict[str, Any]) -> Any:
    dtype, shape = np.dtype(document["type"]), tuple(map(int, document["shape"]))
    if dtype.kind not in NUMBERS or any(length < 0 for length in shape):
        raise ValueError("an array of numbers was expected")
    raw = base64.b64decode(document["array"], validate=True)
    if len(raw) != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array does not have the length that it states")
    return np.frombuffer(raw, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))


def digest_of(*values: Any) -> str:
    """Return a digest of values: arrays, numbers, texts, data classes, and lists, tuples and dictionaries of these."""
    state = hashlib.blake2b(digest_size=16)
    for value in values:
        _add(state, value)
    return state.hexdigest()


def _add(state: Any, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype != object:
        state.update(f"{value.dtype.str}{value.shape}".encode())
        state.update(np.ascontiguousarray(value).data if value.dtype.kind in NUMBERS else value.tobytes())
    elif isinstance(value, np.ndarray):
        state.update(f"{value.shape}{value.tolist()!r}".encode("utf-8", "backslashreplace"))
    elif isinstance(value, dict):
        _add(state, list(value.items()))
    elif isinstance(value, list | tuple):
        state.update(f"[{len(value)}".encode())
        if SIMPLE.issuperset(map(type, value)):  # many at once: columns have hundreds of thousands
            state.update("".join([f"{entry!r};" for entry in value]).encode("utf-8", "backslashreplace"))
            return
        for entry in value:
            _add(state, entry)
    elif is_dataclass(value) and not isinstance(value, type):
        _add(state, [(field.name, getattr(value, field.name)) for field in fields(value)])
    else:
        state.update(f"{value!r};".encode("utf-8", "backslashreplace"))
