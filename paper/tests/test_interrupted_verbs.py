"""Ctrl-C and SIGTERM end every verb of gradus-paper within half a CPU second, with a sentence; what is done is kept."""

from __future__ import annotations

import importlib
import signal

import pytest

from gradus._cli.main import ADDED, run
from interrupting import WorkTime, interrupted

for verb in ADDED:
    importlib.import_module(f"gradus_paper.cli.{verb}")
SECONDS = 0.5
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("verb", ADDED)
def test_a_signal_ends_a_verb_with_a_sentence(tmp_path, monkeypatch, capsys, verb, number):
    monkeypatch.chdir(tmp_path)
    work_time = WorkTime(monkeypatch)
    begun, words = 0.9, "reproduce all -o all --n-jobs 1"
    if verb != "reproduce":
        interrupted(lambda: run(words.split()), begun, work_time, waiting=3.0)
        capsys.readouterr()
        begun, words = 0.03, f"{verb} all"
    code, after = interrupted(lambda: run(words.split()), begun, work_time, waiting=3.0, number=number)
    assert after is not None, "the verb ended by itself"
    assert after < SECONDS
    said = capsys.readouterr()
    assert code == CODES[number]
    assert "stopped" in said.err
    assert "Traceback" not in said.err
