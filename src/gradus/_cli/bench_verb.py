"""`gradus bench`: how fast the search is on this machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gradus._checks import check_choice
from gradus._cli.console import note, print_json, print_table

__all__ = ["command"]

HEADINGS = ("case", "loss", "M steps / CPU s", "plain search", "ratio", "published code", "ratio")


def command(
    cases: Annotated[
        list[str] | None, typer.Argument(help="Cases such as add6/80; all of them if none is named.", show_default=False)
    ] = None,
    seconds: Annotated[float, typer.Option(help="CPU seconds to spend on each figure.", min=0.1)] = 3.0,
    backend: Annotated[str, typer.Option(help="cpu, or cuda for an NVIDIA GPU.")] = "cpu",
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable results.")] = False,
) -> None:
    """Measure steps per second of the search, beside a plain search in the same run.

    The plain search takes the same steps without optimisations. The figures of the code published with the paper were taken
    on another machine, so their ratio is a guide only.

    Example: gradus bench add6/80 --seconds 1
    """
    check_choice("backend", backend, ("cpu", "cuda"))
    rows = _on_gpu(cases, seconds) if backend == "cuda" else _on_cpu(cases, seconds)
    if json:
        print_json({"backend": backend, "results": rows})
    else:
        print_table(*_as_table(rows, backend))


def _on_cpu(names: list[str] | None, seconds: float) -> list[dict[str, Any]]:
    from gradus._benchmarks.cases import find_cases
    from gradus._benchmarks.cpu import measure_all

    rows = []
    for speed in measure_all(find_cases(names), seconds):
        note(f"{speed.case} {speed.loss}: {speed.steps_per_second / 1e6:.1f} M steps per CPU second")
        rows.append(speed.as_dict())
    return rows


def _on_gpu(names: list[str] | None, seconds: float) -> list[dict[str, Any]]:
    from gradus._benchmarks.cases import GPU_CASES, find_cases
    from gradus._benchmarks.gpu import measure_all

    rows = []
    for row in measure_all(find_cases(names, GPU_CASES), seconds):
        note(f"{row['case']} {row['loss']}: {row['steps_per_second'] / 1e9:.2f} G steps per second")
        rows.append(row)
    return rows


def _as_table(rows: list[dict[str, Any]], backend: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    if backend == "cuda":
        headings = ("case", "loss", "G steps / s")
        return headings, [(row["case"], row["loss"], f"{row['steps_per_second'] / 1e9:.2f}") for row in rows]
    return HEADINGS, [
        (
            row["case"],
            row["loss"],
            _millions(row["steps_per_second"]),
            _millions(row["reference_steps_per_second"]),
            _ratio(row["ratio_to_reference"]),
            _millions(row["published_steps_per_second"]),
            _ratio(row["ratio_to_published"]),
        )
        for row in rows
    ]


def _millions(steps: float | None) -> str:
    return "" if steps is None else f"{steps / 1e6:.3g}"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f} ×"
