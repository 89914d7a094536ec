"""The verbs of `gradus` that this package adds, and what they print with."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

WIDE = 10_000  # columns of a pipe, so that no line is wrapped there


def print_json(document: Any) -> None:
    """Print a document as JSON."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


def note(message: str) -> None:
    """Print something that is not a result on standard error; names in it cannot control the terminal."""
    print(printable(message), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Return a text with its control characters escaped, so that it cannot control the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: wrapped to the screen on a terminal, one line per row in a pipe."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    columns = (Column(Text(heading), overflow="fold") for heading in headings)
    table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else WIDE, highlight=False).print(table)
