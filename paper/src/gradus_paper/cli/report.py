"""`gradus report`: figures, claims and one page from a folder of results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gradus.lab import wording
from gradus_paper import report
from gradus_paper.cli import note, print_json, print_table
from gradus_paper.store import Store


def command(
    folder: Annotated[Path, typer.Argument(help="Where gradus reproduce wrote its results.", show_default=False)],
    export: Annotated[Path | None, typer.Option(help="Also write claims.md or tables.md and figures to this folder.")] = None,
    archive: Annotated[Path | None, typer.Option(help="Also write all rows, the page and checksums to this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the claims as JSON.")] = False,
) -> None:
    """Draw every figure (PDF, SVG, PNG), check every claim, and write report.html."""
    # Example: gradus reproduce fig1 --samples 1 -o one-adder && gradus report one-adder
    written = report.write_report(folder)
    store = Store(folder)
    for name in store.damaged:
        note(f"gradus: {store.parts_folder / name} is damaged and left out; the next run does its tasks again.")
    if export is not None:
        report.publish(folder, written, export)
    if archive is not None:
        report.archive(folder, written, archive)
    if as_json:
        claims = [asdict(claim) for claim in written.claims]
        print_json({"report": str(written.page), "figures": list(written.figures), "claims": claims})
        return
    if written.claims:
        headings = ["", "statement", "paper", "ours", "verdict"]
        print_table(headings, [(c.number, c.statement, c.paper, c.ours, c.verdict) for c in written.claims])
    print(f"wrote {written.page} and {wording.counted(len(written.figures), 'figure')} in {folder / 'figures'}")
