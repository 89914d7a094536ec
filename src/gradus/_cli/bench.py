"""`gradus bench`: how fast the search is on this machine."""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer

from gradus._cli.console import note, print_json, print_table
from gradus._core.checks import check_choice

__all__ = ["command"]

GPU_COLUMNS = (("", "steps_per_second", "steps"),)
CPU_COLUMNS = (
    *GPU_COLUMNS,
    ("plain search", "reference_steps_per_second", "steps"),
    ("ratio", "ratio_to_reference", "ratio"),
    ("published code", "published_steps_per_second", "steps"),
    ("ratio", "ratio_to_published", "ratio"),
)
"""Heading, key and kind of each figure."""


def command(
    cases: Annotated[
        list[str] | None, typer.Argument(help="Cases such as add6/80; all of them if none is named.", show_default=False)
    ] = None,
    seconds: Annotated[float, typer.Option(help="CPU seconds to spend on each figure.", min=0.1)] = 3.0,
    backend: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to run; cuda is an NVIDIA GPU.")] = "cpu",
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Measure steps per second of the search, beside a plain search in the same run."""
    # The plain search takes the same steps without optimisations. The figures of the code published with the paper were taken
    # on another machine, so their ratio is a guide only.
    # Example: gradus bench add6/80 --seconds 1
    check_choice("backend", backend, ("cpu", "cuda"))
    from gradus._benchmarks.cases import CASES, GPU_CASES, find_cases

    columns, unit, among = (GPU_COLUMNS, "s", GPU_CASES) if backend == "cuda" else (CPU_COLUMNS, "CPU s", CASES)
    module: Any = importlib.import_module(f"gradus._benchmarks.{'gpu' if backend == 'cuda' else 'cpu'}")
    rows = []
    for row in module.measure_all(find_cases(cases, among), seconds):
        note(f"{row['case']} {row['loss']}: {row['steps_per_second'] / 1e6:,.1f} M steps / {unit}")
        rows.append(row)
    if json:
        print_json({"backend": backend, "results": rows})
        return
    headings = ("case", "loss", f"M steps / {unit}", *(heading for heading, _, _ in columns[1:]))
    print_table(headings, [(row["case"], row["loss"], *(_cell(row[key], kind) for _, key, kind in columns)) for row in rows])


def _cell(number: float | None, kind: str) -> str:
    if number is None:
        return ""
    return f"{number / 1e6:,.4g}" if kind == "steps" else f"{number:.1f} ×"
