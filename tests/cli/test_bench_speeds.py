import itertools

import numpy as np
import pytest

from gradus._cli import bench
from gradus._cli.bench import Case, find_cases, measure
from gradus._search.driver import Workspace
from gradus._search.job import Job, Settings
from gradus.errors import SettingsError
from gradus.losses import LOSSES


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("examples", [30, 80])
def test_the_plain_search_takes_the_same_steps_as_the_fast_one(loss, examples):
    X, Y = Case("add4", examples).training_set(0)
    fast, plain = (Workspace(Job(X, Y, Settings(loss=loss), 3)) for _ in range(2))
    for work in (fast, plain):
        work.start()
    for steps in (1, 100, 20_000):
        taken = fast.descend(steps)
        assert plain.descend_plainly(steps) == taken
        assert fast.cost == plain.cost
        assert np.array_equal(fast.state.sources, plain.state.sources)


def test_a_measurement_divides_the_steps_taken_by_the_time_of_each_search(monkeypatch):
    # On a clock that counts steps, a million to the second for the search and a quarter of that for the plain one, both
    # speeds are known exactly.
    now, taken = [0.0], {"search": 0, "reference": 0}
    monkeypatch.setattr(bench.time, "process_time", lambda: now[0])
    for kind, name, speed in ((bench._TimedSearch, "search", 1e6), (bench._TimedReference, "reference", 0.25e6)):

        def advance(self, steps, plain=kind.advance, name=name, speed=speed):
            count = plain(self, steps)
            now[0] += count / speed
            taken[name] += count
            return count

        monkeypatch.setattr(kind, "advance", advance)
    row = measure(Case("cpar7", 64, history=1000, published=0.3), "l1", seconds=0.6)
    assert (row["case"], row["loss"]) == ("cpar7/64", "l1")
    assert row["steps_per_second"] == pytest.approx(1e6)
    assert row["reference_steps_per_second"] == pytest.approx(0.25e6)
    assert row["ratio_to_reference"] == pytest.approx(4.0)
    assert row["ratio_to_published"] == pytest.approx(1e6 / 0.3e6)
    assert taken["search"] == pytest.approx(4 * taken["reference"], rel=0.5)  # each had its share of the time
    assert taken["search"] >= 0.6e6


def test_searches_that_end_at_once_do_not_lengthen_the_next_call(monkeypatch):
    # A clock that hardly moves, as on a fast machine with a slow clock: hundreds of searches fit in one slice.
    ticks = itertools.count()
    monkeypatch.setattr(bench.time, "process_time", lambda: next(ticks) * 1e-6)
    asked = []
    advance = bench._TimedSearch.advance
    monkeypatch.setattr(bench._TimedSearch, "advance", lambda self, steps: asked.append(steps) or advance(self, steps))
    search = bench._TimedSearch(Case("cpar3", 4), "l1")
    search.run(3e-4)
    assert search.sample > 100
    assert max(asked) < 10**6
    assert search.speed > 0


def test_an_unknown_case_is_named():
    with pytest.raises(SettingsError, match="there is no case 'add6/81'; choose from"):
        find_cases(["add6/81"])
