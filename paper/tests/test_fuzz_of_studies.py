"""Every reader of gradus-paper against damaged files; ``python benchmarks/fuzz_paper.py`` does the same for longer."""

from __future__ import annotations

import pytest

import fuzz
import fuzz_paper

MUTANTS = 100
NAMES = ("runs", "study", "begun", "part", "published")


@pytest.fixture(scope="module")
def readers():
    return {reader.name: reader for reader in fuzz_paper.readers()}


def test_every_reader_is_attacked(readers):
    assert set(readers) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused_in_time(readers, tmp_path, name):
    answers, _, faults = fuzz.attack(readers[name], range(MUTANTS), tmp_path)
    assert faults == []
    assert answers["refused"] > 0
    assert answers["read"] > 0
