"""Ctrl-C and time limits: every public call and every verb ends within half a CPU second, and the next call works.

The tables name every public call and every verb; a test fails if a new one is missing.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import gradus
from gradus import problems
from gradus._cli.main import VERBS, run
from gradus._formats.registry import WRITTEN
from gradus._formats.table_files import write_table
from gradus._search.driver import Workspace
from gradus.errors import FormatError
from gradus.losses import LOSSES
from interrupting import WorkTime, interrupted, public_calls

PUBLIC = public_calls()
for verb in VERBS:
    importlib.import_module(f"gradus._cli.{verb}")
"""All verbs are imported first: that takes seconds, which are not to be measured."""
SECONDS = 0.5
CORES = 2
BEGUN = 0.3
"""CPU seconds after which a call is interrupted."""
SOON = 0.03
"""The same for calls that only handle something large."""


@pytest.fixture
def work_time(monkeypatch):
    return WorkTime(monkeypatch)


def bits(rows, columns, seed=0):
    return np.random.default_rng(seed).random((rows, columns)) < 0.5


def examples():
    """Random targets on so many rows that no call ends by itself."""
    return bits(1000, 90), bits(1000, 4, 1)


def series():
    genes = [f"g{k}" for k in range(40)]
    return [gradus.genes.Series(genes, bits(60, len(genes), k).astype(float), name=f"s{k}") for k in range(2)]


@functools.cache
def open_rules():
    return gradus.genes.infer(series(), time_limit=2, leave_out=False, attractors=False)


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


def endless_job():
    X, Y = examples()
    return gradus.lab.Job(X=X, Y=Y, settings=gradus.lab.Settings(loss="l1", max_iter=10**15), seed=1)


def continued_search():
    work = Workspace(endless_job())
    work.start()
    return gradus.lab.resume(work.job, work.checkpoint(iterations=0, restart=0))


LIMITED = {
    "learn": lambda **settings: gradus.learn(*examples(), **settings),
    "learn: in threads": lambda **settings: gradus.learn(*examples(), n_jobs=2, n_circuits=2, **settings),
    "learn: order by sets": lambda **settings: gradus.learn(*examples(), order="auto", **settings),
    "BooleanNetworkClassifier.fit": fit,
    "search": search,
    "search: order by sets": lambda **settings: search(order="auto", **settings),
    "minimum_feature_set": first_target(gradus.minimum_feature_set),
    "find_curriculum": lambda **settings: gradus.find_curriculum(*examples(), **settings),
    "tolerant_feature_sets": first_target(gradus.tolerant_feature_sets),
    "genes.infer": lambda **settings: gradus.genes.infer(series(), **settings),
    "genes.Inference.next_experiments": lambda **settings: open_rules().next_experiments(10**6, **settings),
}
"""Calls with a time limit."""
UNLIMITED = {
    "all_minimum_feature_sets": first_target(gradus.all_minimum_feature_sets),
    "search_many": lambda: list(gradus.search_many(many_searches())),
    "lab.run_search": lambda: gradus.lab.run_search(endless_job()),
    "lab.resume": continued_search,
    "lab.learn_whole": lambda: gradus.lab.learn_whole(*examples()),
    "lab.resolve_order": lambda: gradus.lab.resolve_order(*examples(), "auto"),
    "search_many: in threads": lambda: list(gradus.search_many(many_searches(), n_jobs=2)),
}


@pytest.fixture(scope="module")
def imported():
    """Make every call once: what it imports takes up to a second, and is not to be measured."""
    for call in LIMITED.values():
        call(time_limit=0)


@pytest.mark.parametrize("name", LIMITED)
@pytest.mark.parametrize("time_limit", [0, BEGUN])
def test_a_time_limit_holds(imported, work_time, name, time_limit):
    begin = work_time()
    LIMITED[name](time_limit=time_limit)
    assert work_time() - begin < CORES * time_limit + SECONDS


@pytest.mark.parametrize("name", [*LIMITED, *UNLIMITED])
def test_ctrl_c_ends_work_that_would_not_end(work_time, name):
    call = {**LIMITED, **UNLIMITED}[name]
    result, after = interrupted(call, BEGUN, work_time)
    assert after is not None, "the call ended by itself"
    assert after < SECONDS
    stopped = getattr(result, "stopped", None) or getattr(result, "stopped_", None)
    assert result is KeyboardInterrupt or stopped == "interrupted"
    threads = threading.active_count()
    if name in LIMITED:
        call(time_limit=0)  # it still works
    assert threading.active_count() <= threads + 1


def large_network(n_inputs=60, n_gates=20_000, n_outputs=20, reach=300):
    """Random gates, each of which reads two of the last `reach` nodes before it."""
    dice = np.random.default_rng(5)
    nodes = np.arange(n_inputs, n_inputs + n_gates)
    sources = np.stack([dice.integers(np.maximum(0, nodes - reach), nodes) for _ in range(2)], axis=1)
    outputs = dice.integers(len(nodes) + n_inputs - reach, len(nodes) + n_inputs, n_outputs)
    return gradus.Network(n_inputs, sources, outputs, dice.integers(1, 15, n_gates))


KINDS = tuple(extension[1:] for extension in WRITTEN)
"""Formats that are written."""


class Large:
    """Large objects of every kind, made once."""

    def __init__(self, folder):
        self.folder = folder
        self._compile_all()
        self.network = large_network()
        self.model = gradus.Model.of_bits(self.network)
        self.X = bits(200_000, self.network.n_inputs)
        self.json = str(folder / "model.json")
        self.network.save(self.json)
        self.csv = str(folder / "large.csv")
        columns = bits(40_000, 60)
        write_table(folder / "large.csv", columns, columns[:, :1], [f"x{k}" for k in range(60)], ["z"])
        self.learned = gradus.learn(bits(40, 6), bits(40, 1, 3), time_limit=0.2)
        self.rows = np.tile(bits(40, 6), (50_000, 1))
        self.fitted = gradus.BooleanNetworkClassifier(n_circuits=1, time_limit=0.2).fit(
            bits(40, 6) * 1.5, bits(40, 1, 3)[:, 0]
        )
        genes = gradus.genes.Series(["a", "b", "c"], bits(12, 3, 4).astype(float), name="s")
        self.inferred = gradus.genes.infer(genes, time_limit=0.2, attractors=False)
        self.states = np.tile(bits(12, 3), (200_000, 1))

    def _compile_all(self):
        """Compile everything on small objects first, so that Ctrl-C interrupts the work and not the compiler."""
        small = gradus.Model.of_bits(large_network(6, 30, 2, 10))
        small.votes(bits(5, 6))
        small.rules()
        small.save_page(self.path("small.html"))
        small.network.prune().to_nand()
        for kind in KINDS:
            gradus.export(small, self.path(f"small.{kind}"))

    def path(self, name):
        return self.folder / name


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return Large(tmp_path_factory.mktemp("large"))


HANDLING = {
    "formulas": lambda large: gradus.formulas(large.network),
    **{f"export: .{kind}": lambda large, kind=kind: gradus.export(large.model, large.path(f"c.{kind}")) for kind in KINDS},
    "load": lambda large: gradus.load(large.json),
    "read_network": lambda large: gradus.read_network(large.json),
    "lab.network_picture": lambda large: gradus.lab.network_picture(large.network, "svg"),
    "lab.pack": lambda large: gradus.lab.pack(large.X),
    "read_table": lambda large: gradus.read_table(large.csv),
    "genes.read_series": lambda large: gradus.genes.read_series(large.csv),
    "problems.from_file": lambda large: problems.from_file(large.csv, targets=["z"]),
    "problems.load": lambda large: problems.load("add10").X,
    "problems.from_arrays": lambda large: problems.from_arrays(large.rows, large.rows[:, :1]),
    "Network.load": lambda large: gradus.Network.load(large.json),
    "Network.from_json": lambda large: gradus.Network.from_json(large.path("model.json").read_text()),
    "Network.predict": lambda large: large.network.predict(large.X),
    "Network.prune": lambda large: large.network.prune(),
    "Network.save": lambda large: large.network.save(large.path("n.json")),
    "Network.to_json": lambda large: large.network.to_json(),
    "Network.to_nand": lambda large: large.network.to_nand(),
    "Network.node_words": lambda large: large.network.predict(large.X),
    "Model.as_read": lambda large: large.model.as_read(),
    "Model.load": lambda large: gradus.Model.load(large.json),
    "Model.of_bits": lambda large: gradus.Model.of_bits(large.network),
    "Model.predict": lambda large: large.model.predict(large.X),
    "Model.predict_proba": lambda large: large.model.predict_proba(large.X),
    "Model.predict_codes": lambda large: large.model.predict_codes(large.X),
    "Model.votes": lambda large: large.model.votes(large.X),
    "Model.rules": lambda large: large.model.rules(),
    "Model.save": lambda large: large.model.save(large.path("m.json")),
    "Model.save_page": lambda large: large.model.save_page(large.path("m.html")),
    "Model.to_json": lambda large: large.model.to_json(),
    "LearnResult.voting_network": lambda large: large.learned.voting_network(),
    "Model.voted": lambda large: large.model.voted(),
    "LearnResult.predict": lambda large: large.learned.predict(large.rows),
    "LearnResult.next_examples": lambda large: large.learned.next_examples(1000),
    "LearnResult.predict_proba": lambda large: large.learned.predict_proba(large.rows),
    "BooleanNetworkClassifier.predict": lambda large: large.fitted.predict(large.rows),
    "BooleanNetworkClassifier.predict_proba": lambda large: large.fitted.predict_proba(large.rows),
    "BooleanNetworkClassifier.score": lambda large: large.fitted.score(large.rows, large.rows[:, 0]),
    "genes.Inference.predict": lambda large: large.inferred.predict(large.states),
    "genes.Inference.predict_proba": lambda large: large.inferred.predict_proba(large.states),
    "kendall_tau": lambda large: gradus.kendall_tau(range(3000), list(reversed(range(3000)))),
    **{f"losses.{name}": lambda large, name=name: getattr(gradus.losses, name)(large.rows) for name in LOSSES},
}
"""Calls whose duration depends on the size of their arguments."""
SMALL = {
    "genes.GeneModel.edges",
    "genes.GeneModel.likely_edges",
    "genes.GeneModel.predict",
    "genes.GeneModel.predict_proba",
    "genes.GeneModel.simulate",
    "genes.Series.binary",
    "genes.Series.in_order",
    "genes.Series.part",
    "genes.Series.places",
    "genes.Series.step",
    "genes.Series.transitions",
    "genes.TargetPosterior.majorities",
    "genes.TargetPosterior.packed",
    "genes.TargetPosterior.predict_proba",
    "genes.TolerantSets.predict_proba",
    "genes.fission_yeast_model",
    "genes.from_series",
    "problems.further",
    "BooleanNetworkClassifier.rules",
    "BooleanNetworkClassifier.save",
    "Curriculum.hierarchy",
    "Model.answer",
    "Model.fit",
    "Model.grouping",
    "Model.decide",
    "Model.said",
    "Model.with_goals",
    "Model.notes",
    "Model.program",
    "Model.single",
    "Network.cone",
    "Network.with_names",
    "Progress.describe",
    "lab.circuit_bits",
    "lab.compiled",
    "lab.generator_state",
    "lab.inlined",
    "lab.largest_cost",
    "lab.make_network",
    "lab.run_many",
    "losses.by_name",
    "problems.families",
    "problems.from_model",
    "problems.names",
}
"""Calls that only call one of the others, are always short, or need a GPU (`tests/search/test_cuda.py` has those)."""


def test_the_tables_name_every_public_call():
    named = {name.partition(":")[0] for name in (*LIMITED, *UNLIMITED, *HANDLING)}
    assert named | SMALL == PUBLIC
    assert not named & SMALL


@pytest.mark.parametrize("name", HANDLING)
def test_ctrl_c_ends_a_call_on_something_large(work_time, large, name):
    def handle():
        with contextlib.suppress(FormatError):  # some formats refuse circuits of this size
            HANDLING[name](large)

    _, after = interrupted(handle, SOON, work_time)
    assert after is None or after < SECONDS


LONG_VERBS = {
    "learn": "learn d.csv --targets z0,z1,z2,z3 -o model.json",
    "curriculum": "curriculum d.csv --targets z0,z1,z2,z3",
    "infer": "infer s.csv -o out",
    "bench": "bench add6/80 --seconds 1000",
}
"""Verbs that work long: they get time to begin. Those of gradus-paper have their own test there."""
OTHER_VERBS = {
    "predict": "predict {json} {csv} -o p.csv",
    "export": "export {json} c.sbml",
    "draw": "draw {json} c.png",
    "problems": "problems write add10 t.csv",
}
"""Verbs that handle something large: they are interrupted soon."""


def test_the_tables_name_every_verb():
    assert {*LONG_VERBS, *OTHER_VERBS} == set(VERBS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", [*LONG_VERBS, *OTHER_VERBS])
def test_a_signal_ends_a_verb_with_a_sentence(work_time, large, tmp_path, monkeypatch, capsys, verb, number):
    monkeypatch.chdir(tmp_path)
    X, Y = examples()
    write_table(tmp_path / "d.csv", X, Y, [f"x{k}" for k in range(90)], [f"z{k}" for k in range(4)])
    write_table(tmp_path / "s.csv", X[:60, :20], X[:60, 20:40], [f"g{k}" for k in range(20)], [f"h{k}" for k in range(20)])
    words = {**LONG_VERBS, **OTHER_VERBS}[verb].format(json=large.json, csv=large.csv)
    begun = 3 * BEGUN if verb in LONG_VERBS else SOON
    code, after = interrupted(lambda: run(words.split()), begun, work_time, waiting=3.0, number=number)
    assert after is not None, "the verb ended by itself"
    assert after < SECONDS
    said = capsys.readouterr()
    assert code in ((0, 130) if number == signal.SIGINT else (143,))
    assert any(word in said.err + said.out for word in ("stopped", "early", "interrupted"))
    assert "Traceback" not in said.err


def test_the_clock_of_these_tests_does_not_count_compiling(work_time):
    begin = work_time()
    with work_time.stopped():
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
    assert work_time() - begin < 0.02
