"""Small circuits built by hand, for the tests of writers and drawings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gradus import Network


class Builder:
    """Collects gates; every method returns the node it made."""

    def __init__(self, n_inputs: int) -> None:
        self.n_inputs = n_inputs
        self.sources: list[list[int]] = []

    def nand(self, a: int, b: int) -> int:
        self.sources.append([a, b])
        return self.n_inputs + len(self.sources) - 1

    def xor_parts(self, a: int, b: int) -> tuple[int, int]:
        """NAND(a, b), which a carry wants too, and a XOR b."""
        both = self.nand(a, b)
        return both, self.nand(self.nand(a, both), self.nand(b, both))


def ripple_adder(width: int) -> Network:
    """(x + y) mod 2^width from nine NANDs per bit."""
    build = Builder(2 * width)
    not_both, total = build.xor_parts(0, width)
    outputs, carry = [total], build.nand(not_both, not_both)
    for bit in range(1, width):
        not_both, half = build.xor_parts(bit, width + bit)
        not_passed, total = build.xor_parts(half, carry)
        carry = build.nand(not_both, not_passed)
        outputs.append(total)
    names = [f"{operand}{bit}" for operand in "xy" for bit in range(width)]
    return Network(2 * width, build.sources, outputs, input_names=names)


def multiplier(width: int) -> Network:
    """x * y by rows of adders: the circuit that decision diagrams and formulas like least."""
    build = Builder(2 * width)

    def both(a: int, b: int) -> int:
        inverted = build.nand(a, b)
        return build.nand(inverted, inverted)

    zero = both(0, build.nand(0, 0))
    total = [both(0, width + j) for j in range(width)] + [zero] * width
    for i in range(1, width):
        carry = zero
        for j in range(width):
            not_both, half = build.xor_parts(total[i + j], both(i, width + j))
            not_passed, total[i + j] = build.xor_parts(half, carry)
            carry = build.nand(not_both, not_passed)
        total[i + width] = carry
    return Network(2 * width, build.sources, total)


def parity(width: int) -> Network:
    build = Builder(width)
    outputs = [0]
    for bit in range(1, width):
        outputs.append(build.xor_parts(outputs[-1], bit)[1])
    return Network(width, build.sources, outputs)


def yeast_rules() -> Network:
    """Next values of three genes whose names no netlist language holds, with inputs and targets of one name."""
    build = Builder(4)
    slp, rum = build.nand(3, 3), build.nand(1, 1)
    active = build.nand(slp, rum)
    names = ["Cdc2/Cdc13", "Rum1", "Cdc2/Cdc13*", "Slp1"]
    return Network(
        4,
        build.sources,
        [build.nand(active, active), 2, active],
        input_names=names,
        output_names=["Cdc2/Cdc13", "Slp1", "Cdc2/Cdc13*"],
    )


AWKWARD_NAMES = [
    "wire",
    "a b",
    "",
    "2nd",
    "é",
    'say "a\\b"',
    "x//y",
    "z/*",
    "g0",
    "a\nb",
    "true",
    "x\ty",
    "gradus-name: q",
    "--",
    "\\",
    "#",
    "[3]",
    "$y",
]


def awkward_names() -> Network:
    """Every name that is likely to break a file, once as an input and once as a target."""
    build = Builder(len(AWKWARD_NAMES))
    outputs = [build.nand(i, (i + 1) % len(AWKWARD_NAMES)) for i in range(len(AWKWARD_NAMES))]
    return Network(
        len(AWKWARD_NAMES), build.sources, outputs, input_names=AWKWARD_NAMES, output_names=list(reversed(AWKWARD_NAMES))
    )


def random_network(n_inputs: int, n_gates: int, n_outputs: int, seed: int, *, any_gates: bool = False) -> Network:
    rng = np.random.default_rng(seed)
    sources = [rng.integers(0, n_inputs + gate, size=2).tolist() for gate in range(n_gates)]
    outputs = rng.integers(0, n_inputs + n_gates, size=n_outputs).tolist()
    return Network(n_inputs, sources, outputs, rng.integers(0, 16, size=n_gates) if any_gates else None)


def every_gate() -> Network:
    """Each of the sixteen functions of two inputs, of one input read twice, and of gates."""
    functions = list(range(16))
    sources = [[0, 1]] * 16 + [[1, 1]] * 16 + [[2 + (5 * f + 3) % 16, 2 + (7 * f + 1) % 16] for f in functions]
    return Network(2, sources, range(2, 50), functions * 3)


def full_adder_chain(width: int) -> Network:
    """(x + y) mod 2^width from XOR, AND and OR gates."""
    sources, functions, outputs = [], [], []

    def gate(function: int, a: int, b: int) -> int:
        sources.append([a, b])
        functions.append(function)
        return 2 * width + len(sources) - 1

    carry = None
    for bit in range(width):
        half = gate(6, bit, width + bit)
        outputs.append(half if carry is None else gate(6, half, carry))
        if bit < width - 1:
            both = gate(8, bit, width + bit)
            carry = both if carry is None else gate(14, both, gate(8, half, carry))
    names = [f"{operand}{bit}" for operand in "xy" for bit in range(width)]
    return Network(2 * width, sources, outputs, functions, input_names=names)


CIRCUITS = {
    "learned adder": Network.load(Path(__file__).parents[2] / "examples" / "adder6.json"),
    "adder of 6 bits": ripple_adder(6),
    "adder of 10 bits": ripple_adder(10),
    "parity": parity(7),
    "yeast": yeast_rules(),
    "awkward names": awkward_names(),
    "no gates": Network(3, [], [1, 1, 0]),
    "constants": Network(2, [[0, 0], [0, 2], [3, 3]], [3, 4, 3]),
    "a NOT, twice": Network(1, [[0, 0]], [1, 1, 0]),
    "gates without use": Network(2, [[0, 1], [0, 0], [2, 2], [1, 1]], [4]),
    "an unused input": Network(3, [[0, 2]], [3]),
    "one target a hundred gates": random_network(14, 100, 5, seed=1),
    "every gate": every_gate(),
    "full adders": full_adder_chain(6),
    "any gates": random_network(9, 60, 9, seed=3, any_gates=True),
    "any gates with awkward names": random_network(6, 40, 6, seed=4, any_gates=True).with_names(
        AWKWARD_NAMES[:6], AWKWARD_NAMES[3:9]
    ),
    "any gates, many inputs": random_network(30, 120, 8, seed=5, any_gates=True),
    "many inputs": random_network(40, 200, 8, seed=2),
}
