"""Long-run behaviour of a Boolean model by AEON, as a program: a process of its own can be ended at any time.

Reads one JSON document: a model (``bnet``), whether to look for attractors or for fixed points only, the most to list, and
the variables to hold at a value one after the other. Writes one line of JSON for the model and one for each variable held.
Imports nothing of Gradus, so that it starts at once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any


def long_run(rules: dict[str, str], cyclic: bool, most: int) -> dict[str, Any]:
    """Describe attractors under asynchronous updates, or fixed points only: their number, and the first ones."""
    # Of each: how many states it has, and the value of every variable, None where that changes.
    import biodivine_aeon as aeon

    text = "targets, factors\n" + "".join(f"{name}, {rule}\n" for name, rule in rules.items())
    graph = aeon.AsynchronousGraph(aeon.BooleanNetwork.from_bnet(text).infer_valid_graph())
    names = graph.network_variable_names()
    fixed = aeon.FixedPointsComp.create_from(graph).symbolic_vertices()
    attractors = [_described(1, point.to_named_dict(), names) for point in _first(fixed.items(), most)]
    count = int(fixed.cardinality())
    if cyclic:
        spaces = [attractor.vertices() for attractor in aeon.Attractors.attractors(graph)]
        cycles = [states for states in spaces if not states.is_singleton()]
        count += len(cycles)
        attractors += [_described(int(states.cardinality()), _named(states, graph), names) for states in cycles]
    return {"count": count, "fixed_points": int(fixed.cardinality()), "attractors": attractors[:most]}


def _named(states: Any, graph: Any) -> dict[str, bool]:
    space = states.enclosing_subspace() or {}
    return {graph.get_network_variable_name(variable): bool(value) for variable, value in space.items()}


def _described(states: int, values: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {"states": states, "values": {name: None if name not in values else int(values[name]) for name in names}}


def _first(items: Iterable[Any], most: int) -> list[Any]:
    return [item for item, _ in zip(items, range(most), strict=False)]


def main() -> None:
    """Answer the document on standard input."""
    asked = json.load(sys.stdin)
    for held in [None, *asked["held"]]:
        rules = dict(asked["rules"])
        if held is not None:
            rules[held[0]] = "true" if held[1] else "false"
        print(json.dumps(long_run(rules, asked["cyclic"], asked["most"])), flush=True)


if __name__ == "__main__":
    main()
