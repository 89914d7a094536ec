"""How the command line treats people: names, files, headers, ids, completion."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import types

import pytest
from cli_files import write_csv

from gradus._cli import data
from gradus._cli.data import named_columns
from gradus._cli.main import run
from gradus._tables.model import load
from gradus.errors import SettingsError

QUICK = ("--noise", "0", "--cv", "0", "--n-circuits", "1")
HALF_ADDER = [[0, 0, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1]]


@pytest.fixture
def stdin(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


def half_adder(path, header=("a", "b", "sum", "carry")):
    write_csv(path, list(header), HALF_ADDER)


def test_tables_and_models_go_through_pipes(here, capsys, stdin):
    half_adder(here / "d.csv")
    stdin((here / "d.csv").read_bytes())
    assert run(["learn", "-", "--targets", "sum,carry", "-o", "-", *QUICK]) == 0
    (here / "m.json").write_text(capsys.readouterr().out)
    assert load(here / "m.json").target_names == ("sum", "carry")
    stdin(b"b,a\n1,1\n0,1\n")
    assert run(["predict", "m.json", "-", "-o", "-"]) == 0
    assert capsys.readouterr().out == "sum,carry\n0,1\n1,0\n"


def test_a_pipe_that_never_ends_does_not_fill_the_disk(here, capsys, monkeypatch):
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return (b"0,1\n" * size)[:size]

    monkeypatch.setattr(data, "LARGEST_FILE", 1000)
    monkeypatch.setattr(data, "BLOCK", 100)
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=Endless()))
    assert run(["learn", "-"]) == 2
    assert "may have at most 1000" in capsys.readouterr().err


def test_two_results_do_not_go_to_one_pipe(refused, here):
    half_adder(here / "d.csv")
    assert "cannot both" in refused("learn", "d.csv", "-o", "-", "--json")


@pytest.mark.parametrize(
    "words",
    [
        ["--targets", "sum,carry"],
        ["--targets", "sum", "--targets", "carry"],
        ["--inputs", "a", "--inputs", "b", "--targets", "sum, carry"],
    ],
)
def test_targets_are_named_together_or_one_by_one(here, capsys, words):
    half_adder(here / "d.csv")
    assert run(["learn", "d.csv", "--json", *words, *QUICK]) == 0
    assert list(json.loads(capsys.readouterr().out)["rules"]) == ["sum", "carry"]


@pytest.mark.parametrize("words", [["größe, cm"], ['"größe, cm",carry'], ["größe, cm", "carry"]])
def test_names_with_commas_and_letters_of_all_kinds_are_names(here, capsys, words):
    half_adder(here / "d.csv", ("a", "b", "größe, cm", "carry"))
    options = [word for name in words for word in ("--targets", name)]
    assert run(["learn", "d.csv", "-o", "m.json", *options, *QUICK]) == 0
    assert '"größe, cm": ' in capsys.readouterr().out
    assert "größe, cm" in (here / "m.json").read_text(encoding="utf-8")


def test_an_unknown_column_is_refused_and_the_columns_are_listed():
    with pytest.raises(SettingsError, match=r"--inputs names 'q', which is not a column; the columns are a, b\."):
        named_columns(["a,q"], ["a", "b"], "--inputs")
    with pytest.raises(SettingsError, match="not a list of column names"):
        named_columns(["a,,b"], ["a", "b"], "--inputs")


def test_a_header_of_numbers_is_guessed_or_given(here, capsys):
    (here / "d.csv").write_text("0,1,2\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
    assert run(["learn", "d.csv", "--json", *QUICK]) == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["rows"], out["targets"][0]["name"]) == (4, "2")
    assert run(["learn", "d.csv", "--no-header", "--json", *QUICK]) == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["rows"], out["targets"][0]["name"]) == (5, "x2")


@pytest.mark.parametrize(
    ("name", "text", "targets"),
    [
        ("d.bnet", "targets, factors\na, b\nb, !a | b\n", ["a_next", "b_next"]),
        ("d.blif", ".model d\n.inputs a b\n.outputs z\n.names a b z\n11 1\n.end\n", ["z"]),
        ("d.pla", ".i 2\n.o 1\n.type fr\n00 0\n01 1\n10 1\n11 0\n.e\n", None),
    ],
)
def test_models_are_learned_from_the_rows_that_they_compute(here, capsys, name, text, targets):
    (here / name).write_text(text)
    assert run(["learn", name, "--json", *QUICK]) == 0
    out = json.loads(capsys.readouterr().out)
    assert out["converged"]
    assert out["rows"] == 4
    assert targets is None or [entry["name"] for entry in out["targets"]] == targets


def test_excel_files_are_read(here, capsys):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b", "sum", "carry"], *HALF_ADDER):
        book.active.append(row)
    book.save(here / "d.xlsx")
    assert run(["learn", "d.xlsx", "--targets", "sum,carry", "--json", *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["converged"]


def test_predictions_keep_the_ids_of_the_rows(here, capsys):
    half_adder(here / "d.csv")
    assert run(["learn", "d.csv", "--targets", "sum", "--inputs", "a,b", "-o", "m.json", *QUICK]) == 0
    capsys.readouterr()
    rows = [["x", 7, 0, 1], ["x", "008", 1, 1]]
    write_csv(here / "new.csv", ["note", "patient", "a", "b"], rows)
    assert run(["predict", "m.json", "new.csv"]) == 0
    assert capsys.readouterr().out == "patient,sum\n7,1\n008,0\n"
    write_csv(here / "same.csv", ["note", "a", "b"], [["x", 0, 1], ["x", 1, 1]])
    assert run(["predict", "m.json", "same.csv"]) == 0
    assert capsys.readouterr().out == "sum\n1\n0\n"


def test_help_lists_formats_and_choices_within_80_columns(capsys):
    assert run(["learn", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines())
    for word in (".xlsx", ".blif", ".bnet", ".pla", "any|nand", "category|median|drop"):
        assert word in out


def test_a_shell_completes_verbs_and_options():
    def completions(words, place):
        settings = {"_GRADUS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        program = "from gradus._cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, **settings}, capture_output=True, text=True, check=False
        )
        return done.stdout.split()

    assert completions("gradus pre", 1) == ["predict"]
    assert "--targets" in completions("gradus learn --t", 2)


def test_help_shows_the_words_that_an_option_takes(capsys):
    for verb, words in {
        "learn": ["auto|NUMBER"],
        "curriculum": ["first|random", "raise|ignore|first"],
        "infer": ["none|kmeans|NUMBER", "--steady FILE"],
        "reproduce": ["cpu|cuda"],
        "bench": ["cpu|cuda"],
    }.items():
        assert run([verb, "--help"]) == 0
        shown = capsys.readouterr().out
        assert [word for word in words if word not in shown] == []


def test_predictions_keep_an_id_that_occurs_twice(here, capsys):
    half_adder(here / "d.csv")
    assert run(["learn", "d.csv", "--targets", "sum,carry", "-o", "m.json", *QUICK]) == 0
    write_csv(here / "new.csv", ["name", "a", "b"], [["frog" if k < 2 else f"animal {k}", 0, 1] for k in range(20)])
    capsys.readouterr()
    assert run(["predict", "m.json", "new.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["name,sum,carry", "frog,1,0"]


def test_cells_that_a_model_cannot_read_are_named_before_they_count_as_missing(here, capsys):
    write_csv(here / "d.csv", ["size", "day", "z"], [[k / 4, f"2024-01-{k + 1:02d}", int(k > 9)] for k in range(20)])
    assert run(["learn", "d.csv", "-o", "m.json", *QUICK]) == 0
    read = load(here / "m.json").feature_names
    capsys.readouterr()
    (here / "new.csv").write_text("size;day\n4,5;03.01.2024\n1,5;04.01.2024\n;\n")
    assert run(["predict", "m.json", "new.csv"]) == 0
    said = capsys.readouterr().err
    for name, cell, kind in (("size", "4,5", "number"), ("day", "03.01.2024", "date")):
        what = f"column '{name}' has '{cell}', which is not a {kind} as those learned from; 2 such cells count as missing."
        assert (what in said) == (name in read)
    assert "not a" in said


def test_the_table_of_infer_fits_a_screen_of_80_columns(here, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    rows = ["Cdc2/Cdc13*,b", *(f"{k // 2 % 2},{(k + 1) // 2 % 2}" for k in range(9))]
    (here / "s.csv").write_text("\n".join(rows) + "\n")
    with monkeypatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setattr(sys, "stdout", screen)
        assert run(["infer", "s.csv", "-o", "r"]) == 0
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    words = set(" ".join(lines).split())
    assert {"Cdc2/Cdc13*", "probability", "contradicted", "left", "out:", "stays", "usual", "free"} <= words
