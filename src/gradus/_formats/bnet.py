"""`.bnet`: one Boolean rule per line, ``target, expression``, as BoolNet, PyBoolNet and AEON write and read it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from gradus._circuit import Network
from gradus._circuit.expressions import Expression, parse_expression
from gradus._circuit.formulas import RESERVED_WORDS, formulas
from gradus._core.bits import WordMatrix
from gradus._core.files import read_text
from gradus._formats.names import IDENTIFIER, map_lines, restore, safe_names
from gradus._formats.truth_functions import TruthFunctions
from gradus.errors import FormatError

__all__ = ["BnetModel", "parse_bnet", "read_bnet", "write_bnet"]

# The header's words, and the functions that BoolNet knows by name.
RESERVED = RESERVED_WORDS | {
    *("targets", "factors", "all", "any", "maj", "sumgt", "sumlt", "sumis", "timegt", "timelt", "timeis")
}

HEADERS = ("targets,factors", "targets;factors")
NAME = re.compile(r"\w[\w.:@]*")


def bnet_rules(network: Network) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the rules (safe name and formula, inputs without a rule first), and the lines that map names back."""
    safe = safe_names([*network.input_names, *network.output_names], IDENTIFIER, RESERVED)
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


class BnetModel(TruthFunctions):
    r"""A Boolean model: a rule for the next value of each target.

    A variable whose rule is itself (``CycD, CycD``) never changes: it is an input and not a target. So are
    variables that rules read and that have no rule of their own. A target that no rule reads is not an input.
    """

    def __init__(self, rules: Sequence[tuple[str, Expression]], *, targets: Collection[str] = ()) -> None:
        self.rules = tuple(
            (name, rule)
            for name, rule in rules
            if name in targets or not (rule.is_variable and rule.variables == (name,))  # one that keeps its value
        )
        read = {variable: None for _, rule in rules for variable in rule.variables}
        declared = [name for name, _ in rules if name in read]
        self.input_names = tuple(dict.fromkeys([*declared, *read]))
        self.output_names = tuple(name for name, _ in self.rules)

    def output_words(self, inputs: WordMatrix) -> WordMatrix:
        """Compute every rule on packed examples."""
        columns = dict(zip(self.input_names, inputs, strict=True))
        shaped = columns or {"": np.zeros(inputs.shape[1], dtype=np.uint64)}
        return np.array([rule.evaluate(shaped) for _, rule in self.rules], dtype=np.uint64).reshape(-1, inputs.shape[1])

    def values_held(self) -> int:
        """Return the tallest stack of all rules."""
        return max((rule.height for _, rule in self.rules), default=0)


def read_bnet(path: str | PathLike[str], *, targets: Collection[str] = ()) -> BnetModel:
    """Read a `.bnet` file; see `parse_bnet`."""
    return parse_bnet(read_text(path), path=path, targets=targets)


def parse_bnet(text: str, *, path: str | PathLike[str] | None = None, targets: Collection[str] = ()) -> BnetModel:
    """Parse the text of a `.bnet` file."""
    # Blank lines, comments that begin with ``#`` and the header ``targets, factors`` are skipped. Names that Gradus had to
    # change when it wrote the file are changed back.
    rules: dict[str, tuple[int, Expression]] = {}
    for line, content in enumerate(text.split("\n"), start=1):
        code = content.partition("#")[0]
        if not code.strip() or (not rules and "".join(code.lower().split()).rstrip(",;") in HEADERS):
            continue
        name, rule = _parse_rule(code, path, line)
        if name in rules:
            raise FormatError(f"{name!r} has a rule already, in line {rules[name][0]}.", path=path, line=line, column=1)
        rules[name] = line, rule
    if not rules:
        raise FormatError("there is no rule in the file; expected lines such as 'a, b & !c'.", path=path)
    return BnetModel(_restored({name: rule for name, (_, rule) in rules.items()}, text, path), targets=targets)


def _restored(rules: Mapping[str, Expression], text: str, path: str | PathLike[str] | None) -> list[tuple[str, Expression]]:
    """Give every variable the name that it had before the file was written."""
    names = list(dict.fromkeys([*rules, *(name for rule in rules.values() for name in rule.variables)]))
    try:
        original = dict(zip(names, restore(names, text), strict=True))
    except FormatError as error:
        raise FormatError(error.message, path=path, line=error.line) from error
    if len(set(original.values())) < len(original):
        raise FormatError("two variables stand for one name; correct the comment lines that map names.", path=path)
    return [
        (original[name], replace(rule, variables=tuple(original[variable] for variable in rule.variables)))
        for name, rule in rules.items()
    ]


def _parse_rule(code: str, path: str | PathLike[str] | None, line: int) -> tuple[str, Expression]:
    end = next((place for place, sign in enumerate(code) if sign in ",;"), -1)
    if end < 0:
        raise FormatError("expected 'target, expression', found no comma.", path=path, line=line)
    name = code[:end].strip()
    column = code.index(name) + 1
    if not NAME.fullmatch(name) or name.lower() in RESERVED_WORDS or name.isdecimal():
        raise FormatError(f"{name!r} is not a name that a rule can have.", path=path, line=line, column=column)
    return name, parse_expression(code[end + 1 :], path=path, line=line, column=end + 2)
