"""Numbers and lists of things, durations, and names, formatted for readers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

__all__ = ["RESERVED_WORDS", "counted", "duration", "listed", "quoted_name", "two_digits"]

RESERVED_WORDS = frozenset(("and", "or", "not", "xor", "0", "1", "false", "true"))
"""Words that are operators or constants in some formula language, and so cannot be names."""
PLAIN_NAME = re.compile(r"[A-Za-z_][\w.]*")


def counted(number: int, what: str, plural: str | None = None) -> str:
    """Write a number of things."""
    return f"{number:,} {what if number == 1 else plural or f'{what}s'}"


def listed(names: Sequence[Any], most: int = 5, *, between: str = ", ") -> str:
    """Write the first few of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(map(str, names[:most])) + more


def duration(seconds: float) -> str:
    """Write a duration."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def two_digits(number: float) -> str:
    """Write a number with two significant digits, and never in powers of ten."""
    return f"{float(f'{number:.2g}'):g}"


def quoted_name(value: Any) -> str:
    """Write a name or a label for a formula: quoted unless it is a plain word or a number."""
    if isinstance(value, str) and not (PLAIN_NAME.fullmatch(value) and value.lower() not in RESERVED_WORDS):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
