"""Write the report of a results folder: figures as PDF, SVG and PNG, claims, one page; and export what to publish."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gradus._core.files import make_folder, write_bytes_whole, write_text_whole
from gradus_paper.claims import Claim, check_claims
from gradus_paper.comparison_tables import tables_in_markdown
from gradus_paper.figures import FIGURES, OWN_FIGURES
from gradus_paper.figures.style import with_hover
from gradus_paper.highlights import highlights
from gradus_paper.own_claims import check_own_claims
from gradus_paper.plans import Plan, load_plans
from gradus_paper.report_page import Section, report_page
from gradus_paper.results import Results
from gradus_paper.run import read_runs
from gradus_paper.standings import rows_of, standings
from gradus_paper.store import Store

__all__ = ["Report", "claims_in_markdown", "publish", "published_claims", "write_report"]

FORMATS = ("pdf", "svg", "png")
NEEDS_NO_ROWS = ("fig2",)
QUICK = "quick"
"""The plan whose page begins with highlights and shows the full replication beside this run."""
PUBLISHED = "published_claims.json"
DOTS_PER_INCH = 160
SORTED_BY = ("problem", "method", "order", "loss", "n_train", "sample", "repeat")
"""Order of the rows of a published table: similar neighbours make a small file."""


@dataclass(frozen=True)
class Report:
    """What was written."""

    page: Path
    figures: tuple[str, ...]
    claims: tuple[Claim, ...]
    highlights: tuple[str, ...]
    """Sentences that sum up a quick run; nothing for other runs."""
    own_claims: tuple[Claim, ...] = ()
    """Those beyond the paper."""
    tables: str = ""
    """Tables beyond the paper, as Markdown."""


def write_report(folder: Path) -> Report:
    """Write figures, claims and the page of a results folder."""
    plans = load_plans(folder)
    table = Store(folder).table()
    results = Results(_rows_shown(table, plans, own=False))
    claims = check_claims(results)
    own_claims = check_own_claims(Results(_rows_shown(table, plans, own=True)))
    places, damaged = standings(folder)
    sections = list(_sections(folder, plans, table))
    quick = any(plan.name == QUICK for plan in plans)
    said = highlights(results, claims) if quick else ()
    every = [asdict(claim) for claim in (*claims, *own_claims)]
    write_text_whole(folder / "claims.json", json.dumps(every, indent=1) + "\n")
    text = report_page(
        claims=claims,
        own_claims=own_claims,
        published=published_claims() if quick else (),
        highlights=said,
        sections=sections,
        standings=places,
        runs=read_runs(folder),
        damaged=damaged,
    )
    write_text_whole(folder / "report.html", text)
    drawn = tuple(section.name for section in sections if section.svg)
    tables = tables_in_markdown({section.name: section.results for section in sections})
    return Report(folder / "report.html", drawn, tuple(claims), said, tuple(own_claims), tables)


def published_claims() -> list[Claim]:
    """Return the claims of the full replication, whose results are in docs/results of the source folder."""
    text = (resources.files("gradus_paper") / PUBLISHED).read_text("utf-8")
    return [Claim(**claim) for claim in json.loads(text)]


def _rows_shown(table: pa.Table, plans: list[Plan], *, own: bool) -> pa.Table:
    """Return the rows of the plans with figures of our own, or of all others: the paper's statements are not about ours."""
    return rows_of(table, Plan("shown", "", parts=tuple(_only(plan, own) for plan in plans)))


def _only(plan: Plan, own: bool) -> Plan:
    wanted = bool(set(OWN_FIGURES) & set(plan.figures)) == own
    return replace(plan, blocks=plan.blocks if wanted else (), parts=tuple(_only(part, own) for part in plan.parts))


def _sections(folder: Path, plans: list[Plan], table: pa.Table) -> Iterator[Section]:
    """Draw every figure once, from the tasks of all plans that show it."""
    chosen: dict[str, Plan] = {}
    for plan in plans:
        for name, part in plan.figure_plans():
            before = chosen.get(name)
            chosen[name] = part if before is None else replace(before, parts=(*before.parts, part))
    for name, plan in sorted(chosen.items(), key=lambda item: list(FIGURES).index(item[0])):
        results = Results(rows_of(table, plan))
        svg = ""
        if len(results) or name in NEEDS_NO_ROWS:
            svg = _save_figure(folder / "figures", name, results)
        yield Section(name, plan, results, len(plan.tasks()), svg)


def _save_figure(folder: Path, name: str, results: Results) -> str:
    """Write a figure in every format and return it as SVG."""
    import matplotlib as mpl

    make_folder(folder)
    figure = FIGURES[name](results)
    svg = ""
    # A fixed salt and no date: the same results give the same files, byte for byte.
    with mpl.rc_context({"svg.hashsalt": f"gradus-{name}", "pdf.fonttype": 42}):
        for kind in FORMATS:
            buffer = io.BytesIO()
            dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
            figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, metadata=dates.get(kind), facecolor="white")
            write_bytes_whole(folder / f"{name}.{kind}", buffer.getvalue())
            if kind == "svg":
                svg = with_hover(buffer.getvalue().decode("utf-8"), figure)
    return svg


def claims_in_markdown(claims: Sequence[Claim], expected: str = "paper") -> str:
    """Return claims as a Markdown table; `expected` is the heading of the values beside ours."""
    lines = [f"| | statement | {expected} | ours | verdict |", "|---|---|---|---|---|"]
    for claim in claims:
        cells = [claim.number, claim.statement, claim.paper, claim.ours, f"**{claim.verdict}**"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def publish(folder: Path, report: Report, target: Path) -> None:
    """Write what belongs in a repository to another folder: `results.parquet`, `claims.md`, `report.html`, `figures/`."""
    make_folder(target / "figures")
    sink = io.BytesIO()
    # The id of a task follows from the other columns, and takes more space than all of them.
    table = Store(folder).table().drop_columns(["task"]).sort_by([(name, "ascending") for name in SORTED_BY])
    pq.write_table(table, sink, compression="zstd", compression_level=19)
    write_bytes_whole(target / "results.parquet", sink.getvalue())
    if report.claims or not report.own_claims:
        write_text_whole(target / "claims.md", claims_in_markdown(report.claims))
    if report.own_claims:
        claims = claims_in_markdown(report.own_claims, "expected")
        text = f"# Beyond the paper: claims and tables\n\n{claims}\n{report.tables}"
        write_text_whole(target / "tables.md", text)
    write_bytes_whole(target / "report.html", report.page.read_bytes())
    for path in sorted((folder / "figures").iterdir()):
        write_bytes_whole(target / "figures" / path.name, path.read_bytes())
