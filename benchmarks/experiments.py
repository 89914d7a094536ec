"""Which experiment next: exact rules after experiments that were advised, beside random initial states, on published models.

    python benchmarks/experiments.py MODELS_FOLDER [--seeds 0-2] [--flips 0] [--advised 5] [--no-hold] [--rows FILE]

Each model begins with three trajectories of ten steps from random states. Then one more is recorded at a time, from the state
and with the gene held that `Inference.next_experiments` names; beside it ten random states in all. With `--rows`, the rows of
each model and seed are added to a file once they are there, and those in the file are not made again. "Decided" is the share
of rules that are said to be decided, and of these the share that is exactly right; the rank is that of the true rule among the
candidates of its gene. Settings are chosen on the seeds 100 to 119; fresh seeds, fixed before any was looked at, are 9000 to
9039.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from gene_networks import PublishedModel, States, judged_shares, show_shares
from gradus._core.run import Run
from gradus.genes import GeneModel, Series
from gradus.genes._advice import advise
from gradus.genes._learning import learn_genes

STEPS, BEGUN, RANDOM = 10, 3, 10


def trajectory(model: PublishedModel, start: States, held: dict[int, int], flips: float, rng: np.random.Generator) -> Series:
    """Record a run from a state, with genes held, and flip some of the bits recorded."""
    states = [start.copy()]
    for _ in range(STEPS):
        after = model.step(states[-1][None])[0]
        after[list(held)] = [value == 1 for value in held.values()]
        states.append(after)
    noisy = np.array(states) ^ (rng.random((STEPS + 1, len(start))) < flips)
    noisy[:, list(held)] = np.array(states)[:, list(held)]
    return Series(model.genes, noisy.astype(float), held={model.genes[g]: value for g, value in held.items()})


def exact_rules(model: PublishedModel, learned: GeneModel) -> int:
    """Count rules that are exactly right."""
    best = {gene: learned.targets[gene].best_rule for gene in model.rules}
    truths = {
        g: (inputs, sum(1 << int(cell) for cell in np.flatnonzero(values))) for g, (inputs, values) in model.rules.items()
    }
    return sum((best[gene].features, best[gene].table) == truth for gene, truth in truths.items())


def on_model(model: PublishedModel, seed: int, flips: float, advised: int, hold: bool) -> list[dict[str, Any]]:
    rng, n = np.random.default_rng(seed), len(model.genes)
    starts = rng.random((RANDOM, n)) < 0.5
    series = [trajectory(model, start, {}, flips, rng) for start in starts]
    rows: list[dict[str, Any]] = []

    def learned(series: list[Series], way: str, more: int) -> GeneModel:
        begin = time.process_time()
        found = learn_genes(series, run=Run())
        row = {"model": model.name, "seed": seed, "flips": flips, "way": way, "more": more}
        row |= {"CPU s": time.process_time() - begin, "rules": len(model.rules), "exact": exact_rules(model, found)}
        rows.append(row | (judged_shares(model, found) if (way, more) == ("advised", advised) else {}))
        return found

    learned(series, "random", RANDOM - BEGUN)
    series = series[:BEGUN]
    for more in range(advised + 1):
        found = learned(series, "advised", more)
        if more < advised:
            begin = time.process_time()
            (chosen,) = advise(found, 1, None, range(n) if hold else (), STEPS, Run())
            rows[-1]["advice CPU s"] = time.process_time() - begin
            held = {model.genes.index(gene): value for gene, value in chosen.held.items()}
            series = [*series, trajectory(model, np.array(list(chosen.state.values())) == 1, held, flips, rng)]
    return rows


def share_exact(rows: list[dict[str, Any]], way: str, more: int) -> np.ndarray[Any, Any]:
    """Share of the rules that are exactly right after some experiments, for each seed."""
    counts: dict[int, list[int]] = {}
    for row in rows:
        if (row["way"], row["more"]) == (way, more):
            total = counts.setdefault(row["seed"], [0, 0])
            counts[row["seed"]] = [total[0] + row["exact"], total[1] + row["rules"]]
    return np.array([exact / rules for exact, rules in counts.values()])


def show(rows: list[dict[str, Any]]) -> None:
    """Print exact and decided rules by trajectories, what advice gains, and how often rules of each share are right."""
    print(f"| trajectories beside the first {BEGUN} | exact | decided | of these right | true rule first, in ten | CPU s |")
    print("|---|---|---|---|---|---|")
    for way, more in dict.fromkeys((row["way"], row["more"]) for row in rows):
        own = [row for row in rows if (row["way"], row["more"]) == (way, more)]
        sums = {name: sum(row.get(name, 0) for row in own) for name in ("rules", "exact", "decided", "decided right")}
        ranks = np.array([rank for row in own for rank in row.get("ranks", ())])
        cells = [f"{sums['exact'] / sums['rules']:.3f}", "", "", ""]
        if len(ranks):
            cells[1:3] = f"{sums['decided'] / sums['rules']:.3f}", f"{sums['decided right']} of {sums['decided']}"
            cells[3] = f"{((ranks > 0) & (ranks <= 10)).mean():.3f}"
        print(f"| {more} {way} | {' | '.join(cells)} | {sum(row['CPU s'] for row in own):.1f} |")
    rates = {key: share_exact(rows, *key) for key in dict.fromkeys((row["way"], row["more"]) for row in rows)}
    for (way, more), rate in rates.items():
        gains = rate - rates["random", RANDOM - BEGUN]
        error = gains.std(ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else np.nan
        if way == "advised":
            gain = f"{gains.mean():+.3f}, standard error {error:.3f}, {len(gains)} seeds"
            print(f"{BEGUN} and {more} advised beside {RANDOM} random: {gain}")
    spent = [row["advice CPU s"] for row in rows if "advice CPU s" in row]
    if spent:
        print(f"Advice: {np.mean(spent):.2f} CPU s each, {max(spent):.2f} at most")
    show_shares(pair for row in rows for pair in row.get("shares", ()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--seeds", default="0-2", help="the first and the last one")
    parser.add_argument("--flips", type=float, default=0.0)
    parser.add_argument("--advised", type=int, default=5)
    parser.add_argument("--no-hold", action="store_true")
    parser.add_argument(
        "--rows", type=Path, help="file to add the rows of each model and seed to; those in it are not made again"
    )
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split("-"))
    kept = arguments.rows.read_text().splitlines() if arguments.rows and arguments.rows.exists() else []
    rows = [row for line in kept for row in json.loads(line)]
    done = {(row["model"], row["seed"]) for row in rows}
    models = [PublishedModel(path) for path in sorted(arguments.models.glob("*.bnet"))]
    for seed, model in itertools.product(range(first, last + 1), models):
        if (model.name, seed) not in done:
            new = on_model(model, seed, arguments.flips, arguments.advised, not arguments.no_hold)
            rows += new
            if arguments.rows:
                with arguments.rows.open("a") as file:
                    file.write(json.dumps(new) + "\n")
    show(rows)


if __name__ == "__main__":
    main()
