"""`gradus status`: how much of the experiments in a folder is done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gradus.lab import wording
from gradus_paper.cli import note, print_json, print_table, printable
from gradus_paper.runs import Standing, standings

CPU_TIMES = ("cpu_seconds", "cpu_seconds_left")


def command(
    folder: Annotated[Path, typer.Argument(help="Where gradus reproduce writes its results.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show what is done, left and failed, and how long the rest will take."""
    # Example: gradus reproduce fig1 --samples 1 -o one-adder && gradus status one-adder
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


def _document(place: Standing) -> dict[str, Any]:
    counts = {name: getattr(place, name) for name in ("total", "done", "left", "failed", "not_converged")}
    seconds = {name: None if (value := getattr(place, name)) is None else round(value, 3) for name in CPU_TIMES}
    about = {"name": place.study.name, "as_published": place.study.as_published, "tasks": counts.pop("total")}
    return {**about, **counts, **seconds, "errors": list(place.errors)}


def _row(place: Standing) -> list[str]:
    name = place.study.name + (" (as published)" if place.study.as_published else "")
    counts = [f"{number:,}" for number in (place.total, place.done, place.left, place.failed, place.not_converged)]
    left = "not known yet" if place.cpu_seconds_left is None else wording.duration(place.cpu_seconds_left)
    return [name, *counts, wording.duration(place.cpu_seconds), left]
