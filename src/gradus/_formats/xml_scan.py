"""XML of unknown origin, looked at element by element before anything is built from it."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any
from xml.parsers import expat

from gradus.errors import FormatError

__all__ = ["scan_xml"]

DEEPEST = 500
MOST_ATTRIBUTES = 1000
"""Attributes of an element: AEON compares each with every other."""


def scan_xml(text: str, path: str | PathLike[str] | None, element: Callable[[str, dict[str, str]], None]) -> None:
    """Call a function with the name, without its prefix, and the attributes of every element in turn."""
    parser = expat.ParserCreate("utf-8")
    depth = 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise FormatError(f"elements are nested more than {DEEPEST} deep here.", path=path, line=parser.CurrentLineNumber)
        if len(attributes) > MOST_ATTRIBUTES:
            message = f"an element has more than {MOST_ATTRIBUTES} attributes here."
            raise FormatError(message, path=path, line=parser.CurrentLineNumber)
        element(tag.rpartition(":")[2], attributes)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    def document_type(*_: Any) -> None:
        raise FormatError("holds a document type or entities, which are not needed here and not read.", path=path)

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.StartDoctypeDeclHandler = document_type
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        raise FormatError(f"not XML: {error}.", path=path, line=error.lineno, column=error.offset + 1) from error
