"""The cases that the search is measured on."""

from __future__ import annotations

from dataclasses import dataclass

from gradus._core.bits import BoolMatrix
from gradus.errors import SettingsError
from gradus.problems import load

__all__ = ["CASES", "GPU_CASES", "Case", "find_cases"]


@dataclass(frozen=True)
class Case:
    """A problem with a number of examples."""

    problem: str
    examples: int
    history: int = 250
    published: float | None = None
    """Million steps per CPU second of the code published with the paper, measured on another machine."""

    @property
    def name(self) -> str:
        """Name of the case, such as ``add6/80``."""
        return f"{self.problem}/{self.examples}"

    def training_set(self, sample: int) -> tuple[BoolMatrix, BoolMatrix]:
        """Return the inputs and targets of one training set."""
        X, Y, _, _ = load(self.problem).examples(self.examples, sample, n_test=1)
        return X, Y


CASES = (
    Case("cpar7", 64, history=1000, published=0.32),
    Case("add6", 80, published=0.31),
    Case("add6", 208, published=0.28),
    Case("add6", 384),
    Case("cmux15", 96, published=0.31),
    Case("alu74181", 128, published=0.30),
    Case("fabrca", 48, published=0.20),
    Case("add10", 100_000),
)
GPU_CASES = tuple(case for case in CASES if case.name not in ("add10/100000", "add6/208"))


def find_cases(names: list[str] | None, among: tuple[Case, ...] = CASES) -> tuple[Case, ...]:
    """Return the cases with these names, or all of them."""
    by_name = {case.name: case for case in among}
    for name in names or ():
        if name not in by_name:
            raise SettingsError(f"there is no case {name!r}; choose from {', '.join(by_name)}.")
    return tuple(by_name[name] for name in names) if names else among
