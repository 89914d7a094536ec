"""One digest of what every part of Gradus computes from seeds: circuits, orders, iterations, sets, rules, predictions.

    python benchmarks/digest.py                       # one line to compare between versions of Python, NumPy and Numba
    python benchmarks/digest.py --save before.json    # every value, to compare with
    python benchmarks/digest.py --compare before.json # names the parts that differ; the exit code is 1 if any does

Texts and files are not in it: they may be worded anew while every number stays the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

import gradus
from gradus.problems import load

Part = tuple[str, Any]
LOSSES = ("l1", "lw", "llh", "lgh")
LESSONS = (
    ("add3", 24, 0.0),
    ("add6", 80, 0.0),
    ("cpar7", 40, 0.0),
    ("cmux15", 64, 0.0),
    ("sub5", 96, 0.05),
    ("cmaj9", 128, 0.05),
)


def wiring(network: gradus.Network) -> list[Any]:
    """Return a circuit as numbers: inputs, sources, functions and outputs."""
    functions = None if network.functions is None else np.asarray(network.functions).tolist()
    return [network.n_inputs, network.sources.tolist(), functions, np.asarray(network.outputs).tolist()]


def examples(name: str, size: int, sample: int = 1) -> tuple[Any, Any, Any]:
    """Return inputs and targets of a training set, and all inputs of the problem."""
    problem = load(name)
    rows, _ = problem.sample(size, sample)
    return problem.X[rows], problem.Y[rows], problem.X


def samples() -> Iterator[Part]:
    for name in ("add3", "cpar7", "cmux15", "fabrca"):
        yield f"sample/{name}", [np.asarray(rows).tolist() for rows in load(name).sample(20, 3)]


def searches() -> Iterator[Part]:
    add3 = load("add3")
    for loss in LOSSES:
        found = gradus.search(add3.X, add3.Y, loss=loss, order="auto", seed=5)
        yield f"search/add3/{loss}", [wiring(found.network), found.iterations, found.restarts, list(found.order)]
        X, Y, _ = examples("cmaj9", 48)
        cut = gradus.search(X, Y, loss=loss, order=None, seed=2, max_iter=20_000, n_restarts=1)
        yield f"search/cmaj9/{loss}", [wiring(cut.network), cut.iterations, cut.loss, cut.live_gates, cut.stopped]
    jobs = [{"X": add3.X, "Y": add3.Y, "loss": loss, "seed": 3} for loss in LOSSES]
    for n_jobs in (1, 2):
        many = list(gradus.search_many(jobs, n_jobs=n_jobs))
        yield f"search_many/{n_jobs}", [[wiring(result.network), result.iterations] for result in many]


def lessons() -> Iterator[Part]:
    for name, size, noise in LESSONS:
        X, Y, everything = examples(name, size)
        Y = Y ^ (np.random.default_rng(6).random(Y.shape) < noise)
        for n_jobs in (1, 2):
            taught = gradus.learn(X, Y, seed=7, n_jobs=n_jobs)
            yield (
                f"learn/{name}/{n_jobs}",
                [[wiring(c) for c in taught.circuits], list(taught.order), np.asarray(taught.errors).tolist()],
            )
        yield f"learn/{name}/predictions", np.packbits(taught.predict(everything)).tolist()
    X, Y, _ = examples("add3", 32)
    for order in ("auto", "entropy", "random", None, [2, 0, 1]):
        taught = gradus.learn(X, Y, order=order, gates="nand", noise=0.0, n_circuits=1, seed=1)
        yield f"learn/nand/{order}", [wiring(taught.network), list(taught.order)]
    rng = np.random.default_rng(1)
    yield "learn/random", wiring(gradus.learn(rng.random((100, 8)) < 0.5, rng.random((100, 2)) < 0.5, seed=0).network)


def sets() -> Iterator[Part]:
    rng = np.random.default_rng(9)
    X, y = rng.random((60, 20)) < 0.5, rng.random(60) < 0.5
    found = gradus.minimum_feature_set(X, y)
    yield "sets/minimum", [list(found.features), found.lower_bound, found.optimal]
    yield "sets/all", gradus.all_minimum_feature_sets(X, y, limit=5)
    codes = rng.integers(0, 4, (80, 15))
    yield "sets/categories", gradus.all_minimum_feature_sets(codes, rng.random(80) < 0.4, limit=50)
    known = gradus if hasattr(gradus, "tolerant_feature_sets") else gradus.genes
    tolerant = known.tolerant_feature_sets(X, X[:, 3] ^ X[:, 5])
    yield "sets/tolerant", [[list(ranked.features) for ranked in tolerant.sets], tolerant.features.round(9).tolist()]
    for choose in ("first", "random"):
        for name, size in (("add4", 60), ("cmux15", 70)):
            X, Y, _ = examples(name, size)
            curriculum = gradus.find_curriculum(X, Y, seed=4, choose=choose)
            found = [list(curriculum.order), list(curriculum.sizes), [sorted(s) for s in curriculum.feature_sets]]
            yield f"curriculum/{name}/{choose}", [*found, np.asarray(curriculum.overlap).tolist()]


def tables() -> Iterator[Part]:
    rng = np.random.default_rng(9)
    sizes, colours = rng.normal(size=90).round(2), rng.choice(["red", "green", "blue"], 90)
    table = np.empty((90, 3), dtype=object)
    table[:, 0], table[:, 1], table[:, 2] = sizes, colours, rng.normal(size=90).round(1)
    table[5, 2] = None
    two = np.where((sizes > 0.3) ^ (colours == "red"), "yes", "no")
    three = np.where(sizes > 0.8, "high", two)
    several = np.column_stack([sizes > 0.3, (colours == "red") ^ (sizes > 0)]).astype(int)
    for name, labels in {"two": two, "three": three, "several": several}.items():
        for n_circuits in (1, 3):
            fitted = gradus.BooleanNetworkClassifier(random_state=3, n_circuits=n_circuits).fit(table, labels)
            answers = np.asarray(fitted.predict(table)).tolist()
            chances = [np.asarray(p).round(9).tolist() for p in _as_several(fitted.predict_proba(table))]
            yield f"table/{name}/{n_circuits}/network", wiring(fitted.network_)
            yield f"table/{name}/{n_circuits}/predictions", [answers, chances]
    default = gradus.BooleanNetworkClassifier(random_state=1).fit(table, two)
    yield "table/default/network", wiring(default.network_)
    yield "table/default/predictions", default.predict_proba(table).round(9).tolist()


def _as_several(chances: Any) -> list[Any]:
    return chances if isinstance(chances, list) else [chances]


def genes() -> Iterator[Part]:
    known = gradus.genes if hasattr(gradus, "genes") else gradus
    yeast = gradus.problems.YEAST_SERIES if hasattr(gradus.problems, "YEAST_SERIES") else known.YEAST_SERIES
    rng = np.random.default_rng(3)
    flipped = [np.asarray(yeast.states, dtype=bool) ^ (rng.random(yeast.states.shape) < 0.05) for _ in range(4)]
    noisy = [known.Series(yeast.genes, states.astype(int), name=f"run {number}") for number, states in enumerate(flipped)]
    for name, series in {"yeast": yeast, "noisy": noisy}.items():
        found = known.infer(series, attractors=False)
        rules = [[rule.target, rule.regulators, rule.table, round(rule.probability, 9)] for rule in found.model.rules]
        chances = [np.asarray(found.model.edge_probabilities).round(9).tolist(), round(found.model.flips.rate, 9)]
        scores = [[gene.gene, round(gene.one_step, 9), round(gene.free_run, 9), gene.learned] for gene in found.scores.genes]
        nests = [[nest.targets, nest.feature_sets, nest.edges] for nest in found.hierarchies]
        yield f"genes/{name}/rules", [rules, chances, nests, scores]
        predicted = found.network.predict(np.random.default_rng(5).random((200, found.network.n_inputs)) < 0.5)
        yield f"genes/{name}/predictions", np.packbits(predicted).tolist()


def everything() -> dict[str, Any]:
    """Return every part by its name."""
    return {name: value for part in (samples, searches, lessons, sets, tables, genes) for name, value in part()}


def of(value: Any) -> str:
    """Return the digest of a value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else list(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", type=Path, help="keep every value in this file")
    parser.add_argument("--compare", type=Path, help="name the parts that differ from a file that was kept")
    given = parser.parse_args()
    found = everything()
    versions = {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__}
    print(json.dumps({**versions, "digest": of(found), "parts": len(found)}))
    if given.save:
        given.save.write_text(json.dumps(found, sort_keys=True, default=_plain), encoding="utf-8")
    if given.compare:
        before = json.loads(given.compare.read_text(encoding="utf-8"))
        differing = [name for name in sorted(before.keys() | found.keys()) if of(before.get(name)) != of(found.get(name))]
        print("\n".join(differing) or "all parts are equal")
        return int(bool(differing))
    return 0


if __name__ == "__main__":
    sys.exit(main())
