"""The verbs of gradus-paper on a disk that runs full: one error message, and the same command works afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

import full_disk
from gradus._cli.main import ADDED
from gradus_paper import engines


def test_every_verb_that_writes_is_tried():
    assert set(full_disk.PAPER_VERBS) == set(ADDED) - {"status"}


@pytest.mark.parametrize("verb", full_disk.PAPER_VERBS)
def test_a_full_disk_gives_one_error_message_and_no_half_written_file(monkeypatch, tmp_path, verb):
    monkeypatch.setattr(engines, "choose_engine", lambda **_: full_disk.InThisProcess())
    (tmp_path / "template").mkdir()
    full_disk.prepare(tmp_path / "template", [verb])
    writes, faults = full_disk.attack(verb, tmp_path / "template", lambda: Path(tempfile.mkdtemp(dir=tmp_path)), most=3)
    assert faults == []
    assert writes > 0
