"""What a statement is: its number, the paper's value and ours, what it rests on, and a verdict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradus_paper import estimates as est
from gradus_paper.results import Results

COUNTED = {
    est.HOLDS: ("holds", "hold"), est.CLOSE: ("is close", "are close"),
    est.DIRECTION: ("is confirmed in direction", "are confirmed in direction"),
    est.UNDECIDED: ("is undecided", "are undecided"), est.DOES_NOT_HOLD: ("does not hold", "do not hold"),
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """One statement and its verdict."""

    number: str  # Such as "1a": statements with the same number are one claim about several problems
    statement: str
    paper: str  # the paper's value
    ours: str  # ours, with its interval and the number of observations
    verdict: str  # one of `gradus_paper.estimates.VERDICTS`
    rests_on: str = ""  # training sets behind it, where that is not the n of the value

    @property
    def training_sets(self) -> str:
        """Training sets behind the statement: the fewest of any of its values."""
        counts = [int(n) for n in re.findall(r"n = ([0-9]+)", self.ours)]
        return self.rests_on or (f"{min(counts):,}" if counts else "")


def verdict_counts(claims: Sequence[Claim]) -> str:
    """Write how many statements have each verdict, leaving out verdicts that none has."""
    counts = Counter(claim.verdict for claim in claims)
    return ", ".join(f"{counts[word]} {COUNTED[word][counts[word] > 1]}" for word in est.VERDICTS if counts[word])


def numbered(results: Results, claims: Sequence[Callable[[Results], est.Statements]], prefix: str = "") -> list[Claim]:
    """Check claims one after the other and number their statements: those of one claim share a number."""
    found: list[Claim] = []
    for number, claim in enumerate(claims, start=1):
        statements = list(claim(results))
        letters = [""] if len(statements) == 1 else [chr(ord("a") + k) for k in range(len(statements))]
        found += [Claim(f"{prefix}{number}{letter}", *facts) for letter, facts in zip(letters, statements, strict=True)]
    return found
