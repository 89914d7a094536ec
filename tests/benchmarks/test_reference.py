import itertools

import numpy as np
import pytest

from gradus._benchmarks import cpu, reference
from gradus._benchmarks.cases import Case, find_cases
from gradus._benchmarks.cpu import measure
from gradus._search.front import attempt_seeds
from gradus._search.settings import Settings
from gradus._search.workspace import Workspace
from gradus.errors import SettingsError


@pytest.mark.parametrize("loss", ["l1", "lgh"])
@pytest.mark.parametrize("examples", [30, 80])
def test_the_plain_search_takes_the_same_steps_as_the_fast_one(loss, examples):
    X, Y = Case("add4", examples).training_set(0)
    fast, plain = (Workspace(X, Y, Settings(loss=loss)) for _ in range(2))
    for work in (fast, plain):
        work.seed(attempt_seeds(3, 1)[0])
        work.start()
    for steps in (1, 100, 20_000):
        taken = fast.descend(steps)
        arguments = (plain.shape, plain.width, plain.examples, plain.objective, plain.state, np.uint64(steps))
        assert reference.descend(*arguments) == taken
        assert fast.cost == plain.cost
        assert np.array_equal(fast.state.sources, plain.state.sources)


def test_a_measurement_has_all_its_figures():
    row = measure(Case("cpar4", 8, published=0.3), "l1", seconds=0.05).as_dict()
    assert row["case"] == "cpar4/8"
    assert row["ratio_to_reference"] == pytest.approx(row["steps_per_second"] / row["reference_steps_per_second"])
    assert row["ratio_to_published"] == pytest.approx(row["steps_per_second"] / 300_000)


def test_searches_that_end_at_once_do_not_lengthen_the_next_call(monkeypatch):
    # A clock that hardly moves, as on a fast machine with a slow clock: hundreds of searches fit in one slice.
    ticks = itertools.count()
    monkeypatch.setattr(cpu.time, "process_time", lambda: next(ticks) * 1e-6)
    asked = []
    advance = cpu._Search.advance
    monkeypatch.setattr(cpu._Search, "advance", lambda self, steps: asked.append(steps) or advance(self, steps))
    search = cpu._Search(Case("cpar3", 4), "l1")
    search.run(3e-4)
    assert search.sample > 100
    assert max(asked) < 10**6
    assert search.speed > 0


def test_an_unknown_case_is_named():
    with pytest.raises(SettingsError, match="there is no case 'add6/81'; choose from"):
        find_cases(["add6/81"])
