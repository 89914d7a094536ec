"""The study of the paper's open questions; its training sets are 0, 1, … as everywhere, fixed before anything was run."""

from __future__ import annotations

import itertools
from typing import Any

from gradus_paper.paper import LOSSES, PEAKS, found_order, history_of
from gradus_paper.random_functions import N_TARGETS
from gradus_paper.study import Block, Study, grid
from gradus_paper.tasks import SELF_PACED

RATES = (0.01, 0.02, 0.05, 0.1)  # shares of flipped labels
NOISY: dict[str, Any] = {"max_iter": 4_000_000, "n_restarts": 0}  # wrong labels can be learned by heart, at length: not here
TOLERANCE = 0.05
GATES = (11, 41, 81)  # per target, beside the paper's 21
CHAIN_ORDERS = ("random", SELF_PACED, "known")
FUNCTIONS, FUNCTION_SIZE, FUNCTION_SETS = 20, 32, 40


def noisy_labels() -> list[Block]:
    """Return tasks with flipped labels: orders alone, each loss, and Lgh where a few errors do not block targets."""
    blocks = []
    for name, size in PEAKS.items():
        rates, more = [0.0, *RATES], NOISY | history_of(name)
        blocks += [
            grid(name, [size], 200, method="curriculum", order=found_order(name), shuffle=True, noise=rates),
            grid(name, [size], 200, loss=LOSSES, noise=rates, **more),
            grid(name, [size], 100, loss="lgh", noise=rates, tolerance=TOLERANCE, **more),
        ]
    return blocks


def gates_and_chains() -> list[Block]:
    """Return networks with more gates per target, or fewer, and votes of classifier chains in several orders."""
    blocks = []
    for name, size in PEAKS.items():
        blocks += [
            grid(name, [size], 200, loss=["l1", "lgh"], gates_per_target=[*GATES, 21], **history_of(name)),
            grid(name, [size], 100, method="chains", order=[found_order(name), *CHAIN_ORDERS], shuffle=True),
        ]
    return blocks


def orders_of_random_functions() -> list[Block]:
    """Return networks of random functions in orders order of their targets; half of the functions have a hierarchy."""
    orders = [f"given:{','.join(map(str, order))}" for order in itertools.permutations(range(N_TARGETS))]
    names = [f"{kind}{k}" for kind in ("disjoint", "nested") for k in range(1, FUNCTIONS + 1)]
    at: tuple[Any, ...] = (names, [FUNCTION_SIZE], FUNCTION_SETS)
    return [grid(*at, loss="l1", order="none"), grid(*at, loss="lgh", order=[*orders, "auto"])]


def open_questions() -> Study:
    """Make the study of all open questions of the paper that can be run."""
    about = (
        "What the paper leaves open: wrong labels, gates for the last target, ensembles of chains, and when no order helps. "
        "The figure shows gains over L1 where labels are flipped, after at most four million steps; all searches count."
    )
    blocks = [*noisy_labels(), *gates_and_chains(), *orders_of_random_functions()]
    return Study("The paper's open questions", blocks, about, ["wrong_labels"])


open_questions.__name__ = "open-questions"
STUDIES = (open_questions,)
