"""Ctrl-C and time limits: every public call that can take long ends within half a CPU second, and the next call works.

A new call gets a line in `CALLS` or, if it has no time limit, in `OTHERS`.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import gradus
from gradus import problems
from gradus._cli.main import run
from gradus._formats.table_files import write_table

SECONDS = 0.5
CORES = 2
BEGUN = 0.3
"""Seconds after which a call is interrupted."""


def bits(rows, columns, seed=0):
    return np.random.default_rng(seed).random((rows, columns)) < 0.5


def examples():
    """Random targets, which nothing explains, on so many rows that no call ends by itself."""
    return bits(1000, 90), bits(1000, 4, 1)


def series():
    genes = [f"g{k}" for k in range(40)]
    return [gradus.Series(genes, bits(60, len(genes), k).astype(float), name=f"s{k}") for k in range(2)]


def many_searches():
    X, Y = examples()
    for seed in range(1000):
        yield {"X": X, "Y": Y, "order": None, "max_iter": 10**15, "seed": seed}


def fit(**settings):
    X, Y = examples()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gradus.BooleanNetworkClassifier(**settings).fit(X + bits(*X.shape, 2) * 0.5, Y)


def search(order=None, **settings):
    return gradus.search(*examples(), order=order, max_iter=10**15, **settings)


def first_target(call):
    def run(**settings):
        X, Y = examples()
        return call(X, Y[:, 0], **settings)

    return run


CALLS = {
    "learn": lambda **settings: gradus.learn(*examples(), **settings),
    "learn in threads": lambda **settings: gradus.learn(*examples(), n_jobs=2, n_circuits=2, **settings),
    "learn, order by sets": lambda **settings: gradus.learn(*examples(), order="auto", **settings),
    "fit": fit,
    "search": search,
    "search, order by sets": lambda **settings: search(order="auto", **settings),
    "minimum_feature_set": first_target(gradus.minimum_feature_set),
    "find_curriculum": lambda **settings: gradus.find_curriculum(*examples(), **settings),
    "tolerant_feature_sets": first_target(gradus.tolerant_feature_sets),
    "infer": lambda **settings: gradus.infer(series(), **settings),
}
"""Calls with a time limit."""
OTHERS = {
    "all_minimum_feature_sets": first_target(gradus.all_minimum_feature_sets),
    "search_many": lambda: list(gradus.search_many(many_searches())),
    "search_many in threads": lambda: list(gradus.search_many(many_searches(), n_jobs=2)),
}
KERNELS_OF = {"all_minimum_feature_sets": "minimum_feature_set", "search_many": "search", "search_many in threads": "search"}
"""Calls without a time limit, and one that uses the same kernels."""


@pytest.fixture(scope="module")
def ready():
    """Compile what a call needs, once: that may take a minute, costs no time limit, and is not what is measured here."""
    done = set()

    def prepare(name):
        like = KERNELS_OF.get(name, name)
        if like not in done:
            done.add(like)
            CALLS[like](time_limit=1.0)

    return prepare


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("time_limit", [0, BEGUN])
def test_a_time_limit_holds(ready, name, time_limit):
    ready(name)
    begin = time.process_time()
    CALLS[name](time_limit=time_limit)
    assert time.process_time() - begin < CORES * time_limit + SECONDS


@contextlib.contextmanager
def interrupt_after(seconds):
    """Send Ctrl-C to this process; the list gets the CPU time at that moment."""
    sent = []

    def interrupt():
        sent.append(time.process_time())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # as a terminal does: it may be waiting

    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        yield sent
    finally:
        timer.cancel()


@pytest.mark.parametrize("name", [*CALLS, *OTHERS])
def test_ctrl_c_is_answered(ready, name):
    call = {**CALLS, **OTHERS}[name]
    ready(name)
    with interrupt_after(BEGUN) as sent:
        try:
            found = call()
            stopped = getattr(found, "stopped", None) or getattr(found, "stopped_", None)
        except KeyboardInterrupt:
            stopped = "raised"
    assert sent, "the call has ended by itself"
    assert time.process_time() - sent[0] < SECONDS
    assert stopped in ("raised", "interrupted")
    threads = threading.active_count()
    if name in CALLS:
        call(time_limit=0)  # it still works
    assert threading.active_count() <= threads + 1


@pytest.fixture(scope="module")
def large_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "large.csv"
    X = bits(40_000, 60)
    write_table(path, X, X[:, :1], [f"x{k}" for k in range(60)], ["z"])
    return path


READS = {
    "read_table": gradus.read_table,
    "read_series": gradus.read_series,
    "from_file": lambda path: problems.from_file(path, targets=["z"]),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_reading_a_large_file_is_interrupted(large_table, read):
    def read_and_wait():
        read(large_table)
        time.sleep(0.1)

    with interrupt_after(0.05) as sent, pytest.raises(KeyboardInterrupt):
        read_and_wait()
    assert time.process_time() - sent[0] < SECONDS


VERBS = {
    "learn": ["learn", "d.csv", "--targets", "z0,z1,z2,z3", "-o", "model.json"],
    "curriculum": ["curriculum", "d.csv", "--targets", "z0,z1,z2,z3"],
    "infer": ["infer", "s.csv", "-o", "out"],
    "reproduce": ["reproduce", "fig3", "-o", "out", "--n-jobs", "1"],
    "bench": ["bench", "add6/80", "--seconds", "1000"],
}
"""The verbs that can take long; the others read a file and write one."""
KERNELS_OF_VERBS = {"learn": "learn", "curriculum": "find_curriculum", "infer": "infer"}


@pytest.mark.parametrize("verb", VERBS)
def test_ctrl_c_ends_a_verb_with_a_sentence(ready, tmp_path, monkeypatch, capsys, verb):
    monkeypatch.chdir(tmp_path)
    X, Y = examples()
    write_table(tmp_path / "d.csv", X, Y, [f"x{k}" for k in range(90)], [f"z{k}" for k in range(4)])
    write_table(tmp_path / "s.csv", X[:60, :20], X[:60, 20:40], [f"g{k}" for k in range(20)], [f"h{k}" for k in range(20)])
    if verb in KERNELS_OF_VERBS:
        ready(KERNELS_OF_VERBS[verb])
    with interrupt_after(3 * BEGUN) as sent:
        code = run(VERBS[verb])
    assert sent, "the verb has ended by itself"
    assert time.process_time() - sent[0] < SECONDS
    said = capsys.readouterr()
    assert code in (0, 130)
    assert "stopped" in said.err + said.out or "early" in said.err + said.out
    assert "Traceback" not in said.err
