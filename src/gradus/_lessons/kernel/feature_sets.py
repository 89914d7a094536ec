"""Small sets of nodes that decide a target: parities that hint at them, and what completes a hint to a set.

A set decides a target if no two rows with different labels agree on all of its nodes. A hint is a parity of up to three nodes
that agrees with the target (or its complement) on many rows: whatever function of k nodes a target is, some parity of these
nodes correlates with it by at least 2^(-k/2). Nodes added to a hint, at most two at a time, are found without trying all
pairs: two rows that are not told apart yet differ in some nodes, and one of these must be in the set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import WordMatrix
from gradus._core.kernels.compile import compiled, uncounted
from gradus._core.kernels.intrinsics import popcount, trailing_zeros

__all__ = ["HINT_NODES", "MAX_SET", "UNKNOWN", "collect_hints", "decided_nodes", "smallest_set"]

HINT_NODES = 3
MAX_SET = 6
"""Nodes of a set: it has at most 64 cells, which is one word of rows."""
UNKNOWN = 2
"""The label of a row that does not count."""
MASKS = 512
MORE_MASKS = 512
GREEDY_MASKS = 256
NEVER = -1
ZERO, ONE, LOW_BITS, WORD_SHIFT = np.uint64(0), np.uint64(1), np.uint64(63), np.uint64(6)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.uint8]


class Hints(NamedTuple):
    """The strongest parities of a target, the strongest first and of equal ones the one that was met first."""

    nodes: Ints
    """Shape (hints, 3): node numbers from 1, and 0 for no node."""
    strengths: Ints
    """How many more rows agree with a parity than disagree, or the reverse; -1 where there is no hint yet."""


@compiled
def collect_hints(columns: WordMatrix, target: Words, known: Words, first: int, end: int, paired: int, hints: Hints) -> None:
    """Meet all parities whose highest node is in a range; nodes from `paired` on form no parities of three."""
    # Column 0 has no ones: a parity with it is one of fewer nodes. Columns lie word by word, so the inner loop runs over
    # neighbours.
    n_words = columns.shape[0]
    counts = np.empty(columns.shape[1], dtype=np.int64)
    n_known = np.int64(0)
    for w in range(n_words):
        n_known += np.int64(popcount(known[w]))
    for c in range(first, end):
        for b in range(c if c < paired else 1):
            n = max(b, 1)
            counts[:n] = 0
            for w in range(n_words):
                mask = known[w]
                base = (target[w] ^ columns[w, b] ^ columns[w, c]) & mask
                for a in range(n):
                    counts[a] += np.int64(popcount(base ^ (columns[w, a] & mask)))
            most, fewest = np.int64(0), n_known
            for a in range(n):
                most, fewest = max(most, counts[a]), min(fewest, counts[a])
            if max(2 * most - n_known, n_known - 2 * fewest) > hints.strengths[-1]:
                for a in range(n):
                    _keep_hint(hints, abs(2 * counts[a] - n_known), a, b, c)


@uncounted
def _keep_hint(hints, strength, a, b, c):
    """Insert a hint behind those that are at least as strong."""
    place = len(hints.strengths)
    while place > 0 and strength > hints.strengths[place - 1]:
        place -= 1
    if place == len(hints.strengths):
        return
    for k in range(len(hints.strengths) - 1, place, -1):
        hints.strengths[k] = hints.strengths[k - 1]
        for n in range(HINT_NODES):
            hints.nodes[k, n] = hints.nodes[k - 1, n]
    hints.strengths[place] = strength
    hints.nodes[place, 0] = a
    hints.nodes[place, 1] = b
    hints.nodes[place, 2] = c


class Scratch(NamedTuple):
    """Arrays that the search for a set works on."""

    order: Ints
    begins: Ints
    """Where the rows of each cell and label begin in `order`."""
    seen: Ints
    masks: WordMatrix
    """The nodes in which two rows that are not yet distinguished differ."""
    counts: Ints
    common: Words


@uncounted
def _bit(rows, row, node):
    return rows[row, np.uint64(node) >> WORD_SHIFT] >> (np.uint64(node) & LOW_BITS) & ONE


@uncounted
def _cell(rows, row, chosen, size):
    """Return the number of the cell that a row is in: the values of the chosen nodes as bits."""
    cell = np.int64(0)
    for k in range(size):
        cell = 2 * cell + np.int64(_bit(rows, row, chosen[k]))
    return cell


@uncounted
def _sort_rows(rows, labels, chosen, size, scratch):
    """Sort the rows by cell and label; returns how many pairs are not distinguished."""
    begins, n_cells = scratch.begins, 1 << size
    begins[:] = 0
    for row in range(len(labels)):
        if labels[row] != UNKNOWN:
            begins[2 * _cell(rows, row, chosen, size) + labels[row] + 2] += 1
    for k in range(2, 2 * n_cells + 2):
        begins[k] += begins[k - 1]
    for row in range(len(labels)):
        if labels[row] != UNKNOWN:
            key = 2 * _cell(rows, row, chosen, size) + labels[row] + 1
            scratch.order[begins[key]] = row
            begins[key] += 1
    n_pairs = np.int64(0)
    for cell in range(n_cells):
        n_pairs += _pairs_of(begins, cell)
    return n_pairs


@uncounted
def _pairs_of(begins, cell):
    return (begins[2 * cell + 1] - begins[2 * cell]) * (begins[2 * cell + 2] - begins[2 * cell + 1])


@uncounted
def _draw_masks(rows, n_pairs, scratch):
    """Set the masks of all pairs, or of some of them; returns their number, the place of the shortest, and its size."""
    n_masks = min(n_pairs, MASKS)
    shortest, fewest = 0, np.uint64(1 << 62)
    for k in range(n_masks):
        pair = np.int64(k)
        if n_pairs > MASKS:  # multiples of the golden ratio, of which 24 bits are kept, lie evenly
            pair = np.int64((np.uint64(k) * GOLDEN >> np.uint64(40)) * np.uint64(n_pairs) >> np.uint64(24))
        cell = 0
        while pair >= _pairs_of(scratch.begins, cell):
            pair -= _pairs_of(scratch.begins, cell)
            cell += 1
        zeros, ones = scratch.begins[2 * cell], scratch.begins[2 * cell + 1]
        first, second = scratch.order[zeros + pair % (ones - zeros)], scratch.order[ones + pair // (ones - zeros)]
        size = _set_mask(rows, scratch.masks, k, first, second)
        if size < fewest:
            shortest, fewest = k, size
    return n_masks, shortest, fewest


@uncounted
def _set_mask(rows, masks, k, first, second):
    """Set a mask to the nodes in which two rows differ; returns how many there are."""
    size = ZERO
    for w in range(rows.shape[1]):
        masks[k, w] = rows[first, w] ^ rows[second, w]
        size += popcount(masks[k, w])
    return size


@uncounted
def _find_mixed(rows, labels, chosen, size, scratch):
    """Look for two rows with different labels that a set does not tell apart; returns them, or `NEVER` twice."""
    for cell in range(1 << size):
        scratch.seen[cell] = NEVER
    for row in range(len(labels)):
        if labels[row] == UNKNOWN:
            continue
        cell = _cell(rows, row, chosen, size)
        before = scratch.seen[cell]
        if before == NEVER:
            scratch.seen[cell] = row
        elif labels[before] != labels[row]:
            return before, np.int64(row)
    return np.int64(NEVER), np.int64(NEVER)


@uncounted
def _close(rows, labels, chosen, size, by, n_masks, scratch):
    """Look for a node that completes a set; returns it or `NEVER`, and the number of masks, to which it may add."""
    # Only the node `by` was chosen after the masks were drawn, so no other chosen node is in any of them.
    common = scratch.common
    common[:] = ~ZERO
    for k in range(n_masks):
        if by != NEVER and _bit(scratch.masks, k, by):
            continue
        left = ZERO
        for w in range(len(common)):
            common[w] &= scratch.masks[k, w]
            left |= common[w]
        if left == ZERO:
            return np.int64(NEVER), n_masks
    for w in range(len(common)):
        while common[w]:
            node = np.int64(w) * 64 + np.int64(trailing_zeros(common[w]))
            chosen[size] = node
            first, second = _find_mixed(rows, labels, chosen, size + 1, scratch)
            if first == NEVER:
                return node, n_masks
            # The pair that is not told apart joins the masks.
            place = min(n_masks, len(scratch.masks) - 1)
            _set_mask(rows, scratch.masks, place, first, second)
            n_masks = place + 1
            for u in range(len(common)):
                common[u] &= scratch.masks[place, u]
    return np.int64(NEVER), n_masks


@uncounted
def _complete(rows, labels, chosen, size, most, scratch):
    """Complete a set by as few nodes as possible, at most `most`; returns how many, and the number of masks drawn."""
    n_pairs = _sort_rows(rows, labels, chosen, size, scratch)
    if n_pairs == 0:
        return 0, 0
    n_masks, shortest, fewest = _draw_masks(rows, n_pairs, scratch)
    if fewest == ZERO:  # two rows that agree on all nodes
        return most + 1, 0
    if most >= 1:
        node, n_masks = _close(rows, labels, chosen, size, np.int64(NEVER), n_masks, scratch)
        if node != NEVER:
            return 1, n_masks
    if most >= 2:
        for w in range(rows.shape[1]):
            bits = scratch.masks[shortest, w]
            while bits:
                first = np.int64(w) * 64 + np.int64(trailing_zeros(bits))
                bits &= bits - ONE
                chosen[size] = first
                node, n_masks = _close(rows, labels, chosen, size + 1, first, n_masks, scratch)
                if node != NEVER:
                    return 2, n_masks
    return most + 1, n_masks


@uncounted
def _most_telling(n_masks, scratch):
    """Return the node that distinguishes most of the pairs."""
    counts, masks = scratch.counts, scratch.masks
    counts[:] = 0
    for k in range(min(n_masks, GREEDY_MASKS)):
        for w in range(masks.shape[1]):
            bits = masks[k, w]
            while bits:
                counts[np.int64(w) * 64 + np.int64(trailing_zeros(bits))] += 1
                bits &= bits - ONE
    best = 0
    for node in range(len(counts)):
        if counts[node] > counts[best]:
            best = node
    return best


@uncounted
def _grow(rows, labels, chosen, size, limit, scratch):
    """Complete a hint by at most two nodes, if need be after the most telling ones; returns the size."""
    while size <= limit:
        most = min(2, limit - size)
        added, n_masks = _complete(rows, labels, chosen, size, most, scratch)
        if added <= most:
            return size + added
        if n_masks == 0 or size + 3 > limit:
            break
        chosen[size] = _most_telling(n_masks, scratch)
        size += 1
    return limit + 1


@compiled
def smallest_set(rows: WordMatrix, labels: Labels, hints: Ints, limit: int, best: Ints) -> int:
    """Look for a set of at most `limit` nodes that decides the labels, grown from nothing or from a hint; returns its size."""
    # The set is written to `best`; if there is none, one more than the limit is returned.
    n_words = rows.shape[1]
    scratch = Scratch(
        order=np.empty(len(labels), dtype=np.int64),
        begins=np.empty(2 * (1 << MAX_SET) + 2, dtype=np.int64),
        seen=np.empty(1 << MAX_SET, dtype=np.int64),
        masks=np.zeros((MASKS + MORE_MASKS, n_words), dtype=np.uint64),
        counts=np.empty(64 * n_words, dtype=np.int64),
        common=np.empty(n_words, dtype=np.uint64),
    )
    chosen = np.empty(MAX_SET + 1, dtype=np.int64)
    left = min(limit, MAX_SET)
    for h in range(-1, len(hints)):
        size = 0
        if h >= 0:
            for k in range(HINT_NODES):
                if hints[h, k]:
                    chosen[size] = hints[h, k] - 1
                    size += 1
        found = _grow(rows, labels, chosen, size, left, scratch)
        if found <= left:
            best[:found] = chosen[:found]
            left = found - 1
    return left + 1


@compiled
def decided_nodes(rows: WordMatrix, cells: Ints, firsts: Ints) -> Words:
    """Return which nodes have one value on all rows of each cell, as bits; `firsts` has one row per cell."""
    differ = np.zeros(rows.shape[1], dtype=np.uint64)
    for row in range(len(rows)):
        first = firsts[cells[row]]
        for w in range(rows.shape[1]):
            differ[w] |= rows[row, w] ^ rows[first, w]
    return ~differ
