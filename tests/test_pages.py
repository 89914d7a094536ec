"""Every example and command on the pages and in the README runs, and prints what the page says."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradus

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted(page for folder in ("", "for", "gallery") for page in (ROOT / "docs" / folder).glob("*.md")),
]
GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.md"))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page: Path, language: str) -> list[str]:
    """Code blocks of a page in one language; ``text``, ``toml`` and ``bash`` blocks are not run."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def pages_with(language: str) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in PAGES if blocks(page, language)]


def skip_what_is_not_installed(text: str) -> None:
    """Skip a page that shows what comes with an extra, or with gradus-paper."""
    for name, sign in {
        "pyosys": "import pyosys",  # there is none for Windows
        "pyarrow": ".parquet",
        "matplotlib": "matplotlib",
        "gradus_paper": "gradus reproduce",
    }.items():
        if sign in text:
            pytest.importorskip(name)


def words_in(picture: Path) -> list[str]:
    """Texts in an SVG picture: unlike places and fonts, they do not depend on the versions of drawing libraries."""
    return sorted(re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8")))


def commands(text: str) -> list[str]:
    """Command lines of a console block, without installation, which the test environment has done."""
    lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return [line for line in lines if not line.startswith("pip install") or "&&" in line]


@pytest.mark.parametrize("name", pages_with("pycon"))
def test_the_examples_on_a_page_print_what_it_shows(name, tmp_path, monkeypatch):
    skip_what_is_not_installed("".join(blocks(ROOT / name, "pycon")))
    monkeypatch.chdir(tmp_path)
    done = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert done.attempted > 0
    assert done.failed == 0
    # The pictures on the page are those that the code draws.
    if ROOT / name in GALLERY:
        for shown in re.findall(r"!\[[^]]*\]\(figures/([^)]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            assert words_in(tmp_path / shown) == words_in(ROOT / "docs" / "gallery" / "figures" / shown)


@pytest.mark.parametrize("name", pages_with("python"))
def test_the_programs_on_a_page_run_and_print_what_their_comments_say(name, tmp_path, monkeypatch):
    program = "\n".join(blocks(ROOT / name, "python"))
    skip_what_is_not_installed(program)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    # The comment after a print is what it prints.
    said = re.findall(r"^print\(.*\)  # (.*)$", program, flags=re.MULTILINE)
    for line, printed in zip(said, done.stdout.splitlines(), strict=False):
        assert line.startswith(printed.strip()), (line, printed)


@pytest.mark.parametrize("name", pages_with("console"))
def test_the_commands_on_a_page_run_one_after_another(name, tmp_path):
    lines = [line for block in blocks(ROOT / name, "console") for line in commands(block)]
    assert lines
    skip_what_is_not_installed("\n".join(lines))
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for line in lines:
        done = subprocess.run(
            ["sh", "-ec", line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
        for name in re.findall(r"(?:-o|>) (\S+\.\w+)", line):
            assert (tmp_path / name).stat().st_size > 0, f"{line} wrote no {name}"


def test_every_public_name_is_on_the_api_page():
    described = re.findall(r"^::: gradus\.(\S+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    genes = {f"genes.{name}" for name in gradus.genes.__all__ if name not in gradus.__all__}
    assert sorted(described) == sorted({*gradus.__all__, *genes} - {"genes"})


def test_every_column_of_the_published_results_is_described():
    pq = pytest.importorskip("pyarrow.parquet")
    rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "docs" / "archive.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    files = sorted((ROOT / "paper" / "results").rglob("*.parquet"))
    assert files
    for file in files:
        assert set(pq.read_schema(file).names) <= described, file.name


def test_the_front_page_has_its_pictures():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert len(pictures) == 2
    assert all((ROOT / picture).stat().st_size > 0 for picture in pictures)
