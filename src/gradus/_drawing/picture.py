"""Pictures: a network in layers, and the hierarchy of its targets, drawn by GraphViz (the extra ``draw``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from gradus._drawing.dot import INK, OUTPUT, dumps, quoted
from gradus._files import write_bytes_whole
from gradus._network import Network
from gradus.errors import FormatError, MissingExtraError, SettingsError

__all__ = ["draw_hierarchy", "draw_network", "hierarchy_dot"]

DOTS_PER_INCH = 150
PICTURES = (".svg", ".png")


def draw_network(network: Network, path: str | PathLike[str], *, order: Sequence[str | int] | None = None) -> None:
    """Draw a network in layers: inputs red on the left, outputs green on the right.

    A gate has the colour of the first target, in the order taught, that uses it, so that reuse is seen; a triangle is
    a gate that reads one node twice, a NOT. Gates that no output depends on are left out.

    Parameters
    ----------
    network : Network
    path : path-like
        Ends in ``.svg`` or ``.png``.
    order : sequence of str or int, optional
        Targets, by name or position, in the order taught; the order of the outputs if not given.

    Raises
    ------
    MissingExtraError
        If ``pygraphviz`` is not installed.
    FormatError
        If the file has another extension or cannot be written.
    SettingsError
        If the order is not an order of all the targets.

    Examples
    --------
    >>> import tempfile
    >>> xor = Network(2, [[0, 1], [0, 2], [1, 2], [3, 4]], [5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw_network(xor, Path(folder) / "xor.svg")
    ...     (Path(folder) / "xor.svg").read_text(encoding="utf-8").count('class="node"')
    7
    """
    _draw(dumps(network, order=order), path)


def draw_hierarchy(
    path: str | PathLike[str],
    targets: Sequence[str],
    feature_sets: Mapping[str, Sequence[str]],
    edges: Iterable[tuple[str, str]],
) -> None:
    """Draw which targets are taught before which, each with its minimum feature set.

    Parameters
    ----------
    path : path-like
        Ends in ``.svg`` or ``.png``.
    targets : sequence of str
        Names, easiest first.
    feature_sets : mapping of str to sequence of str
        The inputs of each target's minimum feature set.
    edges : iterable of (str, str)
        Pairs (easier, harder): the first is taught before the second.

    Raises
    ------
    MissingExtraError
        If ``pygraphviz`` is not installed.
    FormatError
        If the file has another extension or cannot be written.
    SettingsError
        If a feature set or an edge names something that is no target.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "hierarchy.svg"
    ...     draw_hierarchy(path, ["z0", "z1"], {"z0": ["x0"], "z1": ["x0", "x1"]}, [("z0", "z1")])
    ...     path.read_text(encoding="utf-8").count('class="edge"')
    1
    """
    _draw(hierarchy_dot(targets, feature_sets, edges), path)


def hierarchy_dot(targets: Sequence[str], feature_sets: Mapping[str, Sequence[str]], edges: Iterable[tuple[str, str]]) -> str:
    r"""Return the drawing that `draw_hierarchy` makes as GraphViz text.

    Examples
    --------
    >>> print(hierarchy_dot(["z0", "z1"], {"z0": ["x0"], "z1": ["x0", "x1"]}, [("z0", "z1")]).split("\n")[-3].strip())
    t0 -> t1;
    """
    keys = {name: f"t{position}" for position, name in enumerate(targets)}
    lines = list(edges)
    unknown = [name for name in [*feature_sets, *(end for edge in lines for end in edge)] if name not in keys]
    if unknown:
        raise SettingsError(f"{unknown[0]!r} is none of the targets ({', '.join(targets)}).")
    return "\n".join(
        [
            "digraph hierarchy {",
            '  graph [rankdir=LR, ranksep=0.7, nodesep=0.25, fontname="Helvetica"];',
            f'  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", fillcolor="{OUTPUT}"];',
            f'  edge [arrowsize=0.7, color="{INK}"];',
            *(f"  {keys[name]} [label={_card(name, feature_sets.get(name))}];" for name in targets),
            *(f"  {keys[easier]} -> {keys[harder]};" for easier, harder in lines),
            "}\n",
        ]
    )


def _card(name: str, features: Sequence[str] | None) -> str:
    """Label a target with its feature set, the set broken into lines of four."""
    if features is None:
        return quoted(name)
    rows = [", ".join(quoted(feature)[1:-1] for feature in features[i : i + 4]) for i in range(0, len(features), 4)]
    return "".join([quoted(name)[:-1], "\\n{", ",\\n".join(rows), '}"'])


def _draw(dot: str, path: str | PathLike[str]) -> None:
    kind = Path(path).suffix.lower()
    if kind not in PICTURES:
        raise FormatError(f"a picture must end in {' or '.join(PICTURES)}.", path=path)
    try:
        import pygraphviz
    except ImportError as error:
        raise MissingExtraError("drawing needs pygraphviz (the extra 'draw'); run pip install pygraphviz.") from error
    graph = pygraphviz.AGraph(string=dot)
    if kind == ".png":
        graph.graph_attr["dpi"] = str(DOTS_PER_INCH)
    write_bytes_whole(path, graph.draw(format=kind[1:], prog="dot"))
