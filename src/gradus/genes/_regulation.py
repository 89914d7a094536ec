"""The signed regulatory graph as SVG: genes on an ellipse, arrows activate, bars inhibit, width is the probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

__all__ = ["SignedEdge", "regulatory_graph"]

HEIGHT, MARGIN, LETTER = 26.0, 24.0, 7.6
"""Pixels: a gene's box, the room around all, and the width of a letter."""
SWEEPS = 40
STYLE = """
svg.regulation { --ink: #1c2330; --box: #eef1f6; --line: #aab3c2; --on: #0b62a4; --off: #c4451c; }
@media (prefers-color-scheme: dark) {
  svg.regulation { --ink: #e6e9ef; --box: #2a313d; --line: #5d6878; --on: #6db6f2; --off: #ff9470; }
}
.regulation rect { fill: var(--box); stroke: var(--line); } .regulation text { fill: var(--ink); font: 13px sans-serif; }
.regulation path { fill: none; } .regulation .on { stroke: var(--on); } .regulation .off { stroke: var(--off); }
.regulation marker .on { fill: var(--on); stroke: none; } .regulation .self { stroke-dasharray: 5 3; }
"""


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
    drawn = [_edge(edge, boxes, centre, genes) for edge in sorted(edges, key=lambda edge: edge.probability)]
    drawn += [
        f'<rect x="{box.x - box.half_width:.1f}" y="{box.y - HEIGHT / 2:.1f}" width="{2 * box.half_width:.1f}" '
        f'height="{HEIGHT:.0f}" rx="8"/><text x="{box.x:.1f}" y="{box.y + 4.5:.1f}" text-anchor="middle">'
        f"{escape(genes[gene])}</text>"
        for gene, box in boxes.items()
    ]
    return (
        f'<svg class="regulation" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" role="img" aria-label="Regulatory graph of {len(order)} genes">'
        f"<style>{STYLE}</style>{_markers()}{''.join(drawn)}</svg>\n"
    )


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


def _edge(edge: SignedEdge, boxes: dict[int, _Box], centre: tuple[float, float], genes: Sequence[str]) -> str:
    a, b = boxes[edge.regulator], boxes[edge.target]
    kind = "on" if edge.rising else "off"
    if edge.regulator == edge.target:
        return _loop(edge, a, centre, kind, genes)
    # Edges bend towards the centre, each way a little differently, so that a pair in both directions is seen.
    middle = ((a.x + b.x) / 2, (a.y + b.y) / 2)
    across = ((b.y - a.y) * 0.12, (a.x - b.x) * 0.12)
    bend = [m + 0.25 * (c - m) + s for m, c, s in zip(middle, centre, across, strict=True)]
    x0, y0 = a.edge_towards(bend[0], bend[1])
    x1, y1 = b.edge_towards(bend[0], bend[1], gap=7 if edge.rising else 4)
    return _path(f"M{x0:.1f} {y0:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {x1:.1f} {y1:.1f}", edge, kind, kind, genes)


def _loop(edge: SignedEdge, box: _Box, centre: tuple[float, float], kind: str, genes: Sequence[str]) -> str:
    up = -1 if box.y <= centre[1] else 1
    y = box.y + up * HEIGHT / 2
    ends = f"M{box.x - 9:.1f} {y:.1f}C{box.x - 20:.1f} {y + up * 26:.1f} {box.x + 20:.1f} {y + up * 26:.1f}"
    gap = 7 if edge.rising else 4
    return _path(f"{ends} {box.x + 9:.1f} {y + up * gap:.1f}", edge, kind, f"{kind} self", genes)


def _path(path: str, edge: SignedEdge, kind: str, classes: str, genes: Sequence[str]) -> str:
    verb = "activates" if edge.rising else "inhibits"
    said = f"{genes[edge.regulator]} {verb} {genes[edge.target]}, probability {edge.probability:.2f}"
    width, opacity = 0.6 + 3.4 * edge.probability**2, 0.35 + 0.65 * edge.probability
    return (
        f'<path class="{classes}" d="{path}" stroke-width="{width:.2f}" opacity="{opacity:.2f}" '
        f'marker-end="url(#{kind}-end)"><title>{escape(said)}</title></path>'
    )


def _markers() -> str:
    shape = 'markerUnits="userSpaceOnUse" orient="auto"'
    return (
        f'<defs><marker id="on-end" viewBox="0 0 10 10" refX="3" refY="5" markerWidth="11" markerHeight="11" {shape}>'
        '<path class="on" d="M0 0L10 5L0 10Z"/></marker>'
        f'<marker id="off-end" viewBox="0 0 6 14" refX="3" refY="7" markerWidth="6" markerHeight="14" {shape}>'
        '<path class="off" d="M3 0V14" stroke-width="3"/></marker></defs>'
    )
