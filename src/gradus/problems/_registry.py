"""`load`: problems by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from gradus.errors import UnknownProblemError
from gradus.problems._circuits import FAMILIES, alu74181
from gradus.problems._gene_networks import ecoli, fabrca, mammalian, yeast
from gradus.problems._problem import Problem
from gradus.problems._textbook_circuits import CIRCUITS

__all__ = ["families", "further", "load", "names"]

PAPER_SIZES = ("cpar7", "cmaj9", "sub5", "add6", "cmux15")
SINGLE: dict[str, Callable[[], Problem]] = {
    "alu74181": alu74181,
    "mammalian": mammalian,
    "fabrca": fabrca,
    "yeast": yeast,
    "ecoli": ecoli,
}
SIZED = re.compile(r"([a-z]+)(0|[1-9][0-9]{0,29})", re.ASCII)  # absurd sizes match too, to be refused as too large
POOLED = re.compile(r"fabrca@(0|[1-9][0-9]{0,8})", re.ASCII)


def names() -> tuple[str, ...]:
    """Return the names of the ten problems of the paper; `load` also has the first five in other sizes.

    Examples
    --------
    >>> names()
    ('cpar7', 'cmaj9', 'sub5', 'add6', 'cmux15', 'alu74181', 'mammalian', 'fabrca', 'yeast', 'ecoli')
    """
    return (*PAPER_SIZES, *SINGLE)


def families() -> tuple[str, ...]:
    """Return the families of problems that exist in every size; a problem's name is family and size.

    Examples
    --------
    >>> families()
    ('cpar', 'cmaj', 'sub', 'add', 'cmux')
    """
    return tuple(FAMILIES)


def further() -> tuple[str, ...]:
    """Return the names of further small circuits on which learners are compared; the paper does not have them.

    Examples
    --------
    >>> "popcount7" in further(), load("popcount7").about
    (True, 'How many of seven inputs are 1, as a number of three bits.')
    """
    return tuple(CIRCUITS)


def load(name: str) -> Problem:
    """Load a problem by name.

    Parameters
    ----------
    name : str
        One of `names` or `further`, a family and a size (``add10``, ``cpar12``, ``cmaj15``, ``cmux31``), or ``fabrca@7`` for a
        pool drawn with another seed.

    Returns
    -------
    Problem

    Raises
    ------
    UnknownProblemError
        If there is no such problem; the message lists the known ones.

    Examples
    --------
    >>> load("add6")
    Problem('add6', 12 inputs, 6 targets, 4096 patterns)
    >>> load("ad6")
    Traceback (most recent call last):
        ...
    gradus.errors.UnknownProblemError: there is no problem 'ad6'; did you mean 'add6'? There are cpar7, cmaj9, sub5, ...
    """
    if not isinstance(name, str):
        raise UnknownProblemError(f"a problem's name is text, not {type(name).__name__}.")
    if name in SINGLE:
        return SINGLE[name]()
    if name in CIRCUITS:
        return CIRCUITS[name].problem(name)
    sized = SIZED.fullmatch(name)
    if sized and sized[1] in FAMILIES:
        return FAMILIES[sized[1]].problem(int(sized[2]))
    pooled = POOLED.fullmatch(name)
    if pooled:
        return fabrca(int(pooled[1]))
    close = difflib.get_close_matches(name.lower()[:40], (*names(), *further()), n=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else "."
    kinds = ", ".join(f"{family}N" for family in families())
    known = ", ".join((*names(), *further()))
    raise UnknownProblemError(f"there is no problem {name[:40]!r}{hint} There are {known}; and {kinds} for any size N.")
