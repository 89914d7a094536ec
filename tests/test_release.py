"""The distribution: built from the checkout, installed in bare environments, and used as a stranger would.

Run by ``pytest -m release``, which the hosted workflows do; GRADUS_PYTHONS lists the interpreters to try, like PATH.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import gradus
from gradus._version import described_version

ROOT = Path(__file__).parents[1]
PYTHONS = os.environ.get("GRADUS_PYTHONS", sys.executable).split(os.pathsep)
BIN = "Scripts" if os.name == "nt" else "bin"
PACKED = ("py", "typed", "html", "css", "js", "svg", "cu", "cuh")
"""Kinds of files in the wheel."""
PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check"]


def run(*words, cwd, **environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "GRADUS_PYTHONS")}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def environment(folder, python, *packages):
    """Make a virtual environment with nothing but some packages, and return its folder of programs."""
    run(python, "-m", "venv", folder, cwd=folder.parent)
    run(folder / BIN / "python", *PIP, "install", *packages, cwd=folder.parent)
    return folder / BIN


@pytest.fixture(scope="module")
def distribution(tmp_path_factory):
    """The source distribution, and the wheel that is built from it and not from the checkout."""
    folder = tmp_path_factory.mktemp("build")
    tools = environment(folder / "tools", sys.executable, "build")
    run(tools / "python", "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return sdist, wheel


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, flags=re.MULTILINE)[1] == gradus.__version__
    head = re.search(r"^## (\S+) \((?!unreleased)(.+)\)$", changes, flags=re.MULTILINE)
    assert head[1] == gradus.__version__
    assert re.search(r"^date-released: (.+)$", citation, flags=re.MULTILINE)[1] == head[2]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dynamic"] == ["version"]


def test_the_version_names_the_commit_that_was_built_and_does_without(tmp_path):
    code = "import sys; sys.path.insert(0, '.'); from gradus._version import described_version; print(described_version())"
    shutil.copytree(ROOT / "src" / "gradus", tmp_path / "gradus", ignore=shutil.ignore_patterns("__pycache__", "_commit.txt"))
    assert run(sys.executable, "-c", code, cwd=tmp_path).strip() == gradus.__version__
    (tmp_path / "gradus" / "_commit.txt").write_text("0123456789ab\n")
    assert run(sys.executable, "-c", code, cwd=tmp_path).strip() == f"{gradus.__version__} (commit 0123456789ab)"
    assert described_version().startswith(gradus.__version__)


@pytest.mark.release
def test_the_wheel_holds_the_package_and_nothing_else(distribution):
    sdist, wheel = distribution
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    files = [path for kind in PACKED for path in (ROOT / "src" / "gradus").rglob(f"*.{kind}")]
    package = {f"gradus/{path.relative_to(ROOT / 'src' / 'gradus').as_posix()}" for path in files}
    assert package <= set(names)
    assert all(name.split("/")[0] in ("gradus", f"gradus_learn-{gradus.__version__}.dist-info") for name in names)
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "tests/test_release.py", "docs/index.md"} <= inside
    assert not any(name.startswith("paper/") or name.endswith(".parquet") for name in inside), "the laboratory is apart"
    # The commit goes into both, if the tests run in a checkout.
    if (ROOT / ".git").exists():
        assert "gradus/_commit.txt" in names
        assert "src/gradus/_commit.txt" in inside


@pytest.mark.release
@pytest.mark.parametrize("python", PYTHONS)
def test_the_wheel_works_in_a_bare_environment(distribution, python, tmp_path):
    programs = environment(tmp_path / "bare", python, distribution[1])
    # No other program can be reached, git among them.
    bare = {"PATH": str(programs), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = programs / "gradus"
    said = run(command, "--version", cwd=tmp_path, **bare)
    assert re.fullmatch(rf"gradus {re.escape(gradus.__version__)} \(commit [0-9a-f]{{12}}(-dirty)?\)\n", said)
    assert "add6" in run(command, "problems", "list", cwd=tmp_path, **bare)
    with (tmp_path / "table.csv").open("w", newline="") as file:
        rows = [[a, b, c, int(a + b + c > 1)] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        csv.writer(file).writerows([["a", "b", "c", "most"], *rows * 4])
    run(command, "learn", "table.csv", "-o", "model.json", cwd=tmp_path, **bare)
    run(command, "predict", "model.json", "table.csv", "-o", "answers.csv", cwd=tmp_path, **bare)
    with (tmp_path / "answers.csv").open(newline="") as file:
        assert [int(row["most"]) for row in csv.DictReader(file)] == [row[-1] for row in rows] * 4
    run(command, "export", "model.json", "most.v", cwd=tmp_path, **bare)
    assert "module" in (tmp_path / "most.v").read_text()
    assert run(programs / "python", "-m", "gradus", "--version", cwd=tmp_path, **bare) == said


@pytest.mark.release
def test_one_line_runs_it_without_an_installation(distribution, tmp_path):
    tools = environment(tmp_path / "tools", sys.executable, "pipx")
    homes = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    words = ["run", "--spec", distribution[1], "gradus-learn", "problems", "show", "add3"]
    assert "add3" in run(tools / "python", "-m", "pipx", *words, cwd=tmp_path, **homes)
