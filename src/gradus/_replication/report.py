"""The report: figures as PDF, SVG and PNG, claims as a table, and one page that opens from the disk and loads nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa

from gradus._experiments.plan import Plan, load_plans
from gradus._experiments.progress import rows_of, standings
from gradus._experiments.provenance import read_runs
from gradus._experiments.results import Results
from gradus._experiments.store import Store
from gradus._files import write_bytes_whole, write_text_whole
from gradus._replication.claims import Claim, check_claims
from gradus._replication.figures import draw
from gradus._replication.page import Section, page
from gradus.errors import StoreError

__all__ = ["Report", "write_report"]

FORMATS = ("pdf", "svg", "png")
NEEDS_NO_ROWS = ("fig2",)
DOTS_PER_INCH = 160


@dataclass(frozen=True)
class Report:
    """What was written."""

    page: Path
    figures: tuple[str, ...]
    claims: tuple[Claim, ...]


def write_report(folder: Path) -> Report:
    """Write figures, claims and the page of a results folder.

    Parameters
    ----------
    folder : path
        Where `gradus reproduce` wrote its results; they need not be complete.

    Returns
    -------
    Report
    """
    plans = load_plans(folder)
    table = Store(folder).table()
    claims = check_claims(Results(_rows_of_any(table, plans)))
    places, damaged = standings(folder)
    sections = list(_sections(folder, plans, table))
    write_text_whole(folder / "claims.json", json.dumps([asdict(claim) for claim in claims], indent=1) + "\n")
    text = page(claims=claims, sections=sections, standings=places, runs=read_runs(folder), damaged=damaged)
    write_text_whole(folder / "report.html", text)
    return Report(folder / "report.html", tuple(section.name for section in sections if section.svg), tuple(claims))


def _rows_of_any(table: pa.Table, plans: list[Plan]) -> pa.Table:
    return rows_of(table, Plan("all", "", parts=tuple(plans)))


def _sections(folder: Path, plans: list[Plan], table: pa.Table) -> Iterator[Section]:
    """Draw every figure once, from the tasks of all plans that show it."""
    chosen: dict[str, Plan] = {}
    for plan in plans:
        for name, part in plan.figure_plans():
            before = chosen.get(name)
            chosen[name] = part if before is None else replace(before, parts=(*before.parts, part))
    for name, plan in sorted(chosen.items(), key=lambda item: _rank(item[0])):
        results = Results(rows_of(table, plan))
        svg = ""
        if len(results) or name in NEEDS_NO_ROWS:
            svg = _save_figure(folder / "figures", name, results)
        yield Section(name, plan, results, len(plan.tasks()), svg)


def _rank(name: str) -> tuple[int, str]:
    """Place of a figure on the page: the paper's figures and tables, its appendix, then ours."""
    kinds = [name.startswith("fig") and not name.startswith("figA"), name.startswith("tab"), name.startswith("figA"), True]
    return kinds.index(True), name


def _save_figure(folder: Path, name: str, results: Results) -> str:
    """Write a figure in every format and return it as SVG."""
    import io

    import matplotlib as mpl

    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror or error}.") from error
    figure = draw(name, results)
    svg = ""
    # A fixed salt and no date: the same results give the same files, byte for byte.
    with mpl.rc_context({"svg.hashsalt": f"gradus-{name}", "pdf.fonttype": 42}):
        for kind in FORMATS:
            buffer = io.BytesIO()
            dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
            figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, metadata=dates.get(kind), facecolor="white")
            write_bytes_whole(folder / f"{name}.{kind}", buffer.getvalue())
            if kind == "svg":
                svg = buffer.getvalue().decode("utf-8")
    return svg
