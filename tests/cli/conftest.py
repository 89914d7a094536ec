"""Helpers for the tests of the command line."""

from __future__ import annotations

import pytest
from cli_files import write_series

from gradus._cli.main import run
from gradus.genes import ECOLI_SERIES, YEAST_SERIES


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def refused(here, capsys):
    """Run a command line that must be refused: exit 2, one sentence, nothing printed or left behind."""

    def call(*words: str) -> str:
        before = sorted(here.rglob("*"))
        assert run([str(word) for word in words]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("gradus: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert sorted(here.rglob("*")) == before
        return err

    return call


@pytest.fixture
def yeast(tmp_path):
    return write_series(tmp_path / "yeast.csv", YEAST_SERIES)


@pytest.fixture
def ecoli(tmp_path):
    return write_series(tmp_path / "ecoli.csv", ECOLI_SERIES)
