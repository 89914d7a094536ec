"""What experiments are built from: searches as jobs, on a processor or a GPU, and the pieces that surround them.

`gradus.search` and `gradus.learn` are for one training set; a laboratory such as gradus-paper runs hundreds of thousands,
moves them between machines and continues them there. Names are imported when they are first used.

Attributes
----------
Settings
    Settings of a search, checked on creation.
Job
    A search: examples with their targets in the order of teaching, settings and seed. Its outcome depends on nothing else.
Outcome
    Wiring, cost and counts that a search ends with.
Checkpoint
    The state of a search between two steps; the same on every back end.
run_search
    Run a job on one core.
resume
    Continue a job from a checkpoint, here or elsewhere.
run_many
    Run any number of jobs on one GPU and yield their outcomes as they end.
make_network
    Turn an outcome into a `gradus.Network`, with the targets in their own order.
largest_cost
    The cost of a network that is wrong everywhere.
Run
    Limits, reports and stops long work; whoever does it asks whether to `stop`.
learn_whole
    `gradus.learn`, except that Ctrl-C raises: unfinished circuits must not get into results.
resolve_order
    Find the order of teaching that a word such as "auto" asks for.
circuit_bits
    The bits in which lessons describe a circuit of a given number of gates.
network_picture
    Draw a network as SVG, PNG or PDF.
pack
    Pack a matrix of bits column by column into words, as `Network.node_words` takes them.
compiled, inlined
    Compile an entry point of a kernel with Numba, cached on disk, and the pieces that it calls.
draw, popcount
    The generator's next 64 bits, and the ones of a word, for such kernels.
generator_state
    The two words that the generator of a search starts from.
files, pages, wording : module
    Files written whole and read with errors that name them; the kit of pages; numbers in sentences.

Examples
--------
>>> import numpy as np
>>> from gradus.lab import Job, Settings, make_network, run_search
>>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
>>> outcome = run_search(Job(X=X, Y=X[:, :1] & X[:, 1:], settings=Settings(loss="l1"), seed=1))
>>> outcome.converged, make_network(outcome, n_inputs=2, order=(0,)).predict(X).tolist()
(True, [[False], [False], [False], [True]])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradus._circuit.drawing.picture import network_picture
    from gradus._core import files, wording
    from gradus._core.bits import pack
    from gradus._core.kernels.compile import compiled, inlined
    from gradus._core.kernels.intrinsics import popcount
    from gradus._core.run import Run
    from gradus._curriculum.orders import resolve_order
    from gradus._lessons.learn import learn_whole
    from gradus._pages import html as pages
    from gradus._search.cuda import run_many
    from gradus._search.driver import resume, run_search
    from gradus._search.job import Checkpoint, Job, Outcome, Settings, generator_state, largest_cost
    from gradus._search.moves import draw
    from gradus._search.search import make_network

_HOME = {
    "Checkpoint": "_search.job",
    "Job": "_search.job",
    "Outcome": "_search.job",
    "Run": "_core.run",
    "Settings": "_search.job",
    "compiled": "_core.kernels.compile",
    "draw": "_search.moves",
    "generator_state": "_search.job",
    "inlined": "_core.kernels.compile",
    "largest_cost": "_search.job",
    "learn_whole": "_lessons.learn",
    "make_network": "_search.search",
    "network_picture": "_circuit.drawing.picture",
    "pack": "_core.bits",
    "popcount": "_core.kernels.intrinsics",
    "resolve_order": "_curriculum.orders",
    "resume": "_search.driver",
    "run_many": "_search.cuda",
    "run_search": "_search.driver",
}
"""The module in which each name is defined."""
_MODULES = {"files": "_core.files", "pages": "_pages.html", "wording": "_core.wording"}

__all__ = [
    "Checkpoint",
    "Job",
    "Outcome",
    "Run",
    "Settings",
    "circuit_bits",
    "compiled",
    "draw",
    "files",
    "generator_state",
    "inlined",
    "largest_cost",
    "learn_whole",
    "make_network",
    "network_picture",
    "pack",
    "pages",
    "popcount",
    "resolve_order",
    "resume",
    "run_many",
    "run_search",
    "wording",
]


def circuit_bits(n_inputs: int, n_gates: int) -> float:
    """Return the bits in which lessons describe a circuit of any two-input gates.

    Examples
    --------
    >>> round(circuit_bits(7, 6), 1)
    48.7
    """
    from gradus._lessons.description import BIT, gate_table

    return float(gate_table(n_inputs, n_gates)[n_gates]) / BIT


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = importlib.import_module(f"gradus.{_MODULES[name]}")
    elif name in _HOME:
        value = getattr(importlib.import_module(f"gradus.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'gradus.lab' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
