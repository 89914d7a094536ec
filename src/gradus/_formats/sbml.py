"""SBML-qual, the exchange format of logical models, read and written by ``biodivine_aeon`` (the extra ``bio``)."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from gradus._circuit import Network
from gradus._formats.bnet import read_bnet, write_bnet
from gradus._formats.names import MARK
from gradus._formats.xml_scan import scan_xml
from gradus.errors import DataError, FormatError, MissingExtraError

__all__ = ["aeon", "read_sbml", "write_sbml"]

MOST_OPERATORS = 2000
"""Of one rule: AEON holds a rule as a chain as long as it has operators, and walks it by recursion."""
NAME_COMMENT = re.compile(rf"<!-- ({re.escape(MARK)}.*?) -->")


def aeon() -> Any:
    """Import AEON, or say how to install it."""
    try:
        import biodivine_aeon
    except ImportError as error:
        raise MissingExtraError(
            "SBML models and attractors need AEON (the extra 'bio'); run pip install biodivine-aeon."
        ) from error
    return biodivine_aeon


def read_sbml(text: str, *, targets: Collection[str] = ()) -> Network:
    """Read the text of an SBML-qual model, as GINsim, CellCollective and Gradus write it."""
    library = aeon()
    scan_xml(text, None, _RuleSizes())
    rules = library.BooleanNetwork.from_sbml(text).to_bnet(rename_if_necessary=True)
    # Names that Gradus had to change are in comments, which AEON does not keep.
    names = [f"# {comment}" for comment in NAME_COMMENT.findall(text)]
    return read_bnet("\n".join([*names, rules]), targets=targets)


class _RuleSizes:
    """Counts the operators of each rule of a model: AEON runs out of stack, and ends the process, where there are too many."""

    operators = 0

    def __call__(self, tag: str, _: dict[str, str]) -> None:
        self.operators = 0 if tag == "math" else self.operators + (tag == "apply")
        if self.operators > MOST_OPERATORS:
            raise FormatError(f"a rule has more than {MOST_OPERATORS} operators; they are too many for AEON.")


def _check_rules(rules: str) -> None:
    for line in rules.split("\n"):
        target, _, rule = line.partition(",")
        if not line.startswith("#") and sum(map(rule.count, "&|!(")) > MOST_OPERATORS:
            raise FormatError(
                f"the rule of {target!r} has more than {MOST_OPERATORS} operators, too many to be written as SBML; "
                "write .bnet, .blif or .v instead."
            )


def write_sbml(network: Network) -> str:
    r"""Return a network as an SBML-qual model with the rules of `gradus._formats.bnet.write_bnet`."""
    if not network.n_inputs + network.n_outputs:
        raise DataError("the network has no inputs and no outputs; an SBML model needs at least one variable.")
    rules = write_bnet(network)
    _check_rules(rules)
    # Inferring the graph drops nothing from rules over their true support; it adds the sign of each influence.
    model = aeon().BooleanNetwork.from_bnet(rules).infer_valid_graph().to_sbml()
    comments = [line[2:] for line in rules.split("\n") if line.startswith(f"# {MARK}")]
    declaration, rest = model.split("?>", 1)
    # An XML comment must not hold two hyphens; in a JSON string a hyphen can be written as an escape.
    held = [line.replace("--", "-\\u002d") for line in comments]
    return "\n".join([f"{declaration}?>", *(f"<!-- {line} -->" for line in held), rest, ""])
