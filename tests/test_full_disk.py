"""Every verb on a disk that runs full: one error message, no half-written file, and the same command works afterwards.

``python benchmarks/full_disk.py`` does the same for every single write.
"""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path

import pytest

from gradus._cli.main import VERBS

PATH = Path(__file__).parents[1] / "benchmarks" / "full_disk.py"
SPEC = importlib.util.spec_from_file_location("full_disk", PATH)
full_disk = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(full_disk)
WRITE_NOTHING = {"curriculum", "status", "bench"}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    full_disk.prepare(folder)
    return folder


def test_every_verb_that_writes_is_tried():
    assert set(full_disk.VERBS) == set(VERBS) - WRITE_NOTHING


@pytest.mark.parametrize("verb", full_disk.VERBS)
def test_a_full_disk_gives_one_error_message_and_no_half_written_file(template, tmp_path, verb):
    writes, faults = full_disk.attack(verb, template, lambda: Path(tempfile.mkdtemp(dir=tmp_path)), most=3)
    assert faults == []
    assert writes > 0
