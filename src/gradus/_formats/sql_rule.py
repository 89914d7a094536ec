"""SQL: a query that adds the outputs of a rule, and what it predicts, to the rows of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradus._circuit import Network
from gradus._core.cells import MISSING
from gradus._formats.names import IDENTIFIER, map_lines
from gradus._formats.netlist import Netlist, netlist
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

__all__ = ["write_sql"]

WORDS = ("NOT ", "AND", "OR", "<>", "FALSE", "TRUE")
BLANKS = (("\u00a0", " "), ("\u202f", " "), ("\u2009", " "), ("’", "'"), ("−", "-"))
"""Signs in typeset numbers."""
SPACE = "' '"
MOST_NESTED = 8
"""Depth of gates in one expression: databases refuse deep ones, so deeper gates become columns."""


class _Wire(NamedTuple):
    """How a wire is written: an expression over columns of some stage of the query."""

    text: str
    nested: int
    stage: int


def write_sql(network: Network, program: RuleProgram | None = None) -> str:
    """Return a rule as a query of the table ``rows``."""
    program = program or plain_program(network)
    circuit = netlist(program.network, IDENTIFIER)
    read = [_cell_stages(column, k + 1) for k, column in enumerate(program.columns)]
    # Cells are read in as many stages as the longest takes; each can use the columns of those before it.
    depth = max(map(len, read), default=0)
    stages = [[text for own in read for text in own[place : place + 1]] for place in range(depth)] or [['0 AS "cell 1"']]
    wires: dict[str, _Wire] = {}
    for k, column in enumerate(program.columns):
        for test in column.tests:
            wires[circuit.inputs[test.node]] = _Wire(_test(_name(f"cell {k + 1}"), test), 0, depth - 1)
    _add_gates(circuit, wires, stages)
    rules = [f"{wires[wire].text} AS {_name(f'rule {k + 1}')}" for k, wire in enumerate(circuit.outputs)]
    tables = [*(f"step{k}" for k in range(len(stages))), "rules"]
    sources = zip(tables, [*stages, rules], ["rows", *tables], strict=False)
    parts = [
        f"{table} AS MATERIALIZED (\n  SELECT *,\n{_lines(columns, 4)}\n  FROM {source}\n)"
        for table, columns, source in sources
    ]
    answers = [f"{_answer(target)} AS {_name(f'predicted {target.name}')}" for target in program.targets]
    names = map_lines((_printable(column.name), column.name) for column in program.columns)
    head = "".join(
        f"-- {line}\n" for line in ["Put the name of your table in the place of rows. For SQLite from 3.35 on.", *names]
    )
    return f"{head}WITH {', '.join(parts)}\nSELECT *,\n{_lines(answers, 2)}\nFROM rules;\n"


def _lines(columns: Sequence[str], indent: int) -> str:
    return ",\n".join(f"{' ' * indent}{column}" for column in columns)


def _add_gates(circuit: Netlist, wires: dict[str, _Wire], stages: list[list[str]]) -> None:
    """Write gates as expressions, and those that nest too much or are read again as columns."""
    readers = Counter(source for gate in circuit.gates for source in gate.sources)
    steps = 0
    for gate in circuit.gates:
        read = [wires[source] for source in gate.sources]
        stage, nested = max((wire.stage for wire in read), default=0), 1 + max((wire.nested for wire in read), default=0)
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


def _cell_stages(column: RuleColumn, k: int) -> list[str]:
    """Return the stages in which a cell is read, in the end as "cell k": NULL if it is missing."""
    cell = _name(column.name)
    if column.kind == "text":
        words = f"trim(CAST({cell} AS TEXT))"
        present = f"WHEN {words} NOT IN ({', '.join(map(_value, sorted(MISSING)))})"
        stages = [("cell", f"CASE {present} THEN {f'lower({words})' if column.fold else words} END")]
    else:
        stages = _number_stages(cell, column) if column.kind == "number" else _date_stages(cell, column)
    numbered = [(name, re.sub(r"\[(\w+)\]", rf'"\1 {k}"', text)) for name, text in stages]
    name, text = numbered[-1]
    if column.fill is not None:
        numbered[-1] = (name, f"COALESCE({text}, {_value(column.fill)})")
    return [f"{text} AS {_name(f'{name} {k}')}" for name, text in numbered]


def _before(text: str, sign: str) -> str:
    """Return an expression for the text before a sign, or all of it if there is none."""
    return f"substr({text}, 1, instr({text}||{sign}, {sign}) - 1)"


def _after(text: str, sign: str) -> str:
    """Return an expression for the text after the first such sign."""
    return f"substr({text}, instr({text}||{sign}, {sign}) + 1)"


def _number_stages(cell: str, column: RuleColumn) -> list[tuple[str, str]]:
    """Return expressions for a number: without signs and unit, its parts, and its value if these are those of a number."""
    text, unit, size = f"lower(CAST({cell} AS TEXT))", _value(column.unit), len(column.unit)
    for old, new in BLANKS:
        text = f"replace({text}, {_value(old)}, {_value(new)})"
    point, mark = ("','", "'.'") if column.comma == "decimal" else ("'.'", "','" if column.comma else "' '")
    ahead = f"WHEN substr([text], 1, {size}) = {unit} THEN ltrim(substr([text], {size + 1})) " if size else ""
    inside = "ltrim(trim(substr([text], 2, length([text]) - 2)), '+-')"
    bare = f"CASE WHEN [text] LIKE '(%)' THEN '-'||{inside} {ahead}ELSE [text] END"
    sized = "CASE WHEN substr([bare], 1, 1) IN ('-', '+') THEN ltrim(substr([bare], 2)) ELSE [bare] END"
    without = f"rtrim(substr([size], 1, length([size]) - {size}))"
    around = f"WHEN substr([size], -{size}) = {unit} THEN {without} WHEN substr([size], 1, {size}) = {unit}" if size else ""
    digits = f"CASE {around} THEN ltrim(substr([size], {size + 1})) ELSE [size] END" if size else "[size]"
    whole = f"replace(replace({_before('[base]', point)}, {mark}, ' '), '''', ' ')"
    # From the right, every fourth character of a number with gaps is a gap, with one to three digits before the first.
    gaps = "length([whole]) - length(replace([whole], ' ', ''))"
    grouped = " AND ".join(f"(substr([whole], -{4 * i}, 1) = ' ' OR {gaps} < {i})" for i in range(1, 6))
    zeros = f"NOT ([base] LIKE '0%' AND instr([base], {mark})) AND " if column.comma else ""
    known = (
        "[whole]||[part] GLOB '*[0-9]*' AND [digits] NOT LIKE '%e' AND "
        "[whole] NOT GLOB '*[^0-9 ]*' AND [part] NOT GLOB '*[^0-9]*' AND "
        f"({gaps} = 0 OR (length([whole]) - 4 * ({gaps}) BETWEEN 1 AND 3 AND {grouped})) AND "
        f"{zeros}([power] = '' OR (ltrim([power], '+-') GLOB '[0-9]*' AND ltrim([power], '+-') NOT GLOB '*[^0-9]*'))"
    )
    plain = "replace([whole], ' ', '')||'.'||[part]||CASE WHEN [power] = '' THEN '' ELSE 'e'||[power] END"
    value = f"CASE substr([bare], 1, 1) WHEN '-' THEN -1 ELSE 1 END * CAST({plain} AS REAL)"
    words = "WHEN [text] = 'true' THEN 1.0 WHEN [text] = 'false' THEN 0.0"
    return [
        ("text", f"trim({text})"),
        ("bare", bare),
        ("size", sized),
        ("digits", digits),
        ("base", _before("[digits]", "'e'")),
        ("power", _after("[digits]", "'e'")),
        ("whole", whole),
        ("part", _after("[base]", point)),
        ("cell", f"CASE WHEN typeof({cell}) IN ('integer', 'real') THEN {cell} {words} WHEN {known} THEN {value} END"),
    ]


def _date_stages(cell: str, column: RuleColumn) -> list[tuple[str, str]]:
    """Return expressions for the parts of a date and its days from 1970."""
    mark = _value(date_mark(column.day_format))
    y, m, d = ("[first]", "[second]", "[third]")
    y, m, d = ((y, m, d)[place] for place in date_order(column.day_format))
    iso = f"{y}||'-'||substr('0'||{m}, -2)||'-'||substr('0'||{d}, -2)"
    short = " AND ".join(f"({part} GLOB '[0-9]' OR {part} GLOB '[0-9][0-9]')" for part in (m, d))
    known = f"{y} GLOB '[0-9][0-9][0-9][0-9]' AND {y} > '0000' AND {short} AND date({iso}, '+0 days') = {iso}"
    hour, minute, second = (
        "CAST([hour] AS INTEGER)",
        "CAST(substr([rest], 1, 2) AS INTEGER)",
        "CAST(substr([rest], 4) AS REAL)",
    )
    clock = (
        f"([hour] GLOB '[0-9]' OR [hour] GLOB '[0-9][0-9]') AND {hour} < 24 AND {minute} < 60 AND {second} < 60 AND "
        "([rest] GLOB '[0-9][0-9]' OR [rest] GLOB '[0-9][0-9]:[0-9][0-9]' OR ([rest] GLOB '[0-9][0-9]:[0-9][0-9].[0-9]*' "
        "AND substr([rest], 7) NOT GLOB '*[^0-9]*'))"
    )
    time = f"CASE WHEN {clock} THEN ({hour} * 3600 + {minute} * 60 + {second}) / 86400.0 ELSE 0 END"
    return [
        ("text", f"replace(trim(CAST({cell} AS TEXT)), 'T', ' ')"),
        ("day", _before("[text]", "' '")),
        ("time", f"replace(replace({_after('[text]', SPACE)}, 'Z', '+'), '-', '+')"),
        ("first", _before("[day]", mark)),
        ("tail", _after("[day]", mark)),
        ("second", _before("[tail]", mark)),
        ("third", _after("[tail]", mark)),
        ("clock", _before("[time]", "'+'")),
        ("hour", _before("[clock]", "':'")),
        ("rest", _after("[clock]", "':'")),
        ("cell", f"CASE WHEN {known} THEN julianday({iso}) - 2440587.5 + {time} END"),
    ]


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
    """Return the class that the rules predict."""
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
