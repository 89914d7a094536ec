"""Minimum-description-length cuts, slowly: every range is cut by counting rows one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise


def entropy(labels: Sequence[int]) -> float:
    n = len(labels)
    return -sum(count / n * math.log2(count / n) for count in Counter(labels).values()) if n else 0.0


def net_gain(left: list[int], right: list[int]) -> float:
    """Bits that a cut saves for one target, less those that say which classes lie on either side."""
    both = left + right
    k, k1, k2 = (len(set(part)) for part in (both, left, right))
    if k < 2:
        return -math.inf
    h, h1, h2 = (entropy(part) for part in (both, left, right))
    sides = math.log2(3**k - 2) - (k * h - k1 * h1 - k2 * h2)
    return len(both) * h - len(left) * h1 - len(right) * h2 - sides


def best_cut(rows: list[tuple[float, tuple[int, ...]]]) -> tuple[float, float, float] | None:
    """Return (bits lost, lower neighbour, upper neighbour) of the best cut of some rows, sorted by value."""
    values = sorted({value for value, _ in rows})
    n_targets = len(rows[0][1])
    best = None
    for low, high in pairwise(values):
        nets = []
        for t in range(n_targets):
            left = [codes[t] for value, codes in rows if value <= low and codes[t] >= 0]
            right = [codes[t] for value, codes in rows if value >= high and codes[t] >= 0]
            nets.append(net_gain(left, right))
        saved = sum(max(net, 0.0) for net in nets) or max(nets)
        if best is None or round(saved, 9) > round(-best[0], 9):
            best = (-saved, low, high)
    if best is None:
        return None
    return best[0] + math.log2(max(len(rows) - 1, 1)) + math.log2(n_targets), best[1], best[2]


def paying_cuts(values: Sequence[float], codes: Sequence[tuple[int, ...]], max_cuts: int) -> list[tuple[float, float]]:
    """Return the neighbours between which a column is cut: those that save most first, until none pays."""
    rows = [(value, code) for value, code in zip(values, codes, strict=True) if not math.isnan(value)]
    open_ranges = [rows] if rows else []
    chosen: list[tuple[float, float]] = []
    while len(chosen) < max_cuts:
        found = [(cut, part) for part in open_ranges if (cut := best_cut(part)) is not None and cut[0] < 0]
        if not found:
            break
        (_, low, high), part = min(found, key=lambda entry: (round(entry[0][0], 9), entry[0][1]))
        chosen.append((low, high))
        open_ranges.remove(part)
        open_ranges += [[row for row in part if row[0] <= low], [row for row in part if row[0] >= high]]
    return sorted(chosen)
