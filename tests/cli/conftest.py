"""Helpers for the tests of the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cli_files import write_series

from gradus._cli.main import run
from gradus.problems import ECOLI_SERIES, YEAST_SERIES


@pytest.fixture
def gradus(tmp_path):
    """Run a command line in a process of its own, in an empty folder."""

    def call(*words: str, check: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "gradus", *map(str, words)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert check is None or done.returncode == check, done.stderr
        return done

    return call


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
