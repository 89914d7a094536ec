"""`gradus learn` and `gradus predict`, from a table to predictions, and what they refuse."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from cli_files import write_csv, write_problem

import gradus as package
from gradus._cli.main import run
from gradus._cli.model_file import load_model

QUICK = ("--shrink", "2000", "--attempts", "1")


def test_an_adder_is_learned_without_error_and_its_verilog_is_read_by_yosys(gradus, tmp_path):
    write_problem(tmp_path / "add4.csv", "add4", 64)
    done = gradus("learn", "add4.csv", "--targets", "z0,z1,z2,z3", "-o", "model.json", *QUICK)
    assert "every example is right" in done.stdout
    assert "if always the majority" in done.stdout
    assert "{x0, y0}" in done.stdout
    gradus("export", "model.json", "circuit.v")
    steps = "y.run_pass('read_verilog circuit.v', d); y.run_pass('check -assert', d)"
    program = f"from pyosys import libyosys as y; d = y.Design(); {steps}"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)
    gradus("draw", "model.json", "net.svg")
    done = gradus("predict", "model.json", "add4.csv", "-o", "out.csv")
    assert done.stdout.count("100.0 % right (always") == 4
    assert done.stderr == ""
    with (tmp_path / "add4.csv").open() as given, (tmp_path / "out.csv").open() as made:
        assert [row[8:] for row in csv.reader(given)] == list(csv.reader(made))


def test_json_holds_every_score_beside_its_baseline(here, capsys):
    write_problem(here / "add3.csv", "add3", 48)
    assert run(["learn", "add3.csv", "--targets", "z0,z1,z2", "--cv", "3", "--json", *QUICK]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["converged"]
    assert document["rows"] == 48
    assert sorted(document["order"]) == ["z0", "z1", "z2"]
    for entry in document["targets"]:
        assert entry["training_errors"] == 0
        assert 0 < entry["majority_errors"] <= 24
        assert 0 <= entry["cv_majority_accuracy"] <= 1
        assert 0 <= entry["cv_accuracy"] <= 1
    assert document["targets"][0]["feature_set"] == ["x0", "y0"]
    assert document["targets"][0]["formula"] == "!x0 & y0 | x0 & !y0"


def test_the_same_seed_gives_the_same_model_file(here, capsys):
    write_problem(here / "add3.csv", "add3", 40)
    for name in ("a.json", "b.json"):
        assert run(["learn", "add3.csv", "--targets", "z0,z1,z2", "-o", name, "--seed", "5", *QUICK]) == 0
    assert (here / "a.json").read_text() == (here / "b.json").read_text()
    network = package.Network.load(here / "a.json")
    learned = package.search(*_problem_rows(here / "add3.csv", 6), shrink=2000, seed=5, max_iter=20_000_000, n_restarts=2)
    assert network.sources.tolist() == learned.network.sources.tolist()


def _problem_rows(path, n_inputs):
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int)
    return table[:, :n_inputs], table[:, n_inputs:]


def test_numbers_categories_and_several_classes_go_in_and_come_out(here, capsys):
    rows = [
        [size, colour, "big" if size > 5 else "odd" if colour == "red" else "small"]
        for size in (1.5, 2.5, 8.5, 9.5)
        for colour in ("red", "blue", "green")
    ]
    write_csv(here / "things.csv", ["size", "colour", "kind"], rows)
    assert run(["learn", "things.csv", "--targets", "kind", "--binarize", "quantile", "-o", "m.json", *QUICK]) == 0
    model = load_model(here / "m.json")
    assert model.network.output_names == ("kind[0]", "kind[1]")
    assert "colour=red" in model.network.input_names
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


def test_contradictory_rows_are_an_error_unless_the_majority_may_decide(refused, here, capsys):
    write_csv(here / "d.csv", ["a", "z"], [[0, 1], [1, 0], [0, 0], [0, 1]])
    assert "data rows 1 and 3 have the same inputs" in refused("learn", "d.csv", "--targets", "z", "-o", "m.json")
    assert run(["learn", "d.csv", "--targets", "z", "--on-conflict", "majority", "-o", "m.json", *QUICK]) == 0
    out, err = capsys.readouterr()
    assert "1 row has the inputs of others" in err
    assert "1 of 4 (25.0 %)" in out
    assert package.Network.load(here / "m.json").predict([[0], [1]]).ravel().tolist() == [True, False]


def last_line(text):
    return text.rstrip().splitlines()[-1]


@pytest.mark.parametrize(
    ("minority", "told"), [(0, "every example is right;"), (1, "but the 1 that differs"), (2, "but the 2 that differ ")]
)
def test_the_last_line_agrees_with_the_training_errors_of_the_table(gradus, tmp_path, minority, told):
    rows = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0], *[[1, 1, 0]] * 2, *[[1, 1, 1]] * minority]
    write_csv(tmp_path / "d.csv", ["a", "b", "z"], rows)
    words = ("learn", "d.csv", "--targets", "z", "--on-conflict", "majority", *QUICK)
    done = gradus(*words)
    assert told in last_line(done.stdout)
    document = json.loads(gradus(*words, "--json").stdout)
    assert document["converged"]
    assert document["outvoted"] == document["targets"][0]["training_errors"] == minority


def test_errors_of_the_search_and_of_the_rows_are_told_apart(gradus, tmp_path):
    write_problem(tmp_path / "add4.csv", "add4", 64)
    lines = (tmp_path / "add4.csv").read_text().splitlines()
    wrong = lines[1][:-1] + str(1 - int(lines[1][-1]))
    (tmp_path / "add4.csv").write_text("\n".join([*lines, lines[1], wrong]))
    short = ("--max-iterations", "100", "--restarts", "0", "--attempts", "1")
    done = gradus("learn", "add4.csv", "--targets", "z0,z1,z2,z3", "--on-conflict", "majority", *short)
    told = "NOT every example is right even without the 1 that differs from the majority of rows with the same inputs;"
    assert last_line(done.stdout).startswith(told)
    assert "the search ended with errors left" in done.stderr


def test_of_several_classes_the_most_frequent_is_learned_and_not_a_mixture(here, capsys):
    kinds = [*"aaaa", *"bbb", *"ddd", "c"]  # bit by bit the majority would be b
    write_csv(here / "d.csv", ["x", "kind"], [*([0, kind] for kind in kinds), [1, "c"]])
    words = ["learn", "d.csv", "--targets", "kind", "--binarize", "quantile", "--on-conflict", "majority", "-o", "m.json"]
    assert run([*words, *QUICK]) == 0
    assert "every example is right but the 7 that differ" in last_line(capsys.readouterr().out.replace("wrote m.json", ""))
    write_csv(here / "new.csv", ["x"], [[0], [1]])
    assert run(["predict", "m.json", "new.csv"]) == 0
    assert capsys.readouterr().out.split() == ["kind", "a", "c"]


def test_a_time_limit_that_ended_the_search_is_said(here, capsys):
    table = np.random.default_rng(0).integers(0, 2, size=(300, 14))
    write_csv(here / "noise.csv", [f"c{j}" for j in range(14)], table.tolist())
    words = ["learn", "noise.csv", "--targets", "c12,c13", "--on-conflict", "majority", "--time-limit", "0.2"]
    assert run([*words, "--max-iterations", str(10**12)]) == 0
    out, err = capsys.readouterr()
    assert "NOT every example is right" in out
    assert "the time limit ended the search; this is the best network so far." in err


def test_errors_that_are_left_are_said(here, capsys):
    write_problem(here / "add4.csv", "add4", 64)
    short = ("--max-iterations", "100", "--restarts", "0", "--attempts", "1")
    assert run(["learn", "add4.csv", "--targets", "z0,z1,z2,z3", *short]) == 0
    out, err = capsys.readouterr()
    assert "NOT every example is right" in out
    assert "the search ended with errors left" in err
    assert "try --loss lw" in err


@pytest.mark.parametrize("keep", [True, False])
def test_ctrl_c_ends_cleanly_and_keeps_the_best_network_if_asked(tmp_path, keep):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, size=(300, 14))
    write_csv(tmp_path / "noise.csv", [f"c{j}" for j in range(14)], table.tolist())
    words = ["learn", "noise.csv", "--targets", "c12,c13", "-o", "model.json", "--on-conflict", "majority"]
    words += ["--max-iterations", str(10**12), *(["--keep-best"] if keep else [])]
    process = subprocess.Popen(
        [sys.executable, "-m", "gradus", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for line in process.stderr:
        if "attempt 1 of" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    if keep:
        assert process.returncode == 0
        assert "stopped; this is the best network so far" in err
        assert not json.loads((tmp_path / "model.json").read_text())["about"]["converged"]
    else:
        assert process.returncode == 130
        assert "with --keep-best" in err
        assert not (tmp_path / "model.json").exists()
        assert out == ""


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
    assert "--targets" in refused("learn", "add3.csv")
    assert "no row" in refused("learn", "empty.csv", "--targets", "z")
    assert "empty" in refused("learn", "nothing.csv", "--targets", "z")
    assert "text" in refused("learn", "binary.csv", "--targets", "z")
    assert "line 3, column 1" in refused("learn", "words.csv", "--targets", "z")
    assert "0.5" in refused("learn", "numbers.csv", "--targets", "z")
    assert "missing" in refused("learn", "gaps.csv", "--targets", "z")
    assert "missing" in refused("learn", "gaps.csv", "--targets", "z", "--binarize", "quantile")
    assert "no folder" in refused(*good, "-o", "nowhere/model.json")
    assert "loss is 'l9'" in refused(*good, "--loss", "l9")
    assert "--order has 'z7'" in refused(*good, "--order", "z7,z0")
    assert "--cv is 1" in refused(*good, "--cv", "1", *QUICK)
    assert "--binarize is 'half'" in refused(*good, "--binarize", "half")
    assert "--on-conflict is 'maybe'" in refused(*good, "--on-conflict", "maybe")
    assert "backend is 'abacus'" in refused(*good, "--backend", "abacus")
    assert "seed is -1" in refused(*good, "--seed", "-1")


@pytest.fixture
def no_work(monkeypatch):
    """Fail if any table or model is read: the place for output must be looked at before."""

    def read(*_, **__):
        raise AssertionError("work was done before the output was checked")

    for name in ("learn.read_examples", "curriculum.read_examples", "predict.load_model", "infer.read_series"):
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


def test_rows_in_conflict_are_named_as_the_user_counts_them(refused, here):
    write_csv(here / "two.csv", ["a", "y", "z"], [[1, 0, 0], [0, 0, 0], [0, 0, 1]])
    write_csv(here / "three.csv", ["a", "z"], [[0, 0], [0, 1], [0, 1]])
    for verb, way in (("learn", "majority"), ("curriculum", "ignore")):
        told = refused(verb, "two.csv", "--targets", "y,z")
        assert "data rows 2 and 3 have the same inputs and differ in target 'z', so" in told
        assert f"--on-conflict {way}" in told
        assert "(1 more row is in such a conflict)" in refused(verb, "three.csv", "--targets", "z")


def test_an_unknown_category_is_told_as_a_sentence(here, capsys):
    write_csv(here / "train.csv", ["colour", "z"], [["red", 0], ["blue", 1], ["red", 0], ["blue", 1]])
    write_csv(here / "new.csv", ["colour"], [["green"]])
    assert run(["learn", "train.csv", "--targets", "z", "--binarize", "quantile", "-o", "m.json", *QUICK]) == 0
    capsys.readouterr()
    assert run(["predict", "m.json", "new.csv"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("gradus: column 'colour' has 'green', which was not there in training")
    assert err.count("\n") == 1


def test_bad_models_are_refused(refused, here):
    write_problem(here / "add3.csv", "add3", 20)
    network = package.Network(1, [[0, 0]], [1], input_names=["x0"])
    network.save(here / "plain.json")
    future = json.loads(network.to_json()) | {"version": 99}
    (here / "future.json").write_text(json.dumps(future))
    network.save(here / "about.json", about={"version": 99})
    network.save(here / "odd.json", about={"encoding": {"features": [], "targets": []}})
    network.save(here / "odder.json", about={"encoding": 7})
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


def test_progress_on_a_gpu_is_told_in_steps():
    from gradus._cli.progress import Watch
    from gradus._search.cuda import BatchProgress

    with Watch(4, 7) as callback:
        assert callback(BatchProgress(jobs=1, finished=0, steps=0, seconds=0.0)) is False
        line = callback.describe(BatchProgress(jobs=1, finished=0, steps=3_000_000, seconds=1.0))
    assert line.startswith("7 searches on the GPU, 3.0 M steps")
