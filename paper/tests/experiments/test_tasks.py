"""What names a task, and what does not."""

from __future__ import annotations

import pickle

import pytest

from experiment_helpers import Here
from gradus.errors import SettingsError
from gradus.lab import Settings
from gradus_paper.report import write_report
from gradus_paper.row import Row, table_of
from gradus_paper.runs import absorb, rows_of, rows_shown, run_tasks, standings
from gradus_paper.store import Store
from gradus_paper.study import Study, grid, save_study
from gradus_paper.tasks import Design, Task, earlier_versions, in_running_order

BASE = Task(Design("cpar7"), 56, 3)


@pytest.mark.parametrize(
    "other",
    [
        Task(Design("cpar6"), 56, 3),
        Task(Design("cpar7"), 48, 3),
        Task(Design("cpar7"), 56, 4),
        Task(Design("cpar7"), 56, 3, repeat=1),
        Task(Design("cpar7", settings=Settings(loss="l1")), 56, 3),
        Task(Design("cpar7", settings=Settings(history=1000)), 56, 3),
        Task(Design("cpar7", order="auto"), 56, 3),
        Task(Design("cpar7", method="tree"), 56, 3),
        Task(Design("cpar7", method="lessons"), 56, 3),
        Task(Design("cpar7", targets=("z0", "z1")), 56, 3),
        Task(Design("cpar7", draw="leave-one-out"), 56, 3),
        Task(Design("cpar7", noise=0.01), 56, 3),
    ],
)
def test_whatever_changes_the_result_changes_the_id_and_the_search_seed(other):
    assert other.id != BASE.id
    assert other.search_seed != BASE.search_seed


@pytest.mark.parametrize("noise", [-0.1, 0.6, float("nan"), "much", None])
def test_noise_is_a_share_of_at_most_one_half(noise):
    with pytest.raises(SettingsError, match=r"noise is .*; it must be a share of the labels from 0 to 0\.5\."):
        Design("cpar7", noise=noise)


def test_a_design_without_noise_does_not_name_it():
    assert "noise" in Design("cpar7", noise=0.05).identity
    assert "noise" not in Design("cpar7", noise=0).identity


def test_what_does_not_affect_the_result_does_not_change_the_id():
    assert Task(Design("cpar7", noise=0), 56, 3).id == BASE.id
    mixed = Task(Design("cpar7", method="forest", order="auto", shuffle=True), 56, 3)
    assert mixed.id == Task(Design("cpar7", method="forest"), 56, 3).id
    assert Task(Design("cpar7", shuffle=True), 56, 3).id == BASE.id
    tree = Task(Design("cpar7", method="tree"), 56, 3)
    assert Task(Design("cpar7", method="tree", order="auto", settings=Settings(history=9)), 56, 3).id == tree.id
    lessons = Task(Design("cpar7", method="lessons", order="self-paced"), 56, 3)
    assert Task(Design("cpar7", method="lessons", order="known", settings=Settings(history=9)), 56, 3).id == lessons.id


LISTED = [
    (
        Task(Design("cpar7"), 56, 0),
        ("c6fab101591a2f00ad63a7cef16896d3", 13258293488253638, 5068052824078336701),
    ),
    (
        Task(Design("cpar7", settings=Settings(loss="l1", history=1000)), 40, 999),
        ("f5e29442962d561487ab8fbada4d943e", 1465408852141073141, 14180045147715713781),
    ),
    (
        Task(Design("cmaj9", settings=Settings(loss="lgh"), order="auto-random", shuffle=True), 384, 264),
        ("656731b33d02dabd377049fb8a066588", 13680249282113922917, 2001390909247823273),
    ),
    (
        Task(Design("sub5", settings=Settings(loss="lw", gates_per_target=41, history=750), order="auto"), 52, 7),
        ("0ffbacfc9411827041e2cd332be9e1bb", 8107061610812341007, 8940660417461654325),
    ),
    (
        Task(Design("add5", order="tau:-0.8"), 48, 3, repeat=4),
        ("8629dc4c47294f325de1a24a93be3f29", 3625161611265452422, 10286701838622035727),
    ),
    (
        Task(Design("add6", settings=Settings(max_iter=5000, n_restarts=1, time_limit=2.5), order="given:5,4,3,2,1,0"), 80, 1),
        ("63772f17085c346c093f9c75ad32cbc7", 7796958044703651683, 6906174900392400737),
    ),
    (
        Task(
            Design("yeast", settings=Settings(loss="llh"), draw="leave-one-out", order="none", targets=("SK", "Ste9")),
            8, 2, repeat=17,
        ),
        ("ead9efdeb9bb635285acb6337fcd685a", 5936795140788050410, 10223142621313470222),
    ),
    (
        Task(Design("mammalian", order="entropy", shuffle=True), 24, 11),
        ("1e733a37dcbd5d017a1a8d1f750335d8", 98443520389051166, 6805393819838935982),
    ),
    (
        Task(Design("cmux15", method="chain"), 80, 5),
        ("21ddc1a99671e2267b84d29bcd0ac567", 2801926810084957473, 1251772965229963792),
    ),
    (
        Task(Design("cmux15", method="forest"), 80, 5),
        ("f13c120d343c9a45634d006754a4546a", 5015387329285733617, 1251772965229963792),
    ),
    (
        Task(Design("mine#0123456789abcdef", order="random"), 30, 2),
        ("458ecfd483f3845753205b2d63348790", 6306433125762174533, 11953045616880257325),
    ),
]  # fmt: skip
"""Tasks with their ids, search seeds and order seeds in the version that made the published results."""


@pytest.mark.parametrize(("task", "known"), LISTED, ids=[task.design.problem for task, _ in LISTED])
def test_ids_and_seeds_are_those_of_the_published_results(task, known):
    assert (task.id, task.search_seed, task.set_key.seed("order")) == known


def test_a_new_version_of_a_method_changes_its_own_ids_and_nobody_elses():
    kinds = [("network", "known"), ("network", "self-paced"), ("lessons", "none"), ("chain", "known")]
    before = [Task(Design("cpar7", method=method, order=order, method_version=1), 56, 3) for method, order in kinds]
    after = [Task(Design("cpar7", method=method, order=order), 56, 3) for method, order in kinds]
    assert [old.id != new.id for old, new in zip(before, after, strict=True)] == [False, True, True, False]
    for old, new in zip(before, after, strict=True):
        assert new.set_key == old.set_key
        assert earlier_versions(new) == [old] * (old.id != new.id)
        for task in (old, new):  # the rows of both are told apart, and those that exist are the first's
            assert Row.of(task).to_task() == task
        assert Row.of(old).method_version is None
        assert "method_version" not in old.design.identity


def test_pages_show_rows_of_an_earlier_version_only_where_there_are_none_of_todays():
    today = [Task(Design("cpar7", method="lessons"), 56, sample) for sample in (0, 1)]
    earlier = [earlier_versions(task)[0] for task in today]
    table = table_of([Row.of(today[0]), *map(Row.of, earlier)])
    assert set(rows_shown(table, today).column("task").to_pylist()) == {today[0].id, earlier[1].id}
    assert rows_of(table, today).column("task").to_pylist() == [today[0].id]


def test_rows_of_an_earlier_version_are_absorbed_to_be_shown_and_their_tasks_are_still_left(tmp_path):
    study = Study("Mine", [grid("add3", [8], 3, method="lessons"), grid("cpar3", [5], 1)], name="mine")
    today = study.tasks()
    earlier = [made for task in today for made in earlier_versions(task)]
    assert len(earlier) == 3
    for folder in ("theirs", "here"):
        save_study(study, tmp_path / folder)
    theirs, here = (Store(tmp_path / folder) for folder in ("theirs", "here"))
    run_tasks([earlier[0]], here, Here())
    run_tasks([*earlier[:2], *(task for task in today if task.design.method == "network")], theirs, Here())
    for _ in range(2):
        absorb(today, tmp_path / "theirs", here)
    assert Store(tmp_path / "here").table().num_rows == 3
    (place,), _ = standings(tmp_path / "here")
    assert (place.total, place.done, place.left, place.earlier) == (4, 1, 3, 2)
    assert "3 tasks are missing; for 2 of them a row by an earlier version" in write_report(tmp_path / "here").page.read_text()


def test_an_id_is_the_same_in_every_process():
    assert pickle.loads(pickle.dumps(BASE)).id == BASE.id


def test_choices_that_belong_to_a_training_set_are_shared_by_losses_and_repetitions():
    other = Task(Design("cpar7", settings=Settings(loss="l1"), order="auto"), 56, 3, repeat=5)
    assert other.set_key == BASE.set_key
    assert Task(Design("cpar7"), 56, 4).set_key.seed("order") != BASE.set_key.seed("order")
    assert BASE.set_key.seed("shuffle") != BASE.set_key.seed("order")


def test_any_beginning_of_the_running_order_is_balanced():
    tasks = in_running_order(Task(Design(name), n, s) for name in ("add3", "cpar3") for n in (4, 8) for s in range(5))
    assert [task.sample for task in tasks] == sorted(task.sample for task in tasks)
    assert len({(task.design.problem, task.n_train) for task in tasks[:4]}) == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "svm"}, "method is 'svm'"),
        ({"draw": "twice"}, "draw is 'twice'"),
        ({"order": "best"}, "order is 'best'"),
        ({"order": "tau:2"}, "order is 'tau:2'"),
        ({"order": "given:a"}, "order is 'given:a'"),
        ({"order": "self-taught"}, "order is 'self-taught'"),
    ],
)
def test_bad_designs_are_refused_with_a_reason(changes, message):
    with pytest.raises(SettingsError, match=message):
        Design("cpar7", **changes)
