"""The signed regulatory graph as SVG: genes on an ellipse, arrows activate, bars inhibit, width is the probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradus._pages.html import render

__all__ = ["SignedEdge", "regulatory_graph"]

HEIGHT, MARGIN, LETTER = 26.0, 24.0, 7.6
"""Pixels: a gene's box, the room around all, and the width of a letter."""
SWEEPS = 40


class SignedEdge(NamedTuple):
    """An edge between genes, by their numbers, with its probability; `rising` says that it activates."""

    regulator: int
    target: int
    probability: float
    rising: bool


class _Box(NamedTuple):
    x: float
    y: float
    half_width: float

    def edge_towards(self, x: float, y: float, gap: float = 0.0) -> tuple[float, float]:
        """Return the point on the border in the direction of (x, y), moved out by a gap."""
        dx, dy = x - self.x, y - self.y
        length = math.hypot(dx, dy) or 1.0
        scale = min(self.half_width / abs(dx) if dx else math.inf, HEIGHT / 2 / abs(dy) if dy else math.inf) + gap / length
        return self.x + dx * scale, self.y + dy * scale


def regulatory_graph(genes: Sequence[str], edges: Sequence[SignedEdge]) -> str:
    """Draw genes and their edges; genes without an edge are left out."""
    order = _circle_order(sorted({gene for edge in edges for gene in edge[:2]}), edges)
    widths = [_half_width(genes[gene]) for gene in order] or [30.0]
    # An ellipse with room for the names: they need more of it where they stand beside each other.
    across, along = max(120.0, sum(2 * width + 18 for width in widths) / 4), max(80.0, 13.0 * len(order))
    width, height = 2 * (across + max(widths) + MARGIN), 2 * (along + HEIGHT + MARGIN)
    boxes = {}
    for place, gene in enumerate(order):
        angle = 2 * math.pi * place / len(order) - math.pi / 2
        boxes[gene] = _Box(
            width / 2 + across * math.cos(angle), height / 2 + along * math.sin(angle), _half_width(genes[gene])
        )
    centre = (width / 2, height / 2)
    arrows = [_arrow(edge, boxes, centre, genes) for edge in sorted(edges, key=lambda edge: edge.probability)]
    named = [(genes[gene], box) for gene, box in boxes.items()]
    return render("gradus.genes", "regulation.svg", width=width, height=height, arrows=arrows, boxes=named, tall=HEIGHT)


def _half_width(name: str) -> float:
    return max(18.0, LETTER * len(name) / 2 + 9)


def _circle_order(genes: Sequence[int], edges: Sequence[SignedEdge]) -> list[int]:
    """Place genes on the circle so that edges are short: neighbours are exchanged while that helps."""
    order, links = list(genes), [(e.regulator, e.target) for e in edges if e.regulator != e.target]
    n = len(order)

    def length(places: dict[int, int]) -> int:
        return sum(min((places[a] - places[b]) % n, (places[b] - places[a]) % n) for a, b in links)

    best = length({gene: place for place, gene in enumerate(order)})
    for _ in range(SWEEPS if n <= 64 else 0):
        improved = False
        for i in range(n):
            for j in range(i + 1, n):
                order[i], order[j] = order[j], order[i]
                now = length({gene: place for place, gene in enumerate(order)})
                if now < best:
                    best, improved = now, True
                else:
                    order[i], order[j] = order[j], order[i]
        if not improved:
            break
    return order


def _arrow(edge: SignedEdge, boxes: dict[int, _Box], centre: tuple[float, float], genes: Sequence[str]) -> dict[str, Any]:
    own = edge.regulator == edge.target
    path = _loop(edge, boxes[edge.target], centre) if own else _bow(edge, boxes, centre)
    verb = "activates" if edge.rising else "inhibits"
    return {
        "kind": "on" if edge.rising else "off",
        "own": own,
        "path": path,
        "width": 0.6 + 3.4 * edge.probability**2,
        "opacity": 0.35 + 0.65 * edge.probability,
        "said": f"{genes[edge.regulator]} {verb} {genes[edge.target]}, probability {edge.probability:.2f}",
    }


def _bow(edge: SignedEdge, boxes: dict[int, _Box], centre: tuple[float, float]) -> str:
    a, b = boxes[edge.regulator], boxes[edge.target]
    # Edges bend towards the centre, each way a little differently, so that a pair in both directions is seen.
    middle = ((a.x + b.x) / 2, (a.y + b.y) / 2)
    across = ((b.y - a.y) * 0.12, (a.x - b.x) * 0.12)
    bend = [m + 0.25 * (c - m) + s for m, c, s in zip(middle, centre, across, strict=True)]
    x0, y0 = a.edge_towards(bend[0], bend[1])
    x1, y1 = b.edge_towards(bend[0], bend[1], gap=7 if edge.rising else 4)
    return f"M{x0:.1f} {y0:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {x1:.1f} {y1:.1f}"


def _loop(edge: SignedEdge, box: _Box, centre: tuple[float, float]) -> str:
    up = -1 if box.y <= centre[1] else 1
    y = box.y + up * HEIGHT / 2
    ends = f"M{box.x - 9:.1f} {y:.1f}C{box.x - 20:.1f} {y + up * 26:.1f} {box.x + 20:.1f} {y + up * 26:.1f}"
    return f"{ends} {box.x + 9:.1f} {y + up * (7 if edge.rising else 4):.1f}"
