"""`Study`: the tasks of an experiment and the figures that show them; a study of your own is a Python file that makes one."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import json
import runpy
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from gradus.errors import FormatError, GradusError, SettingsError, StoreError
from gradus.lab import Settings, files
from gradus_paper.orders import check_order
from gradus_paper.tasks import Design, Task, in_running_order
from gradus_paper.training_sets import name_of, problem_of, target_columns

FOLDER = "studies"
FORMAT = "gradus-study-1"
MOST_SAMPLES = 10_000_000
MOST_TASKS = 50_000_000  # per block
SETTINGS = tuple(field.name for field in fields(Settings))


@dataclass(frozen=True)
class Block:
    """Tasks of several designs, training sizes, samples and repetitions, in all combinations."""

    designs: tuple[Design, ...]
    sizes: tuple[int, ...]
    samples: tuple[int, ...]  # numbers of the training sets; with leave-one-out, the patterns left out
    repeats: int = 1
    published: Block | None = None
    """The same with the settings of the paper's configuration files, where its text says something else."""

    def __post_init__(self) -> None:
        for name, numbers, least in (("sizes", self.sizes, 1), ("samples", self.samples, 0), ("repeats", [self.repeats], 1)):
            if not numbers or not all(type(number) is int and least <= number <= MOST_SAMPLES for number in numbers):
                raise SettingsError(f"{name} must be whole numbers from {least} to {MOST_SAMPLES:,}.")
        if len(self) > MOST_TASKS:
            raise SettingsError(f"a block has {len(self):,} tasks; the most is {MOST_TASKS:,}.")

    def __len__(self) -> int:
        return len(self.designs) * len(self.sizes) * len(self.samples) * self.repeats

    def tasks(self) -> Iterator[Task]:
        """Yield every task, in no particular order."""
        for design, size, sample in itertools.product(self.designs, self.sizes, self.samples):
            for repeat in range(self.repeats):
                yield Task(design, size, sample, repeat)

    def at_most(self, samples: int) -> Block:
        """Keep at most this many training sets; with leave-one-out, at most this many networks per fold."""
        if any(design.draw == "leave-one-out" for design in self.designs):
            return replace(self, repeats=min(self.repeats, samples))
        return replace(self, samples=self.samples[:samples])

    def check(self) -> None:
        """Raise `SettingsError` for tasks that cannot be run, before hours are spent on the others."""
        for design in self.designs:
            problem = problem_of(design.problem)
            n_targets = len(target_columns(problem, design.targets))
            check_order(design.order, n_targets, name_of(design.problem), known=problem.known_order is not None)
            if max(self.sizes) > problem.n_patterns:
                only = f"there are only {problem.n_patterns} patterns of {name_of(design.problem)!r} to draw from"
                raise SettingsError(f"sizes has {max(self.sizes)}, but {only}.")


@dataclass(frozen=True)
class Study:
    """An experiment: blocks of tasks, other studies that are part of it, and figures."""

    title: str
    blocks: Sequence[Block] = ()
    about: str = ""
    figures: Sequence[str] | None = None  # names of figures; if not given, the figure "accuracy" of the study's own blocks
    parts: Sequence[Study] = ()  # studies that this one is made of
    as_published: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("blocks", "parts"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        figures = self.figures if self.figures is not None else ["accuracy"] if self.blocks else []
        object.__setattr__(self, "figures", tuple(figures))

    def all_blocks(self) -> Iterator[Block]:
        """Yield the blocks of the study and of its parts."""
        yield from self.blocks
        for part in self.parts:
            yield from part.all_blocks()

    def tasks(self) -> list[Task]:
        """Return every task once, in the order to run them in."""
        return in_running_order(task for block in self.all_blocks() for task in block.tasks())

    def designs(self) -> set[Design]:
        """Return every design that occurs."""
        return {design for block in self.all_blocks() for design in block.designs}

    def problems(self, *, as_published: bool) -> set[str]:
        """Return the problems with the settings of the published configuration files, or those with other settings."""
        own = {design.problem for block in self.blocks for design in block.designs if self.as_published == as_published}
        return own.union(*(part.problems(as_published=as_published) for part in self.parts))

    def figure_studies(self) -> Iterator[tuple[str, Study]]:
        """Yield each figure to draw, with the study whose rows it shows."""
        yield from ((name, self) for name in self.figures or ())
        for part in self.parts:
            yield from part.figure_studies()

    def at_most(self, samples: int) -> Study:
        """Keep at most this many samples per point."""
        blocks = (block.at_most(samples) for block in self.blocks)
        return replace(self, blocks=tuple(blocks), parts=tuple(part.at_most(samples) for part in self.parts))

    def published(self) -> Study:
        """Return the study with the settings of the paper's configuration files where its text says something else."""
        blocks = tuple(block.published or block for block in self.blocks)
        return replace(self, blocks=blocks, parts=tuple(part.published() for part in self.parts), as_published=True)


def grid(
    problem: str | Sequence[str], sizes: Iterable[int], samples: int, *,
    repeats: int = 1, published: Mapping[str, Any] | None = None, **axes: Any,
) -> Block:  # fmt: skip
    """Return all combinations of problems, methods and settings, each on training sets 0, 1, … of every size.

    Parameters
    ----------
    problem : str or sequence of str
        Names of problems, or what `own_table` returns.
    sizes : iterable of int
        Numbers of training examples.
    samples, repeats : int
        Training sets per size, and searches per training set.
    published : mapping, optional
        Arguments that differ in the paper's published configuration files.
    **axes
        A value or a list of values for ``method``, ``order``, ``shuffle``, ``noise``, ``tolerance`` and each setting of
        `gradus.search` (``loss``, ``gates_per_target``, ``history``, ``max_iter``, ``n_restarts``, ``time_limit``); also
        ``targets``.

    Examples
    --------
    >>> len(grid("add3", range(8, 33, 8), 10, loss=["l1", "lgh"]))
    80
    """
    designs = _designs(_listed(problem), **axes)
    block = Block(designs, tuple(sorted(set(sizes))), tuple(range(_count(samples))), repeats)
    if published is None:
        return block
    changed = {**axes, "sizes": block.sizes, "samples": samples, "repeats": repeats, **published}
    return replace(block, published=grid(problem, **changed))


def leave_one_out(
    problem: str, folds: Iterable[int] | None = None, *, repeats: int, published: Mapping[str, Any] | None = None, **axes: Any
) -> Block:
    """Return tasks that train on all patterns but one, for each pattern or for those given."""
    known = problem_of(problem)
    if known.is_lazy:
        raise SettingsError(f"problem {problem!r} has too many patterns to leave each out once; use grid.")
    left_out = tuple(range(known.n_patterns) if folds is None else folds)
    if left_out and not 0 <= min(left_out) <= max(left_out) < known.n_patterns:
        raise SettingsError(f"pattern {max(left_out)} is to be left out, but the patterns are 0 to {known.n_patterns - 1}.")
    block = Block(_designs([problem], draw="leave-one-out", **axes), (known.n_patterns - 1,), left_out, repeats)
    if published is None:
        return block
    return replace(block, published=leave_one_out(problem, left_out, **{**axes, "repeats": repeats, **published}))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | range | set) else [value]


def _count(samples: Any) -> int:
    if type(samples) is not int or not 1 <= samples <= MOST_SAMPLES:
        raise SettingsError(f"samples is {samples!r}; it must be a whole number from 1 to {MOST_SAMPLES:,}.")
    return samples


def _designs(problems: Sequence[str], draw: str = "random", targets: Any = None, **axes: Any) -> tuple[Design, ...]:
    """Return a design for each problem and each combination of the values on the axes."""
    possible = ("method", "order", "shuffle", "noise", "tolerance", *SETTINGS)
    for name, values in axes.items():
        if name not in possible:
            close = difflib.get_close_matches(name, possible, n=1)
            raise SettingsError(
                f"unknown {name!r}; " + (f"did you mean {close[0]!r}?" if close else f"{', '.join(possible)}.")
            )
        if not _listed(values):
            raise SettingsError(f"{name!r} has no values.")
    made = []
    for problem, *values in itertools.product(problems, *map(_listed, axes.values())):
        chosen = dict(zip(axes, values, strict=True))
        chosen["settings"] = Settings(**{name: chosen.pop(name) for name in SETTINGS if name in chosen})
        made.append(Design(problem, draw=draw, targets=None if targets is None else tuple(targets), **chosen))
    return tuple(made)


def study_names() -> dict[str, Callable[[], Study]]:
    """Return the studies that come with the package, by name; each is a function that makes the study."""
    from gradus_paper import beyond, open_questions, paper

    return {study.__name__: study for study in (*paper.STUDIES, *beyond.STUDIES, *open_questions.STUDIES)}


def load_study(name: str, *, samples: int | None = None, as_published: bool = False) -> Study:
    """Return a study of the paper by its name, or the one that a Python file makes, checked and cut to some samples."""
    known = study_names()
    if name in known:
        study = replace(known[name](), name=name)
    elif name.endswith(".py"):
        study = _study_of_file(Path(name))
    else:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise SettingsError(
            f"there is no study {name!r}.{hint} There are {', '.join(known)}, or give a Python file of your own."
        )
    study = study.published() if as_published else study
    try:
        for block in study.all_blocks():
            block.check()
    except GradusError as error:
        raise FormatError(str(error), path=name) from error
    return study if samples is None else study.at_most(_count(samples))


def _study_of_file(path: Path) -> Study:
    """Run a user's own file, in its own folder, and return what it calls `study`."""
    files.checked_size(path)
    try:
        with contextlib.chdir(path.parent):
            study = runpy.run_path(path.name).get("study")
    except Exception as error:  # whatever a user's program raises is about that program
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path.name]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        said = str(error) if isinstance(error, GradusError) else f"{type(error).__name__}: {error}"
        raise FormatError(said, path=path, line=line) from error
    if not isinstance(study, Study):
        raise FormatError("must make a Study and call it 'study'.", path=path)
    return replace(study, name=path.stem)


def save_study(study: Study, folder: Path) -> None:
    """Keep a study beside its results as plain values, so that status and report know which tasks are its own."""
    files.make_folder(folder / FOLDER)
    plain = asdict(study, dict_factory=_plain)
    files.write_text_whole(folder / FOLDER / f"{study.name}.json", json.dumps({"format": FORMAT, **plain}, indent=1) + "\n")


def _plain(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the values of a study, block or design for JSON; samples 0, 1, … n-1 are written as n."""
    values = {name: value for name, value in items if name != "published"}
    if "samples" in values and values["samples"] == tuple(range(len(values["samples"]))):
        values["samples"] = len(values["samples"])
    return values


def load_studies(folder: Path) -> list[Study]:
    """Read every study that a results folder belongs to."""
    paths = sorted((folder / FOLDER).glob("*.json"))
    if not paths:
        raise StoreError(f"there are no results in {folder}: run 'gradus reproduce quick -o {folder}' first.")
    studies = []
    for path in paths:
        with files.read_guard(path, "a study"):
            document = json.loads(files.read_text(path))
            if document.pop("format") != FORMAT:
                raise FormatError("was written by another version of Gradus.")
            studies.append(_study_from(document))
    return studies


def _study_from(values: dict[str, Any]) -> Study:
    """Rebuild a study from `_plain`; everything is checked again."""
    blocks, parts = tuple(map(_block_from, values["blocks"])), tuple(map(_study_from, values["parts"]))
    texts = {name: str(values[name]) for name in ("title", "about", "name")}
    figures = tuple(map(str, values["figures"]))
    return Study(**{**values, **texts, "figures": figures, "blocks": blocks, "parts": parts})


def _block_from(values: dict[str, Any]) -> Block:
    samples = values["samples"]
    samples = range(_count(samples)) if isinstance(samples, int) else samples
    designs = tuple(map(_design_from, values["designs"]))
    return Block(designs, tuple(values["sizes"]), tuple(samples), values["repeats"])


def _design_from(values: dict[str, Any]) -> Design:
    targets = None if values["targets"] is None else tuple(map(str, values["targets"]))
    return Design(**{**values, "targets": targets, "settings": Settings(**values["settings"])})
