"""Cells as people type them: Python, SQL and C read them as the table room reads them."""

from __future__ import annotations

import math
import shutil
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus._circuit import Network
from gradus._formats.c_rule import write_c
from gradus._formats.python_rule import write_python
from gradus._formats.rule_program import RuleColumn, RuleProgram, RuleTarget, RuleTest
from gradus._formats.sql_rule import write_sql
from gradus._tables.cells import read_cells
from gradus._tables.readings import DAY_FORMATS, Reading

READINGS = [Reading(comma, unit) for comma in ("", "decimal", "thousands") for unit in ("", "$", "kg", "%", "eur")]
CUTS = (-1000.0, -1.0, -0.1, 0.0, 0.5, 1.0, 9.5, 100.0, 999.5, 1200.0, 1e5)
DAYS = (-1e6, 0.0, 10000.0, 15000.5, 18000.25, 18321.0, 20000.0)


def program_of(kind: str, reading: Reading, cuts: tuple[float, ...]) -> tuple[Network, RuleProgram]:
    """Return a rule that says of a cell whether it is missing, and which cuts it is above."""
    n = len(cuts) + 1
    tests = (RuleTest(0, "missing"), *(RuleTest(i + 1, "above", cut) for i, cut in enumerate(cuts)))
    names = [f"i{i}" for i in range(n)]
    network = Network(n, [], list(range(n)), input_names=names, output_names=[f"o{i}" for i in range(n)])
    options = {"day_format": reading.day_format} if kind == "date" else {"comma": reading.comma, "unit": reading.unit}
    column = RuleColumn("x", kind, tests, **options)  # type: ignore[arg-type]
    targets = tuple(RuleTarget(f"o{i}", (0, 1), (i,), (0, 1)) for i in range(n))
    return network, RuleProgram(network, (column,), targets)


def expected(kind: str, reading: Reading, cuts: tuple[float, ...], cells: list[object]) -> list[list[int]]:
    read = read_cells(np.array(cells, dtype=object))
    numbers = read.dates(reading) if kind == "date" else read.numbers(reading)
    return [[int(math.isnan(x)), *(int(x > cut) for cut in cuts)] for x in numbers.tolist()]


def said_by_python(program: tuple[Network, RuleProgram], cells: list[object]) -> list[list[int]]:
    space: dict = {}
    exec(write_python(*program), space)
    return [list(space["predict"]({"x": cell}).values()) for cell in cells]


def said_by_sql(program: tuple[Network, RuleProgram], cells: list[object]) -> list[list[int]]:
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE rows (x)")
        base.executemany("INSERT INTO rows VALUES (?)", [[cell] for cell in cells])
        n = len(program[1].targets)
        return [list(row[-n:]) for row in base.execute(write_sql(*program))]


def said_by_c(program: tuple[Network, RuleProgram], cells: list[str], folder: Path) -> list[list[int]]:
    (folder / "rule.c").write_text(write_c(*program), encoding="utf-8")
    calls = "".join(f'printf("%d ", predict_{target.name}(&row));' for target in program[1].targets)
    texts = ", ".join('"' + "".join(f"\\{byte:03o}" for byte in cell.encode()) + '"' for cell in cells)
    (folder / "main.c").write_text(
        f'#include <stdio.h>\n#include "rule.c"\nint main(void)\n{{\n    const char *cells[] = {{{texts}}};\n'
        f"    for (int k = 0; k < {len(cells)}; k++) {{ struct row row = {{cells[k]}}; {calls} }}\n    return 0;\n}}\n"
    )
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", str(folder / "rule"), str(folder / "main.c")]
    subprocess.run(command, check=True)
    said = subprocess.run([str(folder / "rule")], check=True, capture_output=True, text=True).stdout.split()
    n = len(program[1].targets)
    return [list(map(int, said[place : place + n])) for place in range(0, len(said), n)]


@st.composite
def written_numbers(draw: st.DrawFn) -> str:
    """Numbers with signs, groups, units and brackets, right ones and wrong ones."""
    groups = draw(st.lists(st.sampled_from(["1", "12", "200", "000", "999", "0"]), min_size=1, max_size=3))
    body = draw(st.sampled_from(["", ",", ".", " ", "'", "’", "\u00a0"])).join(groups)
    body += draw(st.sampled_from(["", "", ",5", ".5", ".", ",25", "e2", ".5e-1"]))
    # Nobody writes 1e2kg, which is no number in a table.
    unit = "" if "e" in body else draw(st.sampled_from(["", "", "$", "kg", "KG", "%", "EUR", "m"]))
    body = draw(st.sampled_from([body, f"{body}{unit}", f"{body} {unit}"])) if unit not in ("$", "EUR") else f"{unit} {body}"
    sign = draw(st.sampled_from(["", "", "-", "+", "−", "- "]))
    return draw(st.sampled_from([sign + body, f"({body})", f" {sign}{body} "]))


WORDS = ["", "NA", "-", "unknown", "true", "False", "n/a", ".", "e5", "5e", "1e5", "12a", "1_0"]
NUMBERS = written_numbers() | st.sampled_from(WORDS) | st.integers(-2000, 2000) | st.floats(-2000, 2000) | st.none()


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: f"{reading.comma} {reading.unit}")
@settings(max_examples=30, deadline=None)
@given(cells=st.lists(NUMBERS, min_size=1, max_size=20))
def test_numbers_are_read_as_the_model_reads_them(reading: Reading, cells: list[object]) -> None:
    program = program_of("number", reading, CUTS)
    wanted = expected("number", reading, CUTS, cells)
    assert list(zip(cells, said_by_python(program, cells), strict=True)) == list(zip(cells, wanted, strict=True))
    assert list(zip(cells, said_by_sql(program, cells), strict=True)) == list(zip(cells, wanted, strict=True))


@st.composite
def written_dates(draw: st.DrawFn) -> str:
    """Dates with or without zeros and times of day, right ones and wrong ones."""
    parts = {
        "Y": draw(st.sampled_from(["2020", "2019", "1970", "2013", "20", "0000"])),
        "m": draw(st.sampled_from(["1", "02", "2", "12", "11", "13", "0"])),
        "d": draw(st.sampled_from(["1", "09", "28", "29", "31", "30", "32", ""])),
    }
    mark = draw(st.sampled_from("-/.-/"))
    day = mark.join(parts[letter] for letter in draw(st.sampled_from(["Ymd", "dmY", "mdY"])))
    times = ["", "", " 10:30", "T23:59:59", " 9:05", " 24:00", "T12:00:00.25Z", "T01:02:03+02:00", " 7", " 10:61", "T1:2"]
    return day + draw(st.sampled_from(times))


@pytest.mark.parametrize("day_format", DAY_FORMATS)
@settings(max_examples=30, deadline=None)
@given(cells=st.lists(written_dates() | st.sampled_from(["", "NA", "unknown", "-"]), min_size=1, max_size=20))
def test_dates_are_read_as_the_model_reads_them(day_format: str, cells: list[object]) -> None:
    reading = Reading(day_format=day_format)
    program = program_of("date", reading, DAYS)
    wanted = expected("date", reading, DAYS, cells)
    assert list(zip(cells, said_by_python(program, cells), strict=True)) == list(zip(cells, wanted, strict=True))
    assert list(zip(cells, said_by_sql(program, cells), strict=True)) == list(zip(cells, wanted, strict=True))


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("day_format", DAY_FORMATS[::3])
def test_c_reads_dates_as_the_model_reads_them(day_format: str, tmp_path: Path) -> None:
    days = [
        "2020-2-29",
        "2019-2-29",
        "2020-02-30",
        "1/2/2020",
        "13/12/2020",
        "12/13/2020",
        "9.1.1970",
        "2013/5/6",
        "20-1-1",
        "",
    ]
    cells = [day + time for day in days for time in ("", " 10:30", "T23:59:59Z", " 9:05", " 24:00", " 7", "T12:00:00.25")]
    reading = Reading(day_format=day_format)
    program = program_of("date", reading, DAYS)
    assert said_by_c(program, cells, tmp_path) == expected("date", reading, DAYS, list(cells))
