"""`gradus status`: how much of the experiments in a folder is done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gradus.lab import wording
from gradus_paper.cli import note, print_json, print_table, printable


def command(
    folder: Annotated[Path, typer.Argument(help="Where gradus reproduce writes its results.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show what is done, left and failed, and how long the rest will take."""
    # Example: gradus reproduce fig1 --samples 1 -o one-adder && gradus status one-adder
    from gradus_paper.runs import standings

    places, damaged = standings(folder)
    if as_json:
        print_json({"experiments": [_document(place) for place in places], "damaged": damaged})
        return
    headings = ["experiment", "tasks", "done", "left", "failed", "not converged", "CPU time", "CPU time left"]
    print_table(headings, [_row(place) for place in places])
    for place in places:
        for error in place.errors:
            print(f"{place.study.name}: a task failed: {printable(error)}")
    for name in damaged:
        note(f"gradus: {folder / 'parts' / name} is damaged; the next run sets it aside and runs its tasks again.")


def _document(place: Any) -> dict[str, Any]:
    return {
        "name": place.study.name,
        "as_published": place.study.as_published,
        "tasks": place.total,
        "done": place.done,
        "left": place.left,
        "failed": place.failed,
        "not_converged": place.not_converged,
        "cpu_seconds": round(place.cpu_seconds, 3),
        "cpu_seconds_left": None if place.cpu_seconds_left is None else round(place.cpu_seconds_left, 3),
        "errors": list(place.errors),
    }


def _row(place: Any) -> list[str]:
    name = place.study.name + (" (as published)" if place.study.as_published else "")
    counts = [f"{number:,}" for number in (place.total, place.done, place.left, place.failed, place.not_converged)]
    left = "not known yet" if place.cpu_seconds_left is None else wording.duration(place.cpu_seconds_left)
    return [name, *counts, wording.duration(place.cpu_seconds), left]
