"""Slow, readable twins of the questions about small sets of nodes: all parities, all sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def decides(bits, labels, nodes):
    """Whether no two rows with different labels agree on all of these nodes; labels of 2 do not count."""
    seen = {}
    for row, label in zip(bits[:, sorted(nodes)].tolist(), labels.tolist(), strict=True):
        if label != 2 and seen.setdefault(tuple(row), label) != label:
            return False
    return True


def minimum_size(bits, labels, most):
    """Size of the smallest set that decides the labels; one more than `most` if it is larger."""
    for size in range(most + 1):
        if any(decides(bits, labels, nodes) for nodes in combinations(range(bits.shape[1]), size)):
            return size
    return most + 1


def size_from_hints(bits, labels, hints, most):
    """Size of the smallest set that is a hint, or nothing, and at most two nodes more."""
    sizes = [most + 1]
    for hint in [(), *hints]:
        for added in range(3):
            for more in combinations(range(bits.shape[1]), added):
                nodes = {*hint, *more}
                if decides(bits, labels, nodes):
                    sizes.append(len(nodes))
    return min(sizes)


def strongest_parities(bits, labels, count, most_paired):
    """The strongest parities of one, two or three nodes, as the hints list them: (strength, nodes from 1, 0 for none)."""
    known = labels != 2
    met = []
    for c in range(1, bits.shape[1] + 1):
        for b in range(c if c < most_paired else 1):
            for a in range(max(b, 1)):
                parity = np.zeros(len(bits), dtype=bool)
                for node in (a, b, c):
                    if node:
                        parity ^= bits[:, node - 1]
                agreeing = int(((parity == (labels == 1)) & known).sum())
                met.append((abs(2 * agreeing - int(known.sum())), (a, b, c)))
    return sorted(met, key=lambda hint: -hint[0])[:count]  # of equal ones, the first stays first
