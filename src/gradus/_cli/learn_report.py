"""What `gradus learn` prints about a model: the score on rows not seen first, then errors, sizes and rules."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradus._circuit.gate_list import is_constant
from gradus._cli.console import WIDTH, note, percent, print_rule, print_table, printable
from gradus._core.cells import is_unknown
from gradus._core.wording import counted, listed
from gradus._tables.goals import GOALS
from gradus._tables.labels import encode_target, output_parts
from gradus._tables.measures import RARE, UNEVEN, rarest, said_of_goals, said_of_rare
from gradus._tables.readable_rules import coverage_of, how_shown

if TYPE_CHECKING:
    from gradus._tables.dataset import Dataset
    from gradus._tables.encoding import TableEncoding
    from gradus._tables.held_out import HeldOutScore, Learned

__all__ = ["LearnReport", "say_merged", "show_plan"]

RULE_LINES = 3  # longer rules are cut, and their other conditions counted
MOST_RULES = 16
MOST_COLUMNS, FEW_COLUMNS, LEAST_BITS = 20, 5, 0.005
"""Columns named as those that matter (or in a line of a plan), in tables of more than a few, and the bits that one saves."""
MOST_TELLING, MOST_MERGED = 3, 5
MOST_PLANNED = 60
"""Lines of a plan; of more columns only their kinds are counted, and those that matter are named at the end."""
METHOD_NAMES = {
    "model": "model",
    "circuit": "its circuit alone",
    "majority": "always the most frequent class",
    "tree": "decision tree",
    "forest": "random forest",
}


@dataclass(frozen=True, eq=False)
class LearnReport:
    """A model, and what is reported about it."""

    examples: Dataset
    learned: Learned

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        model, about = self.learned.model, self.learned.model.about
        network, targets = model.network, []
        for k, (target, part) in enumerate(zip(model.targets, output_parts(model.targets), strict=True)):
            column = self.examples.targets[target.name]
            known = column[~is_unknown(column)]
            cone = network.cone(range(part.start, part.stop))
            entry = {
                "name": target.name,
                "examples": len(known),
                "training_errors": about["errors"][k],
                "majority_errors": int((known != about["majority"][k]).sum()),
                "constant": about["constant"][k],
                "gates": int(cone[network.n_inputs :].sum()),
                "inputs": np.array(network.input_names)[cone[: network.n_inputs]].tolist(),
            }
            targets.append(entry)
        return {
            "held_out": None if self.learned.score is None else self.learned.score.to_json(),
            "converged": about["converged"],
            "stopped": about["stopped"],
            "order": about["order"],
            "gates": int((~is_constant(network.functions)).sum()),
            "circuits": len(model.networks),
            "seconds": round(self.learned.seconds, 3),
            "rows": self.examples.n_rows,
            "targets": targets,
            "rules": model.rules(),
            "size_curve": about["size_curve"],
        }

    def save_page(self, path: Path) -> None:
        """Write the page that shows the model, with the rows that it was learned from."""
        scores: dict[str, Any] = {}
        if self.learned.score is not None:
            for method, shares in self.learned.score.accuracy.items():
                scores[f"rows not seen, {METHOD_NAMES[method]}"] = shares
        learned_from = [1 - entry["training_errors"] / entry["examples"] for entry in self.document["targets"]]
        labels = np.column_stack([column.astype(object) for column in self.examples.targets.values()])
        scores["rows learned from"] = learned_from
        self.learned.model.save_page(path, table=self.examples.columns, labels=labels, scores=scores)

    def show(self, output: Path | None) -> None:
        """Print everything as text."""
        model, page = self.learned.model, None if output is None else output.with_suffix(".html")
        if self.learned.score is not None:
            self._show_score(self.learned.score)
        rows, wrong = [], 0
        for entry in self.document["targets"]:
            wrong += entry["training_errors"]
            errors, gates = [], "constant" if entry["constant"] else str(entry["gates"])
            for count in (entry["training_errors"], entry["majority_errors"]):
                errors.append(f"{count} ({percent(count / entry['examples'])})" if count else "0")
            rows.append([entry["name"], *errors, gates, str(len(entry["inputs"]))])
        print_table(["target", "training errors", "errors of a constant", "gates", "inputs"], rows)
        self._show_sizes()
        for said in model.statements[:MOST_RULES]:
            cover = None if said.is_signal else coverage_of(model.about, said.name)
            tail = "" if cover is None else f"  ({cover})"
            print_rule(f"{said.name}: {said.cut(RULE_LINES * (WIDTH - 6) - len(said.name) - len(tail))}{tail}")
        if len(model.statements) > MOST_RULES:
            where = "" if page is None else f", all in {page}"
            print(f"… and {counted(len(model.statements) - MOST_RULES, 'more rule')}{where}")
        for line in self._columns_that_matter():
            print(textwrap.fill(printable(line), WIDTH))
        for line in self._telling_columns():
            print(printable(line))
        if len(self.document["order"]) > 1:
            print(printable(f"taught in the order {listed(self.document['order'])}"))
        right = "every example is right" if not wrong else f"{counted(wrong, 'training error')} left"
        more = len(model.networks) - 1
        votes = f", and {counted(more, 'more circuit')} {'votes' if more == 1 else 'vote'}" if more else ""
        print(f"{right}; {counted(self.document['gates'], 'gate')}{votes}; {self.learned.seconds:.1f} s")
        if output is not None:
            print(f"wrote {output}, and {page} to look at")

    def _show_sizes(self) -> None:
        """Print how good circuits of other sizes are, and why this one is shown."""
        curve = self.document["size_curve"]
        if len(curve) < 2:
            return
        rows = []
        for size in curve:
            known = size["accuracy"] is not None
            accuracy = percent(size["accuracy"]) if known else ""
            rows.append([str(size["gates"]), str(size["conditions"]), accuracy, "shown" if size["shown"] else ""])
        print_table(["gates", "conditions", "accuracy on rows not seen", ""], rows, title="rules from the vote")
        print(textwrap.fill(how_shown(self.learned.model.targets), WIDTH))

    def _show_score(self, score: HeldOutScore) -> None:
        """Print how often the model is right on rows that it has not seen, beside others, and the conclusion."""
        n_targets = len(self.examples.targets)
        mean = f", mean of {n_targets} targets" if n_targets > 1 else ""
        methods = [m for m in score.accuracy if m != "circuit" or len(self.learned.model.networks) > 1]
        others = [f"{METHOD_NAMES[m]} {percent(score.mean(m))}" for m in methods if m != "model"]
        if score.compared_rows:
            others[-1] += f", these of {score.compared_rows:,} rows"
        print(f"accuracy on {counted(score.rows, 'row')} not seen{mean}: {percent(score.mean('model'))}")
        print(textwrap.fill(f"({', '.join(others)})", WIDTH))
        print(score.verdict)
        for line in self._rare_classes(score):
            print(printable(line))
        if n_targets > 1:
            columns = [map(percent, score.accuracy[method]) for method in methods]
            print_table(["accuracy on rows not seen", *methods], zip(self.examples.targets, *columns, strict=True))

    def _columns_that_matter(self) -> list[str]:
        """Name the columns that save most bits on rows not seen."""
        saved = self.learned.model.about.get("importances", {})
        most = sorted((name for name in saved if saved[name] >= LEAST_BITS), key=lambda name: -saved[name])[:MOST_COLUMNS]
        if len(self.examples.columns) <= FEW_COLUMNS or not most:
            return []
        named = ", ".join(f"{name} {saved[name]:.2f}" for name in most)
        return [f"columns that matter, with the bits per row that each saves: {named}"]

    def _telling_columns(self) -> list[str]:
        """Point out columns that decide a target alone, as those do that are only known afterwards."""
        told = self.learned.model.about.get("telling", [])
        return [
            f"{entry['says']!r} alone says all about {entry['target']!r}: is it known beforehand? "
            f"If not, leave it out: --types {entry['column']}=drop"
            for entry in told[:MOST_TELLING]
        ]

    def _rare_classes(self, score: HeldOutScore) -> list[str]:
        """Print more than the accuracy where classes are uneven, and where one is rare, what other goals would give."""
        model, lines = self.learned.model, []
        unseen = model.about.get("unseen", [{}] * len(model.targets))
        for target, by_method, by_goal in zip(model.targets, score.measures, unseen, strict=False):
            codes = encode_target(self.examples.targets[target.name], target.name)[2]
            rare, share = rarest(codes, len(target.classes))
            if share >= UNEVEN or len(target.classes) < 2:
                continue
            named = {METHOD_NAMES[method]: values for method, values in by_method.items()}
            lines += said_of_rare(target, rare, share, named)
            if share < RARE and model.goal in by_goal:
                lines += said_of_goals(model.goal, {goal: by_goal[goal] for goal in GOALS})
        return lines


def say_merged(examples: Dataset) -> None:
    """Print which spellings of labels count as one."""
    for name, changed in examples.merged.items():
        said = ", ".join(f"{old!r} for {new!r}" for old, new in list(changed.items())[:MOST_MERGED])
        note(f"{name}: takes {said}; --types {name}=exact tells them apart")


def show_plan(features: TableEncoding) -> None:
    """Print what becomes of each column, unless all are 0/1; columns treated alike share a line."""
    if features.is_plain:
        return
    fates: dict[str, list[str]] = {}
    for column, line in zip(features.columns, features.plan(), strict=True):
        fates.setdefault(line.removeprefix(f"{column.name}: "), []).append(column.name)
    if len(fates) > MOST_PLANNED:
        kinds: Counter[str] = Counter()
        for fate, names in fates.items():
            kinds[fate.split(",")[0].split(";")[0]] += len(names)
        note(f"{len(features.columns):,} columns: {', '.join(f'{count:,} {kind}' for kind, count in kinds.most_common())}")
        fates = {}
    for fate, names in fates.items():
        named, left = ", ".join(names[:MOST_COLUMNS]), len(names) - MOST_COLUMNS
        note(f"{named}{f' and {left:,} more' if left > 0 else ''}: {fate}")
    if any(column.kind in ("above", "after") for column in features.columns):
        note("Where several circuits vote, each of them may cut elsewhere.")
