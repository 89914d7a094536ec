"""The package as a whole: importing it is cheap, and its public names are documented."""

import os
import subprocess
import sys

import pytest

import gradus

HEAVY = ("numpy", "numba", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "typer", "jinja2")


def python(code, **environment):
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_importing_gradus_imports_nothing_heavy():
    code = f"import gradus, sys; print([m for m in {HEAVY} if m in sys.modules])"
    assert python(code) == "[]"


def test_every_public_name_is_there_with_a_docstring():
    for name in gradus.__all__:
        assert getattr(gradus, name).__doc__, name
    assert dir(gradus) == gradus.__all__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gradus.nonsense  # noqa: B018
