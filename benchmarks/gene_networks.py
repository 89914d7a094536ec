"""Gene networks from noisy series: accuracy, exact rules and regulators beside other methods, on published models.

    python benchmarks/gene_networks.py MODELS_FOLDER [SERIES_FOLDER] [--seeds 0,1,2] [--only a,b] [--no-peers] [--json FILE]

Models are ``.bnet`` files; a gene without a rule keeps its value. Each is updated synchronously from random states: (a) 10
trajectories of 10 steps, (b) the same with 1 %, (c) with 5 % of the recorded bits flipped, (d) 2 trajectories of 10 steps,
(m) as (a) with a tenth of the cells missing; (b+), (c+) and (d+) have a prior of all true edges and as many false ones.
Where R has BoolNet, its two reconstructions stand beside ours.
Accuracy is that of the next values of genes that have rules, on 2,000 random states.
Series: each ``*-edges.csv`` has its series in a file beside it; each series is left out in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from boolnet_rules import boolnet_missing, boolnet_rules
from gradus._circuit.expressions import names_in, parse_expression
from gradus._circuit.gate_list import GateTable
from gradus._circuit.network import network_of
from gradus._core.run import Run
from gradus.genes import GeneModel, Series
from gradus.genes._candidates import candidates
from gradus.genes._edges import EdgePrior, KnownEdge
from gradus.genes._learning import learn_genes, leave_series_out

CONDITIONS: dict[str, dict[str, Any]] = {
    "a": {}, "b": {"flips": 0.01}, "c": {"flips": 0.05}, "d": {"runs": 2}, "m": {"missing": 0.1},
    "b+": {"flips": 0.01, "prior": True}, "c+": {"flips": 0.05, "prior": True}, "d+": {"runs": 2, "prior": True},
}  # fmt: skip
REQUIRED = {
    "accuracy": {"a": 0.945, "b": 0.91, "c": 0.84, "d": 0.765},
    "exact": {"a": 0.55, "b": 0.42, "c": 0.24},
    "F1": {"a": 0.80, "b": 0.74, "c": 0.60},
}
COLUMNS = ("accuracy", "exact", "precision", "recall", "F1", "CPU s")
States = npt.NDArray[np.bool_]
Rule = tuple[tuple[int, ...], npt.NDArray[np.bool_]]


class PublishedModel:
    """Rules of a .bnet file as truth tables over the regulators they depend on."""

    def __init__(self, path: Path) -> None:
        lines = [line.split(",", 1) for line in path.read_text().splitlines()[1:] if line.strip()]
        rules = {name.strip(): rule for name, rule in lines}
        self.name = path.stem
        self.genes = list(dict.fromkeys([*rules, *(name for rule in rules.values() for name in names_in(rule))]))
        self.rules = {self.genes.index(name): self._table(rule) for name, rule in rules.items()}

    def _table(self, rule: str) -> Rule:
        inputs = sorted(self.genes.index(name) for name in names_in(rule))
        cells = (np.arange(1 << len(inputs))[:, None] >> np.arange(len(inputs))) & 1 == 1
        gates = GateTable(len(inputs) + 1)  # one input more, even for the rule "1"
        output = parse_expression(rule, gates, {self.genes[i]: k for k, i in enumerate(inputs)})
        columns = np.column_stack([cells, np.zeros(len(cells), np.bool_)])
        return _essential((tuple(inputs), network_of(gates.circuit([output])).predict(columns)[:, 0]))

    def step(self, states: States) -> States:
        """Update all genes at once."""
        after = states.copy()
        for gene, (inputs, values) in self.rules.items():
            after[:, gene] = values[states[:, list(inputs)] @ (1 << np.arange(len(inputs)))]
        return after


def recorded(model: PublishedModel, seed: int, runs: int = 10, flips: float = 0.0, missing: float = 0.0, **_: Any) -> Any:
    """Trajectories as they would be recorded (missing cells are NaN), and states to be tested on."""
    rng = np.random.default_rng(seed)
    states = [rng.random((runs, len(model.genes))) < 0.5]
    for _step in range(10):
        states.append(model.step(states[-1]))
    true = np.stack(states, axis=1)
    noisy = (true ^ (rng.random(true.shape) < flips)).astype(float)
    noisy[rng.random(true.shape) < missing] = np.nan
    return list(noisy), rng.random((2000, len(model.genes))) < 0.5


def edge_beliefs(model: PublishedModel, seed: int) -> EdgePrior:
    """All true edges and as many false ones, believed alike."""
    true = {(i, gene) for gene, (inputs, _) in model.rules.items() for i in inputs}
    false = [(i, gene) for gene in model.rules for i in range(len(model.genes)) if (i, gene) not in true]
    drawn = np.random.default_rng(seed + 1000).permutation(len(false))[: len(true)]
    edges = sorted(true | {false[k] for k in drawn.tolist()})
    genes = tuple(model.genes)
    return EdgePrior(genes, [KnownEdge(genes[i], genes[gene], 0.5) for i, gene in edges])


def gradus_method(
    runs: list[Any], test: States, model: PublishedModel, seed: int, prior: bool
) -> tuple[States, dict[int, Rule], dict[str, Any]]:
    beliefs = edge_beliefs(model, seed) if prior else None
    learned = learn_genes([Series(model.genes, run) for run in runs], beliefs, run=Run())
    tables = {
        g: (tuple(learned.genes.index(name) for name in rule.regulators), np.array(rule.table) == 1)
        for g, rule in enumerate(learned.rules)
    }
    edges = {-1: ((), learned.likely_edges())}
    return learned.predict(test), tables | edges, judged_shares(model, learned)  # type: ignore[operator]


def judged_shares(model: PublishedModel, learned: GeneModel) -> dict[str, Any]:
    """Count rules that are decided, and right among them; list shares, whether each is right, and ranks of the true rules."""
    found: dict[str, Any] = {"decided": 0, "decided right": 0, "ranks": [], "shares": []}
    for gene, (inputs, values) in model.rules.items():
        truth = (inputs, sum(1 << int(cell) for cell in np.flatnonzero(values)))
        left = candidates(learned.targets[gene])
        rank = next((k for k, rule in enumerate(left, 1) if (rule.features, rule.table) == truth), 0)
        found["ranks"].append(rank)
        found["shares"].append((left[0].share, rank == 1))
        found["decided"] += left[0].decided
        found["decided right"] += left[0].decided and rank == 1
    return found


def show_shares(pairs: Iterable[tuple[float, bool]]) -> None:
    """Print how often the best rules of each share are right."""
    shares, right = np.array(list(pairs)).T
    print("\n| share of the best rule | rules | promised | right |\n|---|---|---|---|")
    for low, high in pairwise((0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)):
        inside = (shares >= low) & (shares < high)
        if inside.any():
            print(f"| {low} to {min(high, 1)} | {inside.sum()} | {shares[inside].mean():.3f} | {right[inside].mean():.3f} |")


def best_fit(X: States, y: States, test: States) -> tuple[States, Rule]:
    """All sets of up to three genes, the fewest errors, the smallest first; cells never seen have the usual value."""
    best: tuple[float, Rule] | None = None
    for size in range(4):
        for genes in combinations(range(X.shape[1]), size):
            cells = X[:, list(genes)] @ (1 << np.arange(size)) if size else np.zeros(len(X), int)
            ones, all_ = np.bincount(cells, y, 1 << size), np.bincount(cells, minlength=1 << size)
            errors = float(np.minimum(ones, all_ - ones).sum())
            if best is None or errors < best[0]:
                values = np.where(2 * ones == all_, y.mean() >= 0.5, 2 * ones > all_)
                best = (errors, (genes, values))
    assert best is not None
    genes, values = best[1]
    return values[test[:, list(genes)] @ (1 << np.arange(len(genes)))] if genes else np.full(len(test), values[0]), best[1]


def peers() -> Iterator[tuple[str, Callable[[States, States, States, int], tuple[States, Rule | None]]]]:
    yield "BestFit", lambda X, y, test, gene: best_fit(X, y, test)
    for name, make in (
        ("tree", DecisionTreeClassifier),
        ("forest", lambda random_state: RandomForestClassifier(100, random_state=random_state)),
    ):
        yield name, lambda X, y, test, gene, make=make: (make(random_state=0).fit(X, y).predict(test), None)
    yield "constant", lambda X, y, test, gene: (np.full(len(test), y.mean() >= 0.5), None)
    yield "persistence", lambda X, y, test, gene: (test[:, gene], None)


def judged(model: PublishedModel, predicted: States, test: States, rules: dict[int, Rule] | None) -> dict[str, float]:
    genes = sorted(model.rules)
    found = {"accuracy": float((predicted[:, genes] == model.step(test)[:, genes]).mean())}
    if rules is None:
        return found
    edges = rules.get(-1)
    right = wrong = missed = 0
    exact = []
    for gene in genes:
        inputs, values = rules[gene]
        true, true_values = model.rules[gene]
        exact.append(inputs == true and bool((values == true_values).all()))
        chosen = set(inputs) if edges is None else set(np.flatnonzero(edges[1][gene]).tolist())
        right += len(chosen & set(true))
        wrong += len(chosen - set(true))
        missed += len(set(true) - chosen)
    found |= {"exact": float(np.mean(exact)), "precision": right / max(1, right + wrong), "recall": right / (right + missed)}
    return found | {"F1": 2 * right / (2 * right + wrong + missed)}


def on_models(folder: Path, seeds: list[int], conditions: list[str], with_peers: bool) -> list[dict[str, Any]]:
    rows = []
    missing = boolnet_missing() if with_peers else None
    if missing:
        print(f"# BoolNet is left out: {missing}", flush=True)
    for path in sorted(folder.glob("*.bnet")):
        model = PublishedModel(path)
        for condition in conditions:
            settings = CONDITIONS[condition]
            for seed in seeds:
                runs, test = recorded(model, seed, **settings)
                start = time.process_time()
                predicted, rules, certain = gradus_method(runs, test, model, seed, bool(settings.get("prior")))
                row = {"model": model.name, "condition": condition, "seed": seed, "method": "gradus"}
                rows.append(row | judged(model, predicted, test, rules) | {"CPU s": time.process_time() - start} | certain)
                if with_peers and not settings.get("prior") and not settings.get("missing"):
                    rows += [row | peer for peer in _peers_on(model, runs, test)]
                    rows += [] if missing else [row | peer for peer in _boolnet_on(model, runs, test)]
            print(f"# {model.name} ({condition})", _means(rows, condition, model.name), flush=True)
    return rows


def _peers_on(model: PublishedModel, runs: list[Any], test: States) -> Iterator[dict[str, Any]]:
    X, Y = np.concatenate([run[:-1] for run in runs]) == 1, np.concatenate([run[1:] for run in runs]) == 1
    for name, method in peers():
        start = time.process_time()
        predicted, rules = test.copy(), {}
        for gene in model.rules:
            column, rule = method(X, Y[:, gene], test, gene)
            predicted[:, gene] = column
            if rule is not None:
                rules[gene] = _essential(rule)
        yield {"method": name} | judged(model, predicted, test, rules or None) | {"CPU s": time.process_time() - start}


def _boolnet_on(model: PublishedModel, runs: list[Any], test: States) -> Iterator[dict[str, Any]]:
    """BoolNet's own Best-Fit Extension and REVEAL; a gene that REVEAL cannot explain has its usual value and no rule."""
    usual = np.concatenate([run[1:] for run in runs]).mean(axis=0) >= 0.5
    for method in ("bestfit", "reveal"):
        before = os.times()
        found = boolnet_rules([run == 1 for run in runs], method)
        spent = os.times()
        predicted, rules = test.copy(), {}
        for gene in model.rules:
            genes, values = found[gene] or ((), usual[gene : gene + 1])
            predicted[:, gene] = values[test[:, list(genes)] @ (1 << np.arange(len(genes)))] if genes else values[0]
            rules[gene] = _essential((genes, values))
        seconds = spent.children_user + spent.children_system - before.children_user - before.children_system
        yield {"method": f"BoolNet {method}"} | judged(model, predicted, test, rules) | {"CPU s": seconds}


def _essential(rule: Rule) -> Rule:
    """Keep of a rule the inputs that it depends on."""
    inputs, values = rule
    numbers = np.arange(len(values))
    used = [k for k in range(len(inputs)) if (values != values[numbers ^ (1 << k)]).any()]
    kept = sum((((np.arange(1 << len(used)) >> j) & 1) << k for j, k in enumerate(used)), np.zeros(1 << len(used), int))
    return tuple(inputs[k] for k in used), values[kept]


def _means(rows: list[dict[str, Any]], condition: str, model: str | None = None, method: str = "gradus") -> dict[str, float]:
    own = [r for r in rows if r["condition"] == condition and r["method"] == method and model in (None, r["model"])]
    return {c: round(float(np.mean([r[c] for r in own])), 3) for c in COLUMNS if own and c in own[0]}


def on_series(folder: Path) -> list[dict[str, Any]]:
    rows = []
    for edges_path in sorted(folder.glob("*-edges.csv")):
        start = time.process_time()
        genes, series = read_series(edges_path.with_name(edges_path.name.replace("-edges", "")))
        scores = leave_series_out(series, run=Run())
        model = learn_genes(series, run=Run())
        names = [line.split(",") for line in edges_path.read_text().split()[1:]]
        true = np.zeros((len(genes), len(genes)), bool)
        for a, b in names:
            true[genes.index(a), genes.index(b)] = True
        row = {"series": edges_path.stem.removesuffix("-edges"), "MCC": mcc(true, model.likely_edges())}
        row |= {
            kind: getattr(scores.overall, kind)
            for kind in ("one_step", "free_run", "constant", "persistence", "persistent_run")
        }
        rows.append(row | {"not learned": " ".join(scores.not_learned), "CPU s": time.process_time() - start})
        print("#", {k: round(v, 3) if isinstance(v, float) else v for k, v in rows[-1].items()}, flush=True)
    return rows


def read_series(path: Path) -> tuple[list[str], list[Series]]:
    head, *lines = [line.split(",") for line in path.read_text().split()]
    names = list(dict.fromkeys(line[0] for line in lines))
    return head[2:], [
        Series(head[2:], [[int(v) for v in line[2:]] for line in lines if line[0] == name], name=name) for name in names
    ]


def mcc(true: States, found: States) -> float:
    """Matthews correlation of undirected edges without the diagonal."""
    upper = np.triu_indices(len(true), 1)
    a, b = (true | true.T)[upper], (found | found.T)[upper]
    tp, tn, fp, fn = (a & b).sum(), (~a & ~b).sum(), (~a & b).sum(), (a & ~b).sum()
    below = float((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    return float(tp * tn - fp * fn) / below if below else 0.0


def speed() -> float:
    """CPU seconds of 64 genes and 500 noisy transitions, after compilation."""
    rng = np.random.default_rng(0)
    tables = [(rng.choice(64, 3, replace=False), rng.random(8) < 0.5) for _ in range(64)]
    states = [rng.random((10, 64)) < 0.5]
    for _ in range(50):
        states.append(np.column_stack([values[states[-1][:, g] @ (1 << np.arange(3))] for g, values in tables]))
    runs = np.stack(states, axis=1) ^ (rng.random((10, 51, 64)) < 0.02)
    start = time.process_time()
    learn_genes([Series([f"g{i}" for i in range(64)], run) for run in runs], run=Run())
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("series", type=Path, nargs="?")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--only", default=",".join(CONDITIONS))
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    conditions = [name for name in arguments.only.split(",") if name]
    rows = on_models(arguments.models, [int(seed) for seed in arguments.seeds.split(",")], conditions, not arguments.no_peers)
    print("\n| condition | method | " + " | ".join(COLUMNS) + " |\n|---|---|" + "---|" * len(COLUMNS))
    for condition in conditions:
        for method in dict.fromkeys(row["method"] for row in rows):
            means = _means(rows, condition, method=method)
            if means:
                cells = [f"{means[c]:.3f}" + _mark(c, condition, means[c], method) if c in means else "" for c in COLUMNS]
                print(f"| {condition} | {method} | " + " | ".join(cells) + " |")
    for condition in conditions:
        own = [row for row in rows if row["condition"] == condition and "shares" in row]
        right, decided = (sum(row[name] for row in own) for name in ("decided right", "decided"))
        print(f"\n({condition}) {decided} rules are decided, {right} of them right")
        show_shares(pair for row in own for pair in row["shares"])
    series_rows = on_series(arguments.series) if arguments.series else []
    if arguments.speed:
        print(f"64 genes, 500 transitions: {speed():.1f} CPU s (at most 30)")
    if arguments.json:
        arguments.json.write_text(json.dumps({"models": rows, "series": series_rows}, indent=1))


def _mark(column: str, condition: str, value: float, method: str) -> str:
    least = REQUIRED.get(column, {}).get(condition)
    return "" if least is None or method != "gradus" else f" {'≥' if value >= least else '<'} {least}"


if __name__ == "__main__":
    main()
