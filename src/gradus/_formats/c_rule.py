"""C: a function for each target, with nothing to include."""

from __future__ import annotations

import json

from gradus._circuit import Network
from gradus._formats.names import IDENTIFIER, map_lines, safe_names
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

__all__ = ["write_c"]

KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
    nullptr alignas alignof constexpr thread_local typeof typeof_unqual static_assert asm class private protected public
    template this namespace new delete operator and or not xor bitand bitor compl catch throw try using virtual friend
    explicit export mutable typeid typename dynamic_cast static_cast reinterpret_cast const_cast wchar_t
"""
RESERVED = frozenset(
    [*KEYWORDS.split(), "row", "same", "days", "digits", "clock_time", "rules", "out", "best", "score", "answers", "main", "i"]
)
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
// Reads some digits, at least one; -1 if there are others than from least to most.
static int digits(const char **text, int least, int most)
{
    int n = 0, value = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++, n++)
        value = n < most ? 10 * value + (**text - '0') : 0;
    return n < least || n > most ? -1 : value;
}

static double clock_time(const char *text)
{
    int hour = digits(&text, 1, 2), minute = *text == ':' ? text++, digits(&text, 2, 2) : -1, second = 0;
    double part = 0, place = 1;
    if (*text == ':')
        text++, second = digits(&text, 2, 2);
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            part += (*text - '0') * (place /= 10);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return 0;
    if (*text && *text != 'Z' && *text != '+' && *text != '-')
        return 0;
    return (hour * 3600 + minute * 60 + second + part) / 86400;
}

// Days from 1970 to a date, of which year, month and day are at these places; NaN if there is none.
static double days(const char *text, char mark, int year, int month, int day)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    double nan = 0.0;
    int part[3] = {-1, -1, -1}, y, m, d, leap, i;
    nan = nan / nan;
    for (; text && *text == ' ';)
        text++;
    for (i = 0; text && i < 3; i++) {
        part[i] = digits(&text, i == year ? 4 : 1, i == year ? 4 : 2);
        if (i < 2 && *text++ != mark)
            return nan;
    }
    y = part[year], m = part[month], d = part[day];
    leap = y % 4 == 0 && (y % 100 || y % 400 == 0);
    if (y < 1 || m < 1 || m > 12 || d < 1 || d > lengths[m - 1] + (m == 2 && leap))
        return nan;
    if (*text && *text != ' ' && *text != 'T')
        return nan;
    y -= m <= 2;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * ((m + 9) % 12) + 2) / 5 + d - 719469
        + (*text ? clock_time(text + 1) : 0);
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
        cell = f"days(row->{cell}, '{date_mark(column.day_format)}', {', '.join(map(str, date_order(column.day_format)))})"
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
    equal = " || ".join(f"same({cell}, {_text(text)}, {int(column.fold)})" for text in test.value) or "0"
    return f"{cell} && *{cell} && {'' if test.kind == 'in' else '!'}({equal})"


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
