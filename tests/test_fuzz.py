"""Every reader against damaged files; ``python benchmarks/fuzz.py`` does the same for longer."""

from __future__ import annotations

import os

import pytest

import fuzz
import gradus
from gradus._formats.registry import READ
from gradus._formats.table_files import READERS
from gradus.errors import FormatError

MUTANTS = 100


@pytest.fixture(scope="module")
def readers():
    return {reader.name: reader for reader in fuzz.readers()}


FORMATS = {*READERS.values(), *(extension[1:] for extension in READ)} - {"json"}
NAMES = sorted({*fuzz.TEXTS, "prior rules", "model", "network", *FORMATS})


def test_every_reader_is_attacked(readers):
    assert {*readers, "parquet"} == {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused_in_time(readers, tmp_path, name):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    answers, _, faults = fuzz.attack(readers[name], range(MUTANTS), tmp_path)
    assert faults == []
    assert answers["refused"] > 0
    assert answers["read"] > 0


@pytest.mark.parametrize("load", [gradus.load, gradus.Network.load])
def test_models_are_read_with_the_same_checks_as_all_files(tmp_path, load, monkeypatch):
    network = gradus.Network(2, [[0, 1]], [2])
    network.save(tmp_path / "bom.json")
    whole = (tmp_path / "bom.json").read_bytes()
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + whole)
    assert load(tmp_path / "bom.json").predict([[0, 1]]).all()
    (tmp_path / "nul.json").write_bytes(whole.replace(b"nand", b"na\0d"))
    (tmp_path / "wide.json").write_bytes("{}".encode("utf-16"))
    (tmp_path / "digits.json").write_bytes(whole.replace(b'"version": 2', b'"version": ' + b"2" * 5000))
    (tmp_path / "deep.json").write_bytes(b"[" * 100_000)
    os.mkfifo(tmp_path / "pipe.json")
    reasons = {"nul": "zero byte", "wide": "UTF-16", "digits": "4300", "deep": "nested too deeply", "pipe": "not a file"}
    for name, says in reasons.items():
        with pytest.raises(FormatError, match=rf"{name}\.json.*{says}"):
            load(tmp_path / f"{name}.json")
    monkeypatch.setattr(os, "stat", lambda path: os.stat_result((0o100644, *[0] * 5, 1 << 29, 0, 0, 0)))
    with pytest.raises(FormatError, match="may have"):
        load(tmp_path / "bom.json")
