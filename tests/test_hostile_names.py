"""Names that contain code are written as text everywhere: on pages, in pictures and files, on the terminal."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser

import pytest

from gradus import load
from gradus._cli.main import run
from gradus._formats.registry import WRITTEN

EVIL = "</script><img src=x onerror=alert(1)>\"'&amp;\\\u2028\x1b[2J"
FILE = "\"><img src=x onerror=alert(1)>'.csv"
PLAIN = "plain"
FORMATS = tuple(extension[1:] for extension in WRITTEN if extension not in (".png", ".pdf"))  # those hold no text


class Elements(HTMLParser):
    """Collects the elements of a page as a browser sees them, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, sorted(name for name, _ in attributes)))


def scripts(text):
    found = Elements(text).found
    assert not any("onerror" in attributes for _, attributes in found)
    return [tag for tag, _ in found if tag in ("script", "img", "iframe", "object")]


def write_rows(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path.name


@pytest.fixture(params=[PLAIN, EVIL], ids=["plain", "hostile"])
def name(request):
    return request.param


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def learn(here, name):
    """Learn a table in which columns, categories, classes and the file contain the name."""
    rows = [[k % 3 + 1, [name, "b", "c"][k % 3], k % 2, [f"yes {name}", "no"][(k % 3 == 0) ^ (k % 2)]] for k in range(24)]
    header = [f"size {name}", f"kind {name}", f"bit {name}", f"target {name}"]
    file = write_rows(here / (FILE if name == EVIL else "t.csv"), [header, *rows])
    assert run(["learn", file, "-o", "m.json", "--noise", "0", "--cv", "0", "--n-circuits", "1"]) == 0
    return file


def test_pages_and_pictures_of_models_with_hostile_names_contain_no_code(here, capsys):
    pages = {}
    for name in (PLAIN, EVIL):
        file = learn(here, name)
        assert run(["predict", "m.json", file, "-o", "p.csv"]) == 0
        assert run(["draw", "m.json", "m.svg"]) == 0
        pages[name] = [scripts((here / made).read_text(encoding="utf-8")) for made in ("m.html", "m.svg")]
    assert pages[EVIL] == pages[PLAIN]
    said = capsys.readouterr()
    assert "\x1b" not in said.err
    assert "\x1b" not in said.out


def test_exports_with_hostile_names_are_read_back(here, capsys):
    learn(here, EVIL)
    model = load("m.json")
    assert model.target_names == (f"target {EVIL}",)
    for kind in FORMATS:
        assert run(["export", "m.json", f"c.{kind}"]) == 0, capsys.readouterr().err
        assert b"\x1b" not in (here / f"c.{kind}").read_bytes()
    for kind in ("blif", "aag", "aig", "bnet", "sbml"):
        assert run(["learn", f"c.{kind}", "--json", "--noise", "0", "--cv", "0", "--n-circuits", "1"]) == 0
        capsys.readouterr()


def test_a_report_on_genes_with_hostile_names_contains_no_code(here, capsys):
    pages = {}
    for name in (PLAIN, EVIL):
        states = [[0, 0, 1], [1, 0, 0], [1, 1, 1], [0, 1, 0], [0, 0, 1]]
        write_rows(here / "s.csv", [[f"{name} {k}" for k in range(3)], *states])
        assert run(["infer", "s.csv", "-o", name[:2].strip("</") + "out", "--json"]) == 0
        folder = here / (name[:2].strip("</") + "out")
        json.loads(capsys.readouterr().out)
        made = [path for path in sorted(folder.iterdir()) if path.suffix in (".html", ".svg")]
        assert made
        pages[name] = [scripts(path.read_text(encoding="utf-8")) for path in made]
    assert pages[EVIL] == pages[PLAIN]
