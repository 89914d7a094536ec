"""The page of a model: its rules, its scores, its circuit to play with, and the rows it gets wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from gradus._circuit import Network
from gradus._core.wording import counted
from gradus._pages.html import SORTING, data_element, html_page, html_table, page_asset
from gradus._tables.conditions import Condition, Token
from gradus._tables.encoding import TableEncoding
from gradus._tables.labels import TargetEncoding
from gradus._tables.page.data import Decoder, page_data
from gradus._tables.page.examples import OddRow, PageExamples
from gradus._tables.page.labels import statement_names
from gradus._tables.statements import Statement
from gradus._version import __version__

__all__ = ["ModelView", "Scores", "model_page", "summary_of"]

Scores = Mapping[str, Sequence[float]]
"""The share of the rows that are right, for each target, under the name of each way to measure it."""
MOST_ODD_ROWS = 200
MOST_RIVALS = 5
LONG_CONDITION = 36
OPERATORS = {" & ": "and", " | ": "or", " ^ ": "xor"}


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


def model_page(view: ModelView) -> str:
    """Return the page as HTML that opens from disk and loads nothing."""
    sections = {
        "Try a row": _form(),
        "Rules": _rules(view),
        "Circuit": _circuit(view),
        "Scores": _scores(view),
        "Rows that are not right": _odd_rows(view),
        "Columns": _columns(view.features),
    }
    links = [f'<a href="#{_anchor(name)}">{escape(name)}</a>' for name, parts in sections.items() if parts]
    body = [f"<h1>{escape(view.title)}</h1>", f'<p class="lead">{escape(view.summary)}</p>']
    body.append(f'<nav class="contents">{"".join(links)}</nav>')
    for name, parts in sections.items():
        body += [f'<h2 id="{_anchor(name)}">{escape(name)}</h2>', *parts] if parts else []
    body.append(f'<p class="quiet">Made by gradus {__version__}.</p>')
    rows = () if view.examples is None else view.examples.rows
    body.append(data_element("model", page_data(view.network, view.features, view.targets, view.decode, rows)))
    style, script = (page_asset("gradus._tables.page", f"model_page.{kind}") for kind in ("css", "js"))
    return html_page(view.title, style, body, script=SORTING + script)


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _form() -> list[str]:
    return [
        '<form class="row" id="row" autocomplete="off"></form>',
        '<div class="tools"><button type="button" id="random" hidden>next example</button></div>',
        '<div class="answer" id="answer" aria-live="polite"></div>'
        '<details open><summary>Why</summary><ul id="why" class="quiet"></ul></details>',
    ]


def _rules(view: ModelView) -> list[str]:
    pairs = [(column, key) for column in view.features.columns for key in column.input_keys]
    conditions = {node: Condition(column, key) for node, (column, key) in enumerate(pairs)}
    conditions |= {one.node: Condition(None, name=one.name) for one in reversed(view.statements) if one.node >= len(pairs)}
    place = {name: k for k, name in enumerate(name for target in view.targets for name in statement_names(target))}
    lines = []
    for one in sorted(view.statements, key=lambda one: (one.is_signal, place.get(one.name, 0))):
        kind = ' class="signal"' if one.is_signal else ""
        lines.append(f'<dt{kind} data-node="{one.node}">{escape(one.name)}</dt>')
        lines.append(f"<dd>{_formula(one.tokens, conditions)}</dd>")
    said = "Marked conditions are true of the row above."
    if any(one.is_signal for one in view.statements):
        said += " Long rules are written in steps, which follow them."
    return [f'<p class="quiet">{said}</p>', f'<dl class="rules">{"".join(lines)}</dl>']


def _formula(tokens: Sequence[Token], conditions: Mapping[int, Condition]) -> str:
    """Write a formula with a line for each of its alternatives."""
    alternatives: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if isinstance(token, str):
            depth += token.count("(") - token.count(")")
            if token == " | " and depth == 0:
                alternatives.append([])
                continue
        alternatives[-1].append(token)
    lines = []
    for place, one in enumerate(alternatives):
        text = "".join(_piece(token, conditions) for token in one)
        nested = any(isinstance(token, str) and token != " & " for token in one)
        start = '<span class="op">or</span> ' if place else ""
        lines.append(f'<span class="or{" nested" * nested}">{start}{text}</span>')
    return "".join(lines)


def _piece(token: Token, conditions: Mapping[int, Condition]) -> str:
    if isinstance(token, str):
        if token in ("0", "1"):
            return "always" if token == "1" else "never"
        for sign, word in OPERATORS.items():
            token = token.replace(sign, f' <span class="op">{word}</span> ')
        return token
    node, holds = token
    text = conditions[node].text(holds, quoted=False)
    if text.startswith("!"):
        text = f"not {text[1:]}"
    long = " long" if len(text) > LONG_CONDITION else ""
    return f'<span class="c{long}" data-node="{node}" data-holds="{int(holds)}">{escape(text)}</span>'


def _circuit(view: ModelView) -> list[str]:
    hint = "Click an input to change the row and watch the signals; point at a gate to see what it depends on and who uses it."
    several = (
        [f'<p class="quiet">In the model {view.n_circuits} circuits vote; this is the one that was made to be read.</p>']
        if view.n_circuits > 1
        else []
    )
    return [
        *several,
        '<div class="tools"><select id="target" aria-label="which target"></select>'
        '<button type="button" id="fit" hidden></button><button type="button" id="fold" hidden>fold again</button>'
        '<span id="folded" class="quiet" hidden>Boxes are folded gates: click to unfold.</span></div>',
        f'<p class="about quiet" id="about" data-hint="{escape(hint)}">{escape(hint)}</p>',
        '<div class="drawing" id="drawing"></div>',
    ]


def _scores(view: ModelView) -> list[str]:
    if not view.scores:
        return []
    said = '<p class="quiet">Share of the rows that are right.</p>'
    if len(view.targets) == 1:  # a line each fits a narrow screen
        lines = [[escape(name), _percent(shares[0])] for name, shares in view.scores.items()]
        return [said, html_table(["", escape(view.targets[0].name)], lines, numeric=[1])]
    rows = [
        [escape(target.name), *(_percent(shares[k]) for shares in view.scores.values())]
        for k, target in enumerate(view.targets)
    ]
    head = ["target", *(escape(name) for name in view.scores)]
    return [said, html_table(head, rows, numeric=range(1, len(head)))]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}&nbsp;%"


def _odd_rows(view: ModelView) -> list[str]:
    if view.examples is None:
        return []
    odd = view.examples.odd
    if not odd:
        return ["<p>Every row that was given is right.</p>"]
    rows = []
    for one in odd[:MOST_ODD_ROWS]:
        target = view.targets[one.target]
        said = [target.name, target.classes[one.label], target.classes[one.answer], _why(one)]
        rows.append([str(one.row + 1), *(escape(str(text)) for text in said)])
    more = len(odd) - len(rows)
    parts = [html_table(["row", "target", "label", "answer", "why"], rows, numeric=[0], sortable=True)]
    return parts + ([f'<p class="quiet">… and {more} more.</p>'] if more else [])


def _why(one: OddRow) -> str:
    if not one.rivals:
        return "outvoted: a circuit that gets it right would have to be larger"
    shown = ", ".join(str(row + 1) for row in one.rivals[:MOST_RIVALS])
    more = f" and {len(one.rivals) - MOST_RIVALS} more" if len(one.rivals) > MOST_RIVALS else ""
    return f"contradicts {'row' if len(one.rivals) == 1 else 'rows'} {shown}{more}: the same inputs, another label"


def _columns(features: TableEncoding) -> list[str]:
    if all(column.kind == "bit" and not column.missing for column in features.columns):
        return []
    items = "".join(f"<li>{escape(line)}</li>" for line in features.plan())
    names = counted(len(features.columns), "column")
    return [f"<details><summary>What became of {names} of the table</summary><ul>{items}</ul></details>"]


def summary_of(network: Network, about: Mapping[str, Any]) -> str:
    """Say in a line what the model is."""
    gates = counted(network.n_gates, "gate")
    rows = about.get("rows")
    learned = f", learned from {counted(rows, 'row')}" if isinstance(rows, int) else ""
    source = about.get("learned_from")
    named = f" of {source}" if learned and isinstance(source, str) else ""
    return f"A circuit of {gates}{learned}{named}."
