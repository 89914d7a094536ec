"""`.bnet`: one Boolean rule a line, as BoolNet, PyBoolNet and AEON read it."""

from __future__ import annotations

from gradus._formats.names import IDENTIFIER, map_lines, safe_names
from gradus._logic.formula import WORDS, formulas
from gradus._network import Network

__all__ = ["dumps", "rules"]

# The header's words, and the functions that BoolNet knows by name.
RESERVED = WORDS | {*("targets", "factors", "all", "any", "maj", "sumgt", "sumlt", "sumis", "timegt", "timelt", "timeis")}


def rules(network: Network) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the rules (safe name and formula, inputs without a rule first), and the lines that map names back.

    Examples
    --------
    >>> rules(Network(2, [[0, 1]], [2], input_names=["a", "b*"], output_names=["a"]))
    ([('b_', 'b_'), ('a', '!a | !b_')], ['gradus-name: b_ stands for "b*"'])
    """
    safe = safe_names([*network.input_names, *network.output_names], IDENTIFIER, RESERVED)
    named = network.with_names([safe[name] for name in network.input_names], [safe[name] for name in network.output_names])
    without_rule = [name for name in named.input_names if name not in set(named.output_names)]
    updates = [(target, formula.text) for target, formula in formulas(named).items()]
    return [*((name, name) for name in without_rule), *updates], map_lines((safe[name], name) for name in safe)


def dumps(network: Network) -> str:
    """Return a network as a `.bnet` model, one rule a target.

    A target that has the name of an input is that variable's next value; other targets are variables of their own.
    Inputs that no target updates keep their value (``x, x``), because most tools want a rule for every variable.

    Parameters
    ----------
    network : Network

    Returns
    -------
    str
        The text of a ``.bnet`` file. Names that are no plain identifiers are mapped; the map stands in its comments.

    Raises
    ------
    FormatError
        If a rule would be far too long to write; see `gradus._logic.formula.formulas`.

    Examples
    --------
    >>> print(dumps(Network(2, [[0, 1]], [2], input_names=["a", "b"], output_names=["a"])))
    # Boolean model written by Gradus: ! is not, & is and, | is or
    # A variable whose rule is itself keeps its value, as the inputs do that nothing updates.
    targets, factors
    b, b
    a, !a | !b
    <BLANKLINE>
    """
    lines, name_lines = rules(network)
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
