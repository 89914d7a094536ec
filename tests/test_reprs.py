"""How notebooks show results: one short line, and a table and a drawing in which names are escaped."""

from __future__ import annotations

import pandas as pd
import pytest

import gradus
from gradus import problems

NAMES = ["<a>", "b & c"]
X = pd.DataFrame([[a, b] for a in (0, 1) for b in (0, 1)], columns=NAMES)
Y = pd.DataFrame({"both": X.all(axis=1).astype(int), "<first>": X["<a>"]})
SERIES = pd.DataFrame([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], columns=["g<1", "g2"])


RESULTS = {
    "LearnResult(2 targets, 1 gate, 0 training errors)": (lambda: gradus.learn(X, Y, noise=0), "&lt;first&gt;"),
    "Curriculum(<first> (1) → both (2))": (lambda: gradus.find_curriculum(X, Y), "b &amp; c"),
    "SearchResult(2 targets, ": (lambda: gradus.search(X, Y, seed=1, gates_per_target=4), "&lt;first&gt;, both"),
    "Problem('add3', 6 inputs, 3 targets, 64 patterns)": (lambda: problems.load("add3"), "z0, z1, z2"),
    "Inference(2 rules, 2 edges, 1 series)": (lambda: gradus.genes.infer(SERIES, leave_out=False, attractors=False), "g&lt;1"),
}


@pytest.mark.parametrize("line", RESULTS)
def test_a_result_is_shown_as_one_short_line_and_as_a_table(line):
    make, shown = RESULTS[line]
    result = make()
    assert repr(result).startswith(line)
    assert len(repr(result)) < 100
    page = result._repr_html_()
    assert page.startswith("<p><b>")
    assert shown in page
    assert "<a>" not in page
    assert "<first>" not in page


def test_names_of_data_frames_are_kept():
    curriculum = gradus.find_curriculum(X, Y)
    assert (curriculum.input_names, curriculum.target_names) == (tuple(NAMES), ("both", "<first>"))
    assert gradus.find_curriculum(X.to_numpy(), Y.to_numpy()).target_names == ()
    network = gradus.learn(X, Y).network
    assert (network.input_names, network.output_names) == (tuple(NAMES), ("both", "<first>"))
