"""Pictures of networks and of the hierarchy of their targets, drawn by GraphViz (the extra ``draw``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from gradus._circuit import Network
from gradus._circuit.drawing.diagram import MOST_GATES, Diagram, Grouping, blocks, diagram, live_logic
from gradus._circuit.drawing.dot import hierarchy_dot
from gradus._circuit.drawing.recognition import boxed
from gradus._circuit.drawing.schematic import Sides, placement, upper_first, with_symbols
from gradus._core.files import write_bytes_whole
from gradus.errors import FormatError, MissingExtraError

__all__ = [
    "PICTURES",
    "draw_hierarchy",
    "draw_network",
    "network_picture",
    "notebook_picture",
    "pdf_picture",
    "png_picture",
    "svg_picture",
]

DOTS_PER_INCH = 150
# How often a drawing is placed again to have fewer crossings, and up to which size more than once.
PLACEMENTS, FEW_GATES = 4, 100
MOST_BLOCKS_DRAWN = 100
PICTURES = (".svg", ".png", ".pdf")


def draw_network(
    circuit: Network,
    path: str | PathLike[str],
    *,
    order: Sequence[str | int] | None = None,
    grouping: Grouping | None = None,
    fold: bool | None = None,
) -> None:
    """Draw a network with the usual gate symbols: inputs red on the left, outputs green on the right."""
    # A gate has the colour of the first target, in the order taught, that uses it, so that reuse is visible. Inputs and gates
    # that no output depends on are left out.
    write_bytes_whole(path, network_picture(circuit, _picture_kind(path), order=order, grouping=grouping, fold=fold))


def network_picture(
    circuit: Network,
    kind: str,
    *,
    order: Sequence[str | int] | None = None,
    grouping: Grouping | None = None,
    fold: bool | None = None,
) -> bytes:
    """Return the content of the file that `draw_network` writes; the kind is one of `PICTURES`."""
    parts = _parts(circuit, order, grouping, fold)
    pins = {node: Sides(gate.pins, gate.outs) for node, gate in parts.gates.items()}
    graph = _graph(placement(parts, pins))
    # Exchanging the pins of a gate can move its neighbours, so that others should be exchanged.
    for _ in range(PLACEMENTS if len(pins) <= FEW_GATES else 1):
        better = upper_first(parts, graph)
        if better == pins:
            break
        pins, graph = better, _graph(placement(parts, better))
    return _rendered(with_symbols(parts, graph, pins), kind)


def _parts(circuit: Network, order: Sequence[str | int] | None, grouping: Grouping | None, fold: bool | None) -> Diagram:
    """Choose what is shown: every gate, boxes for known parts where they are most of the circuit, or blocks of many gates."""
    if fold is not False:
        known = boxed(live_logic(circuit), frozenset(circuit.outputs.tolist()))
        if known is not None:
            parts = diagram(circuit, order, grouping=grouping, boxed=known)
            if len(parts.gates) <= MOST_GATES:
                return parts
    folds = int(circuit.live.sum()) > MOST_GATES if fold is None else fold
    return diagram(circuit, order, grouping=grouping, block=blocks(circuit, order) if folds else None)


def svg_picture(circuit: Network, *, grouping: Grouping | None = None) -> str:
    """Return a network as SVG text."""
    return network_picture(circuit, ".svg", grouping=grouping).decode("utf-8")


def png_picture(circuit: Network, *, grouping: Grouping | None = None) -> bytes:
    """Return a network as PNG."""
    return network_picture(circuit, ".png", grouping=grouping)


def pdf_picture(circuit: Network, *, grouping: Grouping | None = None) -> bytes:
    """Return a network as PDF."""
    return network_picture(circuit, ".pdf", grouping=grouping)


def notebook_picture(circuit: Network, grouping: Grouping | None) -> str | None:
    """Return the drawing of a network as SVG, or None if it cannot be drawn or would be too large even when folded."""
    if circuit.live.sum() > MOST_GATES and len(set(blocks(circuit))) > MOST_BLOCKS_DRAWN:
        return None
    try:
        return svg_picture(circuit, grouping=grouping)
    except MissingExtraError:
        return None


def draw_hierarchy(
    path: str | PathLike[str],
    targets: Sequence[str],
    feature_sets: Mapping[str, Sequence[str]],
    edges: Iterable[tuple[str, str]],
) -> None:
    """Draw which targets are taught before which, each with its minimum feature set."""
    kind = _picture_kind(path)
    write_bytes_whole(path, _rendered(_graph(hierarchy_dot(targets, feature_sets, edges)), kind))


def _graph(dot: str) -> Any:
    """Place a drawing's nodes and wires with GraphViz."""
    try:
        import pygraphviz
    except ModuleNotFoundError as error:
        raise MissingExtraError("drawing needs pygraphviz (the extra 'draw'); run pip install pygraphviz.") from error
    except ImportError as error:  # its wheel brings GraphViz, but not the libraries that nearly every desktop has
        raise MissingExtraError(
            f"drawing needs pygraphviz, which cannot be loaded ({error}); install that library, "
            "on Debian and Ubuntu with apt-get install libglib2.0-0 libxrender1."
        ) from error
    graph = pygraphviz.AGraph(string=dot)
    graph.layout(prog="dot")
    return graph


def _rendered(graph: Any, kind: str) -> bytes:
    if kind == ".png":
        graph.graph_attr["dpi"] = str(DOTS_PER_INCH)
    return bytes(graph.draw(format=kind[1:], prog="nop2"))  # nop2 keeps everything in its place


def _picture_kind(path: str | PathLike[str]) -> str:
    kind = Path(path).suffix.lower()
    if kind not in PICTURES:
        raise FormatError(f"a picture must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}.", path=path)
    return kind
