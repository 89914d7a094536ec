"""Accuracy, size, order and time of the lessons on known functions: rows in a file, and the tables of docs/results/lessons.md.

    python benchmarks/lessons.py --tables acceptance,noise --first-set 15000 --sets 30 --n-jobs 16 --seconds 500 -o rows.jsonl
    python benchmarks/lessons.py --tables counts,doubtful --first-set 300 --sets 20 -o rows.jsonl
    python benchmarks/lessons.py --show rows.jsonl

A case is problem/examples, with @p% for labels flipped at random. Training set number i is `sample(n, i)` of the problem, and
the score is over all rows that were not trained on. "parity5of64" is the parity of 5 of 64 columns, scored on 4,096 other
rows. Every fit is written as one line of JSON when it ends; fits that are in the file are not made again, so the same command
goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import re
import resource
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

for _threads in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

import numpy as np  # noqa: E402 - after the number of threads is set

Row = dict[str, Any]

ACCEPTANCE = {
    "cpar7/32": (".99", ".798"), "add6/64": (".985", ".811"), "add6/80": (".995", ".887 · .60 · .71"),
    "sub5/48": (".98", ".793"), "cmux15/48": (".985", ".864"), "cmaj9/64": (".91", ".885 · .90"),
    "cmaj9/96": (".955", ".921 · – · 1.000"), "alu74181/192": (".98", ".892"),
    "mammalian/32": (".94", ".906 · .92 · .948"), "fabrca/48": (".945", ".931 · .87 · .943"),
    "crc4/32": (".99", ".50 · .44 · .51"), "gray2bin6/24": (".99", ".72 · .47 · .66"),
    "popcount7/64": (".95", ".54 · .46 · .944"), "cpar7/64@5%": (".99", ".855 · .50"),
    "cmux15/96@5%": (".99", ".72 · .77"), "sub5/96@5%": (".97", ".75 · .64"), "add6/128@5%": (".985", ".69 · .63"),
    "cmaj9/128@5%": (".92", ".73 · .89"), "random/200": ("the constants'", "–"),
}  # fmt: skip
"""Accuracy required, and that of other learners (see docs/results/lessons.md)."""
COUNTS = [
    "cmaj9/64", "cmaj9/96", "sym9/128", "sorter5/24", "popcount7/64", "comparator5/128", "parity16of16/24",
    "parity5of64/100@5%",
]  # fmt: skip
DOUBTFUL = ["parity2of12/200@40%", "parity2of12/1000@40%", "random/200"]
PARITY = re.compile(r"parity([0-9]+)of([0-9]+)")
FURTHER = [
    "comparator5/128", "mul3/32", "mul4/64", "counter6/24", "bin2gray6/24", "encoder8/64", "hamming7/16", "sym9/128",
    "johnson6/24", "traffic/24", "lfsr8/32", "sorter5/24", "abs6/32", "hex2seven/10", "decoder4/12", "saturating4/96",
]  # fmt: skip
NOISE = [
    [f"{base}@{rate}%" for rate in (1, 2, 5, 10)] for base in ("cpar7/64", "cmux15/96", "sub5/96", "add6/128", "cmaj9/128")
]
SIZES = [
    [f"{name}/{size}" for size in sizes]
    for name, sizes in {
        "cpar7": (16, 32, 64), "add6": (40, 80, 160), "sub5": (24, 48, 96), "cmux15": (24, 48, 96), "cmaj9": (48, 96, 192),
        "mammalian": (16, 32, 64), "popcount7": (32, 64, 96), "crc4": (16, 32, 64), "gray2bin6": (12, 24, 48),
    }.items()
]  # fmt: skip
SETTINGS_CASES = ["cpar7/32", "add6/64", "sub5/48", "cmux15/48", "cmaj9/64", "mammalian/32", "popcount7/64"]
SETTINGS: dict[str, Row] = {
    "default": {}, "NAND gates": {"gates": "nand"}, "1 try": {"n_tries": 1}, "6 tries": {"n_tries": 6},
    "1 circuit": {"n_circuits": 1}, "7 circuits": {"n_circuits": 7},
}  # fmt: skip
TABLES: dict[str, list[tuple[str, Row]]] = {
    "acceptance": [(case, {}) for case in ACCEPTANCE],
    "further": [(case, {}) for case in FURTHER],
    "counts": [(case, {}) for case in COUNTS],
    "doubtful": [(case, {}) for case in DOUBTFUL],
    "noise": [(case, {}) for cases in NOISE for case in cases],
    "sizes": [(case, {}) for cases in SIZES for case in cases],
    "settings": [(case, variant) for case in SETTINGS_CASES for variant in SETTINGS.values()],
}
FEWER_SETS = {"alu74181": 10, "random": 10}
SLOW = ("alu74181", "fabrca")  # are begun first, so that no process is left alone with one at the end


def draw(case: str, number: int) -> tuple[Any, Any, Any, Any, Any]:
    """Training inputs and targets, test inputs and targets, and the known order of a case."""
    from gradus import problems

    name, size, noise = parts(case)
    if name == "random":
        rng = np.random.default_rng([number, 12])
        X, T = rng.random((size, 10)) < 0.5, rng.random((1024, 10)) < 0.5
        chance = np.array([0.2, 0.5, 0.7])
        return X, rng.random((len(X), 3)) < chance, T, rng.random((len(T), 3)) < chance, None
    if match := PARITY.fullmatch(name):
        of, among = map(int, match.groups())
        rng = np.random.default_rng([number, size, of, among])
        columns, X, T = rng.permutation(among)[:of], rng.random((size, among)) < 0.5, rng.random((4096, among)) < 0.5
        Y, U = (np.bitwise_xor.reduce(rows[:, columns], axis=1, keepdims=True) for rows in (X, T))
        return X, Y ^ (rng.random(Y.shape) < noise / 100), T, U, None
    problem = problems.load(name)
    train, test = problem.sample(size, number)
    (X, Y), (T, U) = problem.rows(train), problem.rows(test)
    if noise:
        Y = Y ^ (np.random.default_rng([number, 5]).random(Y.shape) < noise / 100)
    return X, Y, T, U, problem.known_order


def parts(case: str) -> tuple[str, int, float]:
    """Problem, examples and percentage of flipped labels."""
    base, _, noise = case.partition("@")
    name, size = base.split("/")
    return name, int(size), float(noise.rstrip("%") or 0)


def run(job: tuple[str, int, Row]) -> Row:
    """One fit, scored."""
    from gradus import kendall_tau, learn

    case, number, variant = job
    X, Y, T, U, known = draw(case, number)
    begin = time.process_time()
    result = learn(X, Y, **variant)
    seconds = time.process_time() - begin
    majority = (Y.mean(axis=0) > 0.5)[np.newaxis]
    problem, examples, noise = parts(case)
    return {
        "case": case, "problem": problem, "examples": examples, "noise": noise, "set": number, "variant": variant,
        "accuracy": float((result.predict(T) == U).mean()), "one_circuit": float((result.network.predict(T) == U).mean()),
        "constant_accuracy": float((majority == U).mean()),
        "gates": result.n_gates, "tau": kendall_tau(result.order, known) if known else None, "cpu": seconds,
        "errors": int(result.errors.sum()), "order": list(result.order), "voting": result.n_voting,
        "circuits": len(result.circuits),
    }  # fmt: skip


def warm_up() -> None:
    """Compile before anything is timed."""
    from gradus import learn

    rng = np.random.default_rng(0)
    X = rng.random((20, 3)) < 0.5
    learn(X, X[:, :2] ^ X[:, 1:], n_circuits=1, n_tries=1)


def fits(jobs: list[Any], n_jobs: int, seconds: float) -> Iterator[Row]:
    """Rows as they are ready; after so many seconds, fits under way are dropped."""
    end = time.monotonic() + seconds
    warm_up()
    with multiprocessing.Pool(n_jobs, warm_up) as pool:  # leaving it ends its processes
        rows = pool.imap_unordered(run, jobs)
        for done in range(len(jobs)):
            try:
                yield rows.next(min(max(end - time.monotonic(), 0.001), threading.TIMEOUT_MAX))
            except multiprocessing.TimeoutError:
                print(f"{len(jobs) - done} of {len(jobs)} fits were not made: the time was over.")
                return


def key(row: Row) -> tuple[str, str, int]:
    return row["case"], json.dumps(row["variant"], sort_keys=True), row["set"]


def read_rows(paths: list[str]) -> list[Row]:
    """Rows of some files; a fit that is there twice counts once, and a line cut short does not count."""
    rows: dict[Any, Row] = {}
    for path in paths:
        for line in Path(path).read_text("utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                print(f"{path}: a line is cut short and left out: {line[:60]}")
                continue
            rows[key(row)] = row
    return sorted(rows.values(), key=key)


def by_set(rows: list[Row], case: str, variant: Row) -> dict[int, Row]:
    return {row["set"]: row for row in rows if row["case"] == case and row["variant"] == variant}


def mean_and_error(values: list[float]) -> str:
    spread = f" ± {np.std(values, ddof=1) / math.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{spread}" if values else "–"


def label(case: str) -> str:
    if case.startswith("random"):
        return "labels drawn at random, 200 × 10 × 3"
    base, _, noise = case.partition("@")
    return f"{base}, {noise.rstrip('%')} % of the labels flipped" if noise else base


def line_of(case: str, these: list[Row], acceptance: bool) -> str:
    def values(name: str) -> list[float]:
        return [row[name] for row in these if row.get(name) is not None]

    accuracy = mean_and_error(values("accuracy"))
    required, others = ACCEPTANCE.get(case, ("", ""))
    if case.startswith("random"):
        accuracy, required = f"{np.mean(values('accuracy')):.4f}", f"constants {np.mean(values('constant_accuracy')):.4f}"
    tau = f"{np.mean(values('tau')):.2f}" if values("tau") else "–"
    wrong = "–" if "@" in case or case.startswith("random") else sum(errors > 0 for errors in values("errors"))
    cpu = f"{np.mean(values('cpu')):.1f} ({max(values('cpu')):.1f})"
    cells: list[Any] = [label(case), len(these), accuracy]
    cells += [required, others] if acceptance else [mean_and_error(values("one_circuit"))]
    cells += [f"{np.mean(values('gates')):.1f}"] + ([tau] if acceptance else []) + [cpu, wrong]
    return f"| {' | '.join(map(str, cells))} |"


def show_cases(rows: list[Row], cases: list[str], acceptance: bool) -> None:
    """One line per case, for the acceptance table or for further functions."""
    more = (" required | others |", " τ |") if acceptance else (" one circuit |", "")
    head = f"| problem/examples | sets | accuracy on unseen rows |{more[0]} gates |{more[1]} CPU s, mean (max) |"
    lines = [line_of(case, list(by_number.values()), acceptance) for case in cases if (by_number := by_set(rows, case, {}))]
    print_table(head + " fits with training errors |", lines)


def show_grid(rows: list[Row], title: str, columns: list[str], lines: dict[str, list[tuple[str, Row]]]) -> None:
    """Mean accuracies, one column per variant, each line over the training sets that all its cells have."""
    printed = []
    for name, cells in lines.items():
        columns_rows = [by_set(rows, case, variant) for case, variant in cells]
        common = set.intersection(*map(set, columns_rows))
        if common:
            means = [np.mean([by_number[number]["accuracy"] for number in sorted(common)]) for by_number in columns_rows]
            printed.append(f"| {name} | {len(common)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    print_table(f"| {title} | sets | {' | '.join(columns)} |", printed)


def print_table(head: str, lines: list[str]) -> None:
    if lines:
        print(head, "|---" * (head.count("|") - 1) + "|", *lines, "", sep="\n")


def show(rows: list[Row]) -> None:
    """All tables of docs/results/lessons.md that there are rows for."""
    named = [*COUNTS, *DOUBTFUL, *ACCEPTANCE, *FURTHER, *(case for cases in NOISE + SIZES for case in cases)]
    show_cases(rows, COUNTS + DOUBTFUL, acceptance=False)
    show_cases(rows, list(ACCEPTANCE), acceptance=True)
    others = sorted({row["case"] for row in rows} - set(named))
    show_cases(rows, FURTHER + others, acceptance=False)
    noise: dict[str, list[tuple[str, Row]]] = {cases[0].partition("@")[0]: [(case, {}) for case in cases] for cases in NOISE}
    show_grid(rows, "labels flipped", ["1 %", "2 %", "5 %", "10 %"], noise)
    sizes: dict[str, list[tuple[str, Row]]] = {
        f"{cases[0]}, {', '.join(case.split('/')[1] for case in cases[1:])}": [(case, {}) for case in cases] for cases in SIZES
    }
    show_grid(rows, "half the examples, those above, double (popcount 1.5 times)", ["half", "as above", "double"], sizes)
    settings: dict[str, list[tuple[str, Row]]] = {
        case: [(case, variant) for variant in SETTINGS.values()] for case in SETTINGS_CASES
    }
    show_grid(rows, "the same training sets", list(SETTINGS), settings)


def pricing_speed() -> str:
    """Candidates priced per CPU second on add6/80: every pair of nodes with the best of its 16 functions."""
    from gradus._circuit.gate_list import empty_circuit
    from gradus._core.run import Run
    from gradus._lessons.description import Solution
    from gradus._lessons.packed_examples import pack_examples
    from gradus._lessons.walks import LessonSettings, Walks

    X, Y, *_ = draw("add6/80", 0)
    columns = list(range(Y.shape[1]))
    start = Solution(empty_circuit(X.shape[1], len(columns)), columns, np.zeros(len(columns), np.int64))
    walks = Walks(pack_examples(X, Y, np.ones_like(Y)), LessonSettings(), Run())
    begin = time.process_time()
    pairs = walks.fit(start, 1, 2_000_000_000, spare=60).priced / (time.process_time() - begin)
    return f"add6/80: {pairs / 1e6:.0f} million pairs of nodes priced per CPU second, {16 * pairs / 1e6:.0f} million functions"


def large_table(n_examples: int, n_inputs: int) -> str:
    """Learn one target that eight of many inputs decide, with 2 % wrong labels: errors over time, CPU time and memory."""
    from gradus import Progress, learn

    rng = np.random.default_rng(1)
    X = rng.random((n_examples, n_inputs)) < 0.5
    truth = ((X[:, 0] & X[:, 1]) ^ (X[:, 2] | X[:, 3])) & ~(X[:, 4] & X[:, 5]) | (X[:, 6] & X[:, 7])
    labels = truth ^ (rng.random(n_examples) < 0.02)
    begin, calls = time.process_time(), [time.thread_time()]
    improved: list[tuple[float, int]] = []

    def note(progress: Progress) -> None:
        calls.append(time.thread_time())
        errors = progress.errors or 0
        if not improved or errors < improved[-1][1]:
            improved.append((time.process_time() - begin, errors))

    result = learn(X, labels, callback=note)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    n_wrong, n_true = int((labels ^ truth).sum()), np.mean(result.predict(X)[:, 0] == truth)
    steps = ", ".join(f"{errors} at {seconds:.1f} s" for seconds, errors in improved)
    return (
        f"{n_examples} x {n_inputs}: errors {steps}; in the end {int(result.errors.sum())} errors ({n_wrong} labels are"
        f" wrong), {result.n_gates} gates, {n_true:.4f} of the true values,"
        f" {time.process_time() - begin:.1f} CPU s; longest step {max(np.diff(calls)):.2f} CPU s, {megabytes} MB"
    )


def all_jobs(options: argparse.Namespace) -> list[tuple[str, int, Row]]:
    """Return the fits asked for, slow problems first and then set by set, each once."""
    if options.cases:
        cells = [(case, read_variant(options.variant)) for case in options.cases.split(",")]
    else:
        cells = [cell for name in options.tables.split(",") for cell in TABLES[name]]
    jobs = {}
    for case, variant in cells:
        sets = options.sets if options.cases else min(options.sets, FEWER_SETS.get(parts(case)[0], options.sets))
        for number in range(options.first_set, options.first_set + sets):
            jobs[key({"case": case, "variant": variant, "set": number})] = (case, number, variant)
    return sorted(jobs.values(), key=lambda job: (not job[0].startswith(SLOW), job[1]))


def read_variant(entries: list[str]) -> Row:
    variant: Row = {}
    for entry in entries:
        name, _, value = entry.partition("=")
        variant[name] = int(value) if value.isdigit() else float(value) if value.replace(".", "").isdigit() else value
    return variant


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", default="acceptance", help=f"comma-separated: {', '.join(TABLES)}")
    parser.add_argument("--cases", help="comma-separated, in place of tables")
    parser.add_argument("--variant", nargs="*", default=[], metavar="NAME=VALUE", help="arguments of learn, with --cases")
    parser.add_argument("--first-set", type=int, default=0, help="number of the first training set")
    parser.add_argument("--sets", type=int, default=30, help="training sets per cell; in tables at most 10 of the 74181")
    parser.add_argument("--n-jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long; fits under way are dropped")
    parser.add_argument("-o", "--output", default="lessons.jsonl", help="append one line of JSON per fit to this file")
    parser.add_argument("--large", action="store_true", help="only learn 6,400 x 32 and 100,000 x 50, and time pricing")
    parser.add_argument("--show", nargs="+", metavar="FILE", help="only print the tables of these files")
    options = parser.parse_args()
    if options.show:
        show(read_rows(options.show))
        return
    if options.large:
        warm_up()
        print(pricing_speed(), flush=True)
        for shape in ((6_400, 32), (100_000, 50)):
            print(large_table(*shape), flush=True)
        return
    there = {key(row) for row in read_rows([options.output])} if Path(options.output).exists() else set()
    jobs = [job for job in all_jobs(options) if key({"case": job[0], "set": job[1], "variant": job[2]}) not in there]
    with open(options.output, "a", encoding="utf-8") as file:
        for row in fits(jobs, options.n_jobs, options.seconds):
            file.write(json.dumps(row) + "\n")
            file.flush()
    show(read_rows([options.output]))


if __name__ == "__main__":
    main()
