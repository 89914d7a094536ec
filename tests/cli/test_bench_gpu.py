"""The GPU benchmark counts the steps that were taken; here on a CPU that imitates one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cuda_on_cpu import COMPILER, HostDevice
from gradus._cli import bench
from gradus._cli.bench import Case, measure_on_gpu
from gradus._search.cuda import run as gpu_run
from gradus._search.cuda.layout import DeviceLimits


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler to compile the kernel with")
def test_every_case_is_measured_under_both_losses(tmp_path):
    small = DeviceLimits(multiprocessors=1, shared_bytes=9000, block_bytes=8000, reserved_bytes=1024)
    device = HostDevice(tmp_path, small)
    for loss in ("l1", "lgh"):
        row = measure_on_gpu(device, Case("add5", 60), loss, seconds=0.3)
        assert (row["case"], row["loss"]) == ("add5/60", loss)
        assert row["steps_per_second"] > 10_000
        assert row["searches"] == 2 * row["searches_at_a_time"] > 0
        assert 0 <= row["converged"] <= row["ended"] <= row["searches"]


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler to compile the kernel with")
def test_time_before_the_first_step_is_not_measured(tmp_path, monkeypatch):
    plain, now = gpu_run.pack_jobs, [0.0]

    def tick(seconds):
        now[0] += seconds
        return now[0]

    monkeypatch.setattr(gpu_run, "pack_jobs", lambda *what: tick(1000) and plain(*what))
    monkeypatch.setattr(bench, "time", SimpleNamespace(monotonic=lambda: tick(0.01)))
    small = DeviceLimits(multiprocessors=1, shared_bytes=9000, block_bytes=8000, reserved_bytes=1024)
    row = measure_on_gpu(HostDevice(tmp_path, small), Case("add3", 20), "l1", seconds=0.1)
    assert now[0] > 1000
    assert row["seconds"] < 1000  # 0 if a busy machine reports only once
