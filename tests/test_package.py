"""The package as a whole: what it imports, and that its kernels need no cache."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradus

ROOT = Path(gradus.__file__).parent
HEAVY = ("numba", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "typer")


def python(code, **environment):
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_importing_gradus_imports_nothing_heavy():
    code = f"import gradus, sys; gradus.Network, gradus.losses; print([m for m in {HEAVY} if m in sys.modules])"
    assert python(code) == "[]"


def test_every_public_name_is_there_with_a_docstring():
    for name in gradus.__all__:
        assert getattr(gradus, name).__doc__, name
    assert set(gradus.__all__) <= set(dir(gradus))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gradus.nonsense  # noqa: B018


LAYERS = [
    {"errors", "machine", "plurals"},
    {"files", "_compile", "_intrinsics"},
    {"bits"},
    {"network", "losses", "_exports"},
    {"minfs"},
    {"curriculum"},
    {"search"},
    {"learner"},
    {"batch", "defaults"},
]
"""From the lowest; whatever is not named here stands above all of them."""


def layer(module):
    parts = module.split(".")
    if len(parts) == 1:
        return None
    return next((height for height, names in enumerate(LAYERS) if parts[1] in names), len(LAYERS))


def imports_of(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("gradus"):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("gradus"))


def test_nothing_lower_imports_anything_higher():
    for path in ROOT.rglob("*.py"):
        module = ".".join(("gradus", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        height = layer(module)
        for imported in imports_of(path):
            below = layer(imported)
            assert height is None or below is None or below <= height, f"{module} imports {imported}"


LEARN = (
    "import gradus, numpy as np; X = np.eye(3);"
    "print(gradus.search(X, X[:, ::-1], order=None, gates_per_target=4, seed=1).network.sources.sum())"
)


def test_a_broken_or_read_only_cache_costs_only_time(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    expected = python(LEARN, NUMBA_CACHE_DIR=str(cache))
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert files, "nothing was cached"
    for path in files:
        path.write_bytes(b"junk" if path.suffix == ".nbi" else path.read_bytes()[:100])
    assert python(LEARN, NUMBA_CACHE_DIR=str(cache)) == expected
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    assert python(LEARN, NUMBA_CACHE_DIR=str(blocked / "cache")) == expected
