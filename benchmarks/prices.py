"""What lessons price per CPU second, beside the limit by arithmetic: the words that the processor counts bits of.

    python benchmarks/prices.py

A pair of nodes is priced by counting the bits of one word per 64 examples, and so is a parity of three nodes. What a program
can price is therefore at most the words whose bits the vector unit counts, over the words of a pair. That rate is measured
here, on a block that fits the first cache.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

from gradus._circuit.gate_list import empty_circuit
from gradus._core.kernels.compile import compiled
from gradus._core.kernels.intrinsics import popcount
from gradus._core.run import Run
from gradus._lessons.description import Lengths, Solution
from gradus._lessons.next_target import FeatureSets
from gradus._lessons.packed_examples import PackedExamples, pack_examples
from gradus._lessons.walks import LessonSettings, Walks

INPUTS = 40
BLOCK = 2048  # words: 16 KB


@compiled
def count_bits(block: np.ndarray, mask: int, times: int) -> int:
    """Count the bits of a masked block many times."""
    total = np.uint64(0)
    for k in range(times):
        for i in range(len(block)):
            total += popcount(block[i] & (mask ^ np.uint64(k)))
    return total


def rate(work: Callable[[], float]) -> float:
    """Return what a function says it did, per CPU second; the best of three, because others may use the machine."""
    best = 0.0
    for _ in range(3):
        begin = time.process_time()
        best = max(best, work() / (time.process_time() - begin))
    return best


def words_counted() -> float:
    """Words whose bits are counted per second."""
    block, times = np.random.default_rng(0).integers(1 << 63, size=BLOCK).astype(np.uint64), 100_000

    def count() -> float:
        count_bits(block, np.uint64(1), times)
        return times * BLOCK

    return rate(count)


def random_examples(n: int) -> PackedExamples:
    rng = np.random.default_rng(n)
    X, Y = rng.random((n, INPUTS)) < 0.5, rng.random((n, 1)) < 0.5
    return pack_examples(X, Y, np.ones_like(Y))


def pairs_priced(examples: PackedExamples) -> float:
    """Pairs of nodes per second that a walk prices, each with the best of its functions."""
    walks = Walks(examples, LessonSettings(), Run())
    start = Solution(empty_circuit(INPUTS, 1), [0], np.zeros(1, np.int64))
    return rate(lambda: float(walks.fit(start, 1, 500_000_000).priced))


def parities_met(examples: PackedExamples) -> float:
    """Parities of at most three nodes per second that are compared with a target."""
    sets = FeatureSets(examples, Lengths(examples, False, "auto"), Run())
    sets.read(empty_circuit(INPUTS)._replace(outputs=np.zeros(1, np.int64)))
    n_parities, times = INPUTS + INPUTS * (INPUTS - 1) * (INPUTS + 1) // 6, 100

    def meet() -> float:
        for _ in range(times):
            sets._met[0] = 1
            sets._collect_hints(0)
        return times * n_parities

    return rate(meet)


def main() -> None:
    count_bits(np.zeros(8, np.uint64), np.uint64(1), 1)  # compiles
    limit = words_counted()
    print(f"The bits of {limit / 1e9:.1f} billion words are counted per CPU second.\n")
    print(
        "| examples | words | pairs priced, millions | limit | share | parities met, millions | share |",
        "|---|---|---|---|---|---|---|",
        sep="\n",
    )
    for n in (64, 128, 256, 512, 1024):
        examples, words = random_examples(n), n // 64
        pairs, parities = pairs_priced(examples), parities_met(examples)
        cells = [n, words, f"{pairs / 1e6:.0f}", f"{limit / words / 1e6:.0f}", f"{pairs * words / limit:.0%}"]
        cells += [f"{parities / 1e6:.0f}", f"{parities * words / limit:.0%}"]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
