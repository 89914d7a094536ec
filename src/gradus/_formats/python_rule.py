"""Python: one function ``predict`` of a row, with nothing to import."""

from __future__ import annotations

import keyword

from gradus._circuit import Network
from gradus._core.cells import MISSING
from gradus._formats.names import IDENTIFIER, safe_names
from gradus._formats.netlist import netlist
from gradus._formats.rule_program import RuleColumn, RuleProgram, RuleTarget, RuleTest, date_order, joined_gate, plain_program

__all__ = ["write_python"]

RESERVED = frozenset([*map(str.lower, keyword.kwlist), "row", "predict", "number", "days", "text", "missing", "scores", "max",
                      "float", "int", "str", "range", "len", "valueerror", "typeerror", "isinstance"])  # fmt: skip
WORDS = ("not ", "and", "or", "!=", "False", "True")
NUMBER = '''

def number(cell, comma="", unit=""):
    """Return a cell as a number; None if there is none."""
    text = "" if cell is None else str(cell).strip()
    if text in MISSING or text.lower() in ("true", "false"):
        return None if text in MISSING else float(text.lower() == "true")
    text = text.lower().replace(unit, "", 1).strip() if unit else text
    text = ("-" + text[1:-1] if text[:1] == "(" and text[-1:] == ")" else text).replace("−", "-")
    point, mark = (",", ".") if comma == "decimal" else (".", "," if comma else " ")
    whole, sign, rest = text.partition(point)
    first, *groups = whole.replace("- ", "-").replace("'", " ").replace(mark, " ").split(" ")
    if groups and (len(first.lstrip("+-")) > 3 or not all(len(group) == 3 and group.isdigit() for group in groups)):
        return None
    text = first + "".join(groups) + (sign and "." + rest)
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
'''
DAYS = '''

def days(cell, year, month, day):
    """Return the days from 1970 to a date, of which year, month and day are at these places; None if there is none."""
    text = "" if cell is None else str(cell)
    parts = "".join(sign if sign in "0123456789" else " " for sign in text).split()
    if len(parts) < 3:
        return None
    y, m, d = int(parts[year]), int(parts[month]), int(parts[day])
    if len(parts[year]) != 4 or not 1 <= m <= 12 or not 1 <= d <= 31:
        return None
    y -= m <= 2
    whole = 365 * y + y // 4 - y // 100 + y // 400 + (153 * ((m + 9) % 12) + 2) // 5 + d - 719469
    hours, minutes, seconds = (list(map(int, parts[3:6])) + [0, 0, 0])[:3]
    return whole + (hours * 3600 + minutes * 60 + seconds) / 86400
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
    lines = [f"MISSING = {sorted(MISSING)!r}"]
    lines += [
        (NUMBER + DAYS if kinds & {"date"} else NUMBER) if kinds & {"number", "date"} else "",
        TEXT if "text" in kinds else "",
    ]
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
        return f"days({cell}, {', '.join(map(str, date_order(column.day_format)))})"
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
