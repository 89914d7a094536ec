"""Speed of minimum feature sets and curricula: CPU seconds after compilation, each with its bound.

Prints a table, or JSON with ``--json``; ``--only curriculum,400x30`` runs a part of it. The exit code is 1 if a figure misses
its bound.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import gradus
from gradus import problems

# The largest training sets of the paper's experiments.
PAPER_SIZES = {
    "cpar7": 112,
    "cmaj9": 384,
    "sub5": 192,
    "add6": 208,
    "cmux15": 180,
    "alu74181": 384,
    "mammalian": 180,
    "fabrca": 96,
    "yeast": 9,
    "ecoli": 5,
}
Figure = dict[str, Any]


def planted(n: int, k: int, size: int, seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, k)) < 0.5
    columns = np.sort(rng.choice(k, size, replace=False))
    values = rng.random(2**size) < 0.5
    return X, values[X[:, columns] @ (1 << np.arange(size))], tuple(columns.tolist())


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def figure(what: str, value: float, unit: str, bound: float | None, good: bool, note: str = "") -> Figure:
    return {"what": what, "value": round(value, 4), "unit": unit, "bound": bound, "good": bool(good), "note": note}


def compilation() -> Iterator[Figure]:
    X, y, _ = planted(150, 12, 4, 0)
    seconds, _ = cpu_seconds(lambda: gradus.find_curriculum(X, y))
    X, y, _ = planted(200, 70, 4, 0)  # more pairs than are held, so that every kernel runs
    more, _ = cpu_seconds(lambda: gradus.minimum_feature_set(X, y, time_limit=0))
    yield figure("compilation, or loading what was compiled", seconds + more, "s", 15, seconds + more < 15)


def curricula() -> Iterator[Figure]:
    for name, size in PAPER_SIZES.items():
        problem = problems.load(name)
        rows = problem.sample(size, 0)[0] if size < len(problem.X) else np.arange(len(problem.X))
        seconds, found = cpu_seconds(lambda X=problem.X[rows], Y=problem.Y[rows]: gradus.find_curriculum(X, Y))
        note = "all proven" if found.optimal else "not all proven"
        what = f"curriculum of {name}, {len(found.order)} targets x {len(rows)} examples"
        yield figure(what, seconds, "s", 0.1, seconds < 0.1 and found.optimal, note)


def against_milp() -> Iterator[Figure]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    from gradus._core.bits import unpack
    from gradus._core.run import Run
    from gradus._curriculum.coded_examples import code_examples, code_inputs
    from gradus._curriculum.masks import collect_masks, minimal_masks, reduce_masks
    from gradus._curriculum.solver import DeepeningSearch

    for seed in range(3):
        X, y, features = planted(400, 30, 5, seed)
        ours = min(cpu_seconds(lambda X=X, y=y: gradus.minimum_feature_set(X, y))[0] for _ in range(3))
        examples = code_examples(code_inputs(X), y)
        masks, complete = collect_masks(examples, keep=1 << 20, work=1 << 40, run=Run())
        cover = reduce_masks(minimal_masks(masks, Run(), compared=len(masks)), X.shape[1], Run())
        separates = unpack(cover.masks, len(cover.columns)).T.astype(float)
        problem = {
            "c": np.ones(separates.shape[1]),
            "integrality": 1,
            "bounds": Bounds(0, 1),
            "constraints": LinearConstraint(separates, lb=1),
        }
        theirs, answer = cpu_seconds(lambda problem=problem: milp(**problem))
        agree = complete and len(cover.forced) + round(answer.fun) == len(features)
        same, _ = cpu_seconds(lambda cover=cover: DeepeningSearch(cover, 0, tuple(range(30)), Run()).solve())
        note = (
            f"milp {theirs:.2f} s on {len(cover.masks)} masks; ours {ours * 1000:.1f} ms from the rows on, "
            f"{same * 1000:.1f} ms on these masks"
        )
        what = f"400x30 planted 5 (seed {seed}), times faster than milp"
        yield figure(what, theirs / max(ours, same), "x", 100, agree and theirs >= 100 * max(ours, same), note)


def wide() -> Iterator[Figure]:
    X, y, _ = planted(100, 1000, 5, 0)
    seconds, found = cpu_seconds(lambda: gradus.minimum_feature_set(X, y))
    note = f"size {found.size}, optimal={found.optimal}, first={found.first}"
    yield figure("100x1000 planted 5, proven", seconds, "s", 60, seconds < 60 and found.optimal and found.size == 5, note)


def very_wide() -> Iterator[Figure]:
    X, y, features = planted(60, 5000, 5, 0)
    seconds, found = cpu_seconds(lambda: gradus.minimum_feature_set(X, y, time_limit=30))
    note = f"size {found.size}, lower bound {found.lower_bound}, optimal={found.optimal}; time limit 30 s"
    good = seconds < 60 and found.size <= len(features) and found.lower_bound >= 3
    yield figure("60x5000 planted 5, planted size and a bound of 3", seconds, "s", 60, good, note)


def many_rows() -> Iterator[Figure]:
    X, y, features = planted(8000, 100, 6, 0)
    seconds, found = cpu_seconds(lambda: gradus.minimum_feature_set(X, y))
    good = seconds < 60 and found.optimal and found.features == features
    yield figure("8000x100 planted 6, proven", seconds, "s", 60, good, f"optimal={found.optimal}, first={found.first}")
    tracemalloc.start()
    gradus.minimum_feature_set(X, y)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    yield figure("8000x100 planted 6, memory at the peak", peak, "MiB", 2048, peak < 2048)


PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "curriculum": curricula,
    "400x30": against_milp,
    "8000x100": many_rows,
    "100x1000": wide,
    "60x5000": very_wide,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts to run, of {', '.join(PARTS)}")
    options = parser.parse_args()
    wanted = options.only.split(",")
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    figures = []
    for part in [compilation, *(PARTS[name] for name in wanted)]:
        for row in part():
            figures.append(row)
            if not options.json:
                bound = f"{'>=' if row['unit'] == 'x' else '<'} {row['bound']:g} {row['unit']}"
                value = f"{row['value']:.3f} {row['unit']}"
                verdict = "ok  " if row["good"] else "MISS"
                print(f"{row['what']:55} {value:>12} {bound:>12}  {verdict} {row['note']}", flush=True)
    if options.json:
        print(json.dumps(figures, indent=2))
    return 0 if all(row["good"] for row in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
