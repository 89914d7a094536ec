from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus._formats.names import IDENTIFIER, map_lines, read_map, restore, safe_names
from gradus.errors import FormatError


@given(st.lists(st.text(max_size=8), unique=True))
def test_every_name_is_restored_from_the_comments_of_a_file(names: list[str]) -> None:
    safe = safe_names(names, IDENTIFIER)
    text = "\n".join(f"// {line}" for line in map_lines((safe[name], name) for name in names))
    assert restore([safe[name] for name in names], text) == names


@given(st.lists(st.from_regex(IDENTIFIER, fullmatch=True), unique=True))
def test_names_that_are_safe_are_not_touched(names: list[str]) -> None:
    assert safe_names(names, IDENTIFIER) == {name: name for name in names}


def test_a_made_up_name_never_pushes_a_given_one_aside() -> None:
    assert safe_names(["a b", "a_b"], IDENTIFIER) == {"a b": "a_b_2", "a_b": "a_b"}


def test_reserved_words_are_mapped_whatever_their_case() -> None:
    assert safe_names(["Wire"], IDENTIFIER, {"wire"}) == {"Wire": "Wire_2"}


def test_a_safe_name_with_blanks_is_mapped_back() -> None:
    assert restore(["a b_next"], "\n".join(map_lines([("a b_next", "a b")]))) == ["a b"]


@pytest.mark.parametrize(
    "line",
    ["gradus-name:", "gradus-name: a", 'gradus-name: a means "b"', "gradus-name: a stands for b",
     'gradus-name: a stands for "b', 'gradus-name: a stands for "\\q"', 'gradus-name: "\\q" stands for "b"'],
)  # fmt: skip
def test_a_broken_line_is_named(line: str) -> None:
    with pytest.raises(FormatError, match="line 2"):
        read_map(f"# fine\n# {line}\n")


def test_a_name_with_two_meanings_is_an_error() -> None:
    with pytest.raises(FormatError, match="two names"):
        read_map('# gradus-name: a stands for "b"\n# gradus-name: a stands for "c"\n')


@given(st.text())
def test_any_text_gives_a_map_or_a_clear_error(text: str) -> None:
    for file in (text, f"gradus-name:{text}", f'gradus-name: a stands for "{text}"'):
        with contextlib.suppress(FormatError):
            assert all(isinstance(name, str) for name in read_map(file).values())
