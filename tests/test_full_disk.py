"""Every verb on a disk that runs full: one error message, no half-written file, and the same command works afterwards.

``python benchmarks/full_disk.py`` does the same for every single write.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

import full_disk
from gradus._cli.main import VERBS

WRITE_NOTHING = {"curriculum", "bench"}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    full_disk.prepare(folder, full_disk.VERBS)
    return folder


def test_every_verb_that_writes_is_tried():
    assert set(full_disk.VERBS) == set(VERBS) - WRITE_NOTHING


@pytest.mark.parametrize("verb", full_disk.VERBS)
def test_a_full_disk_gives_one_error_message_and_no_half_written_file(template, tmp_path, verb):
    writes, faults = full_disk.attack(verb, template, lambda: Path(tempfile.mkdtemp(dir=tmp_path)), most=3)
    assert faults == []
    assert writes > 0
