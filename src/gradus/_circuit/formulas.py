"""`formulas`: one simplified Boolean formula per target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.count_recognition import output_counts
from gradus._circuit.factoring import factored
from gradus._circuit.formula_trees import FALSE, TRUE, FormulaTree, input_tree, joined, render, short_tree
from gradus._circuit.sums_of_products import FREE, MAX_VARIABLES, minimum_sum
from gradus._core.bits import pack, unpack
from gradus._core.wording import quoted_name
from gradus.errors import FormatError

__all__ = ["Form", "Formula", "forms", "formulas", "write_formulas"]

MAX_LITERALS = 200_000


@dataclass(frozen=True)
class Formula:
    """A formula for a target, in the inputs that it really depends on.

    Attributes
    ----------
    target : str
        The target's name.
    text : str
        The formula: ``!`` not, ``&`` and, ``|`` or (in order of decreasing precedence), ``^`` exclusive or (always bracketed
        beside another operator), brackets, ``0`` and ``1``. Names that are not plain words are in double quotes, written
        as JSON strings.
    support : tuple of str
        The inputs that the target depends on, in the network's order: for each there is a pattern where changing it
        alone changes the target.
    n_literals : int
        Number of occurrences of inputs in the formula.
    exact : bool
        Whether it is a sum of products proven to have the fewest products, and among those the fewest literals.
    factored : bool
        False for a sum of products; True for nested brackets, the form of targets with more than twelve inputs and of
        those that brackets or ``^`` make shorter.
    support_proven : bool
        False only for wide circuits whose decision diagram grows too large; `support` may then contain inputs that do
        not matter.
    count : str or None
        In words, if the target says how many of at least three literals are true: ``at least 2 of 3: x0, !x1, x2``.
    """

    target: str
    text: str
    support: tuple[str, ...]
    n_literals: int
    exact: bool
    factored: bool
    support_proven: bool
    count: str | None = None

    def __str__(self) -> str:
        return self.text


def formulas(network: Network, *, xor: bool = True) -> dict[str, Formula]:
    """Return a simplified formula for every target, by name.

    It is the shortest of those found. For a target that depends on at most twelve inputs these are a minimum or nearly
    minimum sum of products, which is taken where nothing is shorter, and nested forms with brackets and ``^``; other targets
    get a nested form.

    Parameters
    ----------
    network : Network
    xor : bool
        False for languages without an operator for exclusive or.

    Returns
    -------
    dict of str to Formula

    Raises
    ------
    FormatError
        If a formula would have more than 200,000 literals.

    Examples
    --------
    >>> network = Network(3, [[0, 1], [0, 1]], [3, 4], [14, 6], output_names=["either", "differ"])
    >>> found = formulas(network)
    >>> found["either"].text, found["differ"].text, found["differ"].support
    ('x0 | x1', 'x0 ^ x1', ('x0', 'x1'))
    >>> formulas(network, xor=False)["differ"].text
    '!x0 & x1 | x0 & !x1'
    """
    counts = output_counts(network)
    return {name: _formula(network, output, xor, counts.get(name)) for output, name in enumerate(network.output_names)}


class Form(NamedTuple):
    """A way to write a target."""

    tree: FormulaTree
    """Over the positions of the network's inputs."""
    is_sum: bool
    """Whether it is a sum of products."""
    exact: bool = False
    """Whether it is a sum proven to have the fewest products."""


def forms(network: Network, output: int, *, xor: bool = True) -> tuple[list[Form], tuple[int, ...], bool]:
    """Return the ways found to write an output, the inputs it depends on, and whether each is proven to matter."""
    tree, support, proven = factored(network, output, xor=xor)
    nested = Form(tree, False)
    # A form with ^ that has every input only once is shorter than any other.
    if not proven or len(support) > MAX_VARIABLES or (tree.has_xor and tree.n_literals == len(support)):
        return [nested], support, proven
    table = _table(network, output, support)
    peeled = short_tree(table, support, xor=xor)
    return [_sum_of_products(table, support), Form(peeled, False), nested], support, proven


def _formula(network: Network, output: int, xor: bool, count: str | None) -> Formula:
    written, support, proven = forms(network, output, xor=xor)
    best = min(written, key=lambda form: form.tree.n_literals)
    n_literals, name = best.tree.n_literals, network.output_names[output]
    if n_literals > MAX_LITERALS and not best.is_sum:
        raise FormatError(
            f"the formula of {name!r} would have {n_literals} literals, more "
            f"than {MAX_LITERALS}; write the circuit itself instead, as .blif, .v or .aag."
        )
    return Formula(
        target=name,
        text=render(best.tree, [quoted_name(name) for name in network.input_names]),
        support=tuple(network.input_names[i] for i in support),
        n_literals=n_literals,
        exact=best.exact,
        factored=not best.is_sum,
        support_proven=proven,
        count=count,
    )


def _table(network: Network, output: int, support: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return an output's value at every pattern of the inputs it depends on, one axis per input."""
    rows = np.zeros((1 << len(support), network.n_inputs), dtype=np.bool_)
    for place, position in enumerate(reversed(support)):
        rows[:, position] = np.arange(len(rows)) >> place & 1
    values = unpack(network.node_words(pack(rows))[[network.outputs[output]]], len(rows))
    return values.reshape((2,) * len(support))


def _sum_of_products(table: npt.NDArray[np.bool_], support: tuple[int, ...]) -> Form:
    if not support:
        return Form(TRUE if table.item() else FALSE, True, True)
    cover = minimum_sum(table)
    products = []
    for product in cover.products:
        fixed = np.flatnonzero(product != FREE)
        products.append(joined("&", [input_tree(support[place], bool(product[place])) for place in fixed]))
    return Form(joined("|", products), True, cover.minimum)


def write_formulas(network: Network) -> str:
    """Return the formulas of a network as text, one line per target."""
    lines = []
    for name, formula in formulas(network).items():
        lines += [f"# {quoted_name(name)}: {formula.count}"] if formula.count else []
        lines.append(f"{quoted_name(name)} = {formula.text}")
    return "\n".join(["# Formulas written by Gradus: ! is not, & is and, | is or, ^ is exclusive or", *lines, ""])
