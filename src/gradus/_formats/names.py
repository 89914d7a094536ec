"""Names that a format cannot hold: mapped to safe ones, the map written in comments, and mapped back.

A writer gets a safe name for each network name from `safe_names`, and puts the lines of `map_lines` into the file's comments:

    # gradus-name: Cdc2_Cdc13_ stands for "Cdc2/Cdc13*"

A reader calls `restore` with the names that it found and the whole text of the file. A file without such lines keeps
its names, so readers may always call it. Within one file a safe name stands for exactly one name; an input and a target
of the same name (a gene now and at the next step) get two safe names in formats with a single name space, and both are
mapped back to the one name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet

from gradus.errors import FormatError

__all__ = ["IDENTIFIER", "NET_NAME", "fresh_name", "map_lines", "read_map", "restore", "safe_name", "safe_names"]

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names that every language accepts."""
NET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./*+:<>-]*")
"""Names that netlist files accept as one word, where nothing is a keyword."""

MARK = "gradus-name:"
_STRING = r'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(rf"{MARK}[ \t]+({_STRING}|[^\s\"]+)[ \t]+stands for[ \t]+({_STRING})")


def safe_name(name: str, allowed: re.Pattern[str], taken: Callable[[str], bool]) -> str:
    """Return the name itself if the format can hold it, or else a name made from it that is not taken."""
    # Letters and digits beyond ASCII are replaced too: few tools agree on them.
    stem = name if _fits(name, allowed) else re.sub(r"[^A-Za-z0-9_]", "_", name)
    return fresh_name(stem if _fits(stem, allowed) else f"_{stem}", taken)


def _fits(name: str, allowed: re.Pattern[str]) -> bool:
    """Return whether a format can hold a name; a name must not look like a line of the map."""
    return allowed.fullmatch(name) is not None and MARK not in name


def fresh_name(stem: str, taken: Callable[[str], bool]) -> str:
    """Return the stem, or the stem with the smallest number from 2 on that makes it a name not taken."""
    candidate, count = stem, 1
    while taken(candidate):
        count += 1
        candidate = f"{stem}_{count}"
    return candidate


def safe_names(names: Iterable[str], allowed: re.Pattern[str], reserved: AbstractSet[str] = frozenset()) -> dict[str, str]:
    """Map each distinct name to a safe one; a name that is safe already is mapped to itself."""
    distinct = list(dict.fromkeys(names))
    # Good names are given out first, so that no generated name can take their place.
    used = {name for name in distinct if _fits(name, allowed) and name.lower() not in reserved}
    result = {name: name for name in used}
    for name in distinct:
        if name not in result:
            result[name] = safe_name(name, allowed, lambda word: word in used or word.lower() in reserved)
            used.add(result[name])
    return {name: result[name] for name in distinct}


def map_lines(safe_to_name: Iterable[tuple[str, str]]) -> list[str]:
    """Return one comment line (without the comment sign) for each safe name that differs from what it stands for."""
    return [f"{MARK} {_word(safe)} stands for {json.dumps(name)}" for safe, name in safe_to_name if safe != name]


def _word(safe: str) -> str:
    return safe if re.fullmatch(r'[^\s"]+', safe) else json.dumps(safe)


def read_map(text: str) -> dict[str, str]:
    r"""Find the lines of `map_lines` in a file, whatever comment sign precedes them."""
    name_of: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if MARK not in line:
            continue
        match = _LINE.search(line)
        try:
            safe, name = (_unquoted(word) for word in match.groups()) if match else ("", None)
        except ValueError:  # a quoted word with an escape that JSON does not know
            name = None
        if name is None:
            raise FormatError(
                f'a name line must read: {MARK} SAFE stands for "NAME"; correct the line or delete it.', line=number
            )
        if name_of.setdefault(safe, name) != name:
            raise FormatError(f"{safe!r} stands for two names; delete one of the lines.", line=number)
    return name_of


def _unquoted(word: str) -> str:
    return str(json.loads(word)) if word.startswith('"') else word


def restore(names: Iterable[str], text: str | Mapping[str, str]) -> list[str]:
    r"""Turn the names found in a file back into those of the network that was written."""
    original = read_map(text) if isinstance(text, str) else text
    return [original.get(name, name) for name in names]
