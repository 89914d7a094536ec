"""Searching and learning on the CPU load no CUDA module."""

import subprocess
import sys

import pytest

LOADED = """
import sys
loaded = [name for name in sys.modules if name.startswith("gradus._search.cuda") or name.partition(".")[0] == "cupy"]
assert not loaded, loaded
"""
SEARCH = """
import gradus
X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0], [0, 1], [0, 1], [1, 0]]
assert gradus.search(X, Y, seed=1, callback=lambda progress: None).converged
assert all(one.converged for one in gradus.search_many([dict(X=X, Y=Y)] * 3, n_jobs=2))
"""
LEARN = """
import sys
from gradus._cli import main
sys.argv = ["gradus", "learn", "half_adder.csv", "--targets", "carry,sum", "-o", "model.json"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.mark.parametrize("work", [SEARCH, LEARN], ids=["search", "learn"])
def test_work_on_the_cpu_loads_no_cuda_module(work, tmp_path):
    (tmp_path / "half_adder.csv").write_text("a,b,carry,sum\n0,0,0,0\n0,1,0,1\n1,0,0,1\n1,1,1,0\n")
    run = subprocess.run([sys.executable, "-c", work + LOADED], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
