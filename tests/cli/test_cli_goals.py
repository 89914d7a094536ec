"""What `gradus learn` and `gradus predict` are told of classes: `--goal`, `--class-weight`, `--cut` and `--proba`."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from cli_files import write_csv

from gradus._cli.main import run
from gradus._tables.model import load

FEW = ("--cv", "0", "--n-circuits", "6", "-o", "m.json")


@pytest.fixture
def rare(here):
    """A table in which 30 of 200 rows, those above 8 with noise, are of the class yes."""
    rng = np.random.default_rng(0)
    a = rng.uniform(0, 10, 200).round(2)
    sick = np.argsort(a + rng.normal(0, 1.5, 200))[-30:]
    write_csv(here / "d.csv", ["a", "b", "ill"], [[x, i % 3, "yes" if i in sick else "no"] for i, x in enumerate(a)])
    return here


def named(here, capsys, *words):
    """Learn, predict the same rows, and count those that are called yes."""
    assert run(["learn", "d.csv", *FEW, *words]) == 0
    capsys.readouterr()
    assert run(["predict", "m.json", "d.csv"]) == 0
    return capsys.readouterr().out.split().count("yes")


def test_a_goal_and_weights_name_more_rows_of_a_rare_class(rare, capsys):
    usual = named(rare, capsys)
    assert load(rare / "m.json").goal == "accuracy"
    assert named(rare, capsys, "--goal", "balanced_accuracy") > usual
    assert load(rare / "m.json").goal == "balanced_accuracy"
    balanced = named(rare, capsys, "--class-weight", "balanced")
    assert balanced > usual
    assert named(rare, capsys, "--class-weight", "yes=1,no=0.05") >= balanced


def test_probabilities_stand_beside_predictions(rare, capsys):
    assert run(["learn", "d.csv", *FEW]) == 0
    assert run(["predict", "m.json", "d.csv", "--proba", "-o", "p.csv"]) == 0
    with (rare / "p.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-3:] == ["ill", "P(ill = no)", "P(ill = yes)"]
    for row in rows:
        no, yes = float(row["P(ill = no)"]), float(row["P(ill = yes)"])
        assert abs(no + yes - 1) < 1e-3
        assert row["ill"] == ("yes" if yes > no else "no") or no == yes
    capsys.readouterr()
    assert run(["predict", "m.json", "d.csv", "--proba", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["probabilities"]["P(ill = yes)"]) == 200


@pytest.mark.parametrize(
    ("cut", "classes"),
    [("median", ("<= 19.5", "> 19.5")), ("10/20", ("10 to 20", "<= 10", "> 20")), ("30", ("<= 30", "> 30"))],
)
def test_a_target_of_numbers_is_cut_into_classes_and_scored_on_new_rows(here, capsys, cut, classes):
    write_csv(here / "d.csv", ["a", "price"], [[i, i + 0.5 * (i % 2)] for i in range(40)])
    assert run(["learn", "d.csv", "--cut", f"price={cut}", *FEW]) == 0
    assert sorted(load(here / "m.json").targets[0].classes) == sorted(classes)
    capsys.readouterr()
    assert run(["predict", "m.json", "d.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["accuracy"] > 0.9


def test_bad_goals_weights_and_cuts_are_refused(rare, refused):
    assert "'f2' is not one of 'accuracy', 'balanced_accuracy', 'f1'" in refused("learn", "d.csv", "--goal", "f2")
    given = ("learn", "d.csv", "--targets", "ill", "--cv", "0")
    assert "--class-weight has '3'; write balanced" in refused(*given, "--class-weight", "3")
    assert "no target has all of the labels perhaps" in refused(*given, "--class-weight", "perhaps=3")
    assert "numbers above 0" in refused(*given, "--class-weight", "yes=0")
    assert "--cut names 'a', which is not a target" in refused(*given, "--cut", "a=median")
    numbers = ("learn", "d.csv", "--targets", "a", "--cv", "0")
    assert "--cut has 'half' for 'a'" in refused(*numbers, "--cut", "a=half")
    assert "--cut NAME=median" in refused(*numbers)


def test_the_columns_that_matter_fill_lines_of_their_own(here, capsys):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (80, 7))
    names = [f"a column with a long name {j}" for j in range(7)]
    sizes = (bits * 10 + rng.uniform(0, 1, bits.shape)).round(2)
    write_csv(
        here / "d.csv", [*names, "z"], [[*map(float, row), int(sum(b[:3]) > 1)] for row, b in zip(sizes, bits, strict=True)]
    )
    assert run(["learn", "d.csv", *FEW]) == 0
    out = capsys.readouterr().out
    assert "columns that matter" in out
    assert "\\n" not in out


def test_an_empty_last_column_is_passed_over_and_that_is_said(here, capsys):
    write_csv(here / "d.csv", ["a", "z", "notes"], [[0, 0, ""], [1, 1, ""]])
    assert run(["learn", "d.csv", "--cv", "0", "--noise", "0"]) == 0
    assert "the target is 'z', the last column that has a cell; name others" in capsys.readouterr().err


def test_labels_that_differ_in_capitals_alone_are_one_class_and_that_is_said(here, capsys):
    rows = [[i, ("Yes", "Yes", "yes")[i % 3] if i > 19 else "no"] for i in range(40)]
    write_csv(here / "d.csv", ["a", "y"], rows)
    assert run(["learn", "d.csv", *FEW]) == 0
    assert "y: takes 'yes' for 'Yes'; --types y=exact tells them apart" in capsys.readouterr().err
    assert load(here / "m.json").targets[0].classes == ("Yes", "no")
    assert run(["predict", "m.json", "d.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["accuracy"] == 1
    assert run(["learn", "d.csv", "--types", "y=exact", *FEW]) == 0
    assert load(here / "m.json").targets[0].classes == ("Yes", "no", "yes")


def test_one_long_condition_is_cut_and_not_left_out(here, capsys):
    days = [f"{1 + i % 28} {('May', 'October')[i % 2]} 2020" for i in range(112)]
    write_csv(here / "d.csv", ["d", "y"], [[day, "yes" if "May" in day else "no"] for day in days])
    assert run(["learn", "d.csv", "--types", "d=keep", *FEW]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("y = yes:"))
    assert "d in {" in line or "d not in {" in line
