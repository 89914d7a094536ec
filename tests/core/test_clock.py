"""Time limits do not count the time of the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from gradus._core.kernels.clock import clock_stopped, work_clock
from gradus._core.run import Run
from gradus._lessons.control import Control

KERNEL = """
import time
from gradus._core.kernels.clock import work_clock
from gradus._core.kernels.compile import compiled

@compiled
def one(a):
    return a + 1

@compiled
def two(a):
    return a + 2

began, clock = time.monotonic(), work_clock()
one(1), two(1)
print(time.monotonic() - began, work_clock() - clock)
"""


def test_the_clock_stops_while_compiling_which_is_announced_once(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    for message in (1, 0):  # the second process finds the kernels in the cache
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, str(tmp_path / "kernel.py")],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
            timeout=120,
        )
        passed, counted = map(float, done.stdout.split())
        assert counted < 0.5 * passed
        assert done.stderr.count("Gradus is compiling its kernels") == message
        assert done.stderr.count("\n") == message


def test_stops_can_be_nested_and_hold_for_all_threads():
    seen = []
    before = work_clock()
    with clock_stopped():
        time.sleep(0.02)
        with clock_stopped():
            time.sleep(0.02)
        watcher = threading.Thread(target=lambda: seen.append(work_clock()))
        watcher.start()
        watcher.join()
    after = work_clock()
    assert before <= seen[0] <= after < before + 0.02
    time.sleep(0.02)
    assert work_clock() - after >= 0.02


LIMITS = {"run": lambda: Run(0.05).stop, "part": lambda: Run().part(seconds=0.05).stop, "lessons": lambda: Control(0.05).stop}


@pytest.mark.parametrize("make", LIMITS.values(), ids=LIMITS)
def test_every_time_limit_uses_this_clock(make):
    is_over = make()
    with clock_stopped():
        time.sleep(0.1)
        assert not is_over()
    assert not is_over()
    time.sleep(0.06)
    assert is_over()
