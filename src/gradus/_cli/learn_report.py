"""What `gradus learn` says about a model: the score on rows not seen first, then errors, sizes and rules."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradus._cli.console import WIDTH, error_share, percent, print_rule, print_table, printable
from gradus._core.cells import is_unknown
from gradus._core.wording import counted
from gradus._tables.labels import output_parts

if TYPE_CHECKING:
    from gradus._tables.dataset import Dataset
    from gradus._tables.held_out import HeldOutScore
    from gradus._tables.model import Model

__all__ = ["LearnReport"]

RULE_LINES = 3  # longer rules are cut, and their other conditions counted
MOST_RULES = 16
SHOWN_ORDER = 48  # characters of the targets in the order in which they were taught; the others are counted
METHOD_NAMES = {
    "model": "model",
    "circuit": "its circuit alone",
    "majority": "always the majority",
    "tree": "decision tree",
    "forest": "random forest",
}


@dataclass(frozen=True, eq=False)
class LearnReport:
    """A model, and what there is to say about it."""

    examples: Dataset
    model: Model
    seconds: float
    score: HeldOutScore | None

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        model, about = self.model, self.model.about
        return {
            "held_out": None if self.score is None else self.score.to_json(),
            "converged": about["converged"],
            "stopped": about["stopped"],
            "order": about["order"],
            "gates": model.network.n_gates,
            "circuits": len(model.networks),
            "seconds": round(self.seconds, 3),
            "rows": self.examples.n_rows,
            "targets": [self._target(k) for k in range(len(model.targets))],
            "rules": model.rules(),
        }

    def _target(self, k: int) -> dict[str, Any]:
        model, about = self.model, self.model.about
        target = model.targets[k]
        column = self.examples.targets[target.name]
        known = column[~is_unknown(column)]
        part = output_parts(model.targets)[k]
        cone = model.network.cone(range(part.start, part.stop))
        return {
            "name": target.name,
            "examples": len(known),
            "training_errors": about["errors"][k],
            "majority_errors": int((known != about["majority"][k]).sum()),
            "constant": about["constant"][k],
            "gates": int(cone[model.network.n_inputs :].sum()),
            "inputs": [name for name, used in zip(model.network.input_names, cone, strict=False) if used],
        }

    def save_page(self, path: Path) -> None:
        """Write the page that shows the model, with the rows that it was learned from."""
        entries = self.document["targets"]
        scores: dict[str, list[float]] = {}
        if self.score is not None:
            scores |= {
                f"rows not seen, {METHOD_NAMES[method]}": list(shares) for method, shares in self.score.accuracy.items()
            }
        scores["rows learned from"] = [1 - entry["training_errors"] / entry["examples"] for entry in entries]
        labels = np.array([column.tolist() for column in self.examples.targets.values()], dtype=object).T
        self.model.save_page(path, table=self.examples.columns, labels=labels, scores=scores)

    def show(self, output: Path | None) -> None:
        """Print everything as text."""
        if self.score is not None:
            self._show_score(self.score)
        headings = ["target", "training errors", "errors of the majority", "gates", "inputs"]
        print_table(headings, [self._row(entry) for entry in self.document["targets"]])
        said = self.model.statements
        for one in said[:MOST_RULES]:
            print_rule(f"{one.name}: {one.cut(RULE_LINES * (WIDTH - 6) - len(one.name))}")
        if len(said) > MOST_RULES:
            where = "" if output is None else f", all in {output.with_suffix('.html')}"
            print(f"… and {counted(len(said) - MOST_RULES, 'more rule')}{where}")
        if len(self.document["order"]) > 1:
            print(printable(f"taught in the order {_shortened(self.document['order'])}"))
        wrong = sum(entry["training_errors"] for entry in self.document["targets"])
        right = "every example is right" if not wrong else f"{counted(wrong, 'training error')} left"
        more = len(self.model.networks) - 1
        votes = f", and {counted(more, 'more circuit')} {'votes' if more == 1 else 'vote'}" if more else ""
        print(f"{right}; {counted(self.document['gates'], 'gate')}{votes}; {self.seconds:.1f} s")
        if output is not None:
            print(f"wrote {output}, and {output.with_suffix('.html')} to look at")

    def _show_score(self, score: HeldOutScore) -> None:
        """Say how often the model is right on rows that it has not seen, beside others, and what follows."""
        n_targets = len(self.examples.targets)
        mean = f", mean of {n_targets} targets" if n_targets > 1 else ""
        methods = [m for m in score.accuracy if m != "circuit" or len(self.model.networks) > 1]
        others = ", ".join(f"{METHOD_NAMES[m]} {percent(score.mean(m))}" for m in methods if m != "model")
        print(f"accuracy on {counted(score.rows, 'row')} not seen{mean}: {percent(score.mean('model'))}")
        print(textwrap.fill(f"({others})", WIDTH))
        print(score.verdict)
        if n_targets > 1:
            rows = [
                [name, *(percent(score.accuracy[method][k]) for method in methods)]
                for k, name in enumerate(self.examples.targets)
            ]
            print_table(["accuracy on rows not seen", *methods], rows)

    def _row(self, entry: dict[str, Any]) -> list[str]:
        return [
            entry["name"],
            error_share(entry["training_errors"], entry["examples"]),
            error_share(entry["majority_errors"], entry["examples"]),
            "constant" if entry["constant"] else str(entry["gates"]),
            str(len(entry["inputs"])),
        ]


def _shortened(names: list[str]) -> str:
    """List names as far as there is room, and count the others."""
    shown = [name for k, name in enumerate(names) if not k or len(", ".join(names[: k + 1])) <= SHOWN_ORDER]
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return ", ".join(shown) + more
