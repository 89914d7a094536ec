"""Specs: the paper's say what table 1 says, and users' are checked with errors that help."""

from __future__ import annotations

import pytest

from experiment_helpers import Here
from gradus.errors import GradusError
from gradus_paper.paper import SPECS, load_spec
from gradus_paper.plans import Plan, load_plans, save_plan
from gradus_paper.run import run_tasks
from gradus_paper.spec import spec_names
from gradus_paper.standings import standings
from gradus_paper.store import Store


def points(plan, problem):
    return sorted({size for block in plan.blocks for size in block.sizes if block.designs[0].problem == problem})


def test_every_figure_and_table_has_a_spec():
    wanted = {f"fig{k}" for k in range(1, 8)} | {"figA1", "figA2", "tab2", "tab3", "quick", "all", "baselines"}
    wanted |= {"beyond", "sample_complexity", "noise", "orders", "league"}
    assert set(spec_names(SPECS)) == wanted | {"headline", "adder"}


def test_sizes_are_those_of_table_1():
    plan = load_spec("fig4")
    assert points(plan, "cpar7") == list(range(8, 113, 8))
    assert points(plan, "cmaj9") == [*range(8, 129, 8), 160, 192, 224, 256, 384]
    assert points(plan, "sub5") == [*range(8, 97, 4), 104, 112, 120, 128, 160, 192]
    assert points(plan, "add6") == [8, 16, 32, 40, 48, 56, 64, 72, 80, 88, 96, 112, 160, 208]
    assert points(plan, "cmux15") == [*range(8, 121, 8), 180]
    assert {len(block.samples) for block in plan.blocks} == {1000}
    histories = {d.problem: d.settings.history for b in plan.blocks for d in b.designs}
    assert histories == {"cpar7": 1000, "cmaj9": 250, "sub5": 250, "add6": 250, "cmux15": 250}


def test_figure_6_has_250_networks_for_each_of_eleven_taus_at_each_size():
    tasks = load_spec("fig6").tasks()
    lgh = [task for task in tasks if task.design.settings.loss == "lgh"]
    assert len(lgh) == 16 * 11 * 250
    assert len({task.design.order for task in lgh}) == 11


def test_figures_share_tasks():
    figure_4, figure_5 = ({task.id for task in load_spec(name, samples=2).tasks()} for name in ("fig4", "fig5"))
    assert {task.id for task in load_spec("figA2", samples=2).tasks()} == figure_4
    assert len(figure_4 & figure_5) == len(figure_4) // 2  # L1, and Lgh in the known order


def test_parity_and_majority_draw_their_minimum_sets_at_random():
    orders = {(d.problem, d.order) for block in load_spec("fig5").blocks for d in block.designs if d.order != "known"}
    assert {problem for problem, order in orders if order == "auto-random"} == {"cpar7", "cmaj9"}


def test_as_published_changes_the_real_world_problems_alone():
    text, published = (load_spec("fig7", as_published=flag) for flag in (False, True))
    assert {d.settings.gates_per_target for b in text.blocks for d in b.designs} == {21}
    assert {(d.settings.gates_per_target, d.settings.history) for b in published.blocks for d in b.designs} == {(41, 750)}
    samples = {b.designs[0].problem: len(b.samples) for b in published.blocks}
    assert samples == {"alu74181": 100, "mammalian": 500, "fabrca": 500}
    assert {d.settings.gates_per_target for b in load_spec("tab2", as_published=True).blocks for d in b.designs} == {38}
    assert load_spec("fig4").blocks == load_spec("fig4", as_published=True).blocks


def test_samples_scale_down_sets_or_networks_per_fold():
    assert len(load_spec("tab2", samples=7).tasks()) == 8 * 7 * 4
    assert len(load_spec("fig3", samples=7).tasks()) == 14 * 7 * 4
    assert len(load_spec("quick").tasks()) == 30 * 8 * 3 + 5


def test_a_part_can_have_the_published_settings_and_some_losses_only(tmp_path):
    path = tmp_path / "some.toml"
    path.write_text(
        'include = [{ spec = "fig7", only = ["alu74181"], losses = ["l1", "lgh"], as_published = true, samples = 2 },'
        ' { spec = "fig7", only = ["mammalian"], samples = 2 }]'
    )
    plan = load_spec(str(path))
    shown = {(design.problem, design.settings.loss, design.settings.gates_per_target) for design in plan.designs()}
    text = {("mammalian", loss, 21) for loss in ("l1", "lw", "llh", "lgh")}
    assert shown == {("alu74181", "l1", 41), ("alu74181", "lgh", 41), *text}
    assert [part.as_published for part in plan.parts] == [True, False]
    whole = {task.id for task in load_spec("fig7", as_published=True).tasks()}
    assert {task.id for task in plan.parts[0].tasks()} <= whole
    assert all(part.as_published for part in load_spec("all", as_published=True).parts)
    for key, says in (
        ('losses = ["l2"]', "spec 'fig7' has no run of l2"),
        ('only = ["mammalian"], losses = ["l2"]', "has no run of mammalian with l2"),
        ("as_published = 1", "'as_published' must be true or false"),
    ):
        path.write_text(f'include = [{{ spec = "fig7", {key} }}]')
        with pytest.raises(GradusError, match=says):
            load_spec(str(path))


def test_only_takes_problems_out_of_a_list(tmp_path):
    inner, outer = tmp_path / "inner.toml", tmp_path / "outer.toml"
    inner.write_text('[[runs]]\nproblem = ["add3", "add4"]\nsizes = [8]\nsamples = 2\n')
    outer.write_text(f'include = [{{ spec = "{inner}", only = ["add4"], sizes = [100] }}]')
    assert {(task.design.problem, task.n_train) for task in load_spec(str(outer)).tasks()} == {("add4", 100)}


def test_an_included_spec_can_be_cut_to_some_problems(tmp_path):
    path = tmp_path / "some.toml"
    adders, parity = ('{ spec = "fig4", only = ["add6"], samples = 2 }', '{ spec = "fig4", only = ["cpar7"], samples = 3 }')
    path.write_text(f"include = [{adders}, {parity}]")
    plan = load_spec(str(path))
    assert {d.problem for d in plan.designs()} == {"add6", "cpar7"}
    assert len(plan.tasks()) == 14 * 4 * 2 + 14 * 4 * 3
    path.write_text('include = [{ spec = "fig4", only = ["add7"] }]')
    with pytest.raises(GradusError, match="has no run of add7"):
        load_spec(str(path))


def test_a_plan_is_read_back_as_written(tmp_path):
    plan = load_spec("quick")
    save_plan(plan, tmp_path)
    assert load_plans(tmp_path) == [plan]
    assert Plan.from_json(plan.to_json()).tasks() == plan.tasks()


OWN = """
title = "Mine"
[common]
samples = 3
[[runs]]
data = { file = "mine.csv", targets = ["t", "u"] }
sizes = [4, { from = 5, to = 7, step = 2 }]
loss = ["l1", "lgh"]
order = ["auto", "none"]
gates_per_target = [5, 9]
max_iter = 5000
n_restarts = 1
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.csv").write_text("a,b,c,t,u\n" + "\n".join(
        f"{a},{b},{c},{a & b},{(a & b) ^ c}" for a in (0, 1) for b in (0, 1) for c in (0, 1)
    ))  # fmt: skip
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    return path


def test_users_run_specs_over_their_own_data(own, tmp_path):
    plan = load_spec(str(own))
    tasks = plan.tasks()
    assert len(tasks) == 3 * 3 * 2 * 2 * 2
    save_plan(plan, tmp_path / "out")

    assert run_tasks(tasks, Store(tmp_path / "out"), Here()).done == len(tasks)
    places, damaged = standings(tmp_path / "out")
    assert [(place.total, place.done, place.left) for place in places] == [(len(tasks), len(tasks), 0)]
    assert damaged == []


def test_other_data_under_the_same_name_are_other_tasks(own):
    before = {task.id for task in load_spec(str(own)).tasks()}
    table = own.parent / "mine.csv"
    table.write_text(table.read_text().replace("1,1,1,1,0", "1,1,1,1,1"))
    assert before.isdisjoint(task.id for task in load_spec(str(own)).tasks())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("sizes =", "sizs ="), "runs, number 1: unknown key 'sizs'; did you mean 'sizes'?"),
        (("samples = 3", "samples = 0"), "'samples' is 0; it must be a whole number from 1"),
        (("samples = 3", ""), "'samples' is missing"),
        (('["l1", "lgh"]', '["l1", "l2"]'), "loss is 'l2'"),
        (('["auto", "none"]', '"best"'), "order is 'best'"),
        (('["auto", "none"]', "[]"), "'order' has no values"),
        (("[4, {", "[400, {"), "'sizes' has 400, but there are only 8 patterns"),
        (("step = 2", "step = 0"), "step of a range must be at least 1"),
        (('"u"]', '"v"]'), "v"),
        (("mine.csv", "other.csv"), "other.csv"),
        (("[common]", "[comon]"), "unknown key 'comon'; did you mean 'common'?"),
        (("samples = 3", "samples = "), "not TOML"),
        (("data =", 'problem = "add3"\ndata ='), "either 'problem' (names) or 'data'"),
        (("n_restarts = 1", "n_restarts = -1"), "n_restarts is -1"),
        (("n_restarts = 1", "shuffle = 3"), "'shuffle' must be true or false"),
        (("n_restarts = 1", "leave_out = [1]"), "'leave_out' needs draw"),
    ],
)
def test_mistakes_are_named_with_their_place(own, change, message):
    own.write_text(OWN.replace(*change))
    with pytest.raises(GradusError) as caught:
        load_spec(str(own))
    assert message in str(caught.value)


BUILT_IN = '[[runs]]\nproblem = ["add3", "{problem}"]\nsizes = [4]\nsamples = 1\nloss = "lgh"\n'


@pytest.mark.parametrize(
    ("problem", "order", "message"),
    [
        ("yeast", 'order = "known"', "order is 'known', but no order of the targets of 'yeast' is known; use 'auto', 'none'"),
        ("yeast", "", "order is 'known', but no order of the targets of 'yeast' is known"),
        ("yeast", 'order = "tau:all"', "order is 'tau:1', but no order of the targets of 'yeast' is known"),
        ("sub3", 'order = ["known", "tau:0.6"]', "no order of 3 targets has tau = 0.6; the nearest possible: 0.333333 and 1"),
        ("add4", 'order = "tau:0.333333"\ntargets = ["z0", "z1"]', "no order of 2 targets has tau = 0.333333"),
        ("add4", 'order = "given:2,0,1"', "order is 'given:2,0,1'; it must name each of the targets 0 to 3 once."),
        ("sub3", 'order = "given:2,0"', "order is 'given:2,0'; it must name each of the targets 0 to 2 once."),
        ("sub3", 'order = "given:2,0,0"', "order is 'given:2,0,0'; it must name each of the targets 0 to 2 once."),
    ],
)
def test_an_order_that_the_targets_cannot_have_is_refused_with_its_run(tmp_path, problem, order, message):
    path = tmp_path / "orders.toml"
    good = BUILT_IN.format(problem="add3")
    path.write_text(good + BUILT_IN.format(problem=problem) + order)
    with pytest.raises(GradusError) as caught:
        load_spec(str(path))
    assert str(caught.value).startswith(f"{path}: runs, number 2: {message}")


def test_your_own_data_have_no_known_order_but_any_given_one(own):
    own.write_text(OWN.replace('order = ["auto", "none"]\n', ""))
    with pytest.raises(GradusError, match="number 1: order is 'known', but no order of the targets of 'mine' is known"):
        load_spec(str(own))
    own.write_text(OWN.replace('"none"]', '"given:1,0"]'))
    assert {design.order for design in load_spec(str(own)).designs()} == {"auto", "given:1,0"}


def test_baselines_need_no_order(tmp_path):
    path = tmp_path / "baselines.toml"
    path.write_text(BUILT_IN.format(problem="yeast") + 'method = ["majority", "tree"]')
    assert {design.order for design in load_spec(str(path)).designs()} == {"none"}


def test_leave_one_out_on_too_many_patterns_is_refused(tmp_path):
    path = tmp_path / "large.toml"
    path.write_text('[[runs]]\nproblem = "cpar21"\ndraw = "leave-one-out"\nloss = "lgh"\n')
    with pytest.raises(GradusError, match=r"large\.toml.*'cpar21' has too many patterns"):
        load_spec(str(path))


def test_an_unknown_experiment_is_refused_with_a_list_of_those_there_are():
    with pytest.raises(GradusError, match=r"there is no experiment 'fig44'\. Did you mean 'fig4'\?"):
        load_spec("fig44")


def test_a_spec_cannot_include_itself(tmp_path):
    path = tmp_path / "loop.toml"
    path.write_text(f'include = [{{ spec = "{path}" }}]')
    with pytest.raises(GradusError, match="includes itself"):
        load_spec(str(path))


def test_the_expected_time_of_a_task_is_kept_with_the_plan_and_checked(tmp_path):
    spec = tmp_path / "mine.toml"
    run = '[[runs]]\nproblem = "add3"\nsizes = [8]\nsamples = 1\n'
    spec.write_text("cpu_seconds_per_task = 0.5\n" + run)
    plan = load_spec(str(spec))
    assert plan.cpu_seconds_per_task == 0.5
    assert Plan.from_json(plan.to_json()) == plan
    for wrong in ('"long"', "0", "-1", "nan", "inf", "true"):
        spec.write_text(f"cpu_seconds_per_task = {wrong}\n" + run)
        with pytest.raises(GradusError, match="must be a number of seconds above 0"):
            load_spec(str(spec))
