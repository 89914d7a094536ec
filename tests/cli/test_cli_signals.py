"""SIGTERM ends every verb that learns, in a process of its own, with the best so far kept and exit code 143."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from cli_files import write_csv

from gradus._tables.model import load

PROGRAM = "import gradus._cli.progress_line as p; p.SECONDS_PER_LINE = 0.2; from gradus._cli import main; main()"
VERBS = {
    "learn": "learn d.csv --targets c20,c21,c22,c23 -o model.json --noise 0 --n-circuits 100",
    "curriculum": "curriculum d.csv --targets c86,c87,c88,c89 --json",
    "infer": "infer s.csv -o out",
}


def kept(verb, folder, out):
    """Whether what a verb has found so far can be used."""
    if verb == "learn":
        return load(folder / "model.json").predict(np.zeros((1, 20), dtype=int)).shape == (1, 4)
    if verb == "curriculum":
        return len(json.loads(out)["order"]) == 4
    return "targets" in (folder / "out" / "rules.bnet").read_text(encoding="utf-8")


@pytest.fixture
def running(tmp_path):
    """Start a verb on random bits, which takes for ever, and wait until it is under way."""
    columns, rows = 90, 1000
    table = np.random.default_rng(0).integers(0, 2, size=(rows, columns))
    write_csv(tmp_path / "s.csv", [f"g{j}" for j in range(40)], table[:60, :40].tolist())

    def start(verb):
        width = 24 if verb == "learn" else columns
        write_csv(tmp_path / "d.csv", [f"c{j}" for j in range(width)], table[:, :width].tolist())
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *VERBS[verb].split()],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        lines = 0  # at the first one, kernels may still be compiled, and a signal ends the work at once
        while lines < 2 and (line := process.stderr.readline()):
            lines += " of " in line
        return process

    return start


@pytest.mark.parametrize("verb", VERBS)
def test_sigterm_keeps_the_best_so_far(running, tmp_path, verb):
    process = running(verb)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "Traceback" not in err
    assert any(word in err for word in ("stopped", "interrupted"))
    assert kept(verb, tmp_path, out)


def test_a_second_signal_ends_the_work_at_once(running):
    process = running("learn")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "Traceback" not in err
