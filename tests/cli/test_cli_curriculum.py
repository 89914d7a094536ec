"""`gradus curriculum`."""

from __future__ import annotations

import json

from cli_files import write_csv, write_problem

from gradus._cli.main import run


def test_the_order_of_an_adder_is_found_and_drawn(here, capsys):
    write_problem(here / "add3.csv", "add3")
    assert run(["curriculum", "add3.csv", "--targets", "z2,z0,z1", "-o", "order.svg", "--all"]) == 0
    out = capsys.readouterr().out
    assert "nestedness 1.000" in out
    places = [line.split()[:3] for line in out.splitlines() if line.split()[:1] in (["1"], ["2"], ["3"])]
    assert places == [["1", "z0", "2"], ["2", "z1", "4"], ["3", "z2", "6"]]
    assert (here / "order.svg").read_text().count('class="edge"') == 2


def test_json_lists_sets_ties_and_who_follows_whom(here, capsys):
    rows = [[a, b, a, 1 - a, a & b] for a in (0, 1) for b in (0, 1)]
    write_csv(here / "d.csv", ["a", "b", "p", "q", "r"], rows)
    assert run(["curriculum", "d.csv", "--targets", "r,p,q", "--all", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["order"][-1] == "r"
    assert document["tied"] == [["p", "q"]]
    assert document["hierarchy"] == {"p": ["r"], "q": ["r"], "r": []}
    assert [entry["all_minimum_sets"] for entry in document["targets"]] == [[["a"]], [["a"]], [["a", "b"]]]
    assert all(entry["proven"] for entry in document["targets"])


def test_bad_input_is_refused(refused, here):
    write_problem(here / "add3.csv", "add3", 20)
    write_csv(here / "conflict.csv", ["a", "z"], [[0, 1], [0, 0]])
    write_csv(here / "numbers.csv", ["a", "z"], [[0, 1], [3, 0]])
    good = ("curriculum", "add3.csv", "--targets", "z0")
    assert "missing.csv" in refused("curriculum", "missing.csv", "--targets", "z0")
    assert "z9" in refused("curriculum", "add3.csv", "--targets", "z9")
    assert "same" in refused("curriculum", "conflict.csv", "--targets", "z")
    assert "expected 0 or 1, found 3" in refused("curriculum", "numbers.csv", "--targets", "z", "--strict")
    assert "--choose is 'best'" in refused(*good, "--choose", "best")
    assert "--on-conflict is 'maybe'" in refused(*good, "--on-conflict", "maybe")
    assert "must end in .svg" in refused(*good, "-o", "order.gif")
    assert "cannot be written" in refused(*good, "-o", "nowhere/order.svg")


def test_numbers_are_cut_and_conflicts_are_skipped_if_asked(here, capsys):
    write_csv(here / "d.csv", ["a", "b", "z"], [[0.5, 1, 1], [2.5, 1, 0], [0.5, 1, 0], [0.5, 0, 0]])
    assert run(["curriculum", "d.csv", "--targets", "z", "--on-conflict", "ignore"]) == 0
    out, err = capsys.readouterr()
    assert "{a > 2, b}" in out
    assert err == "gradus: pairs of rows that have the same inputs and differ in a target are left out: 1 for 'z'.\n"


def test_json_counts_ignored_conflicts_target_by_target(here, capsys):
    write_csv(here / "d.csv", ["a", "y", "z"], [[0, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 1]])
    assert run(["curriculum", "d.csv", "--targets", "y,z", "--on-conflict", "ignore", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {entry["target"]: entry["conflicts"] for entry in document["targets"]} == {"y": 2, "z": 0}


def test_one_target_has_no_nestedness_and_may_be_a_quantity(here, capsys):
    write_csv(here / "d.csv", ["a", "b", "z"], [[k % 8, k // 8, k % 8 + 8 * (k // 8)] for k in range(64)] * 2)
    assert run(["curriculum", "d.csv"]) == 0
    assert "nestedness" not in capsys.readouterr().out
