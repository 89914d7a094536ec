"""Two binarised time series (Barman & Kwon 2017): fission yeast and E. coli, and the model behind the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradus._bits import BoolMatrix, as_bits
from gradus._formats.series import Series, transitions
from gradus.errors import DataError
from gradus.problems._problem import Function, Problem

__all__ = ["ECOLI_SERIES", "YEAST_SERIES", "ecoli", "fission_yeast_model", "yeast"]


def _series(name: str, genes: str, states: str) -> Series:
    return Series(tuple(genes.split()), np.array([list(map(int, state)) for state in states.split()]), name=name)


YEAST_SERIES = _series(
    "yeast",
    "start SK Cdc2/Cdc13 Ste9 Rum1 Slp1 Cdc2/Cdc13* Wee1/Mik1 Cdc25 PP",
    "1001100100 0101100100 0000000100 0010000100 0010000010 0010001010 0010011010 0000010011 0001100101 0001100100",
)
ECOLI_SERIES = _series(
    "ecoli", "G1 G2 G3 G4 G5 G6 G7 G8 G9 G10", "1011001000 1011000001 1111010101 0101110111 0100110111 0100100111"
)


def fission_yeast_model(X: Any) -> BoolMatrix:
    """Tell the next state of the published fission yeast model (Davidich & Bornholdt 2008), of which `yeast` is a path.

    Parameters
    ----------
    X : array-like of 0/1, shape (n, 10)
        States of start, SK, Cdc2/Cdc13, Ste9, Rum1, Slp1, Cdc2/Cdc13*, Wee1/Mik1, Cdc25, PP.

    Returns
    -------
    ndarray of bool, shape (n, 10)
        The next values in the same order.

    Examples
    --------
    >>> fission_yeast_model(YEAST_SERIES.states[:1]).astype(int)
    array([[0, 1, 0, 1, 1, 0, 0, 1, 0, 0]])
    """
    states = as_bits(X)
    if states.shape[1] != len(YEAST_SERIES.genes):
        raise DataError(f"X has {states.shape[1]} columns, but the model has {len(YEAST_SERIES.genes)} genes.")
    start, sk, cdc2, ste9, rum1, slp1, cdc2_active, wee1, cdc25, pp = states.T
    inhibited = ste9 | rum1 | slp1
    ligase_drive = pp.astype(np.int8) - sk - cdc2 - cdc2_active
    balance = pp.astype(np.int8) - cdc2
    return np.column_stack(
        [
            np.zeros_like(start),
            start,
            ~inhibited,
            _threshold(ligase_drive, ste9),
            _threshold(ligase_drive, rum1),
            cdc2_active,
            ~(inhibited | wee1) & cdc25,
            _threshold(balance, wee1),
            _threshold(-balance, cdc25),
            slp1,
        ]
    )


def _threshold(drive: np.typing.NDArray[np.int8], present: BoolMatrix) -> BoolMatrix:
    """1 where the drive is positive, 0 where it is negative, the present value where it is neither."""
    return np.where(drive == 0, present, drive > 0)


def _yeast_targets(X: BoolMatrix) -> BoolMatrix:
    return fission_yeast_model(X)[:, 1:]


def _from_series(series: Series, function: Function | None, about: str) -> Problem:
    moves = transitions(series)
    return Problem(
        series.name,
        input_names=moves.input_names,
        target_names=moves.target_names,
        function=function,
        pool=moves.X,
        targets=moves.Y,
        about=about,
    )


def yeast() -> Problem:
    """Build the problem `yeast`: nine transitions of the fission yeast cell cycle; `evaluate` is the published model.

    Examples
    --------
    >>> yeast()
    Problem('yeast', 10 inputs, 9 targets, 9 patterns)
    """
    return _from_series(YEAST_SERIES, _yeast_targets, "Fission yeast cell cycle: nine transitions of a time series.")


def ecoli() -> Problem:
    """Build the problem `ecoli`: five transitions of ten E. coli genes, of which no more is known.

    Examples
    --------
    >>> ecoli()
    Problem('ecoli', 10 inputs, 8 targets, 5 patterns)
    """
    return _from_series(ECOLI_SERIES, None, "E. coli gene expression: five transitions of a time series.")
