"""Output of the verbs: results on standard output, everything else on standard error, and files that can be written."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gradus._core.files import check_new_file
from gradus.errors import FormatError

__all__ = [
    "VOTE", "WIDTH", "EndedByUserError", "check_file", "note", "percent", "print_json", "print_rule", "print_table",
    "printable",
]  # fmt: skip

WIDTH = 80  # characters of a line
VOTE = "Take the vote of all circuits as one circuit, not the best circuit alone; targets must have two classes."
WIDE = 10_000  # columns of a pipe, so that no line is wrapped there


class EndedByUserError(Exception):
    """A verb that Ctrl-C or SIGTERM ended; the message says what is kept, and where."""


def print_json(document: Any) -> None:
    """Print a document as JSON."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


def note(message: str) -> None:
    """Print something that is not a result on standard error; names in it cannot control the terminal."""
    print("\n".join(map(printable, message.split("\n"))), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    r"""Return a name from a file with its control characters escaped, so that it cannot control the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.1f} %"


def print_rule(text: str) -> None:
    """Print a rule in lines of a common width; those after the first are indented."""
    print(textwrap.fill(printable(text), WIDTH, subsequent_indent="    ", break_on_hyphens=False))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None) -> None:
    """Print a table: wrapped to the screen on a terminal, one line per row in a pipe."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else WIDE, highlight=False)
    table = Table(
        box=SIMPLE_HEAD,
        title=None if title is None else Text(title),
        title_justify="left",
        pad_edge=False,
        collapse_padding=True,
    )
    for heading in headings:
        # Line ends in a heading keep it narrow on a screen; a pipe has room.
        table.add_column(Text(heading if sys.stdout.isatty() else heading.replace("\n", " ")), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, map(printable, row)))
    console.print(table)


def check_file(path: Path, extensions: Iterable[str]) -> None:
    """Refuse a file that cannot be written, or whose extension is not one that the verb writes."""
    known = list(extensions)
    if path.suffix.lower() not in known:
        listed = " or ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
        raise FormatError(f"the name of the file must end in {listed}.", path=path)
    check_new_file(path)
