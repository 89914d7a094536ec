"""Checkpoints of `gradus learn`: a killed command goes on, ends with the same model, and removes what it wrote."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from cli_files import write_csv

from gradus._cli import learn as learn_verb
from gradus._cli.main import run

COMMAND = ["learn", "d.csv", "--n-circuits", "6", "--cv", "2"]


@pytest.fixture
def table(here):
    rows = [
        [f"{k * 37 % 101 / 10}", f"{k * 53 % 89}", str(k % 3), "ab"[(k * 37 % 101 > 50) ^ (k % 3 == 1)]] for k in range(60)
    ]
    write_csv(here / "d.csv", ["u", "v", "w", "z"], rows)
    return here


def model_of(path):
    return path.read_text()


@pytest.mark.parametrize("options", [[], ["--checkpoint", "work.checkpoint"]])
def test_a_killed_command_goes_on_to_the_same_model(table, options, capsys, monkeypatch):
    monkeypatch.setattr(learn_verb, "SECONDS_UNASKED", 0.0)
    assert run([*COMMAND, "-o", "whole.json"]) == 0
    path = table / (options[1] if options else "model.json.checkpoint")
    script = "import sys; from gradus._cli import learn, main; learn.SECONDS_UNASKED = 0.0; sys.exit(main.run(sys.argv[1:]))"
    killed = subprocess.Popen(
        [sys.executable, "-c", script, *COMMAND, "-o", "model.json", *options],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    end = time.monotonic() + 100
    while not path.exists() and killed.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    assert path.exists()
    assert not (table / "model.json").exists()
    assert run([*COMMAND, "-o", "model.json", *options]) == 0
    assert model_of(table / "model.json") == model_of(table / "whole.json")
    assert not path.exists()


def test_nothing_is_written_within_the_first_minute_unless_asked(table, capsys):
    assert run([*COMMAND, "-o", "model.json"]) == 0
    assert sorted(path.name for path in table.iterdir()) == ["d.csv", "model.html", "model.json"]


@pytest.mark.parametrize(
    ("change", "what"), [(["--seed", "1"], "other settings"), (["--types", "w=category"], "other settings")]
)
def test_other_settings_are_refused(table, capsys, monkeypatch, change, what):
    monkeypatch.setattr("gradus._core.checkpoint.Checkpoint.remove", lambda checkpoint: None)
    assert run([*COMMAND, "-o", "model.json", "--checkpoint", "c"]) == 0
    assert run([*COMMAND, "-o", "model.json", "--checkpoint", "c", *change]) == 2
    assert what in capsys.readouterr().err


def test_other_data_are_refused(table, capsys, monkeypatch):
    monkeypatch.setattr("gradus._core.checkpoint.Checkpoint.remove", lambda checkpoint: None)
    assert run([*COMMAND, "-o", "model.json", "--checkpoint", "c"]) == 0
    text = (table / "d.csv").read_text()
    (table / "d.csv").write_text(text.replace("3.7", "3.8"))
    assert run([*COMMAND, "-o", "model.json", "--checkpoint", "c"]) == 2
    assert "other data" in capsys.readouterr().err
