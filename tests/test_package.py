"""The package as a whole: importing it is cheap, and its public names are documented."""

import os
import subprocess
import sys

import pytest

import gradus

HEAVY = {"numpy", "numba", "sklearn", "scipy", "pandas", "polars", "pyarrow", "matplotlib", "joblib", "jinja2", "typer"}


def python(code, **environment):
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_importing_gradus_imports_nothing_heavy():
    code = f"import gradus, sys; print(sorted({HEAVY} & set(sys.modules)))"
    assert python(code) == "[]"


def test_importing_gradus_takes_less_than_a_tenth_of_a_second():
    code = "import time; begin = time.process_time(); import gradus; print(time.process_time() - begin)"
    assert min(float(python(code)) for _ in range(3)) < 0.1


def test_every_public_name_is_there_with_a_docstring():
    for name in gradus.__all__:
        assert getattr(gradus, name).__doc__, name
    assert dir(gradus) == gradus.__all__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gradus.nonsense  # noqa: B018
