"""What is known beforehand: edges that may be there, and edges that may not."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from gradus._files import read_guard, read_text
from gradus.errors import DataError, FormatError

__all__ = ["Edge", "Prior", "read_edges"]

Edge = tuple[str, str]
"""(regulator, target)."""
HEADINGS = ("regulator", "source", "from")


@dataclass(frozen=True)
class Prior:
    """Prior knowledge of edges.

    Attributes
    ----------
    allow : tuple of (regulator, target), or None
        If given, a target listed in it has no other regulators; targets that are not listed are free.
    forbid : tuple of (regulator, target)
        Edges that may not be used.

    Examples
    --------
    >>> prior = Prior(allow=(("a", "x"), ("b", "x")), forbid=(("b", "x"), ("c", "y")))
    >>> prior.regulators("x", ("a", "b", "c")), prior.regulators("y", ("a", "b", "c"))
    ((0,), (0, 1))
    """

    allow: tuple[Edge, ...] | None = None
    forbid: tuple[Edge, ...] = ()

    def regulators(self, target: str, genes: Sequence[str]) -> tuple[int, ...]:
        """Columns of the genes that may regulate a target."""
        listed = {regulator for regulator, to in self.allow or () if to == target}
        forbidden = {regulator for regulator, to in self.forbid if to == target}
        return tuple(column for column, gene in enumerate(genes) if gene not in forbidden and (not listed or gene in listed))

    def check(self, genes: Sequence[str]) -> None:
        """Raise a `DataError` if an edge names a gene that is not there."""
        known = set(genes)
        for regulator, target in [*(self.allow or ()), *self.forbid]:
            for gene in (regulator, target):
                if gene not in known:
                    raise DataError(f"the edge {regulator} → {target} names {gene!r}, which is not one of the genes.")


def read_edges(path: str | PathLike[str]) -> tuple[Edge, ...]:
    """Read edges from a CSV file, the regulator first, the target second, other columns are ignored.

    Parameters
    ----------
    path : path-like
        With or without a line of headings (``regulator,target``).

    Raises
    ------
    FormatError
        If a line has fewer than two cells, or there is no edge at all.
    """
    with read_guard(path, "a table of edges"):
        lines = csv.reader(read_text(path).splitlines(), strict=True)
        rows = [(number, row) for number, row in enumerate(lines, start=1) if row]
    if rows and rows[0][1][0].strip().lower() in HEADINGS:
        rows = rows[1:]
    edges = []
    for number, row in rows:
        if len(row) < 2 or not row[0].strip() or not row[1].strip():
            raise FormatError("expected a regulator and a target, with a comma between.", path=path, line=number)
        edges.append((row[0].strip(), row[1].strip()))
    if not edges:
        raise FormatError("holds no edge; expected lines of regulator,target.", path=path)
    return tuple(edges)
