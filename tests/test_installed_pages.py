"""What a page tells its reader to install is enough: its examples and commands run in an environment with exactly that.

Run by ``pytest -m release tests/test_installed_pages.py``, as the hosted workflow does: an environment for each set.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from test_pages import PAGES, ROOT, blocks, commands
from test_release import environment, run

SHARED = {"gallery": "gallery/index.md"}
"""Pages of a folder that are installed for on its first page."""
DEFAULT = ("pip install .",)
LANGUAGES = ("pycon", "python", "console")


def packages(page: Path) -> tuple[str, ...]:
    """Return what is installed where the last code of a page runs; without a word on it, Gradus alone."""
    first = SHARED.get(page.parent.name)
    text = (ROOT / "docs" / first if first else page).read_text(encoding="utf-8")
    if not first:
        text = text[
            : max(text.rfind(found[-1]) + len(found[-1]) for language in LANGUAGES if (found := blocks(page, language)))
        ]
    lines = re.findall(r"(?:^(?:\$ | {4})?|`)(pip install [^`#\n]*)", text, flags=re.MULTILINE) or DEFAULT
    words = {word for line in lines for word in shlex.split(line.split("&&")[0])[2:]}
    # The tests need more than readers do.
    return tuple(sorted({".", *words} - {".[test]"}))


def groups() -> dict[tuple[str, ...], list[Path]]:
    """Return the pages with code, by what they install."""
    found = defaultdict(list)
    for page in PAGES:
        if any(blocks(page, language) for language in LANGUAGES):
            found[packages(page)].append(page)
    return found


@pytest.mark.release
@pytest.mark.parametrize("installed", groups(), ids=" ".join)
def test_the_code_of_pages_runs_with_what_they_install(installed, tmp_path):
    names = [str(ROOT) + word[1:] if word.startswith(".") else word for word in installed]
    programs = environment(tmp_path / "environment", sys.executable, *names)
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    for number, page in enumerate(groups()[installed]):
        folder = tmp_path / str(number)
        folder.mkdir()
        words = [programs / "python", "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS", page]
        run(*words, cwd=folder, **path)
        run(programs / "python", "-c", "\n".join(blocks(page, "python")), cwd=folder, **path)
        for line in [line for block in blocks(page, "console") for line in commands(block)]:
            run("sh", "-ec", line, cwd=folder, **path)


def test_no_page_installs_what_is_not_published():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"pip install [^\n`]*gradus-(learn|paper)|pipx run", text), f"{page} installs from an index"


def test_what_is_installed_is_read_from_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Do `pip install pyosys`:\n```bash\npip install '.[draw]' pandas\n```\n```console\n"
        "$ pip install . ./paper && gradus x\n$ gradus y\n```\nExcel needs `pip install '.[excel]'`.\n"
    )
    assert packages(page) == (".", "./paper", ".[draw]", "pandas", "pyosys")
