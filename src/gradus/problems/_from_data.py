"""Problems made from users' own data: arrays, tables and models."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from gradus._circuit import Network
from gradus._core.bits import as_bits, column_names
from gradus._formats import MODELS
from gradus._formats.circuits import read_network
from gradus._formats.table_files import READERS, read_table
from gradus.errors import DataError, FormatError
from gradus.problems._problem import Problem

__all__ = ["from_arrays", "from_file", "from_model"]


def from_arrays(
    X: Any, Y: Any, *, name: str = "data", input_names: Sequence[str] | None = None, target_names: Sequence[str] | None = None
) -> Problem:
    """Make a problem from a table of examples.

    Parameters
    ----------
    X, Y : array-like or DataFrame of 0/1
        One row per example; a DataFrame brings its own names.
    name : str
        Samples depend on it.
    input_names, target_names : sequence of str, optional
        ``x0, x1, …`` and ``z0, z1, …`` if there are none.

    Examples
    --------
    >>> from_arrays([[0, 1], [1, 1]], [[1], [0]])
    Problem('data', 2 inputs, 1 target, 2 patterns)
    """
    bits, targets = as_bits(X, "X"), as_bits(Y, "Y")
    return Problem(
        name,
        input_names=input_names or column_names(X) or tuple(f"x{i}" for i in range(bits.shape[1])),
        target_names=target_names or column_names(Y, "Y") or tuple(f"z{k}" for k in range(targets.shape[1])),
        pool=bits,
        targets=targets,
    )


def from_file(
    path: str | PathLike[str], *, targets: Sequence[str] | None = None, name: str | None = None, **options: Any
) -> Problem:
    """Make a problem from a file: a table of examples, or a circuit in a format that `gradus.read_network` reads.

    Parameters
    ----------
    path : path-like
    targets : sequence of str, optional
        The target columns of a table; by default those that the file declares. For a model, the rules to keep; by default
        all of them.
    name : str, optional
        By default the file's name without its extension. Samples depend on it.
    **options
        Passed to `gradus.read_table`.

    Returns
    -------
    Problem
        A model with at most 20 inputs has all 2^n patterns; patterns of a larger one are drawn.
    """
    chosen = Path(path).stem if name is None else name
    if Path(path).suffix.lower() in MODELS:
        if options:
            raise DataError(f"{path} is a model; {', '.join(options)} is an option for tables.")
        return from_model(read_network(path, targets=targets), name=chosen)
    if "kind" not in options and Path(path).suffix.lower() not in READERS:
        known = ", ".join((*READERS, *MODELS))
        raise FormatError(f"{Path(path).suffix!r} is not a kind of file that can be read; use one of {known}.", path=path)
    X, Y, input_names, target_names = read_table(path, **options).split(targets)
    return from_arrays(X, Y, name=chosen, input_names=input_names, target_names=target_names)


def from_model(model: Network, *, name: str = "model") -> Problem:
    r"""Make a problem from a circuit or model that `gradus.read_network` read.

    Examples
    --------
    >>> from_model(Network(2, [[0, 1]], [2], [6]))
    Problem('model', 2 inputs, 1 target, 4 patterns)
    """
    if not model.n_inputs or not model.n_outputs:
        raise DataError(f"model {name!r} has no inputs or no targets, so there is nothing to learn.")
    return Problem(name, input_names=model.input_names, target_names=model.output_names, function=model.predict)
