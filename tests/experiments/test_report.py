"""Figures and the page: each is drawn from results, complete or not, and the page needs nothing else."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from matplotlib.figure import Figure

from gradus._experiments.plan import Block, Plan, save_plan
from gradus._experiments.results import Results
from gradus._experiments.run import run_tasks
from gradus._experiments.spec import load_spec
from gradus._experiments.store import COLUMNS, Store
from gradus._experiments.tasks import BASELINES, Design
from gradus._experiments.work import Batch, run_batch
from gradus._replication.export import SORTED_BY, export
from gradus._replication.figures import FIGURES, draw
from gradus._replication.page import _training_sets
from gradus._replication.report import write_report
from gradus._search.settings import Settings
from gradus.errors import SettingsError, StoreError

BEDS = {"cpar7": 7, "cmaj9": 5, "sub5": 5, "add6": 6, "cmux15": 7}


def results_for(name, made_up):
    rng = np.random.default_rng(1)

    def accuracy(loss, size, sample):
        return 0.7 + 0.05 * (loss == "lgh") + rng.normal(0, 0.02)

    losses = {"losses": ("l1", "lgh")}
    if name in ("fig3", "fig4", "figA2", "accuracy"):
        rows = [row for bed, m in BEDS.items() for row in made_up(bed, accuracy, m=m)]
    elif name == "figA1":
        rows = [row for m in (3, 4, 5, 6) for row in made_up(f"add{m}", accuracy, m=m)]
    elif name == "fig5":
        rows = [row for bed, m in BEDS.items() for row in made_up(bed, accuracy, m=m, **losses)]
        rows += [r for bed, m in BEDS.items() for r in made_up(bed, accuracy, m=m, order="auto", losses=("lgh",))]
    elif name == "fig6":
        rows = made_up("add5", accuracy, m=5, losses=("l1",))
        for tau in (1.0, 0.0, -1.0):
            rows += [{**row, "tau": tau} for row in made_up("add5", accuracy, m=5, order=f"tau:{tau}", losses=("lgh",))]
    elif name == "fig7":
        rows = made_up("mammalian", accuracy, m=9, order="none", losses=("l1",))
        rows += made_up("mammalian", accuracy, m=9, order="auto", losses=("lw", "llh", "lgh"))
    elif name == "beyond":
        rows = made_up("cpar7", accuracy, m=7, **losses)
        lgh = [row for row in rows if row["loss"] == "lgh"]
        rows += [{**row, "shrink": 10, "attempts": attempts} for row in lgh for attempts in (1, 7)]
    elif name == "baselines":
        rows = made_up("cpar7", accuracy, m=7, **losses)
        lgh = [row for row in rows if row["loss"] == "lgh"]
        rows += [{**row, "method": method, "loss": None} for row in lgh for method in BASELINES]
    elif name in ("tab2", "tab3"):
        bed, targets = ("yeast", ("SK", "PP")) if name == "tab2" else ("ecoli", ("G2", "G6"))
        rows = made_up(bed, accuracy, m=2, sizes=(8,), draw="leave-one-out", targets=targets, order="none")
    else:
        rows = []
    return Results(pa.Table.from_pylist(rows, schema=COLUMNS))


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"fig1"}))
def test_every_figure_is_drawn_from_its_results(name, made_up):
    figure = draw(name, results_for(name, made_up))
    assert isinstance(figure, Figure)
    assert sum(len(axes.lines) + len(axes.texts) + len(axes.collections) for axes in figure.axes) > 0


def test_a_figure_says_how_many_searches_it_leaves_out(made_up):
    rows = made_up("cpar7", lambda *_: 0.5, m=7)
    for row in rows[:5]:
        row["converged"] = False
    figure = draw("fig4", Results(pa.Table.from_pylist(rows, schema=COLUMNS)))
    assert f"5 of {len(rows)} searches ended with training errors" in figure.get_supxlabel()


def test_an_unknown_figure_is_answered_with_those_there_are():
    with pytest.raises(SettingsError, match="there is no figure 'fig9'; there are accuracy"):
        draw("fig9", Results(COLUMNS.empty_table()))


class Here:
    def run(self, tasks):
        yield run_batch(Batch(tuple(tasks)))


@pytest.fixture(scope="module")
def small_report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    shrunk = Design("add3", settings=Settings(shrink=20_000), order="auto")
    losses = tuple(Design("cpar4", settings=Settings(loss=loss)) for loss in ("l1", "lgh"))
    plan = Plan(
        "mine", "Mine <script>alert(1)</script>", about="a & b", figures=("accuracy",),
        blocks=(Block(losses, (6, 9), (0, 1, 2)),),
        parts=(
            Plan("fig1", "A learned adder", figures=("fig1",), blocks=(Block((shrunk,), (40,), (0,)),)),
            Plan("fig2", "Hierarchies", figures=("fig2",)),
            Plan("fig4", "Nothing yet", figures=("fig4",), blocks=(Block((Design("cmux7"),), (10,), (0, 1)),)),
        ),
    )  # fmt: skip
    save_plan(plan, folder)
    done = [task for task in plan.tasks() if task.design.problem != "cmux7"]
    run_tasks(done, Store(folder), Here())
    return folder, write_report(folder)


def test_figures_are_written_in_three_formats(small_report):
    folder, report = small_report
    assert set(report.figures) == {"accuracy", "fig1", "fig2"}
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in report.figures for kind in ("pdf", "svg", "png")}


def test_the_page_loads_nothing_and_escapes_what_it_is_given(small_report):
    text = small_report[1].page.read_text()
    assert "<script" not in text
    assert "a &amp; b" in text
    # Names of XML vocabularies are not loaded; links and sources would be.
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", text)
    assert "@import" not in text
    assert "There are no results yet" in text
    assert "2 tasks are missing" in text


def test_the_same_results_give_the_same_files(small_report):
    folder, _ = small_report
    before = {path: path.read_bytes() for path in (folder / "figures").iterdir()}
    write_report(folder)
    assert {path: path.read_bytes() for path in before} == before


def test_the_page_says_how_many_training_sets_stand_behind_a_point(small_report, made_up):
    _, report = small_report
    assert "Training sets a point: 3-bit addition 1, cpar4 3." in report.page.read_text()
    rows = [row for row in made_up("cpar7", lambda *_: 0.5, m=7, samples=4) if row["n_train"] != 24 or row["sample"] < 2]
    results = Results(pa.Table.from_pylist(rows, schema=COLUMNS))
    assert results.training_sets() == {"cpar7": {8: 4, 16: 4, 24: 2}}
    assert _training_sets(results) == " Training sets a point: 7-bit cascaded parity 4 (2 at 24 examples)."


def test_what_is_published_holds_every_row(small_report, tmp_path):
    folder, report = small_report
    export(folder, report, tmp_path / "published")
    table = pa.parquet.read_table(tmp_path / "published" / "results.parquet")
    order = [(name, "ascending") for name in SORTED_BY]
    assert table == Store(folder).table().drop_columns(["task"]).sort_by(order).combine_chunks()
    assert (tmp_path / "published" / "claims.md").read_text().startswith("| | statement")
    assert (tmp_path / "published" / "figures" / "fig1.svg").exists()


def test_a_folder_without_results_is_answered_with_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="run 'gradus reproduce quick"):
        write_report(tmp_path)


def test_the_page_says_which_problems_have_the_published_settings(tmp_path):
    spec = tmp_path / "mixed.toml"
    spec.write_text(
        'title = "Both"\ninclude = [{ spec = "fig7", only = ["alu74181"], as_published = true, samples = 1 },'
        ' { spec = "fig7", only = ["mammalian"], samples = 1 }]\n'
    )
    folder = tmp_path / "out"
    plan = load_spec(str(spec))
    (folder / "parts").mkdir(parents=True)
    save_plan(plan, folder)
    page = write_report(folder).page.read_text()
    said = "text of the paper; published configuration for the 74181"
    assert page.count(said) == 2  # at the figure and in the table of what ran
    assert "history: 250, 750<" in page
