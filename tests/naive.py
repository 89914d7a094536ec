"""Slow, readable twins of the compiled search: plain Python that follows the design's text."""

from __future__ import annotations

import numpy as np

MASK64 = (1 << 64) - 1


def rotate(word, by):
    return ((word << by) | (word >> (64 - by))) & MASK64


class Xoroshiro:
    """xoroshiro128++ in Python integers."""

    def __init__(self, words):
        self.a, self.b = (int(word) for word in words)

    def halves(self):
        a, b = self.a, self.b
        result = (rotate((a + b) & MASK64, 17) + a) & MASK64
        b ^= a
        self.a = rotate(a, 49) ^ b ^ ((b << 21) & MASK64)
        self.b = rotate(b, 28)
        return result >> 32, result & 0xFFFFFFFF


def pick(half, choices):
    return (half * choices) >> 32


def node_values(X, sources):
    """Boolean value of every node on every example, one column per node."""
    columns = [X[:, i] for i in range(X.shape[1])]
    for a, b in sources:
        columns.append(~(columns[a] & columns[b]))
    return np.array(columns).T


def live_gates(n_inputs, sources, outputs):
    """Gates that one of these nodes depends on."""
    live, todo = set(), list(outputs)
    while todo:
        node = todo.pop()
        if node >= n_inputs and node not in live:
            live.add(node)
            todo += sources[node - n_inputs]
    return live


def integer_cost(loss, E):
    """The integer cost of an error matrix, from the design's formulas."""
    n, m = E.shape
    e = E.sum(axis=0)
    if loss == "l1":
        return int(e.sum())
    if loss == "lw":
        return int(sum((m - k) * e[k] for k in range(m)))
    if loss == "llh":
        return int(sum(E[:, : k + 1].any(axis=1).sum() for k in range(m)))
    wrong = [k for k in range(m) if e[k] > 0]
    return int(n * (m - 1 - wrong[0]) + e[wrong[0]]) if wrong else 0


class NaiveSearch:
    """One search, step by step as in the design."""

    def __init__(self, X, Y, *, loss, gates_per_target, history, max_iter, n_restarts, words):
        self.X, self.Y = np.asarray(X, bool), np.asarray(Y, bool)
        self.l, self.m = self.X.shape[1], self.Y.shape[1]
        self.n_gates = gates_per_target * self.m
        self.outputs = [self.l + self.n_gates - self.m + k for k in range(self.m)]
        self.history, self.max_iter, self.restarts = history, max_iter, n_restarts
        self.random = Xoroshiro(words)
        self.loss = loss

    def readable(self, gate):
        return self.l + min(gate, self.n_gates - self.m)

    def cost(self, sources):
        return integer_cost(self.loss, node_values(self.X, sources)[:, self.outputs] ^ self.Y)

    def start(self):
        sources = []
        for gate in range(self.n_gates):
            high, low = self.random.halves()
            sources.append([pick(high, self.readable(gate)), pick(low, self.readable(gate))])
        return sources

    def move(self, sources):
        """Return the wiring after one random move; the same if nothing else can be read."""
        high, low = self.random.halves()
        gate, terminal = divmod(pick(high, 2 * self.n_gates), 2)
        before = sources[gate][terminal]
        others = [node for node in range(self.readable(gate)) if node != before]
        moved = [list(pair) for pair in sources]
        if others:
            moved[gate][terminal] = others[pick(low, len(others))]
        return moved

    def run(self):
        """Return (sources, cost, iterations, restarts used)."""
        best, best_cost, iterations = None, None, 0
        for restart in range(self.restarts + 1):
            sources = self.start()
            cost = self.cost(sources)
            if best is None or cost < best_cost:
                best, best_cost = sources, cost
            past, step = [cost] * self.history, 0
            while cost > 0 and step < self.max_iter:
                moved = self.move(sources)
                moved_cost = self.cost(moved)
                v = step % self.history
                if moved_cost < past[v] or moved_cost <= cost:
                    sources, cost = moved, moved_cost
                past[v] = cost
                step += 1
                if cost < best_cost:
                    best, best_cost = sources, cost
            iterations += step
            if cost == 0:
                return sources, 0, iterations, restart
        return best, best_cost, iterations, self.restarts
