"""Two published Boolean models of cells, written as `.bnet` rules: the mammalian cell cycle and the FA/BRCA pathway."""

from __future__ import annotations

import functools

import numpy as np

from gradus._bits import BoolMatrix
from gradus._formats.bnet_reader import BnetModel, parse_bnet
from gradus.errors import SettingsError
from gradus.problems._problem import Problem, bits_of, draw_distinct

__all__ = ["FABRCA_POOL", "FABRCA_RULES", "MAMMALIAN_RULES", "fabrca", "mammalian"]

FABRCA_POOL = 1024

# Faure et al. 2006. CycD never changes: an input and not a target.
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


def _mammalian_next(X: BoolMatrix) -> BoolMatrix:
    return _model(MAMMALIAN_RULES).evaluate(X)


def _fabrca_next(X: BoolMatrix) -> BoolMatrix:
    return _model(FABRCA_RULES).evaluate(X)


def mammalian() -> Problem:
    """Build the problem `mammalian`: all 1,024 states of the mammalian cell cycle and what follows them.

    Examples
    --------
    >>> mammalian().target_names
    ('Rb', 'E2F', 'CycE', 'CycA', 'p27', 'Cdc20', 'Cdh1', 'UbcH10', 'CycB')
    """
    model = _model(MAMMALIAN_RULES)
    return Problem(
        "mammalian",
        input_names=model.input_names,
        target_names=model.output_names,
        function=_mammalian_next,
        about="The mammalian cell cycle (Faure et al. 2006): the next state from the present one.",
    )


def fabrca(pool_seed: int = 0) -> Problem:
    """Build the problem `fabrca`: 1,024 distinct states of the FA/BRCA pathway, drawn out of 2^28 by a seed.

    Parameters
    ----------
    pool_seed : int
        0 is the problem named `fabrca`; seed s is also ``load("fabrca@s")``.

    Examples
    --------
    >>> fabrca()
    Problem('fabrca', 28 inputs, 28 targets, 1024 patterns)
    """
    if pool_seed < 0:
        raise SettingsError(f"pool_seed is {pool_seed}; it must be 0 or more.")
    model = _model(FABRCA_RULES)
    stream = np.random.PCG64(np.random.SeedSequence([int.from_bytes(b"fabrca", "little"), pool_seed]))
    return Problem(
        f"fabrca@{pool_seed}" if pool_seed else "fabrca",
        input_names=model.input_names,
        target_names=model.output_names,
        function=_fabrca_next,
        pool=bits_of(draw_distinct(stream, FABRCA_POOL, len(model.input_names)), len(model.input_names)),
        about="The FA/BRCA DNA repair pathway (Rodriguez et al. 2012): the next state, from a pool of 1,024 states.",
    )
