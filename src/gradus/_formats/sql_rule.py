"""SQL: a query that adds the outputs of a rule, and what it predicts, to the rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradus._circuit import Network
from gradus._core.cells import MISSING
from gradus._formats.names import IDENTIFIER, map_lines
from gradus._formats.netlist import Netlist, netlist
from gradus._formats.rule_program import RuleColumn, RuleProgram, RuleTarget, RuleTest, joined_gate, plain_program

__all__ = ["write_sql"]

WORDS = ("NOT ", "AND", "OR", "<>", "FALSE", "TRUE")
MOST_NESTED = 8
"""Gates that one expression nests: databases read no deep ones, so what is deeper becomes a column."""


class _Wire(NamedTuple):
    """How a wire is written: an expression over columns of some stage of the query."""

    text: str
    nested: int
    stage: int


def write_sql(network: Network, program: RuleProgram | None = None) -> str:
    """Return a rule as a query of the table ``rows``."""
    program = program or plain_program(network)
    circuit = netlist(program.network, IDENTIFIER)
    numbers = [(k, column) for k, column in enumerate(program.columns) if column.kind == "number"]
    stages: list[list[str]] = [[f"{_digits(column)} AS {_name(f'text {k + 1}')}" for k, column in numbers]]
    stages.append(
        [f"{_cell(column, _name(f'text {k + 1}'))} AS {_name(f'cell {k + 1}')}" for k, column in enumerate(program.columns)]
    )
    stages = [stage for stage in stages if stage] or [['0 AS "cell 1"']]
    wires: dict[str, _Wire] = {}
    for k, column in enumerate(program.columns):
        for test in column.tests:
            wires[circuit.inputs[test.node]] = _Wire(_test(_name(f"cell {k + 1}"), test), 0, len(stages) - 1)
    _add_gates(circuit, wires, stages)
    rules = [f"{wires[wire].text} AS {_name(f'rule {k + 1}')}" for k, wire in enumerate(circuit.outputs)]
    tables = [*(f"step{k}" for k in range(len(stages))), "rules"]
    sources = zip(tables, [*stages, rules], ["rows", *tables], strict=False)
    parts = [f"{table} AS (\n  SELECT *,\n{_lines(columns, 4)}\n  FROM {source}\n)" for table, columns, source in sources]
    answers = [f"{_answer(target)} AS {_name(f'predicted {target.name}')}" for target in program.targets]
    names = map_lines((_printable(column.name), column.name) for column in program.columns)
    head = "".join(f"-- {line}\n" for line in ["Put the name of your table in the place of rows. Tried with SQLite.", *names])
    return f"{head}WITH {', '.join(parts)}\nSELECT *,\n{_lines(answers, 2)}\nFROM rules;\n"


def _lines(columns: Sequence[str], indent: int) -> str:
    return ",\n".join(f"{' ' * indent}{column}" for column in columns)


def _add_gates(circuit: Netlist, wires: dict[str, _Wire], stages: list[list[str]]) -> None:
    """Write gates as expressions, and those that nest too much or are read again as columns."""
    readers = Counter(source for gate in circuit.gates for source in gate.sources)
    steps = 0
    for gate in circuit.gates:
        read = [wires[source] for source in gate.sources]
        stage, nested = max((one.stage for one in read), default=0), 1 + max((one.nested for one in read), default=0)
        text = joined_gate(gate, lambda name: f"({wires[name].text})", WORDS)
        if nested >= MOST_NESTED or (readers[gate.wire] > 1 and nested > 1):
            steps += 1
            stage += 1
            stages += [[]] * (stage == len(stages))
            stages[stage] = [*stages[stage], f"{text} AS {_name(f'step {steps}')}"]
            text, nested = _name(f"step {steps}"), 0
        wires[gate.wire] = _Wire(text, nested, stage)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "·" for sign in text)


def _name(text: str) -> str:
    """Quote a name; one with signs that cannot be printed is changed, and a comment says so."""
    quoted = _printable(text).replace('"', '""')
    return f'"{quoted}"'


def _value(value: Any) -> str:
    if isinstance(value, str):
        quoted = "".join(sign if sign.isprintable() else f"'||char({ord(sign)})||'" for sign in value.replace("'", "''"))
        return f"'{quoted}'"
    return str(int(value)) if isinstance(value, bool) else repr(value)


def _digits(column: RuleColumn) -> str:
    """Return an expression for the text of a number: its digits and signs alone, as far as it is one."""
    text = f"lower(trim(CAST({_name(column.name)} AS TEXT)))"
    point = [(".", ""), (",", ".")] if column.comma == "decimal" else [(",", "")] if column.comma else []
    for old, new in [(column.unit, ""), *point, (" ", ""), ("'", ""), ("−", "-"), ("(", "-"), (")", "")]:
        text = f"replace({text}, {_value(old)}, {_value(new)})" if old else text
    return text


def _cell(column: RuleColumn, digits: str) -> str:
    """Return an expression for a cell, NULL if it is missing; `digits` is the text of a number."""
    name = _name(column.name)
    if column.kind == "date":
        y, m, d = (_part(column.day_format, letter) for letter in "Ymd")
        text = (
            f"{name}"
            if (y, m, d) == ((1, 4), (6, 2), (9, 2))
            else "||'-'||".join(f"substr({name}, {a}, {n})" for a, n in (y, m, d))
        )
        return _filled(f"julianday({text}) - 2440587.5", column)
    if column.kind == "text":
        words = f"trim(CAST({name} AS TEXT))"
        present = f"WHEN {words} NOT IN ({', '.join(map(_value, sorted(MISSING)))})"
        return _filled(f"CASE {present} THEN {f'lower({words})' if column.fold else words} END", column)
    # A word among numbers would be cast to 0.
    known = f"ltrim({digits}, '+-.0123456789e') = '' AND ltrim({digits}, '+-.e') <> ''"
    return _filled(
        f"CASE {digits} WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 ELSE CASE WHEN {known} THEN CAST({digits} AS REAL) END END",
        column,
    )


def _part(day_format: str, letter: str) -> tuple[int, int]:
    """Return where year, month or day stand in a date, and their digits."""
    place = day_format.index(f"%{letter}")
    before = day_format[:place]
    return len(before) + 1 + 2 * before.count("%Y"), 4 if letter == "Y" else 2


def _filled(text: str, column: RuleColumn) -> str:
    return text if column.fill is None else f"COALESCE({text}, {_value(column.fill)})"


def _test(cell: str, test: RuleTest) -> str:
    """Return a comparison that is never NULL."""
    if test.kind == "missing":
        return f"{cell} IS NULL"
    if test.kind == "above":
        return f"COALESCE({cell} > {test.value!r}, FALSE)"
    # A column of whole numbers may hold 1 or 1.0.
    texts = [text for value in test.value for text in ((value, f"{value}.0") if value.lstrip("-").isdigit() else (value,))]
    inside = f"{cell} {'IN' if test.kind == 'in' else 'NOT IN'} ({', '.join(map(_value, texts))})"
    return f"COALESCE({inside}, FALSE)"


def _answer(target: RuleTarget) -> str:
    """Return the class that the rules mean."""
    names = [_name(f"rule {place + 1}") for place in target.outputs]
    classes = [_value(label) for label in target.classes]
    if target.scores:
        scores = [
            " + ".join(
                [
                    str(row[0]),
                    *(f"CASE WHEN {name} THEN {weight} ELSE 0 END" for weight, name in zip(row[1:], names, strict=True)),
                ]
            )
            for row in target.scores
        ]
        cases = [
            f"WHEN {' AND '.join(f'{mine} >= {other}' for other in scores if other != mine)} THEN {label}"
            for mine, label in zip(scores[:-1], classes, strict=False)
        ]
        return f"CASE {' '.join(cases)} ELSE {classes[-1]} END"
    if len(names) == 1:
        return f"CASE WHEN {names[0]} THEN {classes[target.answers[1]]} ELSE {classes[target.answers[0]]} END"
    if not names:
        return classes[target.answers[0]]
    pattern = " + ".join(f"CASE WHEN {name} THEN {1 << i} ELSE 0 END" for i, name in enumerate(names))
    cases = [f"WHEN {number} THEN {classes[answer]}" for number, answer in enumerate(target.answers)]
    return f"CASE {pattern} {' '.join(cases)} END"
