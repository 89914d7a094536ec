"""Rules for people: as if-then text, as rows of a table, and how many rows each covers and how often it is right there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.wording import counted
from gradus._tables.axes import Test
from gradus._tables.labels import TargetEncoding, output_parts
from gradus._tables.statements import Statement, alternatives

__all__ = ["COLUMNS", "Coverage", "coverage_of", "frame_rows", "how_shown", "if_then_text", "rule_coverage"]

WORDS = {" & ": " and ", " | ": " or ", " ^ ": " xor ", "0": "never", "1": "always"}
SHOWN = (
    "Shown is the smallest circuit whose rules are wrong on at most 1 % more of the rows not seen than those of the best, "
    "within one standard error"
)
PAIRS_SHOWN = "Shown is a circuit that compares classes in pairs: of rows not seen it gets clearly more right"
CHOOSE = "; --max-gates (max_gates=) chooses another. The vote predicts whichever is shown."
COLUMNS = ("statement", "rule", "columns", "conditions", "rows", "right")

Ints = npt.NDArray[np.int64]


def how_shown(targets: Sequence[TargetEncoding]) -> str:
    """Explain why the circuit that is shown was chosen."""
    return (PAIRS_SHOWN if any(target.pairs for target in targets) else SHOWN) + CHOOSE


class Coverage(NamedTuple):
    """Rows with a known label for which a rule holds, and those of them for which it is right."""

    rows: int
    right: int

    def __str__(self) -> str:
        if not self.rows:
            return "no row"
        return f"{counted(self.rows, 'row')}, {100 * self.right / self.rows:.0f} % right"


def rule_coverage(outputs: BoolMatrix, targets: Sequence[TargetEncoding], codes: Ints) -> dict[str, list[int]]:
    """Count, for each output, the rows for which it is true, and those of them for which it should be; by what it states."""
    found = {}
    for target, part, column in zip(targets, output_parts(targets), codes.T, strict=True):
        # Where an output may be either, it is neither right nor wrong.
        should = np.where((column >= 0)[:, np.newaxis], target.codewords[column], np.nan)
        for place, name in enumerate(target.statement_names):
            holds = outputs[:, part][:, place] & ~np.isnan(should[:, place])
            found[name] = [int(holds.sum()), int((should[holds, place] == 1).sum())]
    return found


def coverage_of(about: Mapping[str, Any], name: str) -> Coverage | None:
    """Return what was counted for a rule; None if nothing was, as for steps."""
    counts = about.get("coverage", {})
    entry = counts.get(name) if isinstance(counts, dict) else None
    if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(count, int) for count in entry):
        return None
    return Coverage(*entry)


def frame_rows(statements: Sequence[Statement], about: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield a row of `COLUMNS` for each rule."""
    for said in statements:
        cover = None if said.is_signal else coverage_of(about, said.name)
        right = cover.right / cover.rows if cover is not None and cover.rows else None
        yield said.name, said.text, ", ".join(said.columns), said.n_conditions, cover and cover.rows, right


def if_then_text(statements: Sequence[Statement], targets: Sequence[TargetEncoding], about: Mapping[str, Any]) -> str:
    """Write rules as lines of if and then, with what holds otherwise and the steps in the end."""
    rules = {said.name: said for said in statements}
    lines: list[str] = []
    for target in targets:
        for name in target.statement_names:
            cover = coverage_of(about, name)
            lines += _if_lines(rules[name], f"then {name}{'' if cover is None else f' ({cover})'}")
        lines += _otherwise(target)
    for said in statements:
        lines += _if_lines(said, f"then {said.name}") if said.is_signal else []
    return "\n".join(lines)


def _if_lines(said: Statement, then: str) -> list[str]:
    options = [_in_words(option) for option in alternatives(said.tokens)]
    return [f"{'if' if k == 0 else '   or'} {option}" for k, option in enumerate(options)] + [f"   {then}"]


def _in_words(pieces: Sequence[str | Test]) -> str:
    """Write pieces of a formula with words for operators."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += WORDS.get(piece, piece)
        else:
            text += f"not {piece.plain[1:]}" if piece.plain.startswith("!") else piece.plain
    return text


def _otherwise(target: TargetEncoding) -> list[str]:
    if len(target.classes) < 2:
        return []
    if target.pairs:
        return [f"{target.name} is the class that these comparisons make likeliest"]
    if target.n_outputs == 1:
        return [f"otherwise {target.name} = {target.classes[0]}"]
    return [f"where none or several hold: the likeliest {target.name} of such rows"]
