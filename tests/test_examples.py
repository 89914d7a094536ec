"""What the examples folder shows is true."""

from pathlib import Path

import numpy as np
import pytest

import gradus

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_kept_adder_is_right_on_all_patterns():
    adder = gradus.problems.load("add6")
    network = gradus.Network.load(EXAMPLES / "adder6.json")
    assert np.array_equal(network.predict(adder.X), adder.Y)
    assert network.active.all()


def test_every_example_compiles():
    scripts = sorted(EXAMPLES.glob("*.py"))
    if not scripts:
        pytest.fail("there are no examples")
    for script in scripts:
        compile(script.read_text(), str(script), "exec")
