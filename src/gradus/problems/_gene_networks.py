"""Gene networks: two published Boolean models as `.bnet` rules, and two binarised time series.

The models are the mammalian cell cycle and the FA/BRCA pathway. The series (Barman & Kwon 2017) are of E. coli and of
fission yeast, the latter with the model that it comes from.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from gradus._core.bits import BoolMatrix, as_bits
from gradus._formats.bnet import BnetModel, parse_bnet
from gradus.errors import DataError, SettingsError
from gradus.problems._problem import Function, Problem, bits_of, draw_distinct

__all__ = [
    "ECOLI",
    "FABRCA_POOL",
    "FABRCA_RULES",
    "MAMMALIAN_RULES",
    "YEAST",
    "Recording",
    "ecoli",
    "fabrca",
    "fission_yeast_model",
    "mammalian",
    "yeast",
]

FABRCA_POOL = 1024

# Faure et al. 2006. CycD never changes, so it is an input but not a target.
MAMMALIAN_RULES = """\
CycD, CycD
Rb, !CycD & !CycB & (p27 | (!CycE & !CycA))
E2F, !Rb & !CycB & (p27 | !CycA)
CycE, E2F & !Rb
CycA, !Rb & !Cdc20 & !(Cdh1 & UbcH10) & (E2F | CycA)
p27, !CycD & !CycB & ((!CycE & !CycA) | (p27 & !(CycE & CycA)))
Cdc20, CycB
Cdh1, Cdc20 | (!CycB & (p27 | !CycA))
UbcH10, !Cdh1 | (UbcH10 & (Cdc20 | CycA | CycB))
CycB, !Cdc20 & !Cdh1
"""

# Rodriguez et al. 2012.
FABRCA_RULES = """\
ICL, ICL & !DSB
FANCM, ICL & !CHKREC
FAcore, FANCM & (ATM | ATR) & !CHKREC
FANCD2I, FAcore & (ATM | ATR | (DSB & H2AX)) & !USP1
MUS81, ICL
FANCJBRCA1, (ssDNARPA | ICL) & (ATM | ATR)
XPF, (MUS81 & p53 & !(FAcore & FAN1 & FANCD2I)) | (MUS81 & !FANCM)
FAN1, MUS81 & FANCD2I
ADD, (ADD | (MUS81 & (FAN1 | XPF))) & !PCNATLS
DSB, (DSB | FAN1 | XPF) & !(NHEJ | HRR)
PCNATLS, ADD & !(USP1 | FAN1)
MRN, DSB & ATM & !((KU & FANCD2I) | RAD51 | CHKREC)
BRCA1, DSB & (ATM | CHK2 | ATR) & !CHKREC
ssDNARPA, DSB & ((FANCD2I & FANCJBRCA1) | MRN) & !(RAD51 | KU)
FANCD1N, (ssDNARPA & BRCA1) | (FANCD2I & ssDNARPA & !CHKREC)
RAD51, ssDNARPA & FANCD1N & !CHKREC
HRR, DSB & RAD51 & FANCD1N & BRCA1 & !CHKREC
USP1, ((FANCD1N & FANCD2I) | PCNATLS) & !FANCM
KU, DSB & !(MRN | FANCD2I | CHKREC)
DNAPK, DSB & KU & !CHKREC
NHEJ, (DSB & DNAPK & KU & !(ATM & ATR)) | (DSB & DNAPK & XPF & !((FANCJBRCA1 & ssDNARPA) | CHKREC))
ATR, (ssDNARPA | FANCM | ATM) & !CHKREC
ATM, (ATR | DSB) & !CHKREC
p53, ((ATM & CHK2) | (ATR & CHK1) | DNAPK) & !CHKREC
CHK1, (ATM | ATR | DNAPK) & !CHKREC
CHK2, (ATM | ATR | DNAPK) & !CHKREC
H2AX, DSB & (ATM | ATR | DNAPK) & !CHKREC
CHKREC, ((PCNATLS | NHEJ | HRR) & !DSB) | !(NHEJ | ICL | PCNATLS | HRR | DSB | CHKREC | ADD)
"""


@functools.cache
def _model(rules: str) -> BnetModel:
    return parse_bnet(rules)


def _next_states(rules: str, X: BoolMatrix) -> BoolMatrix:
    return _model(rules).evaluate(X)


def mammalian() -> Problem:
    """Build the problem `mammalian`: all 1,024 states of the mammalian cell cycle and their successors."""
    model = _model(MAMMALIAN_RULES)
    return Problem(
        "mammalian",
        input_names=model.input_names,
        target_names=model.output_names,
        function=functools.partial(_next_states, MAMMALIAN_RULES),
        about="The mammalian cell cycle (Faure et al. 2006): the next state from the present one.",
    )


def fabrca(pool_seed: int = 0) -> Problem:
    """Build the problem `fabrca`: 1,024 distinct states of the FA/BRCA pathway, drawn from 2^28 with a seed."""
    if pool_seed < 0:
        raise SettingsError(f"pool_seed is {pool_seed}; it must be 0 or more.")
    model = _model(FABRCA_RULES)
    stream = np.random.PCG64(np.random.SeedSequence([int.from_bytes(b"fabrca", "little"), pool_seed]))
    return Problem(
        f"fabrca@{pool_seed}" if pool_seed else "fabrca",
        input_names=model.input_names,
        target_names=model.output_names,
        function=functools.partial(_next_states, FABRCA_RULES),
        pool=bits_of(draw_distinct(stream, FABRCA_POOL, len(model.input_names)), len(model.input_names)),
        about="The FA/BRCA DNA repair pathway (Rodriguez et al. 2012): the next state, from a pool of 1,024 states.",
    )


class Recording(NamedTuple):
    """The states of some genes at successive times."""

    genes: tuple[str, ...]
    states: BoolMatrix


def _recording(genes: str, states: str) -> Recording:
    return Recording(tuple(genes.split()), np.array([[sign == "1" for sign in state] for state in states.split()]))


YEAST = _recording(
    "start SK Cdc2/Cdc13 Ste9 Rum1 Slp1 Cdc2/Cdc13* Wee1/Mik1 Cdc25 PP",
    "1001100100 0101100100 0000000100 0010000100 0010000010 0010001010 0010011010 0000010011 0001100101 0001100100",
)
ECOLI = _recording("G1 G2 G3 G4 G5 G6 G7 G8 G9 G10", "1011001000 1011000001 1111010101 0101110111 0100110111 0100100111")


def fission_yeast_model(X: Any) -> BoolMatrix:
    """Compute the next state in the published fission yeast model (Davidich & Bornholdt 2008), of which `yeast` is a path.

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
    >>> from gradus.genes import YEAST_SERIES, fission_yeast_model
    >>> fission_yeast_model(YEAST_SERIES.states[:1]).astype(int)
    array([[0, 1, 0, 1, 1, 0, 0, 1, 0, 0]])
    """
    states = as_bits(X)
    if states.shape[1] != len(YEAST.genes):
        raise DataError(f"X has {states.shape[1]} columns, but the model has {len(YEAST.genes)} genes.")
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
    """Return 1 where the drive is positive, 0 where it is negative, and the present value where it is 0."""
    return np.where(drive == 0, present, drive > 0)


def _yeast_targets(X: BoolMatrix) -> BoolMatrix:
    return fission_yeast_model(X)[:, 1:]


def _transitions(name: str, recording: Recording, function: Function | None, about: str) -> Problem:
    """Make a problem of a recording in which no state occurs twice; a gene whose next value never changes is no target."""
    now, after = recording.states[:-1], recording.states[1:]
    varies = (after != after[0]).any(axis=0)
    targets = tuple(np.array(recording.genes)[varies].tolist())
    return Problem(
        name,
        input_names=recording.genes,
        target_names=targets,
        function=function,
        pool=now,
        targets=after[:, varies],
        about=about,
    )


def yeast() -> Problem:
    """Build the problem `yeast`: nine transitions of the fission yeast cell cycle; `evaluate` is the published model."""
    return _transitions("yeast", YEAST, _yeast_targets, "Fission yeast cell cycle: nine transitions of a time series.")


def ecoli() -> Problem:
    """Build the problem `ecoli`: five transitions of ten E. coli genes, without a model."""
    return _transitions("ecoli", ECOLI, None, "E. coli gene expression: five transitions of a time series.")
