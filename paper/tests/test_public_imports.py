"""The laboratory imports only what the library makes public: a test walks the syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gradus_paper

ALLOWED = ("gradus", "gradus.lab", "gradus.errors", "gradus.losses", "gradus.problems", "gradus.genes")


def private_imports(source):
    """What a module imports from inside the library, also within functions and for type checkers."""
    for node in ast.walk(ast.parse(source)):
        modules = [node.module] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.value] if isinstance(node, ast.Constant) and str(node.value).startswith("gradus._") else []
        names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        for module in filter(None, modules):
            if module.partition(".")[0].rstrip("_") == "gradus" and (
                module not in ALLOWED or any(name.startswith("_") and name != "__version__" for name in names)
            ):
                yield module


@pytest.mark.parametrize("path", sorted(Path(gradus_paper.__file__).parent.rglob("*.py")), ids=lambda path: path.name)
def test_only_public_modules_are_imported(path):
    assert list(private_imports(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "planted",
    [
        "from gradus._core.wording import counted",
        "def late():\n    import gradus._search.job",
        "from gradus import _lessons",
        "import importlib\nimportlib.import_module('gradus._core.files')",
    ],
)
def test_a_planted_import_is_found(planted):
    assert list(private_imports(planted))
