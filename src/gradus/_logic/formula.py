"""Simplified Boolean formulas, one a target."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus._bits import pack, unpack
from gradus._logic.factoring import factored, render
from gradus._logic.sums_of_products import FREE, MAX_VARIABLES, minimum_sum
from gradus._network import Network
from gradus.errors import FormatError

__all__ = ["WORDS", "Formula", "dumps", "formulas"]

WORDS = frozenset({"and", "or", "not", "xor", "true", "false"})
"""Words that mean an operator or a constant in some formula language, and so are no names."""

MAX_LITERALS = 200_000
_PLAIN = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Formula:
    """A target's value as a formula of the inputs that it really depends on.

    Attributes
    ----------
    target : str
        The target's name.
    text : str
        The formula: ``!`` not, ``&`` and, ``|`` or (in falling order of binding), brackets, ``0`` and ``1``. Names
        that are not plain words stand in double quotes, written as JSON strings.
    support : tuple of str
        The inputs that the target depends on, in the network's order: for each there is a pattern where changing it
        alone changes the target.
    n_literals : int
        How often an input stands in the formula.
    exact : bool
        Whether it is a sum of products proven to have the fewest products, and among those the fewest literals.
    factored : bool
        False for a sum of products; True for nested brackets, the form of targets with more than twelve inputs.
    support_proven : bool
        False only for wide circuits whose decision diagram grows too large; `support` may then hold inputs that do
        not matter.
    """

    target: str
    text: str
    support: tuple[str, ...]
    n_literals: int
    exact: bool
    factored: bool
    support_proven: bool

    def __str__(self) -> str:
        return self.text


def formulas(network: Network) -> dict[str, Formula]:
    """Return a simplified formula for every target, by its name.

    Up to twelve inputs that matter it is a minimum, or nearly minimum, sum of products; beyond, a factored form.

    Parameters
    ----------
    network : Network

    Returns
    -------
    dict of str to Formula

    Raises
    ------
    FormatError
        If a formula would have more than 200,000 literals.

    Examples
    --------
    >>> xor = Network(3, [[0, 1], [0, 3], [1, 3], [4, 5]], [6], output_names=["differ"])
    >>> found = formulas(xor)["differ"]
    >>> found.text, found.support, found.exact
    ('!x0 & x1 | x0 & !x1', ('x0', 'x1'), True)
    """
    return {name: _formula(network, output) for output, name in enumerate(network.output_names)}


def _formula(network: Network, output: int) -> Formula:
    expression, support, proven = factored(network, output)
    names = tuple(_quoted(name) for name in network.input_names)
    if not proven or len(support) > MAX_VARIABLES:
        if expression.n_literals > MAX_LITERALS:
            raise FormatError(
                f"the formula of {network.output_names[output]!r} would have {expression.n_literals} literals, more "
                f"than {MAX_LITERALS}; write the circuit itself instead, as .blif, .v or .aag."
            )
        text, n_literals, exact = render(expression, names), expression.n_literals, False
    else:
        text, n_literals, exact = _sum_of_products(_table(network, output, support), [names[i] for i in support])
    return Formula(
        target=network.output_names[output],
        text=text,
        support=tuple(network.input_names[i] for i in support),
        n_literals=n_literals,
        exact=exact,
        factored=not proven or len(support) > MAX_VARIABLES,
        support_proven=proven,
    )


def _table(network: Network, output: int, support: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return an output's value at every pattern of the inputs it depends on, one axis an input."""
    rows = np.zeros((1 << len(support), network.n_inputs), dtype=np.bool_)
    for place, position in enumerate(reversed(support)):
        rows[:, position] = np.arange(len(rows)) >> place & 1
    values = unpack(network.node_words(pack(rows))[[network.outputs[output]]], len(rows))
    return values.reshape((2,) * len(support))


def _sum_of_products(table: npt.NDArray[np.bool_], names: list[str]) -> tuple[str, int, bool]:
    if not names:
        return str(int(table.item())), 0, True
    cover = minimum_sum(table)
    products = [
        " & ".join(name if value else f"!{name}" for name, value in zip(names, product, strict=True) if value != FREE)
        for product in cover.products
    ]
    return " | ".join(products), int((cover.products != FREE).sum()), cover.minimum


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in WORDS else json.dumps(name)


def dumps(network: Network) -> str:
    """Return the formulas of a network as text, one line a target.

    Parameters
    ----------
    network : Network

    Returns
    -------
    str

    Examples
    --------
    >>> print(dumps(Network(2, [[0, 0], [1, 1], [2, 3]], [4], input_names=["SK", "PP*"])))
    # Formulas written by Gradus: ! is not, & is and, | is or
    z0 = SK | "PP*"
    <BLANKLINE>
    """
    lines = [f"{_quoted(name)} = {formula.text}" for name, formula in formulas(network).items()]
    return "\n".join(["# Formulas written by Gradus: ! is not, & is and, | is or", *lines, ""])
