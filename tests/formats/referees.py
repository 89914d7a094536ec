"""Tools that we did not write, asked what our files mean: Yosys, its ABC, aigverse and AEON."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gradus import Network
from gradus._formats.names import restore

EVERY_PATTERN_UP_TO = 14
RANDOM_PATTERNS = 10_000


def patterns(n_inputs: int) -> np.ndarray:
    """All patterns up to 14 inputs, 10,000 random ones above."""
    if n_inputs <= EVERY_PATTERN_UP_TO:
        return (np.arange(1 << n_inputs)[:, np.newaxis] >> np.arange(n_inputs) & 1).astype(bool)
    return np.random.default_rng(n_inputs).random((RANDOM_PATTERNS, n_inputs)) < 0.5


def yosys_to_aiger(files: Sequence[Path]) -> list[Path]:
    """Read each Verilog or BLIF file with Yosys, all in one process, and write it as AIGER with its names."""
    from pyosys import libyosys

    written = [file.with_name(f"{file.name}.yosys.aag") for file in files]
    for file, target in zip(files, written, strict=True):
        design = libyosys.Design()
        reader = "read_verilog" if file.suffix == ".v" else "read_blif"
        mapping = ("check -assert", "simplemap", "aigmap", f"write_aiger -ascii -symbols {target}")
        for step in (f"{reader} {file}", *mapping):
            libyosys.run_pass(f"tee -q -o /dev/null {step}", design)
    return written


def abc_to_aiger(files: Sequence[Path]) -> list[Path]:
    """Read each file with ABC, all in one process, and write it as binary AIGER with its names."""
    import pyosys

    written = [file.with_name(f"{file.name}.abc.aig") for file in files]
    steps = [f"read {file}; strash; write_aiger -s {target}" for file, target in zip(files, written, strict=True)]
    program = Path(pyosys.__file__).parent / "yosys-abc"
    done = subprocess.run([program, "-c", "; ".join(steps)], capture_output=True, text=True, timeout=60, check=False)
    missing = [target.name for target in written if not target.exists()]
    assert not missing, f"{missing}: {done.stdout}"
    return written


def aiger_answers(file: Path, X: np.ndarray) -> tuple[list[str], list[str], np.ndarray]:
    """Names of inputs and outputs, and the outputs' values, of an AIGER file as aigverse reads and simulates it.

    Columns of X are taken in the order of the file's inputs.
    """
    from aigverse.algorithms import simulate_sequential
    from aigverse.io import (
        read_aiger_into_aig,
        read_aiger_into_sequential_aig,
        read_ascii_aiger_into_aig,
        read_ascii_aiger_into_sequential_aig,
    )

    ascii_form = file.suffix == ".aag"
    named = (read_ascii_aiger_into_aig if ascii_form else read_aiger_into_aig)(file)
    steps = (read_ascii_aiger_into_sequential_aig if ascii_form else read_aiger_into_sequential_aig)(file)
    inputs = [named.get_name(named.make_signal(node)) for node in named.pis()]
    outputs = [named.get_output_name(k) for k in range(named.num_pos)]
    values = np.array(simulate_sequential(steps, len(X), X.tolist()).outputs, dtype=bool).reshape(len(X), len(outputs))
    return inputs, outputs, values


def assert_aiger_means(file: Path, network: Network, name_map: str) -> None:
    """Check an AIGER file against a network: names (mapped back by the lines in `name_map`) and every answer."""
    X = patterns(network.n_inputs)
    inputs, outputs, _ = aiger_answers(file, X[:1])
    input_names, output_names = restore(inputs, name_map), restore(outputs, name_map)
    assert sorted(input_names) == sorted(network.input_names)
    assert sorted(output_names) == sorted(network.output_names)
    columns = [network.input_names.index(name) for name in input_names]
    _, _, values = aiger_answers(file, X[:, columns])
    expected = network.predict(X)[:, [network.output_names.index(name) for name in output_names]]
    np.testing.assert_array_equal(values, expected)


def assert_model_means(model: object, network: Network, name_map: str) -> None:
    """Check a Boolean model that AEON read against a network: names, every rule's answers, and the inputs' rules."""
    from biodivine_aeon import BddVariableSet

    original = dict(zip(model.variable_names(), restore(model.variable_names(), name_map), strict=True))
    assert sorted(original.values()) == sorted({*network.input_names, *network.output_names})
    safe = {name: safe_name for safe_name, name in original.items()}
    context = BddVariableSet([safe[name] for name in network.input_names])

    def function(name: str) -> object:
        return context.eval_expression(model.get_update_function(safe[name]).as_expression())

    X = patterns(network.n_inputs)
    values = {name: [rule(row) for row in X.tolist()] for name in network.output_names for rule in [function(name)]}
    np.testing.assert_array_equal(
        np.array([values[name] for name in network.output_names], dtype=bool).reshape(network.n_outputs, -1).T,
        network.predict(X),
    )
    for name in set(network.input_names) - set(network.output_names):
        assert function(name) == context.mk_literal(safe[name], True)
