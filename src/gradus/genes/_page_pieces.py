"""Pieces of the report: sortable tables, bars, formulas in words, and the style of the page in light and dark."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from gradus._circuit.formula_trees import FormulaTree, tokens

__all__ = ["STYLE", "Cell", "bar", "bullets", "cell", "percent", "sortable", "spelled"]

STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --paper: #fff; --quiet: #5b6472; --rule: #e2e6ec; --head: #c6cdd8;
        --word: #7a4a00; --bar: #e9edf3; --full: #2f7d5b; --note: #fff7e0; --mark: #d9a300; --link: #0b62a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --paper: #161a21; --quiet: #9aa4b2; --rule: #2b323d; --head: #475162; --word: #f0b75e;
          --bar: #2b323d; --full: #54b98a; --note: #332a10; --mark: #d9a300; --link: #6db6f2; }
}
body { font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 64rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; overflow-wrap: anywhere; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
p, li { max-width: 46rem; } .lead { font-size: 1.05rem; } .quiet { color: var(--quiet); } a { color: var(--link); }
nav ul { columns: 2 16rem; padding-left: 1.2rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .8rem 0; font-size: .94rem; }
th, td { text-align: left; padding: .32rem .8rem .32rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; border-bottom: 2px solid var(--head); white-space: nowrap; } td.n, th.n { text-align: right; }
th button { all: unset; cursor: pointer; } th button:hover { text-decoration: underline; }
th button:focus-visible { outline: 2px solid var(--link); }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
i { color: var(--word); font-style: normal; font-weight: 600; }
.bar { display: inline-block; width: 5rem; height: .7rem; background: var(--bar); margin-right: .5rem; }
.bar > span { display: block; height: 100%; background: var(--full); }
.best { font-weight: 700; } .picture { overflow-x: auto; } .picture svg { max-width: 100%; height: auto; }
.paper { background: #fff; padding: .5rem; border-radius: 6px; }
.note { background: var(--note); border-left: 4px solid var(--mark); padding: .5rem .9rem; }
@media (max-width: 30rem) { .bar { width: 1.8rem; margin-right: .3rem; } th, td { padding-right: .5rem; font-size: .85rem; } }
"""
WORDS = {"&": "and", "|": "or", "^": "or else"}
Cell = tuple[str, float | str | None]
"""HTML, and the value to sort by (None: the text)."""


def cell(text: object, value: float | str | None = None) -> Cell:
    """Return plain text as a cell."""
    return html.escape(str(text)), value


def percent(share: float) -> Cell:
    """Return a share as a percentage; nothing for one that is not known."""
    return ("–", -1.0) if share != share else (f"{100 * share:.0f}&nbsp;%", share)


def bar(share: float) -> Cell:
    """Return a share as a bar with its percentage."""
    return f'<span class="bar"><span style="width:{100 * share:.0f}%"></span></span>{percent(share)[0]}', share


def sortable(headings: Sequence[str], rows: Iterable[Sequence[Cell]], numeric: frozenset[int] = frozenset()) -> str:
    """Return a table whose headings sort it when they are clicked."""

    def mark(column: int) -> str:
        return ' class="n"' if column in numeric else ""

    head = "".join(f'<th{mark(c)}><button type="button">{html.escape(text)}</button></th>' for c, text in enumerate(headings))
    body = "\n".join(
        "<tr>" + "".join(f"<td{mark(c)}{_sort_value(value)}>{text}</td>" for c, (text, value) in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _sort_value(value: float | str | None) -> str:
    return "" if value is None else f' data-v="{html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))}"'


def bullets(sentences: Iterable[str]) -> str:
    """Return sentences as a list."""
    items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def spelled(tree: FormulaTree, names: Sequence[str]) -> str:
    """Return a formula as HTML with words for its operators."""
    if tree.operator in ("0", "1"):
        return "always on" if tree.operator == "1" else "always off"
    pieces = []
    for piece in tokens(tree):
        if isinstance(piece, str):
            pieces.append(re.sub(r"[&|^]", lambda sign: f"<i>{WORDS[sign[0]]}</i>", piece))
        else:
            pieces.append(f"{'' if piece[1] else '<i>not</i> '}{html.escape(names[piece[0]])}")
    return "".join(pieces)
