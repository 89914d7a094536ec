"""The pages on data, the search, the estimator, the command line and inference say what is so."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", ["data.md", "estimator.md", "index.md", "inference.md", "search.md"])
def test_the_examples_of_a_page_print_what_it_says(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    done = doctest.testfile(str(DOCS / name), module_relative=False, optionflags=flags)
    assert done.attempted > 5
    assert done.failed == 0


def test_the_commands_of_the_page_run_one_after_another(tmp_path):
    blocks = re.findall(r"```console\n(.*?)```", (DOCS / "cli.md").read_text(), flags=re.DOTALL)
    commands = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    assert len(commands) > 6
    for command in commands:
        script = re.sub("^gradus ", f"{sys.executable} -m gradus ", command)
        done = subprocess.run(["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"
    for name in ("order.svg", "predictions.csv", "circuit.v", "circuit.svg", "rules.bnet", "rules/report.html"):
        assert (tmp_path / name).stat().st_size > 0
