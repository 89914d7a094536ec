"""Which genes are learned together."""

from __future__ import annotations

import numpy as np
import pytest
from gradus._inference.prior import Prior, read_edges

from gradus._formats.transitions import transitions
from gradus._inference.hierarchies import find_hierarchies
from gradus.errors import ConflictError, DataError, FormatError
from gradus.problems import ECOLI_SERIES, YEAST_SERIES


def hierarchies(series, prior=None):
    moves = transitions(series)
    found = find_hierarchies(moves.X, moves.Y, moves.input_names, moves.target_names, prior=prior or Prior())
    return moves, found


def named(moves, found):
    return [
        ({moves.target_names[k] for k in one.targets}, {tuple(moves.target_names[k] for k in edge) for edge in one.edges})
        for one in found
    ]


def test_the_yeast_series_has_the_two_hierarchies_of_the_paper():
    moves, found = hierarchies(YEAST_SERIES)
    together = [one for one in named(moves, found) if len(one[0]) > 1]
    assert together == [
        ({"SK", "Ste9", "Rum1"}, {("SK", "Ste9"), ("SK", "Rum1")}),
        ({"PP", "Cdc2/Cdc13", "Cdc2/Cdc13*"}, {("PP", "Cdc2/Cdc13"), ("PP", "Cdc2/Cdc13*")}),
    ]
    assert {next(iter(names)) for names, _ in named(moves, found) if len(names) == 1} == {"Slp1", "Wee1/Mik1", "Cdc25"}
    for one in found:
        if len(one.targets) > 1:
            assert moves.target_names[one.targets[0]] in ("SK", "PP")


def test_the_ecoli_series_has_the_hierarchy_of_the_paper():
    moves, found = hierarchies(ECOLI_SERIES)
    together = [one for one in named(moves, found) if len(one[0]) > 1]
    assert together == [({"G2", "G8", "G6"}, {("G2", "G6"), ("G8", "G6")})]


def test_the_sets_are_those_that_the_paper_prints():
    moves, found = hierarchies(YEAST_SERIES)
    sets = {
        moves.target_names[k]: {moves.input_names[i] for i in features}
        for one in found
        for k, features in zip(one.targets, one.feature_sets, strict=True)
    }
    assert sets["SK"] == {"start"}
    assert sets["Ste9"] == sets["Rum1"] == {"start", "PP"}
    assert sets["PP"] == {"Slp1"}
    assert sets["Cdc2/Cdc13"] == {"Ste9", "Slp1"}
    assert sets["Cdc2/Cdc13*"] == {"Slp1", "Wee1/Mik1"}


def test_targets_with_other_possible_regulators_are_not_learned_together():
    prior = Prior(forbid=(("Wee1/Mik1", "Cdc2/Cdc13*"),))
    moves, found = hierarchies(YEAST_SERIES, prior)
    groups = [{moves.target_names[k] for k in one.targets} for one in found]
    assert {"Cdc2/Cdc13*"} in groups
    alone = next(one for one in found if moves.target_names[one.targets[0]] == "Cdc2/Cdc13*")
    assert moves.input_names.index("Wee1/Mik1") not in alone.columns


def test_a_prior_that_cannot_explain_a_gene_is_refused():
    with pytest.raises(ConflictError, match=r"the regulators allowed for 'SK' have the same values in transitions 1 and"):
        hierarchies(YEAST_SERIES, Prior(allow=(("PP", "SK"),)))
    with pytest.raises(DataError, match="no gene may regulate 'SK'"):
        hierarchies(YEAST_SERIES, Prior(forbid=tuple((gene, "SK") for gene in YEAST_SERIES.genes)))
    with pytest.raises(DataError, match="names 'Cdc99', which is not one of the genes"):
        Prior(allow=(("Cdc99", "SK"),)).check(YEAST_SERIES.genes)


def test_more_targets_than_one_network_takes_are_split():
    rng = np.random.default_rng(0)
    X = rng.random((40, 9)) < 0.5
    Y = np.column_stack([X[:, 0], *[X[:, 0] & X[:, 1] for _ in range(70)]])
    names = [f"t{k}" for k in range(71)]
    found = find_hierarchies(X, Y, [f"g{i}" for i in range(9)], names, prior=Prior())
    assert sorted(len(one.targets) for one in found) == [7, 64]


@pytest.mark.parametrize("text", ["regulator,target\na,b\nc,d\n", "a,b\nc,d,0.5,activating\n", "a, b\n\nc,d\n"])
def test_edges_are_read_with_and_without_headings(tmp_path, text):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    assert read_edges(path) == (("a", "b"), ("c", "d"))


@pytest.mark.parametrize(("text", "message"), [("", "no edge"), ("a\n", "line 1"), ("a,b\nc,\n", "line 2"), ('"a', "edges")])
def test_files_that_hold_no_edges_are_refused(tmp_path, text, message):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_edges(path)
