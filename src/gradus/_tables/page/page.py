"""The page of a model: its rules, its scores, its circuit to play with, and the rows it gets wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradus._circuit import Network
from gradus._core.wording import counted, listed
from gradus._pages.html import page
from gradus._tables.conditions import Condition, Token
from gradus._tables.encoding import TableEncoding
from gradus._tables.labels import TargetEncoding
from gradus._tables.page.data import Decoder, page_data
from gradus._tables.page.examples import OddRow, PageExamples
from gradus._tables.page.labels import statement_names
from gradus._tables.statements import Statement

__all__ = ["ModelView", "Scores", "model_page", "summary_of"]

Scores = Mapping[str, Sequence[float]]
"""The share of the rows that are right, for each target, under the name of each way to measure it."""
MOST_ODD_ROWS = 200
MOST_RIVALS = 5
OPERATORS = {"&": "and", "|": "or", "^": "xor"}


@dataclass(frozen=True, eq=False)
class ModelView:
    """What a page shows."""

    network: Network
    """The circuit, without gates that it does not need."""
    features: TableEncoding
    targets: tuple[TargetEncoding, ...]
    statements: Sequence[Statement]
    """What the outputs say."""
    decode: Decoder
    """From the outputs to classes."""
    n_circuits: int = 1
    """How many circuits vote in the model."""
    title: str = ""
    summary: str = ""
    scores: Scores = field(default_factory=dict)
    examples: PageExamples | None = None


class _Piece(NamedTuple):
    """A condition, with the node that it is about, or an operator or brackets."""

    text: str
    node: int | None = None
    holds: bool = True
    is_word: bool = False


class _Alternative(NamedTuple):
    """A line of a rule."""

    pieces: list[_Piece]
    nested: bool
    """Whether it is more than a product of conditions."""


def model_page(view: ModelView) -> str:
    """Return the page as HTML that opens from disk and loads nothing."""
    plain = all(column.kind == "bit" and not column.missing for column in view.features.columns)
    odd = () if view.examples is None else view.examples.odd
    rows = () if view.examples is None else view.examples.rows
    return page(
        "gradus._tables.page",
        "model_page",
        title=view.title,
        view=view,
        rules=_rules(view),
        odd=[_odd_row(row, view.targets[row.target]) for row in odd[:MOST_ODD_ROWS]],
        n_odd=len(odd),
        encoded=() if plain else view.features.plan(),
        model=page_data(view.network, view.features, view.targets, view.decode, rows),
    )


def _rules(view: ModelView) -> list[dict[str, Any]]:
    """Return the statements as the page shows them: outputs in the order of the targets, then the steps."""
    pairs = [(column, key) for column in view.features.columns for key in column.input_keys]
    conditions = {node: Condition(column, key) for node, (column, key) in enumerate(pairs)}
    conditions |= {said.node: Condition(None, name=said.name) for said in reversed(view.statements) if said.node >= len(pairs)}
    place = {name: k for k, name in enumerate(name for target in view.targets for name in statement_names(target))}
    ordered = sorted(view.statements, key=lambda said: (said.is_signal, place.get(said.name, 0)))
    return [{**vars(said), "alternatives": _alternatives(said.tokens, conditions)} for said in ordered]


def _alternatives(tokens: Sequence[Token], conditions: Mapping[int, Condition]) -> list[_Alternative]:
    """Cut a formula at each "or" outside brackets."""
    lines: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if isinstance(token, str):
            depth += token.count("(") - token.count(")")
            if token == " | " and depth == 0:
                lines.append([])
                continue
        lines[-1].append(token)
    nested = [any(isinstance(token, str) and token != " & " for token in line) for line in lines]
    pieces = [[piece for token in line for piece in _pieces(token, conditions)] for line in lines]
    return list(map(_Alternative, pieces, nested))


def _pieces(token: Token, conditions: Mapping[int, Condition]) -> list[_Piece]:
    if isinstance(token, str):
        if token in ("0", "1"):
            return [_Piece("always" if token == "1" else "never")]
        parts = (part for part in re.split(r" ([&|^]) ", token) if part)
        return [_Piece(OPERATORS.get(part, part), is_word=part in OPERATORS) for part in parts]
    node, holds = token
    text = conditions[node].text(holds, quoted=False)
    return [_Piece(f"not {text[1:]}" if text.startswith("!") else text, node, holds)]


def _odd_row(row: OddRow, target: TargetEncoding) -> list[Any]:
    return [row.row + 1, target.name, target.classes[row.label], target.classes[row.answer], _why(row)]


def _why(row: OddRow) -> str:
    if not row.rivals:
        return "outvoted: a circuit that gets it right would have to be larger"
    shown = listed([rival + 1 for rival in row.rivals], MOST_RIVALS)
    return f"contradicts {'row' if len(row.rivals) == 1 else 'rows'} {shown}: the same inputs, another label"


def summary_of(network: Network, about: Mapping[str, Any]) -> str:
    """Say in a line what the model is."""
    gates = counted(network.n_gates, "gate")
    rows = about.get("rows")
    learned = f", learned from {counted(rows, 'row')}" if isinstance(rows, int) else ""
    source = about.get("learned_from")
    named = f" of {source}" if learned and isinstance(source, str) else ""
    return f"A circuit of {gates}{learned}{named}."
