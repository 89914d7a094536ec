"""The scripts in the examples folder work, and use public names only."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradus

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def test_the_saved_adder_is_right_on_all_patterns():
    adder = gradus.problems.load("add6")
    network = gradus.Network.load(EXAMPLES / "adder6.json")
    assert np.array_equal(network.predict(adder.X), adder.Y)
    assert network.live.all()
    assert network.n_gates == 24  # a half adder, four full adders and the last sum: 2 + 4 × 5 + 2


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_examples_use_public_names_only(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("gradus"), f"{script.name} imports from {node.module}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "gradus":
            assert node.attr in gradus.__all__, f"{script.name} uses gradus.{node.attr}"


def test_the_learned_adder_is_right_on_as_many_patterns_as_the_example_prints(tmp_path):
    script = [sys.executable, str(EXAMPLES / "learned_adder.py"), "adder.json", "adder.v"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
    adder = gradus.problems.load("add6")
    network = gradus.Network.load(tmp_path / "adder.json")
    assert f"{network.n_gates} gates, depth {network.depth}" in done.stdout
    train, test = adder.sample(80, seed=1)
    right = (network.predict(adder.X) == adder.Y).all(axis=1)
    assert right[train].all()
    assert f"right on {right[test].sum()} of the {len(test)} patterns" in done.stdout
    assert "module gradus_network" in (tmp_path / "adder.v").read_text(encoding="utf-8")
