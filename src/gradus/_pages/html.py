"""HTML pages that open from disk and load nothing, in light and dark, on wide and narrow screens."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

__all__ = ["SORTING", "THEME", "data_element", "html_page", "html_table", "inline_svg", "notebook_table", "page_asset"]

THEME = """
:root { color-scheme: light dark; --ink: #1c2330; --quiet: #5b6472; --paper: #ffffff; --panel: #f5f7fa; --line: #d8dee8;
  --accent: #0b62a8; --good: #00663f; --bad: #a32a00; --note: #fff4d6; --note-line: #d9a300; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --quiet: #a2abb8; --paper: #14181e; --panel: #1d232c;
  --line: #38414e; --accent: #76b9f0; --good: #6fd3a2; --bad: #ff9c78; --note: #3a3115; --note-line: #b98f1a; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 0 auto; padding: 1.2rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .2rem 0 .6rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
a { color: var(--accent); } .quiet { color: var(--quiet); } .lead { font-size: 1.05rem; max-width: 46rem; }
.note { background: var(--note); border-left: 4px solid var(--note-line); padding: .5rem .9rem; max-width: 46rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .92rem; margin: .6rem 0; }
th, td { text-align: left; vertical-align: top; padding: .32rem .9rem .32rem 0; border-bottom: 1px solid var(--line); }
th { border-bottom: 2px solid var(--line); } th button { all: unset; cursor: pointer; }
th button:hover { text-decoration: underline; }
th button:focus-visible { outline: 2px solid var(--accent); }
th[aria-sort=ascending] button::after { content: " \\25B2"; } th[aria-sort=descending] button::after { content: " \\25BC"; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
nav.contents { font-size: .95rem; display: flex; flex-wrap: wrap; gap: .1rem 1rem; }
"""
"""Colours and shapes that every page shares; a page adds its own style."""
SORTING = """
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const head = button.parentNode, table = head.closest("table"), body = table.tBodies[0];
  const place = [...head.parentNode.children].indexOf(head), falls = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falls ? "descending" : "ascending");
  const value = row => row.children[place].dataset.v ?? row.children[place].textContent.trim();
  const compare = (a, b) => parseFloat(a) - parseFloat(b) || String(a).localeCompare(b, undefined, { numeric: true });
  const rows = [...body.rows].sort((a, b) => compare(value(a), value(b)) * (falls ? -1 : 1));
  body.append(...rows);
});
"""
"""Sorts a table when a button in its heading is clicked: by the attribute data-v of the cells, or else by their text."""


def html_page(title: str, style: str, body: Iterable[str], *, script: str = "") -> str:
    """Return a whole page."""
    # The page forbids the browser to load anything and to run any script but the one given, so that text from elsewhere cannot
    # do harm even if it is not escaped.
    allowed = "'none'"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
        allowed = f"'sha256-{digest}'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # The empty icon keeps browsers from requesting one.
        f'<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{THEME}{style}</style></head><body>\n'
    )
    end = f"\n<script>{script}</script>" if script else ""
    return head + "\n".join(body) + end + "\n</body></html>\n"


def html_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, numeric: Iterable[int] = (), sortable: bool = False
) -> str:
    """Return a table that scrolls sideways on narrow screens; its cells are HTML."""
    right = set(numeric)

    def row(cells: Sequence[str], tag: str) -> str:
        marks = [' class="n"' if place in right else "" for place in range(len(cells))]
        parts = (f"<{tag}{mark}>{cell}</{tag}>" for mark, cell in zip(marks, cells, strict=True))
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    heads = [f'<button type="button">{heading}</button>' for heading in headings] if sortable else headings
    return f'<div class="scroll"><table><thead>{row(heads, "th")}</thead><tbody>{body}</tbody></table></div>'


def notebook_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a title and a table for a notebook's cell; every text is escaped."""
    cells = ([escape(str(cell)) for cell in row] for row in rows)
    return f"<p><b>{escape(title)}</b></p>" + html_table([escape(heading) for heading in headings], cells)


def data_element(name: str, value: Any) -> str:
    r"""Return data for a page's script as an element that no text in it can close."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def page_asset(package: str, name: str) -> str:
    """Return the text of a script or style file in a package's folder."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def inline_svg(svg: str) -> str:
    """Return the text of an SVG file as an element of a page, without comments and metadata."""
    return re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
