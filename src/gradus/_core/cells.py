"""Cells of tables: which are missing, which labels are unknown, and what number a text is, for every reader and learner."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MISSING", "NUMBER", "is_missing", "is_unknown", "number_in", "number_pattern"]

MISSING = frozenset(("", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "NaT", "?"))
TRUTH = {"true": 1.0, "false": 0.0}
_FREQUENT = {"0": 0.0, "1": 1.0, **dict.fromkeys(MISSING, math.nan)}


def is_missing(value: Any) -> bool:
    """Return whether a cell holds no value: None, NaN, pandas.NA, or a text that is a word for it."""
    if isinstance(value, str):
        return value.strip() in MISSING
    return value is None or (isinstance(value, float | np.floating) and math.isnan(value)) or str(value) in ("<NA>", "NaT")


def is_unknown(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which labels are unknown: what `is_missing`, but of texts only the empty one, since "None" may be a class."""
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind == "U":
        return np.asarray(labels == "")
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=np.bool_)

    def unknown(label: Any) -> bool:
        return label == "" if isinstance(label, str) else is_missing(label)

    return np.asarray(np.frompyfunc(unknown, 1, 1)(labels), dtype=np.bool_)


def number_pattern(point: str = ".", thousands: str = "") -> str:
    """Return the regular expression of a number without a sign; `thousands` is what may separate groups of three digits."""
    # Possessive (++, *+): it never backtracks, so that no cell takes more than linear time.
    point = re.escape(point)
    grouped = rf"|[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})++" if thousands else ""
    return rf"(?:(?:[0-9]++{grouped})(?:{point}[0-9]*+)?|{point}[0-9]++)(?:[eE][+-]?[0-9]+)?"


NUMBER = re.compile(rf"[+-]?(?:{number_pattern()}|(?i:inf|infinity))")


def number_in(text: str) -> float | None:
    """Return the number that a text is: NaN for a missing cell, 1 for "true", None for anything else."""
    number = _FREQUENT.get(text)
    if number is not None:
        return number
    text = text.strip()
    if NUMBER.fullmatch(text):
        return float(text)
    return math.nan if text in MISSING else TRUTH.get(text.lower())
