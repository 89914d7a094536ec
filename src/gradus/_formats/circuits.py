"""`export` and `read_network`: networks written and read in every format of the registry."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from gradus._circuit import Network
from gradus._circuit.count_recognition import output_counts
from gradus._core.files import read_bytes, read_guard, read_text, write_bytes_whole
from gradus._formats.names import MARK
from gradus._formats.registry import CIRCUITS, READ, WRITTEN, Place
from gradus.errors import DataError, FormatError

__all__ = ["export", "read_network"]


@runtime_checkable
class ExportedModel(Protocol):
    """A circuit that knows the columns of its inputs and the classes of its outputs; `gradus.Model` is one."""

    @property
    def network(self) -> Network: ...

    def as_read(self) -> Network: ...

    def grouping(self) -> Any: ...

    def notes(self) -> list[str]: ...

    def program(self) -> Any: ...


def export(network: Any, path: str | PathLike[str] | None = None, *, format: str | None = None) -> str | bytes:
    r"""Write a network, or the best circuit of a model, as a circuit, a gene model, formulas, a program or a picture.

    Among the formats are ``v`` (Verilog), ``blif``, ``aag`` (AIGER), ``bnet`` (rules of genes), ``txt`` (formulas), ``py``,
    ``sql`` and ``c`` (programs that read the columns of a table and answer with its classes), ``svg`` (a drawing) and ``json``
    (as `Network.save` writes it); ``gradus export --help`` names all of them. All but ``json`` leave
    out the gates that no output depends on, and inputs that a model has for its voters alone. With a model, drawings show the
    bits of a column, and the outputs of a target, in one box, and comments in the other files tell what the outputs mean.

    Parameters
    ----------
    network : Network, Model, LearnResult or SearchResult
    path : path-like, optional
        The file, written whole or not at all.
    format : str, optional
        An extension, with or without its dot; if not given, that of the path. Any other is refused with the list of all.

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
    extension = _checked_extension(path, format)
    circuit = network if isinstance(network, Network) else getattr(network, "network", None)
    if not isinstance(circuit, Network):
        raise DataError(
            f"a {type(network).__name__} cannot be exported; give a network, a model or a result of learn or search."
        )
    kind = CIRCUITS[extension]
    is_model = isinstance(network, ExportedModel)
    options = {"grouping": network.grouping()} if is_model and kind.is_drawing else {}
    if is_model and kind.is_rule:
        options = {"program": network.program()}
    if is_model and extension != ".json" and not options:
        circuit = network.as_read()
    content: str | bytes = _function(kind.write)(circuit, **options)
    if not kind.is_drawing and kind.comment is not None:
        counts = [] if extension == ".txt" else [f"{name}: {said}" for name, said in output_counts(circuit).items()]
        content = _with_notes(content, kind.comment, [*(network.notes() if is_model else ()), *counts])
    if path is not None:
        write_bytes_whole(path, content.encode("utf-8") if isinstance(content, str) else content)
    return content


def read_network(path: str | PathLike[str], *, targets: Sequence[str] | None = None) -> Network:
    r"""Read a circuit or a model of genes from a file.

    Among the formats are ``json`` (as `Network.save` and `Model.save` write it), ``blif``, ``aag`` (AIGER) and ``bnet``;
    ``gradus export --help`` names all of them. Functions of more inputs become gates of two. Gates that no output depends on
    are left out, and inverters are part of other gates, as in `Network.prune`; a ``json`` file is read as it is.

    Parameters
    ----------
    path : path-like
        Its extension names the format.
    targets : sequence of str, optional
        The outputs to keep, in this order; all if not given. In models of genes, a variable whose rule is itself
        (``CycD, CycD``) is an output only if it is named here.

    Returns
    -------
    Network

    Raises
    ------
    FormatError
        If there is no such format, or the file does not hold a circuit in it.
    DataError
        If there is no such output.
    MissingExtraError
        If a library that the format needs is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "xor.blif")
    >>> with open(path, "w") as file:
    ...     _ = file.write(".model xor\n.inputs a b\n.outputs z\n.names a b z\n10 1\n01 1\n.end\n")
    >>> read_network(path)
    Network(2, [[0, 1]], [2], [6], input_names=['a', 'b'], output_names=['z'])
    """
    extension = Path(path).suffix.lower()
    kind = CIRCUITS.get(extension)
    if kind is None or kind.read is None:
        raise FormatError(
            f"{extension!r} is not a format that circuits are read from; use one of {', '.join(READ)}.", path=path
        )
    with read_guard(path, f"a circuit of the kind {extension}"):
        content = read_bytes(path) if kind.is_binary else read_text(path)
        # Only models of genes have rules that are kept or not.
        options = {"targets": targets} if targets and extension in (".bnet", ".sbml") else {}
        network: Network = _function(kind.read)(content, **options)
    return network if targets is None else _selected(network, targets, path)


def _selected(network: Network, targets: Sequence[str], path: str | PathLike[str]) -> Network:
    nodes = dict(zip(network.output_names, network.outputs.tolist(), strict=True))
    unknown = [target for target in targets if target not in nodes]
    if unknown:
        raise DataError(f"{path} has no target {unknown[0]!r}.")
    outputs, names = [nodes[target] for target in targets], network.input_names
    return Network(network.n_inputs, network.sources, outputs, network.functions, input_names=names, output_names=targets)


def _function(place: Place) -> Any:
    module, name = place
    return attrgetter(name)(importlib.import_module(module))


def _with_notes(content: str | bytes, sign: str, notes: Sequence[str]) -> str | bytes:
    """Add comments where the format has them: on top, after the XML declaration, or at the end."""
    # Whatever a label holds, it must not end the comment, nor look like a line that maps a name.
    lines = ["".join(sign if sign.isprintable() else "·" for sign in note.replace(MARK, MARK[:-1])) + "." for note in notes]
    if isinstance(content, bytes):
        return content + "".join(f"{line}\n" for line in lines).encode("utf-8")
    if sign == "":
        return content + "".join(f"{line}\n" for line in lines)
    if sign == "<!--":
        declaration, rest = content.split("\n", 1)
        return "\n".join([declaration, *(f"<!-- {line.replace('--', '- -')} -->" for line in lines), rest])
    return "".join(f"{sign} {line}\n" for line in lines) + content


def _checked_extension(path: str | PathLike[str] | None, format: str | None) -> str:
    if format is not None:
        extension = f".{str(format).lower().removeprefix('.')}"
        what = f"{format!r} is not a format"
    elif path is not None:
        extension = Path(path).suffix.lower()
        what = f"the extension {extension!r} names no format" if extension else "the file needs an extension"
    else:
        extension, what = "", "give a path or a format"
    if extension not in CIRCUITS:
        raise FormatError(f"{what}; use one of {', '.join(WRITTEN)}.", path=path)
    return extension
