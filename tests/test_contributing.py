"""The table "to add a … touch these files" of CONTRIBUTING is true: few files, and registries do the rest."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from gradus._cli.main import run
from gradus._formats.registry import CIRCUITS, READ, TABLES
from gradus.losses import LOSSES

ROOT = Path(__file__).parents[1]
MOST = {"format that circuits are written in": 3, "format that circuits are read in": 3, "format of tables": 3}
MOST |= {"loss": 6, "noise model of lessons": 4, "claim": 2, "study": 3}
"""Files to touch at most; what a row mentions beyond them says when."""


def rows():
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## What to touch")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| ([a-z][^|]*?) \| (.*) \|$", section, flags=re.MULTILINE)[1:])


def test_every_file_in_the_table_is_there_and_they_are_few():
    assert {*rows()} == {*MOST}
    for what, cell in rows().items():
        files = re.findall(r"`((?:src|tests|docs|paper|benchmarks)/[^`]*)`", cell)
        assert [file for file in files if not (ROOT / file).exists()] == []
        exceptions = len(re.findall(r"\bor in\b|\balso gets\b", cell))
        assert 0 < len(files) - exceptions <= MOST[what], what


@pytest.mark.parametrize(("verb", "extensions"), [("export", (*CIRCUITS, *READ)), ("learn", (*TABLES, *READ)), ("draw", READ)])
def test_help_names_every_format(verb, extensions, capsys):
    assert run([verb, "--help"]) == 0
    words = capsys.readouterr().out.split()
    assert [extension for extension in extensions if not any(extension in word for word in words)] == []


def test_the_site_describes_every_format():
    pytest.importorskip("mkdocs")
    pytest.importorskip("pyarrow")
    spec = importlib.util.spec_from_file_location("mkdocs_hooks", ROOT / "mkdocs_hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    for page, table, known in (("formats", hooks.circuit_formats(), CIRCUITS), ("data", hooks.table_formats(), TABLES)):
        assert [extension for extension in known if f"`{extension}`" not in table] == []
        marker = "circuits" if page == "formats" else "tables"
        assert f"<!-- {marker} -->" in (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    named = {name for file in files for name in re.findall(r"gradus-learn\[(\w+)\]", file.read_text(encoding="utf-8"))}
    assert named
    assert named - {*extras} == set()


def test_every_loss_is_described():
    described = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "search.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [name for name in LOSSES if name not in described] == []
