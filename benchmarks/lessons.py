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
from collections.abc import Callable, Iterator
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
    "johnson6/24", "traffic/24", "lfsr8/32", "sorter5/24", "abs6/32", "bcd2seven/10", "decoder4/12", "saturating4/96",
]  # fmt: skip
FEWER_SETS = {"alu74181": 10, "random": 10}


def number(bits: Any) -> Any:
    return bits @ (1 << np.arange(bits.shape[1]))


def bits_of(values: Any, width: int) -> Any:
    return (values[:, np.newaxis] >> np.arange(width) & 1).astype(bool)


def crc4(X: Any) -> Any:
    """CRC-4 with the polynomial x^4 + x + 1 of eight bits, the highest first."""
    register = np.zeros(len(X), dtype=np.int64)
    for column in X.T:
        feedback = (register >> 3 & 1) ^ column
        register = (register << 1 & 15) ^ 3 * feedback
    return bits_of(register, 4)


def gray_to_binary(X: Any) -> Any:
    return np.logical_xor.accumulate(X[:, ::-1].astype(bool), axis=1)[:, ::-1]


def popcount(X: Any) -> Any:
    return bits_of(X.sum(axis=1), 3)


def compare(X: Any) -> Any:
    a, b = number(X[:, :5]), number(X[:, 5:])
    return np.column_stack([a < b, a == b, a > b])


def multiply(X: Any) -> Any:
    """Product of the two halves of a row."""
    half = X.shape[1] // 2
    return bits_of(number(X[:, :half]) * number(X[:, half:]), 2 * half)


def count_up(X: Any) -> Any:
    """Six-bit counter with enable: the next state."""
    return bits_of(number(X[:, :6]) + X[:, 6], 6)


def binary_to_gray(X: Any) -> Any:
    value = number(X)
    return bits_of(value ^ value >> 1, 6)


def priority(X: Any) -> Any:
    """Find the highest input that is 1, and whether there is one."""
    highest = np.where(X.any(axis=1), 7 - np.argmax(X[:, ::-1], axis=1), 0)
    return np.column_stack([bits_of(highest, 3), X.any(axis=1)])


def hamming(X: Any) -> Any:
    """Syndrome of a Hamming(7, 4) word."""
    places = np.arange(1, 8)
    return np.column_stack([X[:, places >> k & 1 == 1].sum(axis=1) % 2 for k in range(3)]).astype(bool)


def symmetric(X: Any) -> Any:
    """9sym: three to six of nine inputs; and its cumulative parts."""
    ones = X.sum(axis=1)
    return np.column_stack([ones >= 3, ones <= 6, (ones >= 3) & (ones <= 6)])


def johnson(X: Any) -> Any:
    """Johnson counter of six stages with a direction input."""
    up = np.column_stack([~X[:, 5].astype(bool), X[:, :5]])
    down = np.column_stack([X[:, 1:6], ~X[:, 0].astype(bool)])
    return np.where(X[:, 6:7] == 1, up, down).astype(bool)


def traffic(X: Any) -> Any:
    """Two-road traffic light: state (2 bits), cars waiting (2), timer over; next state and the six lamps."""
    state, waiting_a, waiting_b, over = number(X[:, :2]), X[:, 2] == 1, X[:, 3] == 1, X[:, 4] == 1
    leave = ((state == 0) & waiting_b & over) | ((state == 2) & waiting_a & over) | (state == 1) | (state == 3)
    after = (state + leave) % 4
    lamps = [state == 0, state == 1, state >= 2, state == 2, state == 3, state <= 1]
    return np.column_stack([bits_of(after, 2), *lamps])


def shift_register(X: Any) -> Any:
    """Linear feedback shift register of eight bits with taps 8, 6, 5, 4."""
    feedback = X[:, 7] ^ X[:, 5] ^ X[:, 4] ^ X[:, 3]
    return np.column_stack([feedback, X[:, :7]]).astype(bool)


def sort_bits(X: Any) -> Any:
    return np.sort(X, axis=1)[:, ::-1].astype(bool)


def absolute(X: Any) -> Any:
    """Absolute value of a six-bit number in two's complement."""
    value = number(X)
    return bits_of(np.where(value >= 32, 64 - value, value), 6)


def seven_segments(X: Any) -> Any:
    """Seven segments of a hexadecimal digit."""
    shapes = [0x3F, 0x06, 0x5B, 0x4F, 0x66, 0x6D, 0x7D, 0x07, 0x7F, 0x6F, 0x77, 0x7C, 0x39, 0x5E, 0x79, 0x71]
    return bits_of(np.array(shapes)[number(X)], 7)


def decode(X: Any) -> Any:
    """Three-to-eight decoder with enable."""
    return (number(X[:, :3])[:, np.newaxis] == np.arange(8)) & (X[:, 3:4] == 1)


def saturating_add(X: Any) -> Any:
    return bits_of(np.minimum(number(X[:, :4]) + number(X[:, 4:]), 15), 4)


OWN: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "crc4": (8, crc4), "gray2bin6": (6, gray_to_binary), "popcount7": (7, popcount), "comparator5": (10, compare),
    "mul3": (6, multiply), "mul4": (8, multiply), "counter6": (7, count_up), "bin2gray6": (6, binary_to_gray),
    "encoder8": (8, priority),
    "hamming7": (7, hamming), "sym9": (9, symmetric), "johnson6": (7, johnson), "traffic": (5, traffic),
    "lfsr8": (8, shift_register), "sorter5": (5, sort_bits), "abs6": (6, absolute), "bcd2seven": (4, seven_segments),
    "decoder4": (4, decode), "saturating4": (8, saturating_add),
}  # fmt: skip


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
    if name in OWN:
        n_inputs, function = OWN[name]
        X = bits_of(np.arange(1 << n_inputs), n_inputs).astype(np.int64)
        problem = problems.from_arrays(X.astype(bool), np.asarray(function(X), dtype=bool), name=name)
    else:
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
