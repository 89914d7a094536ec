"""The settings of a school, and its result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._lessons.gate_list import GateList

__all__ = ["SchoolPlan", "Taught"]


class SchoolPlan(NamedTuple):
    """Settings of a school."""

    order: tuple[int, ...] | None
    """None: self-paced."""
    exact: bool | None
    """Whether errors are forbidden; None: as the examples suggest."""
    n_tries: int = 3
    cheap_try: int = 200_000_000
    """Work of a fit up to which lessons get all the tries; in harder ones time is better spent on tidying."""
    width: int = 8
    """Targets that are tried in one lesson."""
    contenders: int = 1
    """Targets of a lesson that get all the tries."""
    first_rounds: int = 6
    """Rounds of fits in the first lesson; each further lesson has one more, up to `rounds`."""
    rounds: int = 7
    """Each round gives the fits of a lesson four times the work of the one before."""
    doubt: float = 33.0
    """How strong the evidence of noise must be before errors are tolerated, see `School._in_doubt`."""
    few: int = 4
    trust: float = 0.1
    """By how much of itself the doubt must grow for each target taught exactly beyond these few."""
    least_saving: float = 2.5
    """What tolerance must save at least, in square roots of the length of the exact circuit (both in bits)."""
    margin: int = 4 * 1024
    """What a circuit must save over a constant, in 1024ths of a bit."""


class Taught(NamedTuple):
    """The result of a school; everything but `order` is in the order of the columns."""

    circuit: GateList
    errors: npt.NDArray[np.int64]
    order: tuple[int, ...]
    length: int
    """Description length in 1024ths of a bit."""
    n_gates: int
    tolerant: bool
    unsolved: bool
    """Whether errors are left although nothing suggests wrong labels: another start may avoid them."""
    work: int
    """Attempts made, each weighted with the size of its examples and nodes: how long it took, without a clock."""
