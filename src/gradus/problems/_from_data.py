"""Problems made from users' own data: arrays, tables and models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from gradus._core.bits import BoolMatrix, as_bits, column_names
from gradus._core.files import read_guard
from gradus._formats.aiger import read_aiger
from gradus._formats.blif import read_blif
from gradus._formats.bnet import read_bnet
from gradus._formats.sbml import read_sbml
from gradus._formats.table_files import READERS, read_table
from gradus._formats.truth_functions import TruthFunctions
from gradus.errors import DataError, FormatError
from gradus.problems._problem import Problem

__all__ = ["MODELS", "from_arrays", "from_file", "from_model"]

MODELS = (".bnet", ".sbml", ".blif", ".aag", ".aig")


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
    """Make a problem from a file: a table of examples, or a model (``.bnet``, ``.sbml``, ``.blif``, ``.aag``, ``.aig``).

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
        return from_model(_read_model(path, targets), name=chosen, targets=targets)
    if "kind" not in options and Path(path).suffix.lower() not in READERS:
        known = ", ".join((*READERS, *MODELS))
        raise FormatError(f"{Path(path).suffix!r} is not a kind of file that can be read; use one of {known}.", path=path)
    X, Y, input_names, target_names = read_table(path, **options).split(targets)
    return from_arrays(X, Y, name=chosen, input_names=input_names, target_names=target_names)


def _read_model(path: str | PathLike[str], targets: Sequence[str] | None) -> TruthFunctions:
    extension = Path(path).suffix.lower()
    with read_guard(path, f"a model of the kind {extension}"):
        if extension in (".bnet", ".sbml"):
            return (read_bnet if extension == ".bnet" else read_sbml)(path, targets=targets or ())
        return read_blif(path) if extension == ".blif" else read_aiger(path)


def from_model(model: TruthFunctions, *, name: str = "model", targets: Sequence[str] | None = None) -> Problem:
    r"""Make a problem from a Boolean model that was read from a file.

    Examples
    --------
    >>> from gradus._formats.bnet import parse_bnet
    >>> from_model(parse_bnet("a, b & c\nb, a | c"))
    Problem('model', 3 inputs, 2 targets, 8 patterns)
    """
    if not model.input_names or not model.output_names:
        raise DataError(f"model {name!r} has no inputs or no targets, so there is nothing to learn.")
    chosen = model.output_names if targets is None else tuple(targets)
    where = {target: place for place, target in enumerate(model.output_names)}
    unknown = [target for target in chosen if target not in where]
    if unknown:
        raise DataError(f"model {name!r} has no target {unknown[0]!r}.")
    places = [where[target] for target in chosen]
    return Problem(name, input_names=model.input_names, target_names=chosen, function=partial(_outputs, model, places))


def _outputs(model: TruthFunctions, places: list[int], X: BoolMatrix) -> BoolMatrix:
    return model.evaluate(X)[:, places]
