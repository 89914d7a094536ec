"""`.bnet`: one Boolean rule per line, ``target, expression``, as BoolNet, PyBoolNet and AEON write and read it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from gradus._circuit import Network
from gradus._circuit.expressions import names_in, parse_expression
from gradus._circuit.formulas import formulas
from gradus._circuit.gate_list import GateTable
from gradus._core.wording import RESERVED_WORDS
from gradus._formats.names import IDENTIFIER, map_lines, restore, safe_names
from gradus._formats.netlist import built_network
from gradus.errors import FormatError

__all__ = ["file_names", "read_bnet", "write_bnet"]

# The header's words, and the functions that BoolNet knows by name.
RESERVED = RESERVED_WORDS | {
    *("targets", "factors", "all", "any", "maj", "sumgt", "sumlt", "sumis", "timegt", "timelt", "timeis")
}

HEADERS = ("targets,factors", "targets;factors")
NAME = re.compile(r"\w[\w.:@]*")


def file_names(network: Network) -> dict[str, str]:
    """Return the name in a file of each variable."""
    return safe_names([*network.input_names, *network.output_names], IDENTIFIER, RESERVED)


def bnet_rules(network: Network) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the rules (safe name and formula, inputs without a rule first), and the lines that map names back."""
    safe = file_names(network)
    named = network.with_names([safe[name] for name in network.input_names], [safe[name] for name in network.output_names])
    without_rule = [name for name in named.input_names if name not in set(named.output_names)]
    updates = [(target, formula.text) for target, formula in formulas(named, xor=False).items()]
    return [*((name, name) for name in without_rule), *updates], map_lines((safe[name], name) for name in safe)


def write_bnet(network: Network) -> str:
    """Return a network as a `.bnet` model with one rule per target."""
    # A target that has the name of an input is that variable's next value; other targets are variables of their own. Inputs
    # that no target updates keep their value (``x, x``), because most tools want a rule for every variable. Tools disagree on
    # exclusive or, so it is expanded.
    lines, name_lines = bnet_rules(network)
    keeps = any(name == rule for name, rule in lines)
    return "\n".join(
        [
            "# Boolean model written by Gradus: ! is not, & is and, | is or",
            *(["# A variable whose rule is itself keeps its value, as the inputs do that nothing updates."] * keeps),
            *(f"# {line}" for line in name_lines),
            "targets, factors",
            *(f"{name}, {rule}" for name, rule in lines),
            "",
        ]
    )


def read_bnet(text: str, *, targets: Collection[str] = ()) -> Network:
    """Read the text of a `.bnet` file as the circuit of every variable's next value."""
    # A variable whose rule is itself (``CycD, CycD``) never changes: it is an input and not a target, unless asked for. So are
    # variables that rules read and that have no rule of their own. A target that no rule reads is not an input. Names that
    # Gradus had to change when it wrote the file are changed back.
    rules = _written_rules(text)
    read = dict.fromkeys(name for rule in rules.values() for name in names_in(rule.text))
    inputs = list(dict.fromkeys([*(name for name in rules if name in read), *read]))
    gates, nodes = GateTable(len(inputs)), {name: node for node, name in enumerate(inputs)}
    built = {
        name: parse_expression(rule.text, gates, nodes, line=rule.line, column=rule.column) for name, rule in rules.items()
    }
    original = _original_names([*rules, *read], text)
    fixed = {name for name, rule in rules.items() if "".join(rule.text.split()).strip("()") == name}
    kept = [name for name in rules if original[name] in targets or name not in fixed]
    names = (tuple(original[name] for name in some) for some in (inputs, kept))
    return built_network(gates, [built[name] for name in kept], *names)


class _Rule(NamedTuple):
    """The expression of a rule, and where it is written."""

    text: str
    line: int
    column: int


def _written_rules(text: str) -> dict[str, _Rule]:
    """Return the rule of each variable, without comments and the header ``targets, factors``."""
    rules: dict[str, _Rule] = {}
    for line, content in enumerate(text.split("\n"), start=1):
        code = content.partition("#")[0]
        if not code.strip() or (not rules and "".join(code.lower().split()).rstrip(",;") in HEADERS):
            continue
        name, rule = _written_rule(code, line)
        if name in rules:
            raise FormatError(f"{name!r} has a rule already, in line {rules[name].line}.", line=line, column=1)
        rules[name] = rule
    if not rules:
        raise FormatError("there is no rule in the file; expected lines such as 'a, b & !c'.")
    return rules


def _original_names(names: Iterable[str], text: str) -> dict[str, str]:
    """Return the name that every variable had before the file was written."""
    known = list(dict.fromkeys(names))
    original = dict(zip(known, restore(known, text), strict=True))
    if len(set(original.values())) < len(original):
        raise FormatError("two variables have one name; correct the comment lines that map names.")
    return original


def _written_rule(code: str, line: int) -> tuple[str, _Rule]:
    end = next((place for place, sign in enumerate(code) if sign in ",;"), -1)
    if end < 0:
        raise FormatError("expected 'target, expression', found no comma.", line=line)
    name = code[:end].strip()
    column = code.index(name) + 1
    if not NAME.fullmatch(name) or name.lower() in RESERVED_WORDS or name.isdecimal():
        raise FormatError(f"{name!r} is not a name that a rule can have.", line=line, column=column)
    return name, _Rule(code[end + 1 :], line, end + 2)
