"""The report: written from results, complete or not, and the page needs nothing else."""

from __future__ import annotations

import hashlib
import re
from html import unescape
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from browser import drive, needs_browser
from experiment_helpers import Here, results_of
from gradus.errors import StoreError
from gradus.lab import Settings
from gradus_paper import quick
from gradus_paper.contest import entries, headline
from gradus_paper.paper import fig7
from gradus_paper.quick import published_claims
from gradus_paper.report import SORTED_BY, archive, claims_in_markdown, publish, with_verdicts, write_report
from gradus_paper.report_page import _training_sets
from gradus_paper.row import OPTIONAL, conform
from gradus_paper.runs import run_tasks
from gradus_paper.statements import verdict_counts
from gradus_paper.store import Store
from gradus_paper.study import Block, Study, load_study, save_study
from gradus_paper.tasks import Design


@pytest.fixture(scope="module")
def small_report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    adder = Design("add3", order="auto")
    losses = tuple(Design("cpar4", settings=Settings(loss=loss)) for loss in ("l1", "lgh"))
    study = Study(
        "Mine <script>alert(1)</script>", (Block(losses, (6, 9), (0, 1, 2)),), "a & b", name="mine",
        parts=(
            Study("A learned adder", (Block((adder,), (40,), (0,)),), figures=("fig1",)),
            Study("Hierarchies", figures=("fig2",)),
            Study("Nothing yet", (Block((Design("cmux7"),), (10,), (0, 1)),), figures=("fig4",)),
        ),
    )  # fmt: skip
    save_study(study, folder)
    done = [task for task in study.tasks() if task.design.problem != "cmux7"]
    run_tasks(done, Store(folder), Here())
    return folder, write_report(folder)


def test_figures_are_written_in_three_formats(small_report):
    folder, report = small_report
    assert set(report.figures) == {"accuracy", "fig1", "fig2"}
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in report.figures for kind in ("pdf", "svg", "png")}


def test_the_page_loads_nothing_and_escapes_what_it_is_given(small_report):
    text = small_report[1].page.read_text()
    assert text.count("<script") == 1
    assert "script-src 'sha256-" in text
    assert '<a href="#fig1">A learned adder</a>' in text
    # The points of a curve say their values when they are pointed at.
    assert re.search(r'<circle class="point"[^>]*><title>[^<]+ at 6, n = \d+</title>', text)
    assert "a &amp; b" in text
    # Names of XML vocabularies are not loaded; links and sources would be.
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#|data:,)""", text)
    assert "@import" not in text
    assert "There are no results yet" in text
    assert "2 tasks are missing" in text


def test_the_same_results_give_the_same_files(small_report):
    folder, _ = small_report
    before = {path: path.read_bytes() for path in (folder / "figures").iterdir()}
    write_report(folder)
    assert {path: path.read_bytes() for path in before} == before


def test_the_page_says_how_many_training_sets_there_are_per_point(small_report, made_up):
    _, report = small_report
    assert "Training sets per point: 3-bit addition 1, cpar4 3." in report.page.read_text()
    rows = [row for row in made_up("cpar7", lambda *_: 0.5, m=7, samples=4) if row.n_train != 24 or row.sample < 2]
    results = results_of(rows)
    assert _training_sets(results) == " Training sets per point: 7-bit cascaded parity 2 to 4."


def test_what_is_published_holds_every_row_and_its_checksums(small_report, tmp_path):
    folder, report = small_report
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "README.md").write_text("<!-- verdicts -->old<!-- /verdicts -->")
    publish(folder, report, tmp_path / "pages")
    assert (tmp_path / "pages" / "README.md").read_text() == "<!-- verdicts -->old<!-- /verdicts -->"  # nothing to count
    archive(folder, report, tmp_path / "archive")
    table = pq.read_table(tmp_path / "archive" / "results.parquet")
    order = [(name, "ascending") for name in SORTED_BY]
    rows = Store(folder).table().drop_columns(["task", *OPTIONAL]).sort_by(order).combine_chunks()
    assert table.drop_columns("cpu_seconds") == rows.drop_columns("cpu_seconds")
    spent, archived = (np.array(of.column("cpu_seconds").to_pylist()) for of in (rows, table))
    assert np.abs(spent - archived).max() <= 0.51e-4  # rounded, and no more than that
    for line in (tmp_path / "archive" / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((tmp_path / "archive" / name).read_bytes()).hexdigest() == digest
    first = {path.name: path.read_bytes() for path in (tmp_path / "archive").iterdir()}
    archive(folder, report, tmp_path / "archive")
    assert {path.name: path.read_bytes() for path in (tmp_path / "archive").iterdir()} == first  # nothing is new
    pq.write_table(table.slice(0, 2), tmp_path / "archive" / "results.parquet")  # as if only two had been published before
    archive(folder, report, tmp_path / "archive")
    assert pq.read_table(tmp_path / "archive" / "results_2.parquet") == table.slice(2).combine_chunks()
    assert "results_2.parquet" in (tmp_path / "archive" / "SHA256SUMS").read_text()
    assert not (tmp_path / "pages" / "claims.md").exists()
    assert (tmp_path / "pages" / "figures" / "fig1.svg").exists()


def test_counts_quoted_on_pages_are_those_of_the_claims_and_the_rows():
    root = Path(__file__).parents[3]
    page = (root / "docs" / "results" / "README.md").read_text()
    assert with_verdicts(page, published_claims()) == page
    rows = sum(pq.read_metadata(path).num_rows for path in (root / "paper" / "results").glob("results*.parquet"))
    for text in (page, (root / "README.md").read_text()):
        assert f"{rows:,}" in text


def test_a_folder_without_results_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="run 'gradus reproduce quick"):
        write_report(tmp_path)


def test_the_page_says_which_problems_have_the_published_settings(tmp_path):
    parts = (fig7(["alu74181"]).published().at_most(1), fig7(["mammalian"]).at_most(1))
    (tmp_path / "parts").mkdir()
    save_study(Study("Both", parts=parts, name="mixed"), tmp_path)
    page = write_report(tmp_path).page.read_text()
    said = "text of the paper; published configuration for the 74181"
    assert page.count(said) == 2  # at the figure and in the table of what ran
    assert "history: 250, 750<" in page


@pytest.fixture(scope="module")
def quick_report(tmp_path_factory):
    """The quick run, cut down to two training sets and three sizes."""
    folder = tmp_path_factory.mktemp("quick")
    study = load_study("quick", samples=2)
    save_study(study, folder)
    few = [
        task
        for task in study.tasks()
        if task.n_train in (24, 40, 64, 80) and not (task.design.problem == "add6" and task.sample)
    ]
    run_tasks(few, Store(folder), Here())
    return folder, write_report(folder)


def test_the_quick_page_begins_with_its_curve_and_circuit_and_has_the_full_replication_beside(quick_report):
    _, report = quick_report
    page = unescape(report.page.read_text())
    places = [page.index(f'<h2 id="{name}"') for name in ("headline", "adder", "claims", "methods")]
    assert places == sorted(places)
    assert ">full replication<" in page
    full = next(claim for claim in published_claims() if claim.statement == "Gains in test accuracy of up to 10 points")
    assert f"{full.ours}: <b>{full.verdict}</b>" in page
    for line in report.highlights:
        assert f"<li>{line}</li>" in page
    assert f"of {len(published_claims())} statements" in page


def test_the_headlines_of_the_quick_page_are_what_was_published_and_lead_there(tmp_path):
    results = Path(__file__).parents[2] / "results"
    table = conform(pq.read_table(results / "contest" / "results.parquet"))
    paper, contest = quick.headlines(tmp_path / "elsewhere")
    assert contest.text == headline(entries(table))
    assert verdict_counts(published_claims()) in paper.text
    assert (paper.links, contest.links) == ({"statement by statement": "#claims"}, {})
    for line in quick.headlines(results.parents[1] / "gradus-quick"):
        for link in line.links.values():
            assert link.startswith("#") or (results.parents[1] / "gradus-quick" / link).resolve().is_file()
        assert any(link.endswith(".html") for link in line.links.values())


def test_the_quick_run_ends_with_numbers(quick_report):
    folder, report = quick_report
    parity, adder, statements = report.highlights
    rows = Store(folder).table().to_pylist()
    at_40 = [row for row in rows if row["problem"] == "cpar7" and row["n_train"] == 40]
    for name, method, loss in (("L1", "network", "l1"), ("Lgh", "network", "lgh"), ("lessons", "lessons", None)):
        right = [row["test_accuracy_mean"] for row in at_40 if (row["method"], row["loss"]) == (method, loss)]
        assert len(right) == 2
        assert f"{name} {100 * sum(right) / 2:.1f} %" in parity
    (circuit,) = [row for row in rows if row["problem"] == "add6"]
    assert f"for {int(circuit['test_accuracy_mean'] == 1.0)} of 1 training set" in adder
    assert statements.startswith("Statements of the paper that so short a run can check: ")


def test_other_runs_have_no_highlights(small_report):
    _, report = small_report
    assert report.highlights == ()
    assert "full replication" not in report.page.read_text()


def test_statements_of_the_quick_run_are_among_those_of_the_full_replication(quick_report):
    _, report = quick_report
    assert report.claims
    assert {claim.statement for claim in report.claims} <= {claim.statement for claim in published_claims()}


def test_the_claims_that_come_with_the_package_are_the_published_ones():
    published = Path(__file__).parents[3] / "docs" / "results" / "claims.md"
    assert claims_in_markdown(published_claims()) == published.read_text(encoding="utf-8")


def test_the_counts_of_statements_on_the_pages_are_those_of_the_claims():
    page = (Path(__file__).parents[3] / "docs" / "results" / "README.md").read_text(encoding="utf-8")
    assert re.search(r"Of \d+ statements \d+ hold", page)
    assert with_verdicts(page, published_claims()) == page
    assert with_verdicts(page, published_claims()[1:]) != page


NARROW = """
const verdicts = [...page.querySelectorAll('[data-name="verdict"]')];
const right = verdicts.map(cell => { const range = page.createRange(); range.selectNodeContents(cell);
  return range.getBoundingClientRect().right; });
const head = [...page.querySelectorAll("th button")].find(one => one.textContent === "statement");
head.click();
const body = head.closest("table").tBodies[0];
return { widest: Math.max(...right), words: verdicts.map(cell => cell.textContent), page: page.documentElement.scrollWidth,
  sorted: [...body.rows].map(row => row.children[1].textContent),
  points: [...page.querySelectorAll("#headline ~ figure circle.point title")].map(one => one.textContent) };
"""


@needs_browser
@pytest.mark.parametrize("width", [420, 500, 1300])
def test_verdicts_are_not_clipped_tables_sort_and_points_have_tooltips(quick_report, width):
    _, report = quick_report
    seen = drive(report.page, NARROW, width=width)
    assert seen["widest"] <= width
    assert seen["page"] <= width
    assert sorted(seen["words"]) == sorted(claim.verdict for claim in report.claims)
    assert seen["sorted"] == sorted(claim.statement for claim in report.claims)
    assert any(text.startswith("lessons") and "at 40, n = " in text for text in seen["points"])
