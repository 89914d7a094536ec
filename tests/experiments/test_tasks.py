"""What names a task, and what does not."""

from __future__ import annotations

import pickle

import pytest

from gradus._experiments.tasks import Design, Task, in_running_order
from gradus._search.settings import Settings
from gradus.errors import SettingsError

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
        Task(Design("cpar7", settings=Settings(shrink=1)), 56, 3),
        Task(Design("cpar7", order="auto"), 56, 3),
        Task(Design("cpar7", method="tree"), 56, 3),
        Task(Design("cpar7", targets=("z0", "z1")), 56, 3),
        Task(Design("cpar7", draw="leave-one-out"), 56, 3),
    ],
)
def test_whatever_changes_the_result_changes_the_id_and_the_search_seed(other):
    assert other.id != BASE.id
    assert other.search_seed != BASE.search_seed


def test_what_has_no_say_in_the_result_does_not_change_the_id():
    assert Task(Design("cpar7", shuffle=True), 56, 3).id == BASE.id
    tree = Task(Design("cpar7", method="tree"), 56, 3)
    assert Task(Design("cpar7", method="tree", order="auto", settings=Settings(history=9)), 56, 3).id == tree.id


def test_an_id_is_the_same_in_every_process_and_version():
    assert Task(Design("cpar7"), 56, 0).id == "c6fab101591a2f00ad63a7cef16896d3"
    assert pickle.loads(pickle.dumps(BASE)).id == BASE.id


def test_choices_that_belong_to_a_training_set_are_shared_by_losses_and_repetitions():
    other = Task(Design("cpar7", settings=Settings(loss="l1"), order="auto"), 56, 3, repeat=5)
    assert other.set_seed("order") == BASE.set_seed("order")
    assert Task(Design("cpar7"), 56, 4).set_seed("order") != BASE.set_seed("order")
    assert BASE.set_seed("shuffle") != BASE.set_seed("order")


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
    ],
)
def test_bad_designs_are_refused_in_words(changes, message):
    with pytest.raises(SettingsError, match=message):
        Design("cpar7", **changes)
