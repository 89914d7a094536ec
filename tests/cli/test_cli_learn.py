"""`gradus learn` and `gradus predict`, from a table to predictions, and what they refuse."""

from __future__ import annotations

import builtins
import csv
import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from cli_files import write_csv, write_problem

import gradus as package
from gradus._cli.main import run
from gradus._tables.held_out import _verdict
from gradus._tables.model import load

Z0 = [{"name": "z0", "classes": [0, 1]}]
QUICK = ("--noise", "0", "--cv", "0")


def test_an_adder_is_learned_without_error_written_as_verilog_drawn_and_used(here, capsys):
    write_problem(here / "add4.csv", "add4", 64)
    assert run(["learn", "add4.csv", "--targets", "z0,z1,z2,z3", "-o", "model.json", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "every example is right" in out
    assert "errors of a constant" in out
    assert "inputs" in out
    assert run(["export", "model.json", "circuit.v"]) == 0
    assert (here / "circuit.v").read_text() == package.export(package.load("model.json"), format="v")
    assert run(["draw", "model.json", "net.svg"]) == 0
    capsys.readouterr()
    assert run(["predict", "model.json", "add4.csv", "-o", "out.csv"]) == 0
    out, err = capsys.readouterr()
    assert out.count("100.0 % right (always") == 4
    assert err == ""
    with (here / "add4.csv").open() as given, (here / "out.csv").open() as made:
        assert [row[8:] for row in csv.reader(given)] == list(csv.reader(made))


def test_json_holds_every_score_beside_its_baseline(here, capsys):
    write_problem(here / "add3.csv", "add3", 48)
    assert run(["learn", "add3.csv", "--targets", "z0,z1,z2", "--noise", "0", "--cv", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["converged"]
    assert document["rows"] == 48
    assert sorted(document["order"]) == ["z0", "z1", "z2"]
    for entry in document["targets"]:
        assert entry["training_errors"] == 0
        assert 0 < entry["majority_errors"] <= 24
    assert document["held_out"]["rows"] == 48
    assert list(document["held_out"]["accuracy"]) == ["model", "circuit", "majority", "tree", "forest"]
    assert all(0 <= share <= 1 for shares in document["held_out"]["accuracy"].values() for share in shares)
    assert document["targets"][0]["inputs"] == ["x0", "y0"]
    assert document["rules"]["z0"] in ("x0 ^ y0", "y0 ^ x0")


def test_the_same_seed_gives_the_same_model_file(here, capsys):
    write_problem(here / "add3.csv", "add3", 40)
    for name in ("a.json", "b.json"):
        assert run(["learn", "add3.csv", "--targets", "z0,z1,z2", "-o", name, "--seed", "5", *QUICK]) == 0
    assert (here / "a.json").read_text() == (here / "b.json").read_text()
    network = package.Network.load(here / "a.json")
    assert network == package.BooleanNetworkClassifier(noise=0, random_state=5).fit(*_problem(here / "add3.csv")).network_


def _problem(path, targets=3):
    frame = pd.read_csv(path)
    return frame.iloc[:, :-targets], frame.iloc[:, -targets:]


def test_numbers_categories_and_several_classes_are_learned_and_predicted(here, capsys):
    rows = [
        [size, colour, "big" if size > 5 else "odd" if colour == "red" else "small"]
        for size in (1.5, 2.5, 8.5, 9.5)
        for colour in ("red", "blue", "green")
    ]
    write_csv(here / "things.csv", ["size", "colour", "kind"], rows)
    assert run(["learn", "things.csv", "--targets", "kind", "-o", "m.json", *QUICK]) == 0
    model = load(here / "m.json")
    assert model.network.output_names == ("kind = big", "kind = odd", "kind = small")
    assert "colour = red" in model.network.input_names
    capsys.readouterr()
    assert run(["predict", "m.json", "things.csv"]) == 0
    out, err = capsys.readouterr()
    assert out.split() == ["kind", *(row[2] for row in rows)]
    assert "kind: 100.0 % right (always 'big', the majority in training: 50.0 %)" in err
    assert run(["predict", "m.json", "things.csv", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["targets"]["kind"] == [row[2] for row in rows]
    assert document["scores"][0]["accuracy"] == 1.0


def test_the_order_can_be_given_by_name(here, capsys):
    write_problem(here / "add3.csv", "add3", 40)
    assert run(["learn", "add3.csv", "--targets", "z0,z1,z2", "--order", "z2,z0,z1", "--json", *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["order"] == ["z2", "z0", "z1"]


def last_line(text):
    return text.rstrip().splitlines()[-1]


def plan(text):
    """What is said besides progress, which a busy machine shows and a fast one does not."""
    return [line for line in text.splitlines() if not line.startswith(("learning: ", "minimising: ", "learn: "))]


def test_contradictory_rows_count_as_training_errors_of_the_majority(here, capsys):
    rows = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]] * 10
    rows[0] = [0, 0, 1]
    write_csv(here / "d.csv", ["a", "b", "z"], rows)
    assert run(["learn", "d.csv", "--targets", "z", "--cv", "0"]) == 0
    out, err = capsys.readouterr()
    assert plan(err) == []
    assert "1 (2.5 %)" in out
    assert last_line(out).startswith("1 training error left;")
    assert run(["learn", "d.csv", "--targets", "z", "--json", "--cv", "0"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert not document["converged"]
    assert document["targets"][0]["training_errors"] == 1


def test_empty_cells_of_a_target_are_unknown_and_do_not_count(here, capsys):
    write_csv(here / "d.csv", ["a", "b", "z", "kind"], [[0, 0, 0, "p"], [0, 1, "", "q"], [1, 0, 1, ""], [1, 1, 0, "p"]])
    assert run(["learn", "d.csv", "--targets", "z,kind", "--json", "-o", "m.json", *QUICK]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [entry["examples"] for entry in document["targets"]] == [3, 3]
    assert [entry["training_errors"] for entry in document["targets"]] == [0, 0]
    assert load(here / "m.json").targets[0].classes == (0, 1)
    assert run(["predict", "m.json", "d.csv", "--json"]) == 0
    assert [score["accuracy"] for score in json.loads(capsys.readouterr().out)["scores"]] == [1.0, 1.0]


def test_dont_cares_of_a_pla_file_are_unknown(here, capsys):
    (here / "d.pla").write_text(".i 2\n.o 1\n.type fdr\n00 0\n01 1\n10 -\n11 1\n.e\n")
    assert run(["learn", "d.pla", "--json", *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["targets"][0]["examples"] == 3


def test_the_score_comes_first_and_is_that_of_the_estimator_on_rows_not_seen(here, capsys):
    write_problem(here / "add3.csv", "add3", 48)
    words = ["learn", "add3.csv", "--targets", "z0,z1,z2", "--cv", "4", "-o", "m.json", "--seed", "2", "--noise", "0"]
    assert run(words) == 0
    out = capsys.readouterr().out
    X, Y = _problem(here / "add3.csv")
    rows = np.random.default_rng(2).permutation(48)
    rows = rows[np.lexsort(Y.to_numpy()[rows].T)]
    right, usual = np.zeros(3), np.zeros(3)
    for part in (rows[fold::4] for fold in range(4)):
        train = np.setdiff1d(rows, part)
        fold = package.BooleanNetworkClassifier(noise=0, random_state=2).fit(X.iloc[train], Y.iloc[train])
        right += (fold.predict(X.iloc[part]) == Y.iloc[part].to_numpy()).sum(axis=0)
        usual += (Y.iloc[part] == Y.iloc[train].mode().iloc[0]).sum(axis=0).to_numpy()
    score = load(here / "m.json").about["held_out"]
    assert score["accuracy"]["model"] == (right / 48).tolist()
    assert score["accuracy"]["majority"] == (usual / 48).tolist()
    first, second, third, fourth, *_ = out.splitlines()
    assert first == f"accuracy on 48 rows not seen, mean of 3 targets: {100 * right.mean() / 48:.1f} %"
    assert second.startswith("(its circuit alone ")
    assert ", random forest " in f"{second} {third}"
    assert fourth == score["verdict"]
    assert max(map(len, out.splitlines()[:4])) <= 80
    titles = [
        cell.strip()
        for line in out.splitlines()
        if line.startswith(("target", "accuracy on rows"))
        for cell in line.split("  ")
    ]
    assert len({title for title in titles if title}) == len([title for title in titles if title])


@pytest.mark.parametrize(
    ("model", "forest", "majority", "verdict"),
    [
        (90, 90, 50, "a circuit is a good choice for this table: as good as a random forest."),
        (98, 70, 50, "a circuit is a good choice for this table: better than a random forest."),
        (70, 98, 50, "a random forest is better for this table, by 28.0 points."),
        (50, 50, 50, "no circuit fits this table: no better than always guessing the most frequent class."),
    ],
)
def test_the_verdict_is_plain(model, forest, majority, verdict):
    hits = {"model": model, "forest": forest, "majority": majority}
    right = {method: np.arange(100)[:, np.newaxis] < count for method, count in hits.items()}
    assert _verdict(right, np.ones((100, 1), dtype=bool)) == verdict


def test_the_plan_says_what_becomes_of_each_column(here, capsys):
    rows = [[i, 1.5 * (i % 3), ("red", "", "blue")[i % 3], i % 2, "x", "7", i % 3 == 2] for i in range(30)]
    rows[4][4] = 3
    write_csv(here / "d.csv", ["no", "size", "colour", "on", "mixed", "zip", "z"], rows)
    words = ["learn", "d.csv", "--targets", "z", "-o", "m.json", *QUICK]
    assert run([*words, "--types", "on=drop,zip=category"]) == 0
    assert plan(capsys.readouterr().err) == [
        "no: left out, counts the rows from 0 to 29",
        "size: number, cut at 0.8 and 2",
        "colour: category, 2 categories; missing cells are distinguished",
        "on: left out, as asked",
        "mixed: category, 2 categories, numbers among them",
        "zip: category, as asked",
        "Where several circuits vote, each of them may cut elsewhere.",
    ]
    write_csv(here / "new.csv", ["size", "colour", "mixed", "zip"], [[0, "", "x", 7], [3, "blue", "?", ""]])
    assert run(["predict", "m.json", "new.csv"]) == 0
    assert capsys.readouterr().out == "z\n0\n1\n"


def test_a_line_of_the_plan_names_at_most_twenty_columns(here, capsys):
    same = [f"c{j}" for j in range(32)]
    write_csv(here / "d.csv", [*same, "size", "z"], [[*([7] * len(same)), i / 3, i % 2] for i in range(30)])
    assert run(["learn", "d.csv", "--targets", "z", "-o", "m.json", *QUICK]) == 0
    first = plan(capsys.readouterr().err)[0]
    assert first.startswith(f"{', '.join(same[:20])} and 12 more: left out")


def test_without_targets_the_last_column_is_the_target_and_that_is_reported(here, capsys):
    write_csv(here / "d.csv", ["a", "b", "z"], [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    told = "gradus: the target is {!r}, the last column; name others with --targets.\n"
    for words, name in (([], "z"), (["--inputs", "a,z"], "b")):
        assert run(["learn", "d.csv", "--json", *words, *QUICK]) == 0
        out, err = capsys.readouterr()
        assert [entry["name"] for entry in json.loads(out)["targets"]] == [name]
        assert told.format(name) in err


def test_missing_cells_can_be_left_out(here, capsys):
    write_csv(here / "d.csv", ["a", "z"], [[0, 0], [1, 1], ["", 1], ["?", 1]])
    for word, errors in (("category", 0), ("drop", 0), ("median", 1)):
        assert run(["learn", "d.csv", "--targets", "z", "--missing", word, "--json", *QUICK]) == 0
        assert json.loads(capsys.readouterr().out)["targets"][0]["training_errors"] >= errors


def test_a_category_that_looks_like_a_number_is_read_as_the_text_it_was(here, capsys):
    write_csv(here / "train.csv", ["grade", "z"], [["1", 0], ["2", 1], ["A", 1], ["1", 0], ["2", 1], ["A", 1]])
    write_csv(here / "new.csv", ["grade"], [["1"], ["2"]])
    assert run(["learn", "train.csv", "--targets", "z", "-o", "m.json", *QUICK]) == 0
    capsys.readouterr()
    assert run(["predict", "m.json", "new.csv"]) == 0
    assert capsys.readouterr() == ("z\n0\n1\n", "")


def noise_table(path):
    table = np.random.default_rng(0).integers(0, 2, size=(2000, 24))
    write_csv(path, [f"c{j}" for j in range(24)], table.tolist())


def test_a_time_limit_that_ended_learning_is_reported(here, capsys):
    noise_table(here / "noise.csv")
    assert run(["learn", "noise.csv", "--targets", "c22,c23", "--noise", "0", "--time-limit", "0", "-o", "m.json"]) == 0
    out, err = capsys.readouterr()
    assert "left;" in last_line(out.replace("wrote m.json, and m.html to look at", ""))
    assert "What decides c22, c23" in (here / "m.html").read_text()
    assert "the time limit ended learning; this is the best model so far." in err
    assert load(here / "m.json").predict(np.zeros((1, 22), dtype=int)).shape == (1, 2)


def test_ctrl_c_keeps_the_best_model_so_far_and_says_where(tmp_path):
    noise_table(tmp_path / "noise.csv")
    words = ["learn", "noise.csv", "--targets", "c20,c21,c22,c23", "-o", "model.json", "--noise", "0", "--n-circuits", "100"]
    program = "import gradus._cli.progress_line as p; p.SECONDS_PER_LINE = 0.2; from gradus._cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stderr.readline()  # the first line of progress
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("gradus: interrupted; the best model so far is kept in model.json.")
    assert "wrote model.json" in out
    assert load(tmp_path / "model.json").predict(np.zeros((1, 20), dtype=int)).shape == (1, 4)


def test_bad_tables_and_settings_are_refused(refused, here):
    write_problem(here / "add3.csv", "add3", 20)
    write_csv(here / "empty.csv", ["a", "z"], [])
    write_csv(here / "words.csv", ["a", "z"], [[0, 1], ["seven", 0]])
    write_csv(here / "numbers.csv", ["a", "z"], [[0, 1], [0.5, 0]])
    write_csv(here / "gaps.csv", ["a", "z"], [[0, 1], ["", 0]])
    (here / "nothing.csv").write_text("")
    (here / "binary.csv").write_bytes(b"\x00\x01\xff")
    good = ("learn", "add3.csv", "--targets", "z0,z1,z2")
    assert "missing.csv" in refused("learn", "missing.csv", "--targets", "z")
    assert "z9" in refused("learn", "add3.csv", "--targets", "z9")
    assert "no row" in refused("learn", "empty.csv", "--targets", "z")
    assert "empty" in refused("learn", "nothing.csv", "--targets", "z")
    assert "text" in refused("learn", "binary.csv", "--targets", "z")
    assert "line 3, column 1" in refused("learn", "words.csv", "--targets", "z", "--strict")
    assert "0.5" in refused("learn", "numbers.csv", "--targets", "z", "--strict")
    assert "missing" in refused("learn", "gaps.csv", "--targets", "z", "--strict")
    assert "numbers with fractions" in refused("learn", "numbers.csv", "--targets", "a")
    assert "both" not in refused("learn", "add3.csv", "--targets", "z0,z0")
    assert "no folder" in refused(*good, "-o", "nowhere/model.json")
    assert "'xor' is not one of 'any', 'nand'" in refused(*good, "--gates", "xor")
    assert "--noise is 'much'" in refused(*good, "--noise", "much")
    assert "n_tries is 0" in refused(*good, "--n-tries", "0")
    assert "time_limit is -1" in refused(*good, "--time-limit", "-1")
    assert "--order has 'z7'" in refused(*good, "--order", "z7,z0")
    assert "--cv is 21" in refused(*good, "--cv", "21")
    assert "'half' is not one of 'category', 'median', 'drop'" in refused(*good, "--missing", "half")
    assert "--types has 'x0'" in refused(*good, "--types", "x0")
    assert "the type of 'x0' is 'colour'" in refused(*good, "--types", "x0=colour")
    assert "types names 'q'" in refused(*good, "--types", "q=drop")
    assert "seed is -1" in refused(*good, "--seed", "-1")


@pytest.fixture
def no_work(monkeypatch):
    """Fail if any table or model is read: the place for output must be looked at before."""

    def read(*_, **__):
        raise AssertionError("work was done before the output was checked")

    for name in ("learn.read_examples", "curriculum.read_examples", "predict.load", "infer.read_series"):
        monkeypatch.setattr(f"gradus._cli.{name}", read)
    monkeypatch.setattr(package.Network, "load", read)


@pytest.mark.parametrize(
    ("verb", "extension"),
    [("learn", ".json"), ("curriculum", ".svg"), ("predict", ".csv"), ("infer", ".bnet"), ("export", ".v"), ("draw", ".png")],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(refused, here, no_work, verb, extension):
    def words(place):
        given = {"predict": ["m.json", "d.csv", "-o"], "export": ["m.json"], "draw": ["m.json"]}
        return [verb, *given.get(verb, ["d.csv", "-o"]), place]

    (here / f"folder{extension}").mkdir()
    assert "it is a folder" in refused(*words(f"folder{extension}"))
    assert "there is no folder" in refused(*words(f"nowhere/x{extension}"))
    assert "cannot be written" in refused(*words(f"/proc/x{extension}"))
    refusal = refused(*words("x.xlsx"))
    assert "x.xlsx" in refusal
    assert extension in refusal


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(refused, no_work):
    assert "cannot be written" in refused("infer", "d.csv", "-o", "/proc/x")


def test_conflicting_rows_are_numbered_as_users_count_them(refused, here):
    write_csv(here / "two.csv", ["a", "y", "z"], [[1, 0, 0], [0, 0, 0], [0, 0, 1]])
    write_csv(here / "three.csv", ["a", "z"], [[0, 0], [0, 1], [0, 1]])
    told = refused("curriculum", "two.csv", "--targets", "y,z")
    assert "data rows 2 and 3 have the same inputs and differ in target 'z', so" in told
    assert "--on-conflict ignore" in told
    assert "(1 more row is in such a conflict)" in refused("curriculum", "three.csv", "--targets", "z")


def test_an_unknown_category_is_predicted(here, capsys):
    write_csv(here / "train.csv", ["colour", "z"], [["red", 0], ["blue", 1], ["red", 0], ["blue", 1]])
    write_csv(here / "new.csv", ["colour"], [["green"]])
    assert run(["learn", "train.csv", "--targets", "z", "-o", "m.json", *QUICK]) == 0
    capsys.readouterr()
    assert run(["predict", "m.json", "new.csv"]) == 0
    assert capsys.readouterr().out in ("z\n0\n", "z\n1\n")


def test_bad_models_are_refused(refused, here):
    write_problem(here / "add3.csv", "add3", 20)
    network = package.Network(1, [[0, 0]], [1], input_names=["x0"])
    network.save(here / "plain.json")
    future = json.loads(network.to_json()) | {"version": 99}
    (here / "future.json").write_text(json.dumps(future))
    network.save(here / "about.json", about={"version": 99})
    network.save(here / "odd.json", about={"version": 6, "encoding": {"features": [], "targets": Z0}})
    network.save(here / "odder.json", about={"version": 6, "encoding": 7})
    network.with_names(["q"]).save(here / "other.json")
    (here / "text.json").write_text("hello")
    assert "update Gradus" in refused("predict", "future.json", "add3.csv")
    assert "update Gradus" in refused("export", "future.json", "c.v")
    assert "update Gradus" in refused("draw", "future.json", "c.svg")
    assert "update Gradus" in refused("predict", "about.json", "add3.csv")
    assert "does not give the inputs" in refused("predict", "odd.json", "add3.csv")
    assert "must have features and targets" in refused("predict", "odder.json", "add3.csv")
    assert "no column 'q'" in refused("predict", "other.json", "add3.csv")
    assert "not JSON" in refused("predict", "text.json", "add3.csv")
    assert "missing.json" in refused("predict", "missing.json", "add3.csv")
    assert "missing.csv" in refused("predict", "plain.json", "missing.csv")
    assert "cannot be written" in refused("predict", "plain.json", "add3.csv", "-o", "nowhere/out.csv")


def test_a_plain_network_predicts_too(here, capsys):
    write_csv(here / "d.csv", ["x0", "z0"], [[0, 1], [1, 1]])
    package.Network(1, [[0, 0]], [1]).save(here / "plain.json")
    assert run(["predict", "plain.json", "d.csv"]) == 0
    out, err = capsys.readouterr()
    assert out == "z0\n1\n0\n"
    assert err == "z0: 50.0 % right (always 1, the majority in this table: 100.0 %)\n"


def test_the_next_value_of_a_gene_is_not_scored_against_its_present_one(here, capsys):
    write_csv(here / "d.csv", ["a"], [[0], [1]])
    package.Network(1, [[0, 0]], [1], input_names=["a"], output_names=["a"]).save(here / "plain.json")
    assert run(["predict", "plain.json", "d.csv"]) == 0
    assert capsys.readouterr().err == ""


def test_a_target_that_differs_in_every_row_is_refused_as_an_id(here, refused):
    write_csv(here / "d.csv", ["a", "no"], [[i % 2, f"row {i}"] for i in range(30)])
    assert "'no' has another value in every row, as an id has; name another column as the target" in refused(
        "learn", "d.csv", "--targets", "no"
    )


def test_a_target_of_many_numbers_is_refused_with_a_way_out(here, capsys):
    rows = [[k % 7, k % 50] for k in range(100)]
    write_csv(here / "prices.csv", ["a", "price"], rows)
    assert run(["learn", "prices.csv"]) == 2
    said = last_line(capsys.readouterr().err)
    assert said.startswith("gradus: target 'price' has 50 different numbers in 100 rows; a target must hold classes")
    assert said.endswith("or give it as texts (gradus learn --types price=category).")
    words = ["learn", "prices.csv", "--types", "price=category", "--n-circuits", "1", "--time-limit", "2", "-o", "m.json"]
    assert run(words) == 0
    assert load(here / "m.json").targets[0].classes[:2] == ("0", "1")
    assert "unique classes" not in capsys.readouterr().err


def test_a_last_column_without_a_cell_is_not_the_target(here, capsys):
    (here / "comma.csv").write_text("a,b,z,\n0,0,0,\n0,1,1,\n1,0,1,\n1,1,0,\n")
    assert run(["learn", "comma.csv", "-o", "m.json"]) == 0
    assert load(here / "m.json").target_names == ("z",)


def test_a_table_too_small_for_a_score_is_said_to_be(here, capsys):
    write_csv(here / "small.csv", ["a", "z"], [[0, 0], [1, 1]])
    assert run(["learn", "small.csv"]) == 0
    assert "2 rows: too few for a score on rows not seen, which takes 10." in capsys.readouterr().err


@pytest.mark.parametrize("option", [[], ["--types", "zip=category"], ["--no-header"]])
def test_the_file_is_opened_once(here, monkeypatch, option):
    rows = [[k, 90000 + k % 3, ("red", "", "blue")[k % 3], "yes" if k % 2 else "no"] for k in range(30)]
    write_csv(here / "d.csv", ["no", "zip", "colour", "z"], rows)
    assert run(["learn", "d.csv", "-o", "m.json", *option, *QUICK]) == 0
    opened = []
    really_open = builtins.open

    def counting(file, *words, **settings):
        opened.append(str(file))
        return really_open(file, *words, **settings)

    monkeypatch.setattr(builtins, "open", counting)
    assert run(["learn", "d.csv", "-o", "m.json", *option, *QUICK]) == 0
    assert opened.count("d.csv") == 1
    opened.clear()
    if "--no-header" not in option:
        assert run(["predict", "m.json", "d.csv"]) == 0
        assert opened.count("d.csv") == 1
