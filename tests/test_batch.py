import itertools
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import gradus
from gradus._search import many as batch
from gradus.errors import DataError, SettingsError, WorkerError

ALL = np.array([[i >> b & 1 for b in range(4)] for i in range(16)], bool)
SUM = np.array([[(i & 3) + (i >> 2) >> b & 1 for b in range(3)] for i in range(16)], bool)


def jobs(count, **changes):
    for seed in range(count):
        yield {"X": ALL, "Y": SUM, "order": None, "loss": "lgh", "seed": seed} | changes.get(f"job{seed}", {})


def networks(results):
    return [result.network for result in results]


def test_one_and_two_workers_give_the_networks_of_learn_in_job_order():
    alone = [gradus.search(**job).network for job in jobs(7)]
    assert networks(gradus.search_many(jobs(7), workers=1)) == alone
    assert networks(gradus.search_many(jobs(7), workers=2)) == alone


def test_jobs_are_read_only_as_they_are_needed():
    taken = []
    endless = ((taken.append(job), job)[1] for job in itertools.cycle(jobs(5)))
    assert len(networks(itertools.islice(gradus.search_many(endless, workers=2), 3))) == 3
    assert len(taken) <= 3 + 2 * batch.JOBS_IN_FLIGHT


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failed_job_is_named_and_loses_no_other_result(workers):
    results = gradus.search_many(jobs(5, job2={"X": ALL * 5}), workers=workers)
    good = networks([next(results), next(results)])
    with pytest.raises(WorkerError, match="job 2 failed: X has the value 5 in row 1, column 0") as caught:
        next(results)
    assert isinstance(caught.value.__cause__, DataError)
    assert good + networks(results) == networks(gradus.search_many(jobs(2), workers=1)) + [
        gradus.search(**job).network for job in list(jobs(5))[3:]
    ]


class Deadly:
    """Kills the process that tries to read it as a table."""

    def __init__(self, parent):
        self.parent = parent

    def __array__(self, dtype=None, copy=None):
        if os.getpid() != self.parent:
            os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("read in the parent")


def test_a_dying_worker_is_reported_with_its_job_and_loses_no_other_result():
    deadly = {"X": Deadly(os.getpid())}
    outcomes = list(gradus.search_many(jobs(9, job3=deadly, job7=deadly), workers=2, errors="return"))
    failed = {index: str(one) for index, one in enumerate(outcomes) if isinstance(one, WorkerError)}
    assert failed == {3: "job 3 failed: its worker process died.", 7: "job 7 failed: its worker process died."}
    alone = [gradus.search(**job).network for job in jobs(9)]
    assert [one.network for index, one in enumerate(outcomes) if index not in failed] == [
        network for index, network in enumerate(alone) if index not in failed
    ]


def test_no_jobs_give_no_results():
    assert list(gradus.search_many([], workers=2)) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"workers": 0}, "workers is 0"), ({"errors": "drop"}, "errors is 'drop'"), ({"backend": "tpu"}, "backend is 'tpu'")],
)
def test_settings_outside_their_range_are_named_at_once(wrong, message):
    with pytest.raises(SettingsError, match=message):
        gradus.search_many([], **wrong)


UNGUARDED = """
import os, signal
import numpy as np
import gradus

class Deadly:
    parent = os.getpid()
    def __array__(self, dtype=None, copy=None):
        os.kill(os.getpid(), signal.SIGKILL)

X = np.eye(4)
jobs = [dict(X=Deadly() if seed == 3 else X, Y=X[:, :2], order=None, gates_per_target=4, seed=seed) for seed in range(10)]
outcomes = gradus.search_many(jobs, workers=2, errors="return")
print([str(one) if isinstance(one, gradus.GradusError) else "ok" for one in outcomes])
"""


def test_a_script_without_a_main_guard_survives_a_dying_worker(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    expected = ["ok"] * 10
    expected[3] = "job 3 failed: its worker process died."
    assert run.stdout.strip() == str(expected)
