"""C: a function for each target, with nothing to include."""

from __future__ import annotations

import json

from gradus._circuit import Network
from gradus._formats.names import IDENTIFIER, map_lines, safe_names
from gradus._formats.netlist import netlist
from gradus._formats.rule_program import RuleColumn, RuleProgram, RuleTarget, RuleTest, date_order, joined_gate, plain_program

__all__ = ["write_c"]

KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
    nullptr alignas alignof constexpr thread_local typeof typeof_unqual static_assert asm class private protected public
    template this namespace new delete operator and or not xor bitand bitor compl catch throw try using virtual friend
    explicit export mutable typeid typename dynamic_cast static_cast reinterpret_cast const_cast wchar_t
"""
RESERVED = frozenset([*KEYWORDS.split(), "row", "same", "days", "rules", "out", "best", "score", "answers", "main", "i"])
WORDS = ("!", "&&", "||", "!=", "0", "1")
SAME = """
static int same(const char *a, const char *b, int fold)
{
    for (; *a || *b; a++, b++) {
        int x = *a, y = *b;
        if (fold && x >= 'A' && x <= 'Z')
            x += 'a' - 'A';
        if (fold && y >= 'A' && y <= 'Z')
            y += 'a' - 'A';
        if (x != y)
            return 0;
    }
    return 1;
}
"""
DAYS = """
// Days from 1970 to a date, of which year, month and day are at these places; NaN if there is none.
static double days(const char *text, int year, int month, int day)
{
    double part[6] = {0, 0, 0, 0, 0, 0}, nan = 0.0, y, m, d;
    int n = 0, inside = 0;
    for (; text && *text && n < 7; text++) {
        int digit = *text >= '0' && *text <= '9';
        n += digit && !inside;
        if (digit && n <= 6)
            part[n - 1] = 10 * part[n - 1] + (*text - '0');
        inside = digit;
    }
    if (n < 3)
        return nan / nan;
    y = part[year], m = part[month], d = part[day];
    y -= m <= 2;
    return 365 * y + (long)(y / 4) - (long)(y / 100) + (long)(y / 400)
        + (long)((153 * ((long)(m + 9) % 12) + 2) / 5) + d - 719469
        + (part[3] * 3600 + part[4] * 60 + part[5]) / 86400;
}
"""
TYPES = {"number": "double", "date": "const char *", "text": "const char *"}


def write_c(network: Network, program: RuleProgram | None = None) -> str:
    """Return a rule as a file of C."""
    program = program or plain_program(network)
    columns = safe_names([column.name for column in program.columns], IDENTIFIER, RESERVED)
    circuit = netlist(program.network, IDENTIFIER, RESERVED | {name.lower() for name in columns.values()})
    targets = safe_names([target.name for target in program.targets], IDENTIFIER, RESERVED)
    kinds = {column.kind for column in program.columns}
    lines = [f"// {line}" for line in map_lines((safe, name) for name, safe in columns.items())]
    lines += ["// A cell without a value is NaN, or NULL among texts and dates.", "struct row {"]
    lines += [f"    {TYPES[column.kind]} {columns[column.name]};" for column in program.columns] or ["    int unused;"]
    lines += ["};", *([SAME] if "text" in kinds else []), *([DAYS] if "date" in kinds else [])]
    for target in program.targets:
        labels = ", ".join(_text(str(label)) for label in target.classes)
        lines.append(f"const char *const classes_{targets[target.name]}[] = {{{labels}}};")
    lines += ["", "static void rules(const struct row *row, int *out)", "{", "    (void)row;"]
    for column in program.columns:
        cell = columns[column.name]
        lines.append(
            f"    {TYPES[column.kind].replace('const char *', 'double') if column.kind == 'date' else TYPES[column.kind]} "
            f"{cell} = {_cell(column, cell)};"
        )
        lines += [f"    int {circuit.inputs[test.node]} = {_test(column, cell, test)};" for test in column.tests]
    read = {test.node for column in program.columns for test in column.tests}
    lines += [f"    int {gate.wire} = {joined_gate(gate, str, WORDS)};" for gate in circuit.gates]
    lines += [f"    (void){circuit.inputs[node]};" for node in sorted(read)]
    lines += [f"    out[{k}] = {wire};" for k, wire in enumerate(circuit.outputs)]
    lines += ["}"]
    for target in program.targets:
        lines += [
            "",
            f"// The number of a class of {json.dumps(target.name)}; see classes_{targets[target.name]}.",
            f"int predict_{targets[target.name]}(const struct row *row)",
            "{",
            f"    int out[{max(len(circuit.outputs), 1)}];",
            "    rules(row, out);",
            *_answer(target),
            "}",
        ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """Return a literal; bytes beyond ASCII in octal, which ends after three digits."""
    return (
        '"'
        + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in value.encode())
        + '"'
    )


def _cell(column: RuleColumn, cell: str) -> str:
    """Return how a cell is read."""
    if column.kind == "date":
        cell = f"days(row->{cell}, {', '.join(map(str, date_order(column.day_format)))})"
        return cell if column.fill is None else f"{cell} == {cell} ? {cell} : {column.fill!r}"
    empty = f"row->{cell} == row->{cell}" if column.kind == "number" else f"row->{cell} && *row->{cell}"
    if column.fill is not None:
        fill = _text(str(column.fill)) if column.kind == "text" else repr(column.fill)
        return f"{empty} ? row->{cell} : {fill}"
    return f"row->{cell}"


def _test(column: RuleColumn, cell: str, test: RuleTest) -> str:
    """Return a comparison; a missing cell fulfils none but its own."""
    if test.kind == "above":
        return f"{cell} > {test.value!r}"
    if test.kind == "missing":
        return f"!({cell} && *{cell})" if column.kind == "text" else f"{cell} != {cell}"
    some = " || ".join(f"same({cell}, {_text(text)}, {int(column.fold)})" for text in test.value) or "0"
    return f"{cell} && *{cell} && {'' if test.kind == 'in' else '!'}({some})"


def _answer(target: RuleTarget) -> list[str]:
    """Return the lines that turn outputs into the number of a class."""
    if target.scores:
        lines = ["    int best = 0;", f"    long long score[{len(target.classes)}];"]
        for number, row in enumerate(target.scores):
            terms = [
                f"{row[0]}LL",
                *(f"{weight}LL * out[{place}]" for weight, place in zip(row[1:], target.outputs, strict=True)),
            ]
            lines.append(f"    score[{number}] = {' + '.join(terms)};")
        lines += [
            f"    for (int i = 1; i < {len(target.classes)}; i++)",
            "        best = score[i] > score[best] ? i : best;",
            "    return best;",
        ]
        return lines
    pattern = " + ".join(f"{1 << i} * out[{place}]" for i, place in enumerate(target.outputs)) or "0"
    return [f"    static const int answers[] = {{{', '.join(map(str, target.answers))}}};", f"    return answers[{pattern}];"]
