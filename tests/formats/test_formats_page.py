from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def test_the_examples_of_the_page_print_what_it_says() -> None:
    done = doctest.testfile(str(PAGE), module_relative=False)
    assert done.attempted > 8
    assert done.failed == 0
