"""Plans: the tasks of an experiment, with every setting resolved; kept beside the results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gradus._core.files import make_folder, read_guard, read_text, write_text_whole
from gradus.errors import FormatError, StoreError
from gradus_paper.tasks import Design, Task, in_running_order

__all__ = ["MOST_SAMPLES", "MOST_TASKS", "Block", "Plan", "load_plans", "save_plan"]

FOLDER = "plans"
FORMAT = "gradus-plan"
VERSION = 1
MOST_SAMPLES = 10_000_000
MOST_TASKS = 50_000_000
"""Per block."""


@dataclass(frozen=True)
class Block:
    """Tasks of several designs, training sizes, samples and repetitions, in all combinations."""

    designs: tuple[Design, ...]
    sizes: tuple[int, ...]
    samples: tuple[int, ...]
    """Numbers of the training sets; with leave-one-out, the patterns left out."""
    repeats: int = 1

    def __len__(self) -> int:
        return len(self.designs) * len(self.sizes) * len(self.samples) * self.repeats

    def tasks(self) -> Iterator[Task]:
        """Yield every task, in no particular order."""
        for design in self.designs:
            for size in self.sizes:
                for sample in self.samples:
                    for repeat in range(self.repeats):
                        yield Task(design, size, sample, repeat)

    def at_most(self, samples: int) -> Block:
        """Keep at most this many training sets; with leave-one-out, at most this many networks per fold."""
        if any(design.draw == "leave-one-out" for design in self.designs):
            return replace(self, repeats=min(self.repeats, samples))
        return replace(self, samples=self.samples[:samples])


@dataclass(frozen=True)
class Plan:
    """An experiment ready to run."""

    name: str
    title: str
    about: str = ""
    figures: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    as_published: bool = False
    parts: tuple[Plan, ...] = ()
    """Plans that this one is made of."""
    cpu_seconds_per_task: float | None = None
    """Measured mean, from which the time left is estimated before anything is done."""

    def tasks(self) -> list[Task]:
        """Return every task once, in the order to run them in."""
        return in_running_order(self._all())

    def _all(self) -> Iterator[Task]:
        for block in self.blocks:
            yield from block.tasks()
        for part in self.parts:
            yield from part._all()

    def designs(self) -> set[Design]:
        """Return every design that occurs."""
        own = {design for block in self.blocks for design in block.designs}
        return own.union(*(part.designs() for part in self.parts))

    def problems(self, *, as_published: bool) -> set[str]:
        """Return the problems with the settings of the published configuration files, or those with other settings."""
        own = {design.problem for block in self.blocks for design in block.designs if self.as_published == as_published}
        return own.union(*(part.problems(as_published=as_published) for part in self.parts))

    def figure_plans(self) -> Iterator[tuple[str, Plan]]:
        """Yield each figure to draw, with the plan whose rows it shows."""
        for name in self.figures:
            yield name, self
        for part in self.parts:
            yield from part.figure_plans()

    def at_most(self, samples: int) -> Plan:
        """Keep at most this many samples per point."""
        return replace(
            self,
            blocks=tuple(block.at_most(samples) for block in self.blocks),
            parts=tuple(part.at_most(samples) for part in self.parts),
        )

    def to_json(self) -> str:
        """Return the text that `save_plan` writes."""
        return json.dumps({"format": FORMAT, "version": VERSION, **_plain(self)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read the text that `to_json` returned; callers that read it from a file do so inside `read_guard`."""
        document = json.loads(text)
        if document.pop("format") != FORMAT or document.pop("version") != VERSION:
            raise FormatError("was written by another version of Gradus.")
        return _plan_from(document)


def _plain(plan: Plan) -> dict[str, Any]:
    values = {key: value for key, value in asdict(plan).items() if key not in ("blocks", "parts")}
    values["blocks"] = [
        {
            "designs": [design.identity for design in block.designs],
            "sizes": block.sizes,
            # 0, 1, … n-1 are written as n.
            "samples": len(block.samples) if block.samples == tuple(range(len(block.samples))) else block.samples,
            "repeats": block.repeats,
        }
        for block in plan.blocks
    ]
    values["parts"] = [_plain(part) for part in plan.parts]
    return values


def _plan_from(document: dict[str, Any]) -> Plan:
    return Plan(
        name=str(document["name"]),
        title=str(document["title"]),
        about=str(document["about"]),
        figures=tuple(map(str, document["figures"])),
        blocks=tuple(_block_from(block) for block in document["blocks"]),
        as_published=bool(document["as_published"]),
        parts=tuple(_plan_from(part) for part in document["parts"]),
        cpu_seconds_per_task=document.get("cpu_seconds_per_task"),
    )


def _block_from(document: dict[str, Any]) -> Block:
    samples = document["samples"]
    if isinstance(samples, int):
        if samples > MOST_SAMPLES:
            raise FormatError(f"a block has {samples} samples; the most is {MOST_SAMPLES:,}.")
        samples = range(samples)
    block = Block(
        tuple(Design.from_identity(identity) for identity in document["designs"]),
        tuple(map(int, document["sizes"])),
        tuple(map(int, samples)),
        int(document["repeats"]),
    )
    if len(block) > MOST_TASKS:
        raise FormatError(f"a block has {len(block):,} tasks; the most is {MOST_TASKS:,}.")
    return block


def save_plan(plan: Plan, folder: Path) -> None:
    """Keep a plan beside its results, so that status and report know what belongs to it."""
    make_folder(folder / FOLDER)
    write_text_whole(folder / FOLDER / f"{plan.name}.json", plan.to_json())


def load_plans(folder: Path) -> list[Plan]:
    """Read every plan in a results folder."""
    paths = sorted((folder / FOLDER).glob("*.json"))
    if not paths:
        raise StoreError(f"there are no results in {folder}: run 'gradus reproduce quick -o {folder}' first.")
    plans = []
    for path in paths:
        with read_guard(path, "a plan of this version of Gradus"):
            plans.append(Plan.from_json(read_text(path)))
    return plans
