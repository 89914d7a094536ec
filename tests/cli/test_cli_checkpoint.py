"""Checkpoints of `gradus learn`: a killed command goes on, ends with the same model, and removes what it wrote."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from cli_files import write_csv

from gradus._cli.main import run

KILLED = """
import os, signal, sys
from gradus._cli import learn
from gradus._cli.main import run
from gradus._core.checkpoint import Checkpoint

learn.SECONDS_UNASKED = 0.0
save, saves = Checkpoint.save, []

def save_and_die(checkpoint):
    save(checkpoint)
    checkpoint._next = 0.0  # again after the next piece
    saves.append(1)
    if len(saves) == 20:
        os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.save = save_and_die
run(sys.argv[1:])
"""
"""Learns until 20 pieces are finished."""
COMMAND = ["learn", "d.csv", "--n-circuits", "4", "--cv", "2"]


@pytest.fixture
def table(here):
    rows = [
        [f"{k * 37 % 101 / 10}", f"{k * 53 % 89}", str(k % 3), "ab"[(k * 37 % 101 > 50) ^ (k % 3 == 1)]] for k in range(60)
    ]
    write_csv(here / "d.csv", ["u", "v", "w", "z"], rows)
    return here


@pytest.fixture
def kept(monkeypatch):
    """Leave checkpoints behind."""
    monkeypatch.setattr("gradus._core.checkpoint.Checkpoint.remove", lambda checkpoint: None)


@pytest.mark.parametrize("options", [[], ["--checkpoint", "work.checkpoint"]])
def test_a_killed_command_goes_on_to_the_same_model(table, options, capsys):
    assert run([*COMMAND, "-o", "whole.json"]) == 0
    killed = subprocess.run([sys.executable, "-c", KILLED, *COMMAND, "-o", "model.json", *options], capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert not (table / "model.json").exists()
    path = table / (options[1] if options else "model.json.checkpoint")
    assert path.exists()
    assert run([*COMMAND, "-o", "model.json", *options]) == 0
    assert (table / "model.json").read_text() == (table / "whole.json").read_text()
    assert not path.exists()


def test_nothing_is_written_within_the_first_minute_unless_asked(table, capsys):
    assert run([*COMMAND, "-o", "model.json"]) == 0
    assert sorted(path.name for path in table.iterdir()) == ["d.csv", "model.html", "model.json"]


@pytest.mark.usefixtures("kept")
def test_other_settings_and_other_data_are_refused(table, capsys):
    command = [*COMMAND, "--checkpoint", "c"]
    assert run(command) == 0
    assert run([*command, "--seed", "1"]) == 2
    assert "other settings; remove it" in capsys.readouterr().err
    text = (table / "d.csv").read_text()
    (table / "d.csv").write_text(text.replace("3.7", "3.8"))
    assert run(command) == 2
    assert "other data; remove it" in capsys.readouterr().err
