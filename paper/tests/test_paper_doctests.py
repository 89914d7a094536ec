"""Every example in a docstring is run, and those of private functions, which are kept in examples/ by module."""

import doctest
import importlib
from pathlib import Path

import pytest

import gradus_paper

ROOT = Path(gradus_paper.__file__).parent
KEPT = Path(__file__).parent / "examples"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def module_names(root, ending):
    """Return the names of modules whose files below a folder have examples."""
    for path in sorted(root.rglob(f"*{ending}")):
        if ">>> " in path.read_text(encoding="utf-8"):
            yield ".".join(("gradus_paper", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")


@pytest.mark.parametrize("name", list(module_names(ROOT, ".py")))
def test_examples_in_docstrings_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert outcome.failed == 0
    assert outcome.attempted > 0


@pytest.mark.parametrize("name", list(module_names(KEPT, ".txt")))
def test_examples_of_private_functions_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = KEPT.joinpath(*name.split(".")[1:]).with_suffix(".txt")
    seen = dict(vars(importlib.import_module(name)))
    outcome = doctest.testfile(str(path), module_relative=False, globs=seen, optionflags=FLAGS)
    assert outcome.failed == 0
    assert outcome.attempted > 0
