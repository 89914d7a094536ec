"""`Progress`: the state of a long computation, one class for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gradus._core.wording import counted

__all__ = ["Callback", "Progress"]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """State of a long computation.

    Attributes
    ----------
    stage : str
        What is being done: "search", "sets", "teach", "tidy", "jobs", ...
    done, total : int, int or None
        Parts finished and parts in all (targets, lessons or jobs, depending on the stage); None if unknown.
    steps : int
        Steps of a search taken so far.
    restart : int
        How many times the search has started again.
    target : int or None
        Column of the target that is being worked on.
    cost : int or None
        The integer cost that a search minimises.
    errors, gates : int or None
        Examples still wrong and gates of the circuit so far.
    eta : float or None
        Seconds left, if known.
    detail : str
        Further information in a few words.

    Examples
    --------
    >>> Progress(stage="teach", done=2, total=6, errors=3).fraction
    0.3333333333333333
    """

    stage: str
    done: int = 0
    total: int | None = None
    steps: int = 0
    restart: int = 0
    target: int | None = None
    cost: int | None = None
    errors: int | None = None
    gates: int | None = None
    eta: float | None = None
    detail: str = ""

    @property
    def fraction(self) -> float | None:
        """Share of the parts that are finished; None if their number is not known."""
        return self.done / self.total if self.total else None

    def describe(self, names: Sequence[str] = ()) -> str:
        """Describe the state in one line, with these names for the targets.

        Examples
        --------
        >>> Progress(stage="teach", done=1, total=3, target=2, errors=4, gates=7, eta=12.3).describe(["a", "b", "c"])
        'teach: 1 of 3, c, 4 errors, 7 gates, about 12 s left'
        >>> Progress(stage="teach", total=1, errors=0, gates=0, detail="circuit 7 of 25").describe()
        'teach: 0 of 1, circuit 7 of 25'
        """
        parts = [f"{self.done:,} of {self.total:,}" if self.total else f"{self.done:,} done"]
        if self.target is not None:
            parts.append(names[self.target] if self.target < len(names) else f"target {self.target}")
        if self.done or self.errors or self.gates:  # before anything is learned there is nothing to count
            parts += [counted(self.errors, "error")] if self.errors is not None else []
            parts += [counted(self.gates, "gate")] if self.gates is not None else []
        parts += [self.detail] if self.detail else []
        parts += [f"about {self.eta:.0f} s left"] if self.eta is not None else []
        return f"{self.stage}: {', '.join(parts)}"


Callback: TypeAlias = Callable[[Progress], Any]
"""Called several times a second; returning True stops the work and keeps the best so far."""
