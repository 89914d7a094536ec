"""The study of the paper's open questions; its training sets are 0, 1, … as everywhere, fixed before anything was run."""

from __future__ import annotations

import itertools
from typing import Any

from gradus_paper.paper import LOSSES, found_order, history_of
from gradus_paper.random_functions import N_TARGETS
from gradus_paper.study import Block, Study, grid
from gradus_paper.tasks import SELF_PACED

PEAKS = {"cpar7": 40, "cmaj9": 104, "sub5": 52, "add6": 72, "cmux15": 48}  # sizes at which Lgh gains most in figure 4
RATES = (0.01, 0.02, 0.05, 0.1)  # shares of flipped labels
NOISY: dict[str, Any] = {"max_iter": 4_000_000, "n_restarts": 0}  # wrong labels can be learned by heart, at length: not here
TOLERANCE = 0.05
GATES = (11, 41, 81)  # per target, beside the paper's 21
CHAIN_ORDERS = ("random", SELF_PACED, "known")
FUNCTIONS, FUNCTION_SIZE, FUNCTION_SETS = 20, 32, 40


def orders_with_noise() -> Study:
    """Make the study of minimum feature sets and orders under flipped labels, which needs no networks."""
    blocks = [
        grid(name, [size], 200, method="curriculum", order=found_order(name), shuffle=True, noise=[0.0, *RATES])
        for name, size in PEAKS.items()
    ]
    about = "Sizes of minimum feature sets, τ and η where labels are flipped."
    return Study("Open question: minimum feature sets under flipped labels", blocks, about, [])


def losses_with_noise() -> Study:
    """Make the study of what each loss gains under flipped labels."""
    blocks = [
        grid(name, [size], 200, loss=LOSSES, noise=[0.0, *RATES], **NOISY, **history_of(name)) for name, size in PEAKS.items()
    ]
    about = "Gains over L1 in the known order where labels are flipped, after at most four million steps."
    return Study("Open question: the losses under flipped labels", blocks, about, [])


def errors_tolerated() -> Study:
    """Make the study of Lgh with a threshold: a target counts as learned with at most 5 % of the examples wrong."""
    blocks = [
        grid(name, [size], 100, loss="lgh", noise=[0.0, *RATES], tolerance=TOLERANCE, **NOISY, **history_of(name))
        for name, size in PEAKS.items()
    ]
    about = "Lgh where a target counts as learned with at most 5 % of the examples wrong, beside Lgh as it is."
    return Study("Open question: errors that do not block the next target", blocks, about, [])


def gates_per_target() -> Study:
    """Make the study of what the last target gains with more gates, or fewer."""
    blocks = [
        grid(name, [size], 200, loss=["l1", "lgh"], gates_per_target=[*GATES, 21], **history_of(name))
        for name, size in PEAKS.items()
    ]
    about = "Gains of Lgh over L1, of all targets and of the last one, with 11 to 81 gates per target."
    return Study("Open question: gates for the last target", blocks, about, [])


def chains_in_orders() -> Study:
    """Make the study of votes of classifier chains in several orders."""
    blocks = [
        grid(name, [size], 100, method="chains", order=[found_order(name), *CHAIN_ORDERS], shuffle=True)
        for name, size in PEAKS.items()
    ]
    about = "Votes of eleven chains of trees, each on rows drawn with replacement, in found, random and self-paced orders."
    return Study("Open question: ensembles of classifier chains", blocks, about, [])


def orders_of_random_functions() -> Study:
    """Make the study of whether any order helps where the minimum feature sets of the targets have nothing in common."""
    every = [f"given:{','.join(map(str, order))}" for order in itertools.permutations(range(N_TARGETS))]
    names = [f"{kind}{k}" for kind in ("disjoint", "nested") for k in range(1, FUNCTIONS + 1)]
    orders = grid(names, [FUNCTION_SIZE], FUNCTION_SETS, loss="lgh", order=[*every, "auto"])
    blocks: list[Block] = [grid(names, [FUNCTION_SIZE], FUNCTION_SETS, loss="l1", order="none"), orders]
    about = "Lgh in all 24 orders of the four targets of random functions, 20 without a hierarchy and 20 with one."
    return Study("Open question: does η near 0 mean that no order helps?", blocks, about, [])


def open_questions() -> Study:
    """Make the study of all open questions of the paper that can be run."""
    parts = (
        *(orders_with_noise(), losses_with_noise(), errors_tolerated(), gates_per_target(), chains_in_orders()),
        orders_of_random_functions(),
    )
    about = (
        "What the paper leaves open: wrong labels, gates for the last target, ensembles of chains, and when no order helps. "
        "The figure shows gains over L1 where labels are flipped, after at most four million steps; all searches count."
    )
    blocks = [block for part in parts for block in part.all_blocks()]
    return Study("The paper's open questions", blocks, about, ["wrong_labels"])


open_questions.__name__ = "open-questions"
STUDIES = (open_questions,)
