"""Write the report of a results folder: figures as PDF, SVG and PNG, claims, tables, one page; and export what to publish."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gradus.lab import files, network_picture
from gradus_paper import contest, quick
from gradus_paper.claims import check_claims
from gradus_paper.figures import FIGURES, OWN_FIGURES
from gradus_paper.figures.circuit_figures import Drawing
from gradus_paper.figures.style import with_hover
from gradus_paper.own_claims import check_own_claims
from gradus_paper.report_page import Section, report_page
from gradus_paper.results import Results
from gradus_paper.row import OPTIONAL, SCHEMA, conform, leaves, with_task_ids
from gradus_paper.runs import read_runs, rows_shown, standings
from gradus_paper.statements import Claim, verdict_counts
from gradus_paper.store import Store
from gradus_paper.study import Study, load_studies
from gradus_paper.tables import markdown, tables_in_markdown, unbroken, with_tables

FORMATS = ("pdf", "svg", "png")
NEEDS_NO_ROWS = ("fig2",)
REPLICATION = "replication"
DOTS_PER_INCH = 160
SECONDS_DIGITS = 4
COUNTED_UP = "repeat"  # a column in which each row has one more than the row before
SORTED_BY = ("problem", "method", "order", "loss", "n_train", "sample", "repeat")  # similar neighbours make a small file


@dataclass(frozen=True)
class Report:
    """What was written: `highlights` sum up a quick run; `own_claims` and `tables`, in Markdown, go beyond the paper."""

    page: Path
    figures: tuple[str, ...]
    claims: tuple[Claim, ...]
    highlights: tuple[str, ...]
    own_claims: tuple[Claim, ...]
    tables: str
    rows: dict[str, Results]
    """Those of each figure, and all that are not of figures of our own."""


def write_report(folder: Path) -> Report:
    """Write figures, claims and the page of a results folder."""
    studies = load_studies(folder)
    table = Store(folder).table()
    results = Results(_rows_shown(table, studies, own=False))
    claims = check_claims(results)
    own_claims = check_own_claims(Results(_rows_shown(table, studies, own=True)))
    places, damaged = standings(folder)
    sections = list(_sections(folder, studies, table))
    is_quick = any(study.name == quick.NAME for study in studies)
    said = quick.highlights(results, claims) if is_quick else ()
    files.write_text_whole(folder / "claims.json", _claims_in_json([*claims, *own_claims]))
    facts: dict[str, Any] = {
        "claims": claims,
        "own_claims": own_claims,
        "published": quick.published_claims() if is_quick else (),
        "highlights": said,
        "headlines": quick.headlines(folder) if is_quick else (),
    }
    record: dict[str, Any] = {"sections": sections, "standings": places, "runs": read_runs(folder), "damaged": damaged}
    files.write_text_whole(folder / "report.html", report_page(**facts, **record))
    said += contest.write_page(folder, table, next((section.svg for section in sections if section.name == contest.NAME), ""))
    drawn = tuple(section.name for section in sections if section.svg)
    rows = {section.name: section.results for section in sections}
    tables = tables_in_markdown(rows)
    return Report(folder / "report.html", drawn, tuple(claims), said, tuple(own_claims), tables, {**rows, "all": results})


def _claims_in_json(claims: Sequence[Claim]) -> str:
    return json.dumps([asdict(claim) for claim in claims], indent=1) + "\n"


def _rows_shown(table: pa.Table, studies: list[Study], *, own: bool) -> pa.Table:
    """Return the rows of figures of our own, or of all others: the paper's statements are not about ours."""
    return rows_shown(table, Study("shown", parts=tuple(_only(study, own) for study in studies)).tasks())


def _only(study: Study, own: bool) -> Study:
    wanted = bool(set(OWN_FIGURES) & set(study.figures or ())) == own
    return replace(study, blocks=study.blocks if wanted else (), parts=tuple(_only(part, own) for part in study.parts))


def _sections(folder: Path, studies: list[Study], table: pa.Table) -> Iterator[Section]:
    """Draw every figure once, from the tasks of all studies that show it."""
    chosen: dict[str, Study] = {}
    for study in studies:
        for name, part in study.figure_studies():
            before = chosen.get(name)
            chosen[name] = part if before is None else replace(before, parts=(*before.parts, part))
    for name, study in sorted(chosen.items(), key=lambda item: list(FIGURES).index(item[0])):
        tasks = study.tasks()
        results = Results(rows_shown(table, tasks))
        svg = caption = ""
        if len(results) or name in NEEDS_NO_ROWS:
            svg, caption = _save_figure(folder / "figures", name, results)
        yield Section(name, study, results, len(tasks), svg, caption)


def _save_figure(folder: Path, name: str, results: Results) -> tuple[str, str]:
    """Write a figure in every format and return it as SVG, with its caption if it is a circuit."""
    files.make_folder(folder)
    figure = FIGURES[name](results)
    contents = _drawn(figure) if isinstance(figure, Drawing) else _plotted(name, figure)
    for kind, content in contents.items():
        files.write_bytes_whole(folder / f"{name}.{kind}", content)
    svg = contents["svg"].decode("utf-8")
    return (svg, figure.caption) if isinstance(figure, Drawing) else (with_hover(svg, figure), "")


def _drawn(drawing: Drawing) -> dict[str, bytes]:
    """Draw a circuit as the library does, without the date that GraphViz writes into PDF files."""
    contents = {kind: network_picture(drawing.network, f".{kind}", order=drawing.order) for kind in FORMATS}
    # Of the same length, since a PDF file knows where its parts begin.
    dated = re.compile(rb"(/CreationDate \(D:)([^)]*)")
    return {kind: dated.sub(lambda date: date[1] + b"0" * len(date[2]), content) for kind, content in contents.items()}


def _plotted(name: str, figure: Any) -> dict[str, bytes]:
    """Return the files of a plot; with a fixed salt and no date the same results give the same bytes."""
    import matplotlib as mpl

    contents = {}
    with mpl.rc_context({"svg.hashsalt": f"gradus-{name}", "pdf.fonttype": 42}):
        for kind in FORMATS:
            buffer = io.BytesIO()
            dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
            figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, metadata=dates.get(kind), facecolor="white")
            contents[kind] = buffer.getvalue()
    return contents


def publish(folder: Path, report: Report, target: Path) -> None:
    """Write what a site shows to another folder: `claims.md` or `tables.md`, `figures/`, and what pages have between marks."""
    files.make_folder(target / "figures")
    if report.claims:
        files.write_text_whole(target / "claims.md", claims_in_markdown(report.claims))
    for page in sorted(target.glob("*.md")):
        files.write_text_whole(page, with_verdicts(with_tables(files.read_text(page), report.rows), report.claims))
    if report.own_claims or report.tables:
        own = claims_in_markdown(report.own_claims, "expected") if report.own_claims else ""
        title = "Beyond the paper: claims and tables" if own else contest.TITLE
        files.write_text_whole(target / "tables.md", f"# {title}\n\n{own}\n{report.tables}")
    for path in sorted((folder / "figures").iterdir()):
        files.write_bytes_whole(target / "figures" / path.name, path.read_bytes())


def with_verdicts(page: str, claims: Sequence[Claim]) -> str:
    """Return a page with how many statements have each verdict, between its two marks."""
    if not claims:
        return page
    said = f"<!-- verdicts -->Of {len(claims)} statements {verdict_counts(claims)}.<!-- /verdicts -->"
    return re.sub("<!-- verdicts -->.*?<!-- /verdicts -->", said, page)


def archive(folder: Path, report: Report, target: Path) -> None:
    """Write all rows, the page and checksums to another folder; the package's own copies of what was found are renewed."""
    # Rows that were published before stay in their files, as they are; the others get a file of their own.
    files.make_folder(target)
    contents = {path.name: path.read_bytes() for path in sorted(target.glob("results*.parquet"))}
    table = Store(folder).table()
    for name in contents:
        known = with_task_ids(conform(pq.read_table(target / name)), name).column("task")
        table = table.filter(pc.invert(pc.is_in(table.column("task"), value_set=known.combine_chunks())))
    if len(table) or not contents:
        name = f"results_{len(contents) + 1}.parquet" if contents else "results.parquet"
        contents[name] = _published_rows(table)
    contents["report.html"] = report.page.read_bytes()
    if (folder / contest.PAGE).is_file():
        contents[contest.PAGE] = (folder / contest.PAGE).read_bytes()
        if headline := contest.headline(contest.entries(Store(folder).table())):
            files.write_text_whole(Path(__file__).parent / quick.PUBLISHED_CONTEST, json.dumps(headline, indent=1) + "\n")
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(contents.items()))
    for name, content in (*contents.items(), ("SHA256SUMS", sums.encode())):
        files.write_bytes_whole(target / name, content)
    if any(study.name == REPLICATION for study in load_studies(folder)):
        files.write_text_whole(Path(__file__).parent / quick.PUBLISHED_CLAIMS, _claims_in_json(report.claims))


def _published_rows(table: pa.Table) -> bytes:
    """Return a file of rows; columns that follow from others, or are empty throughout, are left out."""
    # The id of a task follows from the other columns, and takes more space than all of them.
    dropped = ["task", *(name for name in OPTIONAL if table.column(name).null_count == len(table))]
    # Seconds with all their digits would be half of the file, and runs differ by more.
    place, seconds = SCHEMA.get_field_index("cpu_seconds"), pc.round(table.column("cpu_seconds"), ndigits=SECONDS_DIGITS)
    rows = table.set_column(place, SCHEMA.field(place), seconds).drop_columns(dropped)
    rows = rows.sort_by([(name, "ascending") for name in SORTED_BY])
    others = [leaf for name, leaf in zip(rows.column_names, leaves(rows.schema), strict=True) if name != COUNTED_UP]
    how: dict[str, Any] = {"use_dictionary": others, "column_encoding": {COUNTED_UP: "DELTA_BINARY_PACKED"}}
    sink = io.BytesIO()
    pq.write_table(rows, sink, compression="zstd", compression_level=19, **how)
    return sink.getvalue()


def claims_in_markdown(claims: Sequence[Claim], expected: str = "paper") -> str:
    """Return claims as a Markdown table; `expected` is the heading of the values beside ours."""
    # The verdict is what people look for, so that it comes before what does not fit on a narrow screen.
    lines = [(c.number, c.statement, f"**{c.verdict}**", c.paper, c.ours, c.training_sets) for c in claims]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return unbroken(markdown(["", "statement", "verdict", expected, "ours", "training sets"], cells))
