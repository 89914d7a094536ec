"""Berkeley PLA tables, of every type in espresso(5), as examples; a target that a row leaves open is missing."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.files import decoded_lines
from gradus._formats.table import Table, check_cells, distinct_targets, unique_columns
from gradus.errors import FormatError

__all__ = ["dumps", "read"]

MOST_PATTERNS = 1 << 20
MOST_WORK = 1 << 28
MOST_COLUMNS = 1 << 20

# What a row may state about a target, one bit each, so that several rows are combined by OR.
NOTHING, ON, OFF, ANY = 0, 1, 2, 4
MEANING = {"1": ON, "4": ON, "0": OFF, "3": OFF, "-": ANY, "2": ANY, "~": NOTHING}
SAYS = {"f": (ON,), "r": (OFF,), "fd": (ON, ANY), "dr": (OFF, ANY), "fr": (ON, OFF), "fdr": (ON, OFF, ANY)}
# What holds where no row covers a pattern; with the other types nothing is known there.
UNLISTED = {"f": 0.0, "fd": 0.0, "r": 1.0, "dr": 1.0}
INPUT_SIGNS = {"0": 0, "1": 1, "-": None, "2": None}
IMPOSSIBLE = "?"  # an input without a value: the row covers nothing

HINTS = (".phase", ".pair")
"""Hints for a minimizer, which do not change the function."""
REFUSED = {
    **dict.fromkeys((".mv", ".label"), "declares variables of several values; write each as bits, with .i"),
    **dict.fromkeys((".symbolic", ".symbolic-output", ".kiss"), "has symbols; encode them as bits first"),
}

Codes = npt.NDArray[np.uint8]


@dataclass
class _PlaFile:
    """A file as it is being read."""

    n_inputs: int | None = None
    n_outputs: int | None = None
    kind: str = "fd"
    input_names: list[str] | None = None
    output_names: list[str] | None = None
    n_rows: int | None = None
    cubes: list[tuple[int, str, str]] = field(default_factory=list)  # line, inputs, outputs
    ended: bool = False
    keyword: tuple[int, list[str]] | None = None  # line and words so far of a keyword that wants more
    row: list[tuple[int, int, str]] = field(default_factory=list)  # line, column and sign of a row that continues


def read(path: str | PathLike[str]) -> Table:
    """Read a PLA file as a table of examples."""
    # With ``.type f`` or ``fd`` every pattern that no row covers is 0, with ``r`` or ``dr`` it is 1, so the table is the whole
    # truth table (up to 20 inputs). With ``fr`` or ``fdr`` it holds the patterns of the rows, in their order. A don't-care in
    # the inputs stands for both values, up to 2^20 patterns in all; a target that is a don't-care or is left open is a missing
    # value. Without ``.ilb`` and ``.ob`` the names are ``x0, x1, …`` and ``z0, z1, …``.
    # Rows and lists of names may span several lines, and ``.p`` and ``.e`` may be absent.
    pla = _PlaFile()
    for number, line in enumerate(decoded_lines(path), start=1):
        text = line.partition("#")[0]
        if text.strip() and pla.ended:
            raise FormatError("there is text after the end mark.", line=number)
        if text.lstrip().startswith("."):
            _check_whole(pla)
            _keyword(pla, text.split(), number)
        elif pla.keyword is not None:
            began, words = pla.keyword
            words += text.split()
            _keyword(pla, words, began)
        else:
            _signs(pla, text, number)
    _check_whole(pla)
    return _table(pla)


def _check_whole(pla: _PlaFile) -> None:
    """Refuse a row or a keyword that ends too early."""
    if pla.row:
        raise _wrong_length(pla, pla.row)
    if pla.keyword is not None:
        line, (keyword, *arguments) = pla.keyword
        if keyword in (".ilb", ".ob"):
            _finish(pla, keyword, arguments, line)
        else:
            raise FormatError(f"expected one word after {keyword}.", line=line, column=len(keyword) + 2)


def _keyword(pla: _PlaFile, words: list[str], line: int) -> None:
    """Read a keyword, or leave it open if the words that it needs may be on the next line."""
    keyword = words[0]
    if keyword in REFUSED:
        raise FormatError(f"{keyword} {REFUSED[keyword]}.", line=line, column=1)
    wanted = {".i": 1, ".o": 1, ".p": 1, ".type": 1, ".ilb": pla.n_inputs, ".ob": pla.n_outputs}.get(keyword) or 0
    if len(words) <= wanted:
        pla.keyword = line, words
    else:
        _finish(pla, keyword, words[1:], line)


def _finish(pla: _PlaFile, keyword: str, arguments: list[str], line: int) -> None:
    pla.keyword = None
    if keyword in (".i", ".o", ".p"):
        _number(pla, keyword, arguments, line)
    elif keyword == ".type":
        if len(arguments) != 1 or arguments[0] not in SAYS:
            raise FormatError(f"the type is {' '.join(arguments)[:40]!r}; it must be one of {', '.join(SAYS)}.", line=line)
        if pla.cubes:
            raise FormatError(".type must come before the first row.", line=line)
        pla.kind = arguments[0]
    elif keyword == ".ilb":
        pla.input_names = arguments
    elif keyword == ".ob":
        pla.output_names = arguments
    elif keyword in (".e", ".end"):
        pla.ended = True
    elif keyword not in HINTS:
        raise FormatError(f"the keyword {keyword[:40]!r} is not known.", line=line, column=1)


def _number(pla: _PlaFile, keyword: str, arguments: list[str], line: int) -> None:
    if len(arguments) != 1 or not arguments[0].isascii() or not arguments[0].isdigit() or len(arguments[0]) > 9:
        raise FormatError(f"expected one number after {keyword}.", line=line, column=len(keyword) + 2)
    value = int(arguments[0])
    if keyword == ".p":
        pla.n_rows = value
        return
    if not 1 <= value <= MOST_COLUMNS:
        raise FormatError(f"{keyword} is {value}; it must be 1 to {MOST_COLUMNS}.", line=line, column=len(keyword) + 2)
    if pla.cubes or (pla.n_inputs if keyword == ".i" else pla.n_outputs) is not None:
        raise FormatError(f"{keyword} must occur once, before the first row.", line=line)
    if keyword == ".i":
        pla.n_inputs = value
    else:
        pla.n_outputs = value


def _signs(pla: _PlaFile, text: str, line: int) -> None:
    """Take the signs of a line: whole rows, or part of a row that ends with a later line."""
    new_signs = [(line, column, sign) for column, sign in enumerate(text, start=1) if not sign.isspace() and sign != "|"]
    if not new_signs:
        return
    if pla.n_inputs is None or pla.n_outputs is None:
        raise FormatError("a row comes before .i and .o.", line=line)
    width = pla.n_inputs + pla.n_outputs
    before, signs = len(pla.row), pla.row
    if before + len(new_signs) > width and (before or len(new_signs) % width):
        raise _wrong_length(pla, signs or new_signs)
    signs += new_signs
    for place, (at_line, column, sign) in enumerate(new_signs, start=before):
        allowed = [*INPUT_SIGNS, IMPOSSIBLE] if place % width < pla.n_inputs else list(MEANING)
        if sign not in allowed:
            raise FormatError(f"expected one of {' '.join(allowed)}, found {sign!r}.", line=at_line, column=column)
    if len(signs) < width:
        return
    pla.row = []
    for start in range(0, len(signs), width):
        row = "".join(sign for _, _, sign in signs[start : start + width])
        pla.cubes.append((signs[start][0], row[: pla.n_inputs], row[pla.n_inputs :]))


def _wrong_length(pla: _PlaFile, signs: list[tuple[int, int, str]]) -> FormatError:
    width = (pla.n_inputs or 0) + (pla.n_outputs or 0)
    line, column, _ = signs[width] if len(signs) > width else signs[-1]
    return FormatError(
        f"this row has {len(signs)} signs, but {pla.n_inputs} inputs and {pla.n_outputs} outputs make {width}; "
        "a row that spans several lines must end at the end of a line.",
        line=line, column=column if len(signs) > width else column + 1,
    )  # fmt: skip


def _table(pla: _PlaFile) -> Table:
    if pla.n_inputs is None or pla.n_outputs is None:
        raise FormatError("there is no .i or no .o, so this is not a PLA file.")
    if not pla.cubes and not pla.ended:
        raise FormatError("there is no row in the file.")
    if pla.n_rows is not None and pla.n_rows > len(pla.cubes) and not pla.ended:
        # espresso ignores .p, but a file that stops short of it without an end mark was most likely cut off.
        raise FormatError(f".p announces {pla.n_rows} rows, but the file ends after {len(pla.cubes)}; correct .p or add .e.")
    inputs = _names(pla, pla.input_names, pla.n_inputs, "x", ".ilb")
    targets = distinct_targets(inputs, _names(pla, pla.output_names, pla.n_outputs, "z", ".ob"))
    columns = unique_columns([*inputs, *targets])
    whole = pla.kind in UNLISTED
    X, codes, lines = _whole_table(pla, pla.n_inputs, pla.n_outputs) if whole else _listed_rows(pla, len(columns))
    rest = UNLISTED.get(pla.kind, np.nan)
    Y = np.where(codes & ANY, np.nan, np.where(codes & ON, 1.0, np.where(codes & OFF, 0.0, rest)))
    return Table(columns, list(np.hstack([X, Y]).T), targets=columns[len(inputs) :], lines=lines)


def _names(pla: _PlaFile, names: list[str] | None, count: int, letter: str, keyword: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{letter}{i}" for i in range(count))
    if len(names) != count:
        raise FormatError(f"{keyword} gives {len(names)} names for {count} columns.")
    return tuple(names)


def _output_codes(pla: _PlaFile, outputs: str) -> Codes:
    says = SAYS[pla.kind]
    return np.array([MEANING[sign] if MEANING[sign] in says else NOTHING for sign in outputs], dtype=np.uint8)


def _whole_table(pla: _PlaFile, n_inputs: int, n_outputs: int) -> tuple[npt.NDArray[np.float64], Codes, None]:
    """Truth table: for each pattern, everything stated by the rows that cover it."""
    if n_inputs > MOST_PATTERNS.bit_length() - 1:
        raise FormatError(
            f"with .type {pla.kind} the table has 2^{n_inputs} patterns, too many to write out; list examples with .type fr."
        )
    n_patterns = 1 << n_inputs
    check_cells(n_patterns, n_inputs + n_outputs)
    if n_patterns * len(pla.cubes) > MOST_WORK:
        raise FormatError(f"{len(pla.cubes)} rows over 2^{n_inputs} patterns are too many to work out.")
    patterns = np.arange(n_patterns)
    codes = np.zeros((n_patterns, n_outputs), dtype=np.uint8)
    for _, inputs, outputs in pla.cubes:
        if IMPOSSIBLE in inputs:
            continue
        fixed = sum(1 << i for i, sign in enumerate(inputs) if INPUT_SIGNS[sign] is not None)
        value = sum(1 << i for i, sign in enumerate(inputs) if INPUT_SIGNS[sign] == 1)
        covered = (patterns & fixed) == value
        codes[covered] |= _output_codes(pla, outputs)
    return ((patterns[:, np.newaxis] >> np.arange(n_inputs)) & 1).astype(np.float64), codes, None


def _listed_rows(pla: _PlaFile, width: int) -> tuple[npt.NDArray[np.float64], Codes, tuple[int, ...]]:
    """Patterns of the rows, each once, with everything stated about it."""
    _check_expansion(pla, width)
    first: dict[str, int] = {}
    codes: list[Codes] = []
    lines: list[int] = []
    for line, inputs, outputs in pla.cubes:
        said = _output_codes(pla, outputs)
        choices = ["01" if INPUT_SIGNS.get(sign, 0) is None else sign.replace(IMPOSSIBLE, "") for sign in inputs]
        for pattern in map("".join, itertools.product(*choices)):
            row = first.setdefault(pattern, len(codes))
            if row == len(codes):
                codes.append(said)
                lines.append(line)
            else:
                codes[row] = _agreed(pla, codes[row], said, lines[row], line)
    if not codes:
        raise FormatError("there is no row in the file that covers a pattern.")
    signs = np.frombuffer("".join(first).encode("ascii"), dtype=np.uint8).reshape(len(first), -1)
    return (signs == ord("1")).astype(np.float64), np.array(codes), tuple(lines)


def _check_expansion(pla: _PlaFile, width: int) -> None:
    total = 0
    for line, inputs, _ in pla.cubes:
        open_signs = sum(INPUT_SIGNS.get(sign, 0) is None for sign in inputs)
        total += 1 << min(open_signs, 64)
        if total > MOST_PATTERNS:
            raise FormatError(
                f"a row with {open_signs} don't-cares in its inputs stands for 2^{open_signs} patterns; "
                f"more than {MOST_PATTERNS} in all are not written out.",
                line=line,
            )
    check_cells(total, width)


def _agreed(pla: _PlaFile, before: Codes, now: Codes, line_before: int, line: int) -> Codes:
    together = before | now
    clash = (together & (ON | OFF)) == (ON | OFF)
    if clash.any():
        target = int(np.argmax(clash))
        raise FormatError(f"target {target} is 0 in one row and 1 in another (line {line_before}) for one pattern.", line=line)
    return together


def dumps(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...]) -> bytes:
    """Return examples as a PLA file of `.type fr`."""
    for name in (*inputs, *targets):
        if not name or "#" in name or name.split() != [name]:
            raise FormatError(f"PLA cannot hold the name {name!r}: blanks and '#' end a name there.")
    rows = [
        "".join("01"[bit] for bit in x) + " " + "".join("01"[bit] for bit in y)
        for x, y in zip(X.view(np.int8).tolist(), Y.view(np.int8).tolist(), strict=True)
    ]
    head = [f".i {len(inputs)}", f".o {len(targets)}", f".ilb {' '.join(inputs)}", f".ob {' '.join(targets)}"]
    return "\n".join([*head, ".type fr", f".p {len(rows)}", *rows, ".e", ""]).encode("utf-8")
