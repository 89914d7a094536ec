"""Python: one function ``predict`` of a row, with nothing to import."""

from __future__ import annotations

import keyword

from gradus._circuit import Network
from gradus._core.cells import MISSING
from gradus._formats.names import IDENTIFIER, safe_names
from gradus._formats.netlist import netlist
from gradus._formats.rule_program import (
    RuleColumn,
    RuleProgram,
    RuleTarget,
    RuleTest,
    date_mark,
    date_order,
    joined_gate,
    plain_program,
)

__all__ = ["write_python"]

RESERVED = frozenset([*map(str.lower, keyword.kwlist), "row", "predict", "number", "days", "text", "missing", "scores", "max",
                      "float", "int", "str", "range", "len", "valueerror", "typeerror", "isinstance"])  # fmt: skip
WORDS = ("not ", "and", "or", "!=", "False", "True")
NUMBER = '''

def number(cell, comma="", unit=""):
    """Return a cell as a number; None if there is none."""
    if isinstance(cell, (int, float)):
        return None if cell != cell else float(cell)
    text = "" if cell is None else str(cell).strip().lower()
    for sign, plain in ("\u00a0 ", "\u202f ", "\u2009 ", "’'", "−-"):
        text = text.replace(sign, plain)
    if text in ("true", "false"):
        return float(text == "true")
    if text[:1] == "(" and text[-1:] == ")":
        text = "-" + text[1:-1].strip().lstrip("+-")
    elif unit and text.startswith(unit):
        text = text[len(unit):].lstrip()
    minus, size = text[:1] == "-", text[1:].lstrip() if text[:1] in ("+", "-") else text
    if unit and size.endswith(unit):
        size = size[:-len(unit)].rstrip()
    elif unit and size.startswith(unit):
        size = size[len(unit):].lstrip()
    point, mark = (",", ".") if comma == "decimal" else (".", "," if comma else " ")
    base, e, power = size.partition("e")
    whole, _, part = base.partition(point)
    first, *groups = whole.replace("'", " ").replace(mark, " ").split(" ")
    if groups and not (1 <= len(first) <= 3 and all(len(group) == 3 for group in groups)):
        return None
    if mark in whole and first[:1] == "0" and comma:
        return None
    digits = first + "".join(groups)
    exponent = power[1:] if power[:1] in ("+", "-") else power
    if not digits + part or (e and not exponent) or any(sign not in "0123456789" for sign in digits + part + exponent):
        return None
    return (-1 if minus else 1) * float(digits + "." + part + e + power)
'''
DAYS = '''

def days(cell, mark, year, month, day):
    """Return the days from 1970 to a date, of which year, month and day are at these places; None if there is none."""
    date, _, time = ("" if cell is None else str(cell).strip()).replace("T", " ").partition(" ")
    parts = date.split(mark)
    if len(parts) != 3 or any(sign not in "0123456789" for part in parts for sign in part):
        return None
    if [len(parts[year]), len(parts[month]) in (1, 2), len(parts[day]) in (1, 2)] != [4, True, True]:
        return None
    y, m, d = int(parts[year]), int(parts[month]), int(parts[day])
    lengths = (31, 29 if y % 4 == 0 and (y % 100 or y % 400 == 0) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if y < 1 or not 1 <= m <= 12 or not 1 <= d <= lengths[m - 1]:
        return None
    y -= m <= 2
    whole = 365 * y + y // 4 - y // 100 + y // 400 + (153 * ((m + 9) % 12) + 2) // 5 + d - 719469
    hour, *rest = time.replace("Z", "+").replace("-", "+").partition("+")[0].split(":")
    second, _, part = (rest[1] if len(rest) == 2 else "00").partition(".")
    signs = "".join([hour, *rest[:1], second, part])
    if len(rest) not in (1, 2) or len(hour) not in (1, 2) or len(rest[0]) != 2 or len(second) != 2 or not signs.isdigit():
        return whole
    seconds = int(hour) * 3600 + int(rest[0]) * 60 + float(second + "." + part)
    return whole + (seconds / 86400 if int(hour) < 24 and int(rest[0]) < 60 and int(second) < 60 else 0)
'''
TEXT = '''

def text(cell, fold=False):
    """Return a cell as a category; None if it is missing."""
    words = "" if cell is None else str(cell).strip()
    if words in MISSING:
        return None
    if isinstance(cell, float) and cell.is_integer():
        words = str(int(cell))
    return words.casefold() if fold else words
'''


def write_python(network: Network, program: RuleProgram | None = None) -> str:
    """Return a rule as a module of Python."""
    program = program or plain_program(network)
    columns = safe_names([column.name for column in program.columns], IDENTIFIER, RESERVED)
    circuit = netlist(program.network, IDENTIFIER, RESERVED | {name.lower() for name in columns.values()})
    kinds = {column.kind for column in program.columns}
    lines = [f"MISSING = {sorted(MISSING)!r}"] if "text" in kinds else []
    lines += [NUMBER if "number" in kinds else "", DAYS if "date" in kinds else "", TEXT if "text" in kinds else ""]
    lines += [
        "",
        "def predict(row):",
        '    """Return the answer of the rule for a row, a mapping from names of columns to cells."""',
    ]
    for column in program.columns:
        cell = columns[column.name]
        lines.append(f"    {cell} = {_cell(column)}")
        if column.fill is not None:
            lines.append(f"    {cell} = {column.fill!r} if {cell} is None else {cell}")
        lines += [f"    {circuit.inputs[test.node]} = {_test(cell, test)}" for test in column.tests]
    lines += [f"    {gate.wire} = {joined_gate(gate, str, WORDS)}" for gate in circuit.gates]
    answers = []
    for target in program.targets:
        names = [circuit.outputs[place] for place in target.outputs]
        if target.scores:
            lines.append(f"    scores = [{', '.join(_score(row, names) for row in target.scores)}]")
            number = "scores.index(max(scores))"
            answers.append(f"{list(target.classes)!r}[{number}]")
        else:
            answers.append(_listed(target, names))
    if len(answers) == 1:
        lines.append(f"    return {answers[0]}")
    else:
        lines.append("    return {")
        lines += [f"        {target.name!r}: {answer}," for target, answer in zip(program.targets, answers, strict=True)]
        lines.append("    }")
    return "\n".join(lines) + "\n"


def _cell(column: RuleColumn) -> str:
    """Return how a cell is read."""
    cell = f"row[{column.name!r}]"
    if column.kind == "date":
        return f"days({cell}, {date_mark(column.day_format)!r}, {', '.join(map(str, date_order(column.day_format)))})"
    if column.kind == "text":
        return f"text({cell}, fold=True)" if column.fold else f"text({cell})"
    options = [f"{key}={value!r}" for key, value in (("comma", column.comma), ("unit", column.unit)) if value]
    return f"number({', '.join([cell, *options])})"


def _test(cell: str, test: RuleTest) -> str:
    """Return a comparison; a missing cell fulfils none but its own."""
    if test.kind == "missing":
        return f"{cell} is None"
    if test.kind == "above":
        return f"{cell} is not None and {cell} > {test.value!r}"
    if test.kind == "in":
        return f"{cell} in {list(test.value)!r}"
    return f"{cell} is not None and {cell} not in {list(test.value)!r}"


def _score(row: tuple[int, ...], names: list[str]) -> str:
    return " + ".join([str(row[0]), *(f"{weight} * {name}" for weight, name in zip(row[1:], names, strict=True))])


def _listed(target: RuleTarget, names: list[str]) -> str:
    """Return the class of each pattern of the outputs."""
    classes = [target.classes[number] for number in target.answers]
    if len(names) == 1:
        return f"{classes[1]!r} if {names[0]} else {classes[0]!r}"
    if not names:
        return f"{classes[0]!r}"
    pattern = " + ".join(f"{1 << i} * {name}" if i else name for i, name in enumerate(names))
    return f"{classes!r}[{pattern}]"
