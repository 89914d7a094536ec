"""Orders of targets as studies name them: which are possible, and how a task's order is drawn or found."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, replace

import numpy as np

from gradus import kendall_tau
from gradus.errors import SettingsError
from gradus.lab import learn_whole, resolve_order, wording
from gradus_paper.tasks import BY_COLUMN, FOUND_ORDERS, SELF_PACED, TOGETHER, Task, TrainingSetKey
from gradus_paper.training_sets import TrainingSet, name_of, training_set

CACHED_ORDERS = 64


@dataclass(frozen=True)
class TargetOrder:
    """The order in which a task's targets are taught, as columns, and how it compares with others."""

    order: tuple[int, ...]
    tau: float | None  # Kendall's tau with the known order, where one is known
    eta: float | None  # nestedness of the curriculum, where one was found
    sizes: tuple[int, ...] | None = None  # of the minimum feature set of each target, by column, where they were found

    @property
    def stages(self) -> list[int]:
        """Return how many targets are taught at a time: those with equally large sets together."""
        ranks = [0 if self.sizes is None else self.sizes[column] for column in self.order]
        return [len(list(group)) for _, group in itertools.groupby(ranks)]


def order_of(task: Task) -> TargetOrder:
    """Return the order of a task's targets; one that is found depends on the training set alone, and is found only once."""
    if task.design.order in FOUND_ORDERS:
        return _found_order(task.design.order, task.design.shuffle, task.set_key, "order")
    data = training_set(task.set_key)
    order = _plain_order(task, data)
    return TargetOrder(order, tau_of(order, data), None)


def another_order(task: Task, number: int) -> TargetOrder:
    """Return the order of a task's targets with other random choices: ties in found orders, everything in random ones."""
    word = task.design.order
    if word in FOUND_ORDERS and word != SELF_PACED:
        return _found_order(word, task.design.shuffle, task.set_key, f"order {number}")
    if word == "random":
        data = training_set(task.set_key)
        order = permutation(data.Y.shape[1], task.set_key.seed(f"random {number}"))
        return TargetOrder(order, tau_of(order, data), None)
    return order_of(task)


@functools.lru_cache(maxsize=CACHED_ORDERS)
def _found_order(word: str, shuffle: bool, key: TrainingSetKey, draw: str) -> TargetOrder:
    data = training_set(key)
    m = data.Y.shape[1]
    shuffled = shuffled_targets(key, m) if shuffle else tuple(range(m))
    Y, seed = np.ascontiguousarray(data.Y[:, list(shuffled)]), key.seed(draw)
    curriculum = None
    if word == SELF_PACED:
        places = learn_whole(data.X, Y, n_circuits=1, seed=seed).order
    elif word == "auto-random":
        places, curriculum = resolve_order(data.X, Y, "auto", seed=seed, choose="random")
    else:
        places, curriculum = resolve_order(data.X, Y, "auto" if word in (BY_COLUMN, TOGETHER) else word, seed=seed)
    if curriculum is None:
        columns = tuple(shuffled[place] for place in places)
        return TargetOrder(columns, tau_of(columns, data), None)
    if word == BY_COLUMN:
        by_size = curriculum.sizes
        places = tuple(sorted(range(m), key=lambda place: (by_size[place], place)))
        curriculum = replace(curriculum, order=places)
    columns = tuple(shuffled[place] for place in places)
    sizes = tuple(curriculum.sizes[shuffled.index(column)] for column in range(m))
    return TargetOrder(columns, tau_of(columns, data), float(curriculum.nestedness), sizes)


def shuffled_targets(key: TrainingSetKey, n_targets: int) -> tuple[int, ...]:
    """Return the columns of the targets as they are shuffled before an order of them is found."""
    return permutation(n_targets, key.seed("shuffle"))


def _plain_order(task: Task, data: TrainingSet) -> tuple[int, ...]:
    word, m = task.design.order, data.Y.shape[1]
    check_order(word, m, name_of(task.design.problem), known=data.known_order is not None)
    if word == "none":
        return tuple(range(m))
    if word == "random":
        return permutation(m, task.set_key.seed("random"))
    kind, _, value = word.partition(":")
    if kind == "given":
        return tuple(int(column) for column in value.split(","))
    known = data.known_order or ()  # the check has refused words that need a known order where there is none
    if kind == "tau":
        tau, _, count = value.partition("/")
        # With a count, the orders drawn depend on the problem alone, so that each is tried on several training sets.
        key = task.set_key._replace(n_train=0, sample=task.sample % int(count)) if count else task.set_key
        places = permutation_with_inversions(m, inversions_for_tau(float(tau), m), key.seed(word))
        return tuple(known[place] for place in places)
    return known


def tau_of(order: tuple[int, ...], data: TrainingSet) -> float | None:
    """Return Kendall's tau of an order with the known one, where one is known."""
    if data.known_order is None:
        return None
    return 1.0 if order == data.known_order else kendall_tau(order, data.known_order)


def permutation(n: int, seed: int) -> tuple[int, ...]:
    """Draw a permutation of 0 … n-1, the same with every version of numpy."""
    words = np.random.PCG64(np.random.SeedSequence(seed)).random_raw(n)
    return tuple(int(k) for k in np.argsort(words, kind="stable"))


def all_taus(n: int) -> list[float]:
    """List every value that Kendall's tau of two orders of n targets can take, from 1 down; there are n(n-1)/2 + 1."""
    pairs = n * (n - 1) // 2
    return [1.0 - 2.0 * k / pairs for k in range(pairs + 1)] if pairs else [1.0]


def inversions_for_tau(tau: float, n: int) -> int:
    """Return the number of inverted pairs in an order of n targets with this tau."""
    pairs = n * (n - 1) // 2
    exact = (1.0 - tau) / 2.0 * pairs
    if abs(exact - round(exact)) > 1e-3 or (not pairs and tau != 1.0):
        near = sorted(all_taus(n), key=lambda value: abs(value - tau))[:2]
        values = " and ".join(f"{value:.6g}" for value in sorted(near))
        raise SettingsError(f"no order of {wording.counted(n, 'target')} has tau = {tau:g}; the nearest possible: {values}.")
    return round(exact)


def check_order(order: str, n_targets: int, problem: str, *, known: bool) -> None:
    """Raise `SettingsError` for an order that the targets of a problem cannot have."""
    kind, _, value = order.partition(":")
    if kind in ("known", "tau") and not known:
        raise SettingsError(
            f"order is {order!r}, but no order of the targets of {problem!r} is known; use 'auto', 'none' or 'given:...'."
        )
    if kind == "tau":
        inversions_for_tau(float(value.partition("/")[0]), n_targets)
    if kind == "given" and sorted(map(int, value.split(","))) != list(range(n_targets)):
        raise SettingsError(f"order is {order!r}; it must name each of the targets 0 to {n_targets - 1} once.")


@functools.cache
def _counts(n: int, inversions: int) -> int:
    """Count the orders of n items with this number of inversions."""
    if inversions < 0 or inversions > n * (n - 1) // 2:
        return 0
    if n <= 1:
        return 1
    return sum(_counts(n - 1, inversions - k) for k in range(n))


def permutation_with_inversions(n: int, inversions: int, seed: int) -> tuple[int, ...]:
    """Draw uniformly among the orders of 0 … n-1 with a given number of inversions."""
    total = _counts(n, inversions)
    if not total:
        raise SettingsError(f"no order of {n} targets has {inversions} inversions.")
    stream = np.random.PCG64(np.random.SeedSequence(seed))
    left, remaining = inversions, list(range(n))
    chosen: list[int] = []
    for size in range(n, 0, -1):
        ways = [_counts(size - 1, left - k) for k in range(size)]
        pick = int(stream.random_raw()) % sum(ways)
        place = 0
        while pick >= ways[place]:
            pick -= ways[place]
            place += 1
        chosen.append(remaining.pop(place))
        left -= place
    return tuple(chosen)
