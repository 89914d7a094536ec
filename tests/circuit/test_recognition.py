"""Known parts of a circuit: what a drawing shows in boxes computes what the gates compute."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_count_recognition import meant

import gradus
from gradus._circuit.drawing.diagram import diagram, live_logic
from gradus._circuit.drawing.recognition import boxed, boxes_in

ADDER = Path(__file__).parents[2] / "examples" / "adder6.json"
# Ways to build the parts, over nodes "0", "1", "2" and gates "g0" … of functions that are AND 8, OR 14 and XOR 6.
FULL_ADDERS = [
    [(6, "0", "1"), (6, "g0", "2"), (8, "0", "1"), (8, "g0", "2"), (14, "g2", "g3")],
    [(6, "0", "1"), (6, "g0", "2"), (6, "1", "2"), (8, "g0", "g2"), (6, "1", "g3")],
    [(6, "0", "1"), (6, "g0", "2"), (14, "0", "1"), (8, "2", "g2"), (8, "0", "1"), (14, "g3", "g4")],
]


def naive_values(logic, boxes, inputs):
    """Value of every node that is drawn, for one row: parts as arithmetic, everything else gate by gate."""
    values = {-1: 0, **dict(enumerate(inputs))}
    waiting = [*boxes]
    hidden = {node for box in boxes for node in box.inside}
    gates = [node for node in logic if node not in hidden]
    while waiting or gates:
        ready = [box for box in waiting if all(node in values for node, _ in box.pins)]
        for box in ready:
            bits = [values[node] ^ flip for node, flip in box.pins]
            total = sum(bits)
            parts = {
                "FA": [total % 2, total // 2], "HA": [total % 2, total // 2], "XOR": [total % 2], "MAJ": [int(total >= 2)],
                "MUX": [bits[1] if bits[0] else bits[2]] if len(bits) == 3 else [],
            }  # fmt: skip
            answers = parts[box.kind] if box.kind in parts else [int(meant(box.kind, total))]
            values |= {node: answer ^ flip for (node, flip), answer in zip(box.outs, answers, strict=True)}
        some = [node for node in gates if all(source in values for source in logic[node][1:])]
        for node in some:
            function, a, b = logic[node]
            values[node] = function >> (2 * values[a] + values[b]) & 1
        assert ready or some, "the boxes wait for one another"
        waiting = [box for box in waiting if box not in ready]
        gates = [node for node in gates if node not in some]
    return values


@st.composite
def circuits(draw):
    """Circuits with parts of several shapes among random gates, so that parts share nodes and lie in one another."""
    n_inputs = draw(st.integers(3, 5))
    sources, functions = [], []

    def node():
        return draw(st.integers(0, n_inputs + len(sources) - 1))

    for _ in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            names = {str(k): node() for k in range(3)}
            for place, (function, a, b) in enumerate(draw(st.sampled_from(FULL_ADDERS))):
                sources.append([names[a], names[b]])
                functions.append(function ^ (15 if draw(st.integers(0, 5)) == 0 else 0))
                names[f"g{place}"] = n_inputs + len(sources) - 1
        else:
            sources.append([node(), node()])
            functions.append(draw(st.integers(0, 15)))
    outputs = [n_inputs + draw(st.integers(0, len(sources) - 1)) for _ in range(draw(st.integers(1, 3)))]
    return gradus.Network(n_inputs, sources, outputs, functions)


@given(circuits())
@settings(max_examples=300)
def test_boxes_compute_what_their_gates_compute(network):
    logic, outputs = live_logic(network), frozenset(network.outputs.tolist())
    found = boxed(logic, outputs)
    for shown, boxes in [(logic, boxes_in(logic, outputs)), *([tuple(found)] if found else [])]:
        assert len(shown) == len(logic)
        assert sum(len(box.inside) for box in boxes) == len({node for box in boxes for node in box.inside})
        rows = list(itertools.product((0, 1), repeat=network.n_inputs))
        drawn = [naive_values(shown, boxes, row) for row in rows]
        answers = [[values[node] for node in network.outputs.tolist()] for values in drawn]
        assert np.array_equal(network.predict(np.array(rows)), np.array(answers, dtype=bool))


@pytest.mark.parametrize("shape", range(len(FULL_ADDERS)))
@pytest.mark.parametrize("flips", range(16))
def test_a_full_adder_is_found_however_it_is_built(shape, flips):
    names = {str(k): k for k in range(3)}
    logic = {}
    for place, (function, a, b) in enumerate(FULL_ADDERS[shape]):
        node = names[f"g{place}"] = 3 + place
        # A complemented gate is read complemented: the adder stays, up to bubbles at its ends.
        for side, name in enumerate((a, b)):
            if name in "012" and flips >> int(name) & 1:
                function = sum((function >> (index ^ (2, 1)[side]) & 1) << index for index in range(4))
        logic[node] = (function ^ (15 if flips & 8 and place == len(FULL_ADDERS[shape]) - 1 else 0), names[a], names[b])
    (box,) = boxes_in(logic, frozenset({4, 3 + len(logic) - 1}))
    assert box.kind == "FA"
    assert [node for node, _ in box.outs] == [4, 3 + len(logic) - 1]
    assert box.inside == set(logic)


def test_the_learned_adder_is_drawn_as_the_ripple_carry_adder_that_it_is():
    network = gradus.Network.load(ADDER)
    found = boxed(live_logic(network), frozenset(network.outputs.tolist()))
    assert sorted(box.kind for box in found.boxes) == ["FA", "FA", "FA", "FA", "HA", "XOR"]
    parts = diagram(network, boxed=found)
    assert len(parts.gates) == 6
    assert sum(gate.size for gate in parts.gates.values()) == 24
    # Each adder reads two inputs and the carry of the one before.
    adders = [gate for gate in parts.gates.values() if gate.kind == "FA"]
    assert all(sum(node >= network.n_inputs for node, _ in gate.pins) == 1 for gate in adders)


def test_multiplexers_say_which_pin_selects():
    network = gradus.Network(3, [[1, 2], [0, 3], [2, 4]], [5], [6, 8, 6])
    (box,) = boxes_in(live_logic(network), frozenset({5}))
    assert (box.kind, box.pins, box.outs) == ("MUX", ((0, False), (1, False), (2, False)), ((5, False),))


def test_gates_that_others_use_stay_gates():
    # The same multiplexer, but its inner gate is an output too.
    network = gradus.Network(3, [[1, 2], [0, 3], [2, 4]], [5, 3], [6, 8, 6])
    assert boxes_in(live_logic(network), frozenset({5, 3})) == []


def test_circuits_with_few_known_parts_are_drawn_gate_by_gate():
    network = gradus.Network(4, [[1, 2], [0, 4], [2, 5], [6, 3]], [7], [6, 8, 6, 8])
    assert boxed(live_logic(network), frozenset({7})) is None
