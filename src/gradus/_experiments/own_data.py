"""Users' own examples for experiments, from any table that Gradus reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gradus._experiments.beds import OwnTable
from gradus._formats.tables import read_table

__all__ = ["read_own_data"]


def read_own_data(name: str, path: Path, targets: Sequence[str], inputs: Sequence[str] | None = None) -> OwnTable:
    """Read a table of zeros and ones.

    Parameters
    ----------
    name : str
        What to call the data.
    path : path
        A .csv, .tsv, .parquet, .npz, .arff or .pla file.
    targets : sequence of str
        The target columns.
    inputs : sequence of str, optional
        The input columns; all others if not given.

    Returns
    -------
    OwnTable
    """
    X, Y, input_names, target_names = read_table(path).split(targets, inputs=inputs)
    return OwnTable.of(name, X, Y, input_names, target_names)
