"""Results to publish: one table, the figures, the claims in Markdown, and the page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from gradus._experiments.store import Store
from gradus._files import write_bytes_whole, write_text_whole
from gradus._replication.claims import Claim
from gradus._replication.report import Report
from gradus.errors import StoreError

__all__ = ["claims_in_markdown", "export"]

SORTED_BY = ("problem", "method", "order", "loss", "n_train", "sample", "repeat")
"""Neighbours that are alike make a small file."""


def claims_in_markdown(claims: Sequence[Claim]) -> str:
    """Write claims as a Markdown table.

    Examples
    --------
    >>> print(claims_in_markdown([Claim("1", "It grows", "yes", "+3 [1, 5]", "holds")]))
    | | statement | paper | ours | verdict |
    |---|---|---|---|---|
    | 1 | It grows | yes | +3 [1, 5] | **holds** |
    <BLANKLINE>
    """
    lines = ["| | statement | paper | ours | verdict |", "|---|---|---|---|---|"]
    for claim in claims:
        cells = [claim.number, claim.statement, claim.paper, claim.ours, f"**{claim.verdict}**"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def export(folder: Path, report: Report, target: Path) -> None:
    """Write what belongs in a repository to another folder: `results.parquet`, `claims.md`, `report.html`, `figures/`.

    Parameters
    ----------
    folder : path
        The results folder.
    report : Report
        What `write_report` returned for it.
    target : path
    """
    try:
        (target / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be made: {error.strerror or error}.") from error
    sink = io.BytesIO()
    # The name of a task follows from the other columns, and takes more room than all of them.
    table = Store(folder).table().drop_columns(["task"]).sort_by([(name, "ascending") for name in SORTED_BY])
    pq.write_table(table, sink, compression="zstd", compression_level=19)
    write_bytes_whole(target / "results.parquet", sink.getvalue())
    write_text_whole(target / "claims.md", claims_in_markdown(report.claims))
    write_bytes_whole(target / "report.html", report.page.read_bytes())
    for path in sorted((folder / "figures").iterdir()):
        write_bytes_whole(target / "figures" / path.name, path.read_bytes())
