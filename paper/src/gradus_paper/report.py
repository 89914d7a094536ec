"""Write the report of a results folder: figures as PDF, SVG and PNG, claims, tables, one page; and export what to publish."""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gradus.lab import files, network_picture, wording
from gradus_paper import contest, learners, quick
from gradus_paper import estimates as est
from gradus_paper.claims import Claim, check_claims, verdict_counts
from gradus_paper.figures import FIGURES, OWN_FIGURES
from gradus_paper.figures.circuit_figures import Drawing
from gradus_paper.figures.style import with_hover
from gradus_paper.own_claims import check_own_claims
from gradus_paper.paper import by_problem, problem_title
from gradus_paper.report_page import Section, report_page
from gradus_paper.results import Results
from gradus_paper.row import OPTIONAL, conform, with_task_ids
from gradus_paper.runs import read_runs, rows_shown, standings
from gradus_paper.store import Store
from gradus_paper.study import Study, load_studies

FORMATS = ("pdf", "svg", "png")
NEEDS_NO_ROWS = ("fig2",)
REPLICATION = "replication"
DOTS_PER_INCH = 160
SORTED_BY = ("problem", "method", "order", "loss", "n_train", "sample", "repeat")  # similar neighbours make a small file
NOTHING = "–"
TIMED = ("auto", "chain", "forest", "boosting", "mlp", "lessons")  # learners whose CPU seconds are shown in the league


@dataclass(frozen=True)
class Report:
    """What was written: `highlights` sum up a quick run; `own_claims` and `tables`, in Markdown, go beyond the paper."""

    page: Path
    figures: tuple[str, ...]
    claims: tuple[Claim, ...]
    highlights: tuple[str, ...]
    own_claims: tuple[Claim, ...]
    tables: str


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
    tables = tables_in_markdown({section.name: section.results for section in sections})
    return Report(folder / "report.html", drawn, tuple(claims), said, tuple(own_claims), tables)


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
    """Write what a site shows to another folder: `claims.md` or `tables.md`, `figures/`, and the counts in its `README.md`."""
    files.make_folder(target / "figures")
    if report.claims or not (report.own_claims or report.tables):
        files.write_text_whole(target / "claims.md", claims_in_markdown(report.claims))
        if (readme := target / "README.md").is_file():
            files.write_text_whole(readme, with_verdicts(files.read_text(readme), report.claims))
    if report.own_claims or report.tables:
        own = claims_in_markdown(report.own_claims, "expected") if report.own_claims else ""
        title = "Beyond the paper: claims and tables" if own else contest.TITLE
        files.write_text_whole(target / "tables.md", f"# {title}\n\n{own}\n{report.tables}")
    for path in sorted((folder / "figures").iterdir()):
        files.write_bytes_whole(target / "figures" / path.name, path.read_bytes())


def with_verdicts(page: str, claims: Sequence[Claim]) -> str:
    """Return a page with how many statements have each verdict, between its two marks."""
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
    sink = io.BytesIO()
    sorted_rows = table.drop_columns(dropped).sort_by([(name, "ascending") for name in SORTED_BY])
    pq.write_table(sorted_rows, sink, compression="zstd", compression_level=19)
    return sink.getvalue()


def claims_in_markdown(claims: Sequence[Claim], expected: str = "paper") -> str:
    """Return claims as a Markdown table; `expected` is the heading of the values beside ours."""
    lines = [f"| | statement | {expected} | ours | training sets | verdict |", "|---|---|---|---|---|---|"]
    for claim in claims:
        cells = [claim.number, claim.statement, claim.paper, claim.ours, claim.training_sets, f"**{claim.verdict}**"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def tables_in_markdown(results: dict[str, Results]) -> str:
    """Write every table that there are rows for."""
    known = {name: rows for name, rows in results.items() if len(rows)}
    return "\n".join(f"## {title}\n\n{table(known[name])}" for name, (title, table) in TABLES.items() if name in known)


def _markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def examples_to_level(results: Results) -> str:
    """Return the training size at which each learner passes 99 %, and the limit by the description of the circuit."""
    rows = []
    for problem, part in by_problem(results):
        gates = learners.smallest_right_circuit(part)
        limit = NOTHING if gates is None else f"{learners.limit_in_examples(problem, gates):.0f} ({gates} gates)"
        cells = [_size(learners.rows_of_learner(part, key)) for key in learners.LEARNERS]
        rows.append([problem_title(problem), *cells, limit])
    return _markdown(["", *_names(learners.LEARNERS), "bits of the circuit"], rows)


def _names(keys: Iterable[str]) -> list[str]:
    return [learners.LEARNERS[key].name for key in keys]


def _size(rows: Results) -> str:
    """Write the size at which a curve passes 99 %, or what is known of it, and on how many training sets it rests."""
    usable = rows.usable_only()
    points = est.accuracy_by_size(usable)
    if not points:
        return NOTHING
    at, fewest = est.size_at_level(usable, learners.LEVEL_WANTED), min(estimate.n for _, estimate in points)
    if math.isnan(at.value):
        return f"> {points[-1][0]} ({points[-1][1].value:.3f}; n = {points[-1][1].n})"
    if at.value <= points[0][0]:
        return f"≤ {points[0][0]} (n = {fewest})"
    interval = f" [{at.low:.0f}, {at.high:.0f}]" if math.isfinite(at.low + at.high) else ""
    return f"{at.value:.0f}{interval} (n = {fewest})"


def accuracy_with_noise(results: Results) -> str:
    """Return the mean accuracy of each learner at each share of flipped labels."""
    results = results.select(problem=results.select(method="lessons").problems)
    keys = [key for key in learners.LEARNERS if len(learners.LEARNERS[key].select(results))]
    rows = []
    for problem, part in by_problem(results):
        name = f"{problem_title(problem)}, {', '.join(map(str, part.sizes))}"
        for rate in sorted(set(part.noise.tolist())):
            found = {key: learners.rows_of_learner(part, key, rate).usable_only() for key in keys}
            means = {key: est.mean_interval(these.accuracy) for key, these in found.items() if len(these)}
            rows.append([name, f"{100 * rate:g} %", *_best_in_bold(means, keys)])
    return _markdown(["problem, examples", "flipped", *_names(keys)], rows)


def _best_in_bold(means: dict[str, est.Estimate], keys: Sequence[str]) -> list[str]:
    """Write mean accuracies, the highest to three digits in bold, and the number of training sets if it differs."""
    texts = {key: f"{mean.value:.3f}" for key, mean in means.items()}
    best, most = max(texts.values(), default=""), max((mean.n for mean in means.values()), default=0)
    bold = {key: f"**{text}**" if text == best else text for key, text in texts.items()}
    said = {key: text if means[key].n == most else f"{text} (n = {means[key].n})" for key, text in bold.items()}
    return [said.get(key, NOTHING) for key in keys]


def agreement_of_orders(results: Results) -> str:
    """Return tau at each size for orders found in different ways, and the share of the gain of Lgh that they keep."""
    rows, kept_rows = [], []
    for problem, part in by_problem(results):
        found = learners.orders_found(part)
        taus = {name: dict(est.mean_by_size(these, these.tau)) for name, these in found.items()}
        for size in sorted(taus.get("self-paced", {})):
            said = {name: _tau(of[size]) for name, of in taus.items() if size in of}
            rows.append([problem_title(problem), str(size), *(said.get(name, NOTHING) for name in learners.ORDERS)])
        size, kept = learners.gain_kept(part)
        if size:
            said = {name: f"{est.as_share(share)} (n = {share.n})" for name, share in kept.items()}
            kept_rows.append([problem_title(problem), str(size), *(said.get(name, NOTHING) for name in learners.ORDERS)])
    headings = ["", "examples", *learners.ORDERS]
    shares = f"\nShare of the gain of Lgh over L1 that is kept:\n\n{_markdown(headings, kept_rows)}" if kept_rows else ""
    return _markdown(headings, rows) + shares


def _tau(estimate: est.Estimate) -> str:
    return f"{estimate.value:.2f} ± {estimate.high - estimate.value:.2f} (n = {estimate.n})"


def the_league(results: Results) -> str:
    """Return the mean accuracy of all learners on all functions, the lead of lessons, and CPU seconds."""
    compared = learners.league_rows(results)
    keys = learners.learners_of(compared)
    rows, times = [], []
    for row in compared:
        name, lead = f"{row.problem}/{row.size}", row.lead.scaled(100)
        best = learners.LEARNERS[row.best_other].name
        said = f"{lead.value:+.1f} [{lead.low:.1f}, {lead.high:.1f}] ({best}, n = {lead.n})"
        rows.append([name, *_best_in_bold(row.accuracy, keys), said])
        seconds = {key: wording.two_digits(value) for key, value in row.seconds.items() if not math.isnan(value)}
        times.append([name, *(seconds.get(key, NOTHING) for key in TIMED)])
    headings = ["function/examples", *_names(keys), "lead of the vote over the best other (points)"]
    clock = _markdown(["function/examples", *_names(TIMED)], times)
    return f"{_markdown(headings, rows)}\nMedian CPU seconds of a fit and its scoring:\n\n{clock}"


def examples_and_seconds(results: Results) -> str:
    """Return examples to 99 %, and the CPU seconds there: the published code's, from its measured speed, and ours."""
    rows = []
    for problem, speed in learners.PUBLISHED_SPEED.items():
        part = results.select(problem=problem)
        theirs = [learners.effort(learners.rows_of_learner(part, key), speed) for key in ("l1", "lgh")]
        ours = learners.effort(learners.rows_of_learner(part, "lessons"))
        if ours is not None and any(theirs):
            saved = NOTHING if theirs[1] is None else f"{theirs[1].seconds.value / ours.seconds.value:.0f}"
            rows.append([problem_title(problem), *map(_effort, (*theirs, ours)), saved])
    headings = ["", "published code, L1", "published code, Lgh, order given", "lessons", "times fewer (Lgh)"]
    said = "CPU seconds of a fit at the first size measured with 99 %:"
    return f"{examples_to_level(results)}\n{said}\n\n{_markdown(headings, rows)}"


def the_contest(results: Results) -> str:
    """Return how the solutions of benchmarks compare with published ones, for groups of them and for each."""
    found = contest.entries(results.table)
    headings = ["", "benchmarks", "ours", "AND gates", "CPU s", *contest.OTHERS]
    lines = [
        [line.name, str(line.size), _percent(line.accuracy), f"{line.gates:.0f}", f"{line.seconds:.1f}"]
        + [_percent(line.others[name]) for name in contest.OTHERS]
        for line in (*contest.groups(found), *contest.categories(found))
    ]
    each = [
        [entry.name, entry.category, entry.run, _percent(entry.accuracy), str(entry.gates), f"{entry.seconds:.1f}"]
        + [_percent(entry.others[name]) for name in contest.OTHERS]
        for entry in found
    ]
    said = "\n".join(f"- {sentence}" for sentence in contest.standing(found))
    return f"{said}\n\n{_markdown(headings, lines)}\n{_markdown(['', 'kind', 'run', *headings[2:]], each)}"


def _percent(share: float) -> str:
    return NOTHING if math.isnan(share) else f"{100 * share:.2f}"


def _effort(found: learners.Effort | None) -> str:
    return NOTHING if found is None else f"{found.size} examples, {wording.two_digits(found.seconds.value)} s"


TABLES = {
    "sample_complexity": ("Examples to 99 % of the unseen bits", examples_and_seconds),
    "noise": ("Accuracy with flipped labels", accuracy_with_noise),
    "orders": ("Orders: τ with the known one", agreement_of_orders),
    "league": ("The league", the_league),
    contest.NAME: ("Benchmarks", the_contest),
}
