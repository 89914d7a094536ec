"""HTML pages that open from disk and load nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

__all__ = ["html_page", "inline_svg"]


def html_page(title: str, style: str, body: Iterable[str]) -> str:
    """Return a whole page.

    Parameters
    ----------
    title : str
        Plain text.
    style : str
        CSS.
    body : iterable of str
        Pieces of HTML; whoever makes them escapes what comes from elsewhere.

    Examples
    --------
    >>> html_page("a < b", "", ["<p>yes</p>"]).splitlines()[2:]
    ['<title>a &lt; b</title><link rel="icon" href="data:,"><style></style></head><body>', '<p>yes</p>', '</body></html>']
    """
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">\n'
        # The empty icon keeps browsers from asking for one.
        f'<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{style}</style></head><body>\n'
    )
    return head + "\n".join(body) + "\n</body></html>\n"


def inline_svg(svg: str) -> str:
    """Return an SVG file as an element of a page, without what only a file of its own may have.

    Examples
    --------
    >>> inline_svg("<?xml?><svg><!-- made by --><metadata>x</metadata><path/></svg>")
    '<svg><path/></svg>'
    """
    return re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
