"""The studies beyond the paper: sample complexity, noise, orders found, and a league, on sets 0, 1, … chosen before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradus_paper.paper import KNOWN_ORDER, SIZES, found_order, history_of
from gradus_paper.study import Block, Study, grid

CLASSIFIERS = ["chain", "forest", "boosting", "mlp"]
PUBLISHED_ALU: dict[str, Any] = {"gates_per_target": 41, "history": 750}  # the published configuration, as in our figure 7
LEAGUE_SIZES = {  # training sizes in the league of the problems that also have curves; the others have one size
    "cpar7": 32, "cmaj9": 96, "sub5": 48, "add6": 80, "cmux15": 48, "mammalian": 32, "fabrca": 48, "alu74181": 192,
}  # fmt: skip
SMALL_SIZES = {  # training sizes in the league of the other functions
    "hex2seven": 10, "decoder4": 12, "hamming7": 16, "gray2bin6": 24, "bin2gray6": 24, "counter6": 24, "johnson6": 24,
    "traffic": 24, "sorter5": 24, "crc4": 32, "lfsr8": 32, "abs6": 32, "popcount7": 64, "encoder8": 64, "saturating4": 96,
    "comparator5": 128, "sym9": 128, "mul4": 64,
}  # fmt: skip
LEARNER_SIZES: dict[str, tuple[Sequence[int], Sequence[int], Sequence[int]]] = {
    "cpar7": ([8, 12, 16, 24, 32], [16, 32, 48, 64, 80, 96, 112], [16, 32, 64, 112]),
    "sub5": ([24, 32, 40, 48, 64], [32, 48, 64, 96, 128, 192], [32, 48, 96, 192]),
    "add6": ([32, 40, 48, 64, 80], [48, 64, 80, 112, 160, 208], [48, 80, 112, 208]),
    "cmux15": ([24, 32, 40, 48, 64], [32, 48, 64, 96, 120, 180], [32, 48, 96, 180]),
    "cmaj9": ([64, 96, 128, 192], [32, 64, 96, 128, 192, 384], [32, 96, 192, 384]),
    "mammalian": ([16, 32, 64, 128], [16, 32, 64, 128, 180], [16, 32, 64, 128]),
    "fabrca": ([24, 48, 96], [24, 48, 96], [24, 48, 96]),
}
"""Training sizes of lessons, of chains and perceptrons, and of forests and boosting, whose fits take about a CPU second."""


def _in_found_order(problem: str, sizes: Sequence[int], samples: int, *, shuffle: bool = True, **settings: Any) -> Block:
    """Return networks of Lgh in orders by minimum feature sets, shuffled before, so that columns do not reveal the order."""
    order, more = found_order(problem), history_of(problem) | settings
    return grid(problem, sizes, samples, loss="lgh", order=order, shuffle=shuffle, **more)


def _in_given_order(problem: str, sizes: Sequence[int], samples: int, loss: Any = ("l1", "lgh")) -> Block:
    return grid(problem, sizes, samples, loss=loss, order="known", **history_of(problem))


def _real_world(problem: str, sizes: Sequence[int], samples: int, **settings: Any) -> list[Block]:
    """Return networks of a problem without a known order: L1, and Lgh in an order found with the columns as they are."""
    plain = grid(problem, sizes, samples, loss="l1", order="none", **settings)
    return [plain, _in_found_order(problem, sizes, samples, shuffle=False, **settings)]


def sample_complexity() -> Study:
    """Make the study of accuracy against training size."""
    blocks = []
    for name, (lessons, quick, slow) in LEARNER_SIZES.items():
        order = "known" if name in KNOWN_ORDER else "auto"
        blocks += [
            grid(name, lessons, 100, method="lessons", shuffle=True),
            grid(name, quick, 100, method=["chain", "mlp"], order=order, shuffle=True),
            grid(name, slow, 100, method=["forest", "boosting"]),
        ]
        if name in KNOWN_ORDER:
            blocks += [_in_given_order(name, SIZES[name], 100), _in_found_order(name, SIZES[name], 100)]
        else:
            blocks += _real_world(name, SIZES[name], 100)
    # Where time was short, only the first sets of a problem were taken, never those that happened to end.
    blocks += [
        grid("alu74181", [128, 192], 20, method="lessons", shuffle=True),
        grid("alu74181", [128, 192, 384], 20, method=CLASSIFIERS, order="auto", shuffle=True),
        *_real_world("alu74181", [64, 128], 100, **PUBLISHED_ALU),
        *_real_world("alu74181", [192, 256, 320, 384], 20, **PUBLISHED_ALU),
    ]
    about = (
        "Lessons (one circuit and the vote), the paper's L1 and Lgh in the given and in a found order, and plain "
        "classifiers, on the same training sets, with the bits that the smallest right circuit takes as a limit."
    )
    return Study("Sample complexity: accuracy against training size", blocks, about, ["sample_complexity"])


def noise() -> Study:
    """Make the study of wrong labels; a higher share flips the labels of a lower one too."""
    sizes = {"cpar7": 64, "add6": 128, "sub5": 96, "cmux15": 96, "cmaj9": 128}
    rates, methods = [0, 0.01, 0.02, 0.05, 0.1, 0.2], ["lessons", *CLASSIFIERS]
    more: dict[str, Any] = {"noise": rates, "method": methods, "order": "known", "shuffle": True}
    blocks = [grid(name, [size], 20, **more) for name, size in sizes.items()]
    about = "Each training label is flipped with this probability; all unseen patterns are scored with their true labels."
    return Study("Noise: accuracy against the share of flipped labels", blocks, about, ["noise"])


def orders() -> Study:
    """Make the study of orders that are found; the chain is the cheapest learner that needs an order."""
    entropy = {
        "cpar7": [8, 16, 24, 32, 40], "sub5": range(16, 65, 8), "add6": [16, 32, 40, 48, 64, 72, 80],
        "cmux15": [16, 24, 32, 40, 48, 64], "cmaj9": [16, 32, 48, 64, 88],
    }  # fmt: skip
    gains = {"cpar7": 40, "sub5": 56, "add6": 72, "cmux15": 48, "cmaj9": 88}
    blocks = []
    for name, size in gains.items():
        blocks += [
            grid(name, entropy[name], 100, method="chain", order="entropy", shuffle=True),
            grid(name, LEARNER_SIZES[name][0], 100, method="lessons", shuffle=True),
            _in_found_order(name, SIZES[name], 100),
            _in_given_order(name, [size], 100),
            grid(name, [size], 100, loss="lgh", order=["entropy", "self-paced"], shuffle=True, **history_of(name)),
        ]
    about = (
        "Agreement (tau) with the known order of orders by minimum feature sets, by entropy, and self-paced, and how much of "
        "the gain of Lgh over L1 each keeps at the size at which the known order gains most."
    )
    return Study("Orders: found without being told", blocks, about, ["orders"])


def league() -> Study:
    """Make the study of many functions."""
    blocks = []
    methods = ["lessons", *CLASSIFIERS]
    for name, size in SMALL_SIZES.items():
        blocks += [
            grid(name, [size], 20, order="auto", shuffle=True, method=methods),
            grid(name, [size], 20, order="auto", shuffle=True, loss=["l1", "lgh"]),
        ]
    for name, size in LEAGUE_SIZES.items():
        samples, known = 20 if name == "alu74181" else 100, name in KNOWN_ORDER
        settings = PUBLISHED_ALU if name == "alu74181" else {}
        blocks.append(grid(name, [size], samples, method=methods, order="known" if known else "auto", shuffle=True))
        if known:
            blocks += [_in_given_order(name, [size], samples, "l1"), _in_found_order(name, [size], samples)]
        else:
            blocks += _real_world(name, [size], samples, **settings)
    about = (
        "Mean accuracy on unseen patterns and CPU seconds per fit of every learner; networks are taught in orders by minimum "
        "feature sets, chains of trees in the known order where there is one."
    )
    return Study("The league: 26 functions, all learners", blocks, about, ["league"])


def beyond() -> Study:
    """Make the study of everything beyond the paper."""
    about = "What lessons add to the paper: fewer examples, wrong labels, orders found, and a league of functions."
    return Study("Beyond the paper", (), about, parts=(sample_complexity(), noise(), orders(), league()))


STUDIES = (beyond, sample_complexity, noise, orders, league)  # functions that make the studies, under their names
