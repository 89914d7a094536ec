"""Accuracy, size, order and time of the lessons on known functions, as one table.

    python benchmarks/lessons.py --cases add6/80,cmux15/96@5% --sets 30 --n-jobs 2 --variant gates=nand -o rows.jsonl

A case is problem/examples, with @p% for labels flipped at random. Training set number i is `sample(n, i)` of the problem,
and the score is over all rows that were not trained on. `--merge a.jsonl b.jsonl` prints the table of several runs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

for _threads in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

import numpy as np  # noqa: E402 - after the number of threads is set

REQUIRED = {
    "cpar7/32": 0.99, "add6/64": 0.985, "add6/80": 0.995, "sub5/48": 0.98, "cmux15/48": 0.985, "cmaj9/64": 0.91,
    "cmaj9/96": 0.955, "alu74181/192": 0.98, "mammalian/32": 0.94, "fabrca/48": 0.945, "crc4/32": 0.99,
    "gray2bin6/24": 0.99, "popcount7/64": 0.95, "cpar7/64@5%": 0.99, "cmux15/96@5%": 0.99, "sub5/96@5%": 0.97,
    "add6/128@5%": 0.985, "cmaj9/128@5%": 0.92, "random/200": None,
}  # fmt: skip
FURTHER = [
    "comparator5/128", "mul3/32", "mul4/64", "counter6/24", "bin2gray6/24", "encoder8/64", "hamming7/16", "sym9/128",
    "johnson6/24", "traffic/24", "lfsr8/32", "sorter5/24", "abs6/32", "hex2seven/10", "decoder4/12", "saturating4/96",
]  # fmt: skip
FEWER_SETS = {"alu74181": 10, "random": 10}


def draw(case: str, seed: int) -> tuple[Any, Any, Any, Any, Any]:
    """Training inputs and targets, test inputs and targets, and the known order of a case."""
    from gradus import problems

    base, _, noise = case.partition("@")
    name, size = base.split("/")
    if name == "random":
        rng = np.random.default_rng([seed, 12])
        X, T = rng.random((int(size), 10)) < 0.5, rng.random((1024, 10)) < 0.5
        chance = np.array([0.2, 0.5, 0.7])
        return X, rng.random((len(X), 3)) < chance, T, rng.random((len(T), 3)) < chance, None
    problem = problems.load(name)
    train, test = problem.sample(int(size), seed)
    (X, Y), (T, U) = problem.rows(train), problem.rows(test)
    if noise:
        flips = np.random.default_rng([seed, 5]).random(Y.shape) < float(noise.rstrip("%")) / 100
        Y = Y ^ flips
    return X, Y, T, U, problem.known_order


def run(job: tuple[str, int, dict[str, Any]]) -> dict[str, Any]:
    """One fit, scored."""
    from gradus import kendall_tau, learn

    case, seed, variant = job
    X, Y, T, U, known = draw(case, seed)
    begin = time.process_time()
    result = learn(X, Y, **variant)
    seconds = time.process_time() - begin
    majority = (Y.mean(axis=0) > 0.5)[np.newaxis]
    return {
        "case": case, "seed": seed, "variant": variant, "accuracy": float((result.predict(T) == U).mean()),
        "constant_accuracy": float((majority == U).mean()), "gates": result.n_gates, "errors": int(result.errors.sum()),
        "tau": kendall_tau(result.order, known) if known else None, "order": list(result.order), "cpu": seconds,
        "converged": result.converged, "voting": result.n_voting, "circuits": len(result.circuits),
    }  # fmt: skip


def warm_up() -> None:
    """Compile before anything is timed."""
    from gradus import learn

    rng = np.random.default_rng(0)
    X = rng.random((20, 3)) < 0.5
    learn(X, X[:, :2] ^ X[:, 1:], n_circuits=1, n_tries=1)


def fits(jobs: list[Any], n_jobs: int) -> Iterator[dict[str, Any]]:
    if n_jobs == 1:
        warm_up()
        yield from map(run, jobs)
        return
    with ProcessPoolExecutor(n_jobs, initializer=warm_up) as pool:
        yield from pool.map(run, jobs)


def show(rows: list[dict[str, Any]]) -> None:
    head = f"{'case':<16}{'sets':>5}{'accuracy':>10}{'± se':>8}{'required':>10}{'gates':>8}{'tau':>7}"
    print(head + f"{'CPU s':>9}{'max':>8}{'unconv.':>9}")
    for case in dict.fromkeys(row["case"] for row in rows):
        these = [row for row in rows if row["case"] == case]
        accuracy = np.array([row["accuracy"] for row in these])
        error = accuracy.std(ddof=1) / math.sqrt(len(these)) if len(these) > 1 else float("nan")
        taus = [row["tau"] for row in these if row["tau"] is not None]
        required = REQUIRED.get(case)
        if case.startswith("random"):
            required = float(np.mean([row["constant_accuracy"] for row in these]))
        print(
            f"{case:<16}{len(these):>5}{accuracy.mean():>10.4f}{error:>8.4f}"
            f"{'-' if required is None else format(required, '.3f'):>10}{np.mean([row['gates'] for row in these]):>8.1f}"
            f"{format(np.mean(taus), '.2f') if taus else '-':>7}{np.mean([row['cpu'] for row in these]):>9.2f}"
            f"{max(row['cpu'] for row in these):>8.2f}{sum(not row['converged'] for row in these):>9}"
        )


def pricing_speed() -> str:
    """Candidates priced per CPU second on add6/80: every pair of nodes with the best of its 16 functions."""
    from gradus._lessons.control import Control
    from gradus._lessons.gate_list import GateList
    from gradus._lessons.packed_examples import task_of
    from gradus._lessons.phases import PhaseSettings, fit

    X, Y, *_ = draw("add6/80", 0)
    task = task_of(X, Y, np.ones_like(Y))
    empty = GateList(X.shape[1], np.zeros(0, np.uint8), np.zeros((0, 2), np.int64), np.full(Y.shape[1], -1))
    begin = time.process_time()
    draft = fit(task, empty, list(range(Y.shape[1])), 1, 2_000_000_000, PhaseSettings(spare_gates=60), Control())
    pairs = draft.priced / (time.process_time() - begin)
    return f"add6/80: {pairs / 1e6:.0f} million pairs of nodes priced per CPU second, {16 * pairs / 1e6:.0f} million functions"


def large_table(n_examples: int, n_inputs: int) -> str:
    """Eight of many inputs decide one target, and 2 % of its labels are wrong: when what is known, and how much it takes."""
    from gradus import Progress, learn

    rng = np.random.default_rng(1)
    X = rng.random((n_examples, n_inputs)) < 0.5
    truth = ((X[:, 0] & X[:, 1]) ^ (X[:, 2] | X[:, 3])) & ~(X[:, 4] & X[:, 5]) | (X[:, 6] & X[:, 7])
    labels = truth ^ (rng.random(n_examples) < 0.02)
    begin, calls = time.process_time(), [time.thread_time()]
    found: list[tuple[float, int, int]] = []

    def note(progress: Progress) -> None:
        calls.append(time.thread_time())
        if not found or progress.errors < found[-1][1]:
            found.append((time.process_time() - begin, progress.errors, progress.gates))

    result = learn(X, labels, callback=note)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    n_wrong, n_true = int((labels ^ truth).sum()), np.mean(result.predict(X)[:, 0] == truth)
    steps = ", ".join(f"{errors} at {seconds:.1f} s" for seconds, errors, _ in found)
    return (
        f"{n_examples} x {n_inputs}: errors {steps}; in the end {int(result.errors.sum())} errors ({n_wrong} labels are"
        f" wrong), {result.n_gates} gates, {n_true:.4f} of the true values,"
        f" {time.process_time() - begin:.1f} CPU s; longest step {max(np.diff(calls)):.2f} CPU s, {megabytes} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", default=",".join(REQUIRED), help="comma-separated, or 'further'")
    parser.add_argument("--sets", type=int, default=30)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--n-jobs", type=int, default=1, help="processes")
    parser.add_argument("--variant", nargs="*", default=[], metavar="NAME=VALUE", help="arguments of learn")
    parser.add_argument("-o", "--output", help="append one JSON row per fit to this file")
    parser.add_argument("--large", action="store_true", help="only learn 6,400 x 32 and 100,000 x 50")
    parser.add_argument("--merge", nargs="*", help="only print the table of these files")
    options = parser.parse_args()
    if options.large:
        warm_up()
        for shape in ((6_400, 32), (100_000, 50)):
            print(large_table(*shape), flush=True)
        return
    if options.merge:
        show([json.loads(line) for path in options.merge for line in Path(path).read_text("utf-8").splitlines()])
        return
    variant = {}
    for entry in options.variant:
        name, _, value = entry.partition("=")
        variant[name] = int(value) if value.isdigit() else float(value) if value.replace(".", "").isdigit() else value
    cases = FURTHER if options.cases == "further" else options.cases.split(",")
    jobs = []
    for case in cases:
        sets = min(options.sets, FEWER_SETS.get(case.split("/")[0], options.sets))
        jobs += [(case, options.first_seed + i, variant) for i in range(sets)]
    rows = []
    for row in fits(jobs, options.n_jobs):
        rows.append(row)
        if options.output:
            with open(options.output, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    show(rows)
    print(pricing_speed())


if __name__ == "__main__":
    main()
