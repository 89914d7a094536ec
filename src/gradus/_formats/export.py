"""Write a network in the format that the file's extension names."""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path

from gradus._files import write_bytes_whole, write_text_whole
from gradus._network import Network
from gradus.errors import FormatError

__all__ = ["EXTENSIONS", "export"]

_WRITERS = {
    ".v": ("verilog", "dumps"),
    ".blif": ("blif", "dumps"),
    ".bench": ("bench", "dumps"),
    ".aag": ("aiger", "dumps"),
    ".aig": ("aiger", "dump_bytes"),
    ".bnet": ("bnet", "dumps"),
    ".dot": ("dot", "dumps"),
    ".sbml": ("sbml", "dumps"),
    ".txt": ("formula", "dumps"),
}

EXTENSIONS = (*_WRITERS, ".json")
"""What `export` can write."""


def export(network: Network, path: str | PathLike[str]) -> None:
    r"""Write a network to a file; the extension says how.

    ``.v`` Verilog, ``.blif``, ``.bench``, ``.aag`` and ``.aig`` AIGER (ASCII and binary), ``.bnet``, ``.sbml``
    SBML-qual, ``.dot`` GraphViz, ``.txt`` formulas, ``.json`` as `Network.save` writes it. All but ``.json`` leave
    out the gates that no output depends on.

    Parameters
    ----------
    network : Network
    path : path-like
        The file is written whole or not at all.

    Raises
    ------
    FormatError
        If the extension is none of these, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(Network(2, [[0, 1]], [2]), Path(folder) / "nand.txt")
    ...     print((Path(folder) / "nand.txt").read_text().split("\n")[1])
    z0 = !x0 | !x1
    """
    kind = Path(path).suffix.lower()
    if kind == ".json":
        network.save(path)
        return
    if kind not in _WRITERS:
        what = f"the extension {kind!r} names no format" if kind else "the file needs an extension"
        raise FormatError(f"{what}; use one of {', '.join(EXTENSIONS)}.", path=path)
    module, function = _WRITERS[kind]
    content = getattr(
        importlib.import_module(
            {"formula": "gradus._logic.formula", "dot": "gradus._drawing.dot"}.get(module, f"gradus._formats.{module}")
        ),
        function,
    )(network)
    if isinstance(content, bytes):
        write_bytes_whole(path, content)
    else:
        write_text_whole(path, content)
