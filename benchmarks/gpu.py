"""Steps a second of the search on a GPU, over whole searches: ``python benchmarks/gpu.py [--json FILE] [BED/EXAMPLES …]``.

Every search learns a training set of its own. A short run first compiles the kernel; it is not counted. Two rates are given:
over the whole run, in whose last part a few hard searches leave most of the GPU idle, and until the first moment at which
nothing was waiting for a place any more.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from gradus.learner import Prepared
from gradus.problems import load
from gradus.search.cuda import BatchProgress, run_many
from gradus.search.cuda.device import CudaDevice
from gradus.search.cuda.plan import choose_layout, shape_of
from gradus.search.settings import Settings

BEDS = ("add6/80", "cpar7/64", "cmux15/96", "alu74181/128", "fabrca/48")


def make_jobs(bed: str, loss: Any, count: int, **settings: Any) -> list[Prepared]:
    """Return searches on training sets drawn one after another."""
    name, size = bed.split("/")
    problem = load(name)
    X, Y = np.asarray(problem.X, dtype=bool), np.asarray(problem.Y, dtype=bool)
    chosen = Settings(loss=loss, **settings)
    order = tuple(problem.known_order or range(Y.shape[1]))
    jobs = []
    for seed in range(count):
        rows = np.random.default_rng(seed).choice(len(X), int(size), replace=False)
        jobs.append(Prepared(X[rows], Y[rows][:, list(order)], chosen, seed, order, None, None, None))
    return jobs


def measure(device: CudaDevice, bed: str, loss: str, waves: float, seconds: float) -> dict[str, Any]:
    """Run `waves` times as many searches as the GPU holds at once, for at most `seconds`."""
    history = 1000 if bed.startswith("cpar") else 250
    probe = make_jobs(bed, loss, 1, history=history)
    layout = choose_layout(shape_of(probe[0]), device.limits)
    count = round(waves * layout.networks)
    for _ in run_many(make_jobs(bed, loss, 64, history=history, max_iterations=2000, restarts=0), device=device):
        pass
    jobs = make_jobs(bed, loss, count, history=history)
    seen: list[BatchProgress] = []

    def watch(progress: BatchProgress) -> bool:
        seen.append(progress)
        return progress.seconds > seconds

    begin = time.monotonic()
    found = [one for _, one in run_many(jobs, device=device, watch=watch)]
    elapsed = time.monotonic() - begin
    full = [one for one in seen if count - one.finished >= layout.networks] or seen[:1]
    return {
        "bed": bed,
        "loss": loss,
        "searches": count,
        "at_a_time": layout.networks,
        "finished": sum(not one.stopped for one in found),
        "converged": sum(one.converged for one in found),
        "steps": seen[-1].steps,
        "seconds": round(elapsed, 2),
        "steps_a_second": round(seen[-1].steps / seen[-1].seconds),
        "steps_a_second_while_full": round((full[-1].steps - full[0].steps) / max(full[-1].seconds - full[0].seconds, 1e-9)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("beds", nargs="*", default=list(BEDS), metavar="BED/EXAMPLES")
    parser.add_argument("--losses", default="l1,lgh", help="separated by commas (default: %(default)s)")
    parser.add_argument("--waves", type=float, default=2.0, help="searches, in times what the GPU holds at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="stop a run after this long")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    device = CudaDevice()
    rows = []
    for bed in options.beds:
        for loss in options.losses.split(","):
            rows.append(measure(device, bed, loss, options.waves, options.seconds))
            row = rows[-1]
            print(
                f"{bed:14s} {loss:4s} {row['steps_a_second'] / 1e9:6.3f} G steps/s in all, "
                f"{row['steps_a_second_while_full'] / 1e9:6.3f} while full; "
                f"{row['finished']} of {row['searches']} searches ended in {row['seconds']} s",
                flush=True,
            )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"device": device.name, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
