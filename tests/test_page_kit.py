"""The page kit: whatever is put into a template is text, a page runs its own script only, and its tables sort."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys

import jinja2
import pytest

from browser import drive, needs_browser
from gradus._pages import html

EVIL = "</script></style><img src=x onerror=alert(1)>\"'&amp;\\\u2028"
PAGE = """{% extends "gradus._pages/base.html" %}
{% from "gradus._pages/macros.html" import bar_cell, share_cell, table %}
{% macro shares() %}
{% call(share) table(["share", "bar"], [0.5, unknown, 0.07, 1.0]) %}{{ share_cell(share) }}{{ bar_cell(0.3) }}{% endcall %}
{% endmacro %}
{% set sections = [
  ("empty", "Empty", "   "),
  ("plain", "Plain", table(["a", name], [[name, 3]], [1])),
  ("shares", "Shares", shares()),
] %}
{% block data %}<script type="application/json" id="data">{{ {name: [name]}|tojson }}</script>{% endblock %}
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a page that has a style and a script of its own."""
    folder = tmp_path / "room"
    folder.mkdir()
    for name, text in {"__init__.py": "", "p.html": PAGE, "p.css": ".mine { color: red }", "p.js": "window.ran = 1;"}.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    html._templates.cache_clear()
    yield "room"
    sys.modules.pop("room", None)
    html._templates.cache_clear()


def made(package, **data):
    return html.page(package, "p", **{"title": EVIL, "name": EVIL, "unknown": float("nan"), **data})


def test_texts_cannot_become_code(package):
    text = made(package)
    assert text.count("<script") == 2
    assert "<img" not in text
    assert "\u2028" not in re.search(r"<script.*?</script>", text, flags=re.DOTALL)[0]
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert json.loads(data) == {EVIL: [EVIL]}


def test_a_page_has_its_style_and_the_one_script_that_it_may_run(package):
    text = made(package)
    assert ".mine { color: red }" in text
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert script.endswith("window.ran = 1;")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'" in text


def test_empty_sections_are_left_out(package):
    text = made(package)
    assert re.findall(r'<h2 id="(\w+)"', text) == re.findall(r'href="#(\w+)"', text) == ["plain", "shares"]


def test_what_a_template_needs_and_is_not_given_is_an_error(package):
    with pytest.raises(jinja2.UndefinedError, match="name"):
        html.page(package, "p", title="t", unknown=0.5)


@needs_browser
def test_a_click_sorts_numbers_and_what_is_not_known_and_a_second_turns_the_order(package, tmp_path):
    (tmp_path / "page.html").write_text(made(package), encoding="utf-8")
    seen = drive(
        tmp_path / "page.html",
        """
        const table = page.querySelectorAll("table")[1], head = table.querySelector("th button");
        const column = () => [...table.tBodies[0].rows].map((row) => row.children[0].textContent.replace("\u00a0", " "));
        const before = column();
        head.click();
        const up = column();
        head.click();
        return { before, up, down: column(), ran: window.ran, marked: head.parentNode.getAttribute("aria-sort") };
        """,
    )
    assert seen["before"] == ["50 %", "–", "7 %", "100 %"]
    assert seen["up"] == ["–", "7 %", "50 %", "100 %"]
    assert seen["down"] == seen["up"][::-1]
    assert (seen["ran"], seen["marked"]) == (1, "descending")
