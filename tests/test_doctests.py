"""Every example in a docstring is run, on the package as it is installed."""

import doctest
import importlib
from pathlib import Path

import pytest

import gradus

ROOT = Path(gradus.__file__).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules_with_examples():
    for path in sorted(ROOT.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            yield ".".join(("gradus", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_examples_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert outcome.failed == 0
    assert outcome.attempted > 0
