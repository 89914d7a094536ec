"""Studies: the paper's say what table 1 says, and users' are Python files whose mistakes are named."""

from __future__ import annotations

import pytest

from experiment_helpers import Here
from gradus.errors import GradusError
from gradus_paper.orders import order_of
from gradus_paper.paper import fig4
from gradus_paper.runs import run_tasks, standings
from gradus_paper.store import Store
from gradus_paper.study import load_studies, load_study, save_study, study_names


def points(study, problem):
    return sorted({size for block in study.blocks for size in block.sizes if block.designs[0].problem == problem})


def test_every_figure_and_table_has_a_study():
    wanted = {f"fig{k}" for k in range(1, 8)} | {"figA1", "figA2", "tab2", "tab3", "quick", "all", "baselines"}
    wanted |= {"beyond", "sample_complexity", "noise", "orders", "league", "headline", "adder", "replication"}
    wanted |= {"ties", "comparisons", "open-questions"}
    assert set(study_names()) == wanted


def test_sizes_are_those_of_table_1():
    study = load_study("fig4")
    assert points(study, "cpar7") == list(range(8, 113, 8))
    assert points(study, "cmaj9") == [*range(8, 129, 8), 160, 192, 224, 256, 384]
    assert points(study, "sub5") == [*range(8, 97, 4), 104, 112, 120, 128, 160, 192]
    assert points(study, "add6") == [8, 16, 32, 40, 48, 56, 64, 72, 80, 88, 96, 112, 160, 208]
    assert points(study, "cmux15") == [*range(8, 121, 8), 180]
    assert {len(block.samples) for block in study.blocks} == {1000}
    histories = {d.problem: d.settings.history for d in study.designs()}
    assert histories == {"cpar7": 1000, "cmaj9": 250, "sub5": 250, "add6": 250, "cmux15": 250}


def test_figure_6_has_five_training_sets_for_each_of_50_orders_and_1000_at_both_ends():
    tasks = load_study("fig6").tasks()
    lgh = [task for task in tasks if task.design.settings.loss == "lgh"]
    assert len(lgh) == 16 * (9 * 250 + 2 * 1000)
    assert len({task.design.order for task in lgh}) == 11
    orders = [order_of(task).order for task in lgh if task.design.order == "tau:0/50" and task.n_train == 48]
    assert len(orders) == 250
    assert orders[:50] * 5 == orders
    before = [task for task in load_study("comparisons").tasks() if task.design.order.startswith("tau:")]
    assert len(before) == 16 * 11 * 250


def test_figures_share_tasks():
    figure_4, figure_5 = ({task.id for task in load_study(name, samples=2).tasks()} for name in ("fig4", "fig5"))
    assert {task.id for task in load_study("figA2", samples=2).tasks()} == figure_4
    assert len(figure_4 & figure_5) == len(figure_4) // 2  # L1, and Lgh in the known order


def test_as_published_changes_the_real_world_problems_alone():
    text, published = (load_study("fig7", as_published=flag) for flag in (False, True))
    assert {d.settings.gates_per_target for d in text.designs()} == {21}
    assert {(d.settings.gates_per_target, d.settings.history) for d in published.designs()} == {(41, 750)}
    samples = {b.designs[0].problem: len(b.samples) for b in published.blocks}
    assert samples == {"alu74181": 100, "mammalian": 500, "fabrca": 500}
    assert {d.settings.gates_per_target for d in load_study("tab2", as_published=True).designs()} == {38}
    assert load_study("fig4").blocks == load_study("fig4", as_published=True).blocks
    assert all(part.as_published for part in load_study("all", as_published=True).parts)


def test_samples_scale_down_sets_or_networks_per_fold():
    assert len(load_study("tab2", samples=7).tasks()) == 8 * 7 * 4
    assert len(load_study("fig3", samples=7).tasks()) == 14 * 7 * 4
    assert len(load_study("quick").tasks()) == 25 * 7 * 3 + 5


def test_a_study_is_read_back_as_written(tmp_path):
    study = load_study("quick")
    save_study(study, tmp_path)
    assert load_studies(tmp_path) == [study]


OWN = """
from gradus_paper import Study, grid, own_table

mine = own_table("mine.csv", targets=["t", "u"])
study = Study(
    "Mine",
    [grid(
        mine, [4, *range(5, 8, 2)], 3, loss=["l1", "lgh"], order=["auto", "none"], gates_per_target=[5, 9],
        max_iter=5000, n_restarts=1,
    )],
)
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.csv").write_text("a,b,c,t,u\n" + "\n".join(
        f"{a},{b},{c},{a & b},{(a & b) ^ c}" for a in (0, 1) for b in (0, 1) for c in (0, 1)
    ))  # fmt: skip
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    return path


def test_users_run_studies_over_their_own_data(own, tmp_path):
    study = load_study(str(own))
    tasks = study.tasks()
    assert (study.name, study.figures) == ("mine", ("accuracy",))
    assert len(tasks) == 3 * 3 * 2 * 2 * 2
    save_study(study, tmp_path / "out")
    assert run_tasks(tasks, Store(tmp_path / "out"), Here()).done == len(tasks)
    places, damaged = standings(tmp_path / "out")
    assert [(place.total, place.done, place.left) for place in places] == [(len(tasks), len(tasks), 0)]
    assert damaged == []


def test_other_data_under_the_same_name_are_other_tasks(own):
    before = {task.id for task in load_study(str(own)).tasks()}
    table = own.parent / "mine.csv"
    table.write_text(table.read_text().replace("1,1,1,1,0", "1,1,1,1,1"))
    assert before.isdisjoint(task.id for task in load_study(str(own)).tasks())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("max_iter", "max_itr"), "line 7: unknown 'max_itr'; did you mean 'max_iter'?"),
        ((", 3, loss", ", 0, loss"), "samples is 0; it must be a whole number from 1"),
        (('["l1", "lgh"]', '["l1", "l2"]'), "loss is 'l2'"),
        (('["auto", "none"]', '"best"'), "order is 'best'"),
        (('["auto", "none"]', "[]"), "'order' has no values"),
        (("[4, *", "[400, *"), "sizes has 400, but there are only 8 patterns"),
        (("[4, *range(5, 8, 2)]", "[0]"), "sizes must be whole numbers from 1"),
        (('"u"]', '"v"]'), "v"),
        (("mine.csv", "other.csv"), "other.csv"),
        (("import Study", "import Stdy"), "line 2: ImportError"),
        (("study =", "study = 3 +"), "TypeError"),
        (("study =", "stdy ="), "must make a Study and call it 'study'"),
        (("study =", "study = ("), "SyntaxError"),
        (("n_restarts=1", "n_restarts=-1"), "n_restarts is -1"),
        (
            ('["auto", "none"]', '"known"'),
            "order is 'known', but no order of the targets of 'mine' is known; use 'auto', 'none'",
        ),
        (('["auto", "none"]', '"given:2,0"'), "order is 'given:2,0'; it must name each of the targets 0 to 1 once."),
    ],
)
def test_mistakes_are_named_with_their_place(own, change, message):
    own.write_text(OWN.replace(*change))
    with pytest.raises(GradusError) as caught:
        load_study(str(own))
    assert message in str(caught.value)
    assert str(own) in str(caught.value)


def test_a_study_can_be_made_of_parts_of_others(tmp_path):
    path = tmp_path / "some.py"
    path.write_text(
        'from gradus_paper import Study, paper\nstudy = Study("Both", parts=[paper.fig4().at_most(2), paper.fig3()])\n'
    )
    study = load_study(str(path), samples=3)
    assert [part.title for part in study.parts] == [fig4().title, "Figure 3: cascaded parity"]
    assert len(study.parts[0].tasks()) == len(fig4().at_most(2).tasks())


def test_leave_one_out_on_too_many_patterns_is_refused(tmp_path):
    path = tmp_path / "large.py"
    path.write_text('from gradus_paper import leave_one_out\nstudy = leave_one_out("cpar21", repeats=1, order="none")\n')
    with pytest.raises(GradusError, match=r"large\.py, line 2: .*'cpar21' has too many patterns"):
        load_study(str(path))


def test_an_unknown_study_is_refused_with_a_list_of_those_there_are():
    with pytest.raises(GradusError, match=r"there is no study 'fig44'\. Did you mean 'fig4'\?"):
        load_study("fig44")
