"""Formulas as people read them: not, and, or."""

from __future__ import annotations

import html
import json
import re

__all__ = ["in_words"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[!&|()]|[^\s!&|()"]+')
_WORDS = {"!": "not", "&": "and", "|": "or"}


def in_words(formula: str) -> str:
    """Return a formula as HTML with words for its operators, and brackets around products of a sum.

    Examples
    --------
    >>> in_words('!a & "b*" | c')
    '(<i>not</i> a <i>and</i> b*) <i>or</i> c'
    >>> in_words("1")
    'always 1'
    """
    if formula in ("0", "1"):
        return f"always {formula}"
    tokens = _TOKEN.findall(formula)
    if "(" in tokens or "|" not in tokens:
        return _spell(tokens)
    products: list[list[str]] = [[]]
    for token in tokens:
        if token == "|":
            products.append([])
        else:
            products[-1].append(token)
    spelled = [f"({_spell(one)})" if "&" in one else _spell(one) for one in products]
    return " <i>or</i> ".join(spelled)


def _spell(tokens: list[str]) -> str:
    words = []
    for token in tokens:
        if token in _WORDS:
            words.append(f"<i>{_WORDS[token]}</i>")
        else:
            words.append(html.escape(json.loads(token) if token.startswith('"') else token))
    return " ".join(words).replace("( ", "(").replace(" )", ")")
