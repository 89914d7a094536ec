"""Long-run behaviour of learned rules: attractors, and what a knock-out or over-expression would change, by AEON.

AEON runs in a process of its own, which can be ended at any time: `main` reads one JSON document (rules, whether to look for
attractors or for fixed points only, the most to list, and the variables to hold one after the other), and writes one line of
JSON for the model and one for each variable held.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradus._circuit import Network
from gradus._core.run import Progress, Run
from gradus._formats.bnet import bnet_rules
from gradus._formats.sbml import aeon
from gradus.errors import GradusError

__all__ = ["Attractor", "HeldGene", "LongRun", "find_long_run", "main"]

MOST_FOR_CYCLES = 24
"""Up to this number of genes all attractors are found, of the rules and with each gene held."""
CYCLE_SECONDS = 60.0
"""With more genes, attractors that are no fixed points are looked for this many seconds, since it can take hours."""
MOST_LISTED = 64
SECONDS_PER_LOOK = 0.1


@dataclass(frozen=True)
class Attractor:
    """States that are never left once they are reached."""

    states: int
    """How many; 1 is a fixed point."""
    on: tuple[str, ...]
    off: tuple[str, ...]
    changing: tuple[str, ...]
    """Genes that are always 1, always 0, and neither."""


@dataclass(frozen=True)
class HeldGene:
    """What is predicted when one gene is held."""

    gene: str
    value: int
    """0 for a knock-out, 1 for over-expression."""
    attractors: int
    fixed_points: int
    on: tuple[str, ...]
    off: tuple[str, ...]
    free: tuple[str, ...]
    """Other genes that end always on, always off, or may end either way, unlike without the change."""


@dataclass(frozen=True)
class LongRun:
    """Attractors of the rules."""

    attractors: tuple[Attractor, ...]
    """At most 64."""
    count: int
    fixed_points: int
    """All there are."""
    cyclic: bool
    """Whether all attractors were found; False if the search for others than fixed points did not end in time."""
    held: tuple[HeldGene, ...]
    """With more than 24 genes, from fixed points alone."""


def find_long_run(network: Network, run: Run) -> LongRun | None:
    """Find the attractors of a network, and those with each gene held at 0 and at 1."""
    # One gene is updated at a time, in any order. With more than 24 genes, attractors that are no fixed points are looked for
    # during a minute, and what holding a gene changes is read off the fixed points.
    aeon()
    genes = tuple(network.input_names)
    codes = {gene: f"v{i}" for i, gene in enumerate(genes)}
    coded = network.with_names(list(codes.values()), [codes[gene] for gene in network.output_names])
    constants = {"0": "false", "1": "true"}
    rules = {name: constants.get(rule, rule) for name, rule in bnet_rules(coded)[0]}
    # Genes that keep their value are inputs; holding one only chooses among the attractors there are.
    asked = [(gene, value) for gene in network.output_names for value in (0, 1)]
    small, names = len(genes) <= MOST_FOR_CYCLES, {code: gene for gene, code in codes.items()}
    document = {"rules": rules, "cyclic": small, "most": MOST_LISTED, "held": [[codes[g], v] for g, v in asked]}
    answers = list(_answers(document, len(asked) + 1, run))
    if not answers:
        return None
    usual = tuple(_attractor(answer, names) for answer in answers[0]["attractors"])
    held = tuple(_held(gene, value, usual, answer, names) for (gene, value), answer in zip(asked, answers[1:], strict=False))
    search = run.part(seconds=CYCLE_SECONDS)
    complete = answers[:1] if small else list(_answers(document | {"cyclic": True, "held": []}, 1, search))
    summary = (complete or answers)[0]
    attractors = tuple(_attractor(answer, names) for answer in summary["attractors"])
    return LongRun(attractors, summary["count"], summary["fixed_points"], bool(complete), held)


def _answers(document: dict[str, Any], expected: int, run: Run) -> Iterator[dict[str, Any]]:
    """Ask the worker, and end it when the run stops."""
    worker = subprocess.Popen(
        [sys.executable, "-c", "from gradus.genes._attractors import main; main()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            lines.put(line)
        lines.put(None)

    assert worker.stdin is not None
    assert worker.stderr is not None
    threading.Thread(target=read, daemon=True).start()
    try:
        json.dump(document, worker.stdin)
        worker.stdin.close()
        done = 0
        while done < expected and not run.stop(Progress(stage="attractors", done=done, total=expected)):
            try:
                line = lines.get(timeout=SECONDS_PER_LOOK)
            except queue.Empty:
                continue
            if line is None:
                why = worker.stderr.read().strip().splitlines() or ["no reason given"]
                raise GradusError(f"AEON could not find the attractors: {why[-1]}")
            done += 1
            yield json.loads(line)
    finally:
        worker.kill()
        worker.wait()
        worker.stderr.close()


def _attractor(answer: dict[str, Any], names: dict[str, str]) -> Attractor:
    def having(value: int | None) -> tuple[str, ...]:
        return tuple(gene for code, gene in names.items() if answer["values"].get(code) == value)

    return Attractor(answer["states"], having(1), having(0), having(None))


def _ends(attractors: Sequence[Attractor], gene: str) -> int | None:
    """Value that a gene has in every attractor; None if it has both."""
    values = {1 if gene in end.on else 0 if gene in end.off else None for end in attractors}
    return values.pop() if len(values) == 1 else None


def _held(gene: str, value: int, usual: Sequence[Attractor], answer: dict[str, Any], names: dict[str, str]) -> HeldGene:
    changed = tuple(_attractor(end, names) for end in answer["attractors"])
    moved = {
        other: _ends(changed, other)
        for other in names.values()
        if other != gene and _ends(changed, other) != _ends(usual, other)
    }

    def ending(end: int | None) -> tuple[str, ...]:
        return tuple(other for other, now in moved.items() if now == end)

    return HeldGene(gene, value, answer["count"], answer["fixed_points"], ending(1), ending(0), ending(None))


def long_run(rules: dict[str, str], cyclic: bool, most: int) -> dict[str, Any]:
    """Describe attractors under asynchronous updates, or fixed points only: their number, and the first ones."""
    # Of each: how many states it has, and the value of every variable, None where that changes.
    library, text = aeon(), "targets, factors\n" + "".join(f"{name}, {rule}\n" for name, rule in rules.items())
    graph = library.AsynchronousGraph(library.BooleanNetwork.from_bnet(text).infer_valid_graph())
    names = graph.network_variable_names()
    fixed = library.FixedPointsComp.create_from(graph).symbolic_vertices()
    attractors = [_described(1, point.to_named_dict(), names) for point in itertools.islice(fixed.items(), most)]
    count = int(fixed.cardinality())
    if cyclic:
        spaces = [attractor.vertices() for attractor in library.Attractors.attractors(graph)]
        cycles = [states for states in spaces if not states.is_singleton()]
        count += len(cycles)
        attractors += [_described(int(states.cardinality()), _named(states, graph), names) for states in cycles]
    return {"count": count, "fixed_points": int(fixed.cardinality()), "attractors": attractors[:most]}


def _named(states: Any, graph: Any) -> dict[str, bool]:
    space = states.enclosing_subspace() or {}
    return {graph.get_network_variable_name(variable): bool(value) for variable, value in space.items()}


def _described(states: int, values: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {"states": states, "values": {name: None if name not in values else int(values[name]) for name in names}}


def main() -> None:
    """Answer the document on standard input."""
    asked = json.load(sys.stdin)
    for held in [None, *asked["held"]]:
        rules = dict(asked["rules"])
        if held is not None:
            rules[held[0]] = "true" if held[1] else "false"
        print(json.dumps(long_run(rules, asked["cyclic"], asked["most"])), flush=True)
