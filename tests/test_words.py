"""Pages stay short: words are counted, beside tables that a program writes, and the README and all pages have a limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
GENERATED = {DOCS / name for name in ("api.md", "results/claims.md", "results/beyond/tables.md", "results/contest/tables.md")}
"""The API, and pages that the laboratory writes whole."""
MARKED = re.compile(r"<!-- (\w+)(?:: [^>]*)? -->.*?<!-- /\1 -->", flags=re.DOTALL)
MOST = {"README": 900, "page": 1200, "all": 16_000}


def words(page: Path) -> int:
    """Words of a page, without what stands between ``<!-- table: COMMAND -->`` and ``<!-- /table -->``."""
    text = MARKED.sub("", page.read_text(encoding="utf-8"))
    return len([word for word in text.split() if re.search(r"\w", word)])


def test_words_in_generated_tables_do_not_count(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("One **two**.\n<!-- table: python x.py -->\n| three |\n<!-- /table -->\n- three, `four`\n")
    assert words(page) == 4


def test_the_readme_fits_on_a_page():
    readme = ROOT / "README.md"
    assert words(readme) <= MOST["README"]
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 100


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in GENERATED], ids=lambda page: str(page.relative_to(DOCS))
)
def test_no_page_is_too_long_to_be_read(page):
    assert words(page) <= MOST["page"]


def test_all_pages_together_can_be_read_in_an_hour():
    assert sum(words(page) for page in PAGES if page not in GENERATED) <= MOST["all"]
