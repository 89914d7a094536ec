"""Compare the numbers of lanes that can share a network on this GPU: ``python benchmarks/gpu_layouts.py add6/384``.

Every layout first runs a few short searches, which must end as on the CPU, bit for bit.
"""

from __future__ import annotations

import sys

import numpy as np

from gradus._cli.bench import find_cases, make_jobs, measure_on_gpu
from gradus._search.cuda import feeder as gpu_feeder
from gradus._search.cuda import layout as gpu_layout
from gradus._search.cuda import run_many
from gradus._search.cuda.device import CudaDevice
from gradus._search.cuda.layout import choose_layout, possible_layouts, shape_of
from gradus._search.driver import run_search
from gradus._search.job import Settings
from gradus.losses import LOSSES

EQUAL = 64
"""Searches per loss that are compared with the CPU's."""


def check_equal(device, case) -> None:
    for loss in LOSSES:
        jobs = make_jobs(case, Settings(loss=loss, history=case.history, max_iter=5000, n_restarts=1), EQUAL)
        found = dict(run_many(jobs, device=device))
        for index, job in enumerate(jobs):
            expected = run_search(job)
            same = np.array_equal(found[index].sources, expected.sources) and found[index].iterations == expected.iterations
            assert same, f"{case.name}, {loss}, search {index} differs"


def main(names: list[str]) -> None:
    device = CudaDevice()
    for case in find_cases(names or ["add6/384"]):
        shape = shape_of(make_jobs(case, Settings(), 1)[0])
        chosen = choose_layout(shape, device.limits)
        for layout in possible_layouts(shape, device.limits):
            gpu_feeder.choose_layout = gpu_layout.choose_layout = lambda *_, layout=layout: layout
            check_equal(device, case)
            rates = [measure_on_gpu(device, case, loss)["steps_per_second_while_full"] / 1e9 for loss in ("l1", "lgh")]
            print(
                f"{case.name}: {layout.parts} lanes per network, {layout.networks} networks, equal to the CPU: "
                f"L1 {rates[0]:.2f}, Lgh {rates[1]:.2f} G steps/s{' (chosen)' if layout == chosen else ''}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
