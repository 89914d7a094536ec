"""The registry of writers: every format in which a network can be written, by file extension."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from gradus._circuit import Network
from gradus._circuit.drawing.diagram import Grouping
from gradus._core.files import write_bytes_whole
from gradus._formats.names import MARK
from gradus.errors import DataError, FormatError

__all__ = ["EXTENSIONS", "export"]

# Module, function and further arguments; writers are imported when they are used.
_WRITERS: dict[str, tuple[str, ...]] = {
    ".v": ("gradus._formats.verilog", "write_verilog"),
    ".blif": ("gradus._formats.blif", "write_blif"),
    ".bench": ("gradus._formats.bench", "write_bench"),
    ".aag": ("gradus._formats.aiger", "write_aiger"),
    ".aig": ("gradus._formats.aiger", "write_binary_aiger"),
    ".bnet": ("gradus._formats.bnet", "write_bnet"),
    ".sbml": ("gradus._formats.sbml", "write_sbml"),
    ".dot": ("gradus._circuit.drawing.dot", "network_dot"),
    ".txt": ("gradus._circuit.formulas", "write_formulas"),
    ".svg": ("gradus._circuit.drawing.picture", "network_picture", ".svg"),
    ".png": ("gradus._circuit.drawing.picture", "network_picture", ".png"),
    ".pdf": ("gradus._circuit.drawing.picture", "network_picture", ".pdf"),
}

_DRAWINGS = (".dot", ".svg", ".png", ".pdf")
_COMMENT_SIGNS = {".v": "//", ".dot": "//", ".blif": "#", ".bench": "#", ".bnet": "#", ".txt": "#"}

EXTENSIONS = (*_WRITERS, ".json")
"""What `export` can write."""


class ExportedResult(Protocol):
    """What holds a circuit, as the results of `learn` and `search` do."""

    @property
    def network(self) -> Network: ...


@runtime_checkable
class ExportedModel(Protocol):
    """A circuit that knows the columns of its inputs and the classes of its outputs; `gradus.Model` is one."""

    @property
    def network(self) -> Network: ...

    def grouping(self) -> Grouping: ...

    def notes(self) -> list[str]: ...


def export(
    network: Network | ExportedModel | ExportedResult, path: str | PathLike[str] | None = None, *, format: str | None = None
) -> str | bytes:
    r"""Write a network, or the best circuit of a model, as a circuit, a gene model, formulas or a picture.

    The formats are ``v`` (Verilog), ``blif``, ``bench``, ``aag`` and ``aig`` (AIGER, ASCII and binary), ``bnet``, ``sbml``
    (SBML-qual), ``dot`` (GraphViz), ``txt`` (formulas), ``svg``, ``png`` and ``pdf`` (drawings with the usual gate
    symbols), and ``json`` (as `Network.save` writes it). All but ``json`` leave out the gates that no output depends on.
    With a model, drawings show the bits of a column, and the outputs of a target, in one box, and comments in the other
    files say what the outputs mean.

    Parameters
    ----------
    network : Network, Model, LearnResult or SearchResult
    path : path-like, optional
        The file, written whole or not at all.
    format : str, optional
        One of the formats above; if not given, the extension of the path says it.

    Returns
    -------
    str or bytes
        The content of the file; bytes for ``aig``, ``png`` and ``pdf``, text otherwise.

    Raises
    ------
    DataError
        If there is no circuit in what is given.
    FormatError
        If there is no such format, or the file cannot be written.
    MissingExtraError
        If a library that the format needs is not installed.

    Examples
    --------
    >>> print(export(Network(2, [[0, 1]], [2], [6]), format="txt").split("\n")[1])
    z0 = x0 ^ x1
    """
    kind = _checked_format(path, format)
    circuit = network if isinstance(network, Network) else getattr(network, "network", None)
    if not isinstance(circuit, Network):
        raise DataError(
            f"a {type(network).__name__} cannot be exported; give a network, a model or a result of learn or search."
        )
    if kind == ".json":
        content: str | bytes = circuit.to_json()
    elif not isinstance(network, ExportedModel):
        content = _written(circuit, *_WRITERS[kind])
    elif kind in _DRAWINGS:
        content = _written(circuit, *_WRITERS[kind], grouping=network.grouping())
    else:
        content = _with_notes(_written(circuit, *_WRITERS[kind]), kind, network.notes())
    if kind == ".svg" and isinstance(content, bytes):
        content = content.decode("utf-8")
    if path is not None:
        write_bytes_whole(path, content.encode("utf-8") if isinstance(content, str) else content)
    return content


def _written(network: Network, module: str, function: str, *arguments: str, **options: Any) -> str | bytes:
    content: str | bytes = getattr(importlib.import_module(module), function)(network, *arguments, **options)
    return content


def _with_notes(content: str | bytes, kind: str, notes: Sequence[str]) -> str | bytes:
    """Add comments where the format has them: on top, after the XML declaration, or in AIGER's section at the end."""
    # Whatever a label holds, it must not end the comment, nor look like a line that maps a name.
    lines = ["".join(sign if sign.isprintable() else "·" for sign in note.replace(MARK, MARK[:-1])) + "." for note in notes]
    if isinstance(content, bytes):
        return content + "".join(f"{line}\n" for line in lines).encode("utf-8")
    if kind == ".aag":
        return content + "".join(f"{line}\n" for line in lines)
    if kind == ".sbml":
        declaration, rest = content.split("\n", 1)
        return "\n".join([declaration, *(f"<!-- {line.replace('--', '- -')} -->" for line in lines), rest])
    return "".join(f"{_COMMENT_SIGNS[kind]} {line}\n" for line in lines) + content


def _checked_format(path: str | PathLike[str] | None, format: str | None) -> str:
    if format is not None:
        kind = f".{str(format).lower().removeprefix('.')}"
        what = f"{format!r} is not a format"
    elif path is not None:
        kind = Path(path).suffix.lower()
        what = f"the extension {kind!r} names no format" if kind else "the file needs an extension"
    else:
        kind, what = "", "give a path or a format"
    if kind not in EXTENSIONS:
        raise FormatError(f"{what}; use one of {', '.join(EXTENSIONS)}.", path=path)
    return kind
