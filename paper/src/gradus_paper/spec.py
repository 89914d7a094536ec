"""Experiment specs: TOML files that say what to run, checked with errors that name the place, and resolved to plans."""

from __future__ import annotations

import difflib
import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NoReturn

from gradus._core.checks import check_count
from gradus._core.files import read_guard, read_text
from gradus._search.job import Settings
from gradus.errors import FormatError, GradusError, SettingsError
from gradus_paper.plans import MOST_SAMPLES, MOST_TASKS, Block, Plan
from gradus_paper.task_orders import all_taus, check_order
from gradus_paper.tasks import Design
from gradus_paper.training_sets import OwnTable, name_of, problem_of, register, target_columns

__all__ = ["read_spec", "spec_names"]

SPEC_KEYS = ("title", "about", "figures", "common", "runs", "include", "cpu_seconds_per_task")
SETTINGS_KEYS = tuple(one.name for one in fields(Settings))
AXES = ("method", "order", "shuffle", "noise", *SETTINGS_KEYS)
RUN_KEYS = ("problem", "data", "sizes", "samples", "repeats", "draw", "leave_out", "targets", "published", *AXES)
PUBLISHED_KEYS = tuple(key for key in RUN_KEYS if key not in ("published", "data", "problem"))
INCLUDE_KEYS = ("spec", "only", "losses", "as_published", *PUBLISHED_KEYS)
DATA_KEYS = ("file", "targets", "inputs", "name")
LARGEST_SPEC = 1 << 24


def spec_names(library: Traversable) -> tuple[str, ...]:
    """Return the names of the specs in a folder."""
    return tuple(sorted(file.name.removesuffix(".toml") for file in library.iterdir() if file.name.endswith(".toml")))


def read_spec(name: str, library: Traversable, *, samples: int | None = None, as_published: bool = False) -> Plan:
    """Read a spec and resolve it to a plan."""
    if samples is not None:
        check_count("samples", samples)
    with read_guard(name, "a spec"):
        plan = _read(name, library, _Selection(as_published))
    return plan if samples is None else plan.at_most(samples)


@dataclass(frozen=True)
class _Selection:
    """The part of a spec that is used: runs of some problems and losses, with some keys changed."""

    as_published: bool
    only: list[str] | None = None
    losses: list[str] | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)

    def designs_of(self, block: Block) -> tuple[Design, ...]:
        """Return the designs of a block whose loss is selected; methods other than the search have none."""
        return tuple(
            design
            for design in block.designs
            if self.losses is None or design.method != "network" or design.settings.loss in self.losses
        )


def _read(name: str, library: Traversable, part: _Selection, above: tuple[str, ...] = ()) -> Plan:
    """Read a spec, or a part of it, and those that it includes; `above` are the specs that include this one."""
    if name in above:
        raise SettingsError(f"spec {name!r} includes itself.")
    document, place = _document(name, library)
    common = _table(document.get("common", {}), place, "common", RUN_KEYS)
    blocks: list[Block] = []
    for number, run in enumerate(_tables(document, "runs", place), start=1):
        at = _SpecPlace(place.path, f"runs, number {number}", place.folder)
        merged = {**common, **_table(run, at, "", RUN_KEYS)}
        published = _table(merged.pop("published", {}), at, "published", PUBLISHED_KEYS)
        if part.as_published:
            merged.update(published)
        merged.update({key: value for key, value in part.changes.items() if _applies(key, merged)})
        if part.only is not None:
            merged["problem"] = [problem for problem in _as_list(merged.get("problem")) if problem in part.only]
            if not merged["problem"]:
                continue
        block = _block(merged, at)
        if designs := part.designs_of(block):
            blocks.append(replace(block, designs=designs))
    included = (_included(entry, place, part.as_published) for entry in _tables(document, "include", place))
    parts = []
    for spec, chosen in included:
        plan = _read(spec, library, chosen, (*above, name))
        if (chosen.only is not None or chosen.losses is not None) and not plan.blocks:
            asked = " with ".join(" or ".join(words) for words in (chosen.only, chosen.losses) if words is not None)
            place.fail(f"spec {spec!r} has no run of {asked}.")
        parts.append(plan)
    figures = document.get("figures", ["accuracy"] if blocks else [])
    return Plan(
        name=Path(name).stem,
        title=_text(document, "title", place),
        about=_text(document, "about", place),
        figures=tuple(_strings(figures, place, "figures") if figures != [] else ()),
        blocks=tuple(blocks),
        as_published=part.as_published,
        parts=tuple(parts),
        cpu_seconds_per_task=_seconds(document, place),
    )


def _included(entry: Any, place: _SpecPlace, as_published: bool) -> tuple[str, _Selection]:
    """Read an entry of 'include': the name of a spec, and what of it is used."""
    changes = dict(_table(entry, place, "include", INCLUDE_KEYS))
    spec = changes.pop("spec", None)
    if not isinstance(spec, str):
        place.fail("every entry of 'include' must name a spec: { spec = \"fig3\" }.")
    only, losses = (_strings(changes.pop(key), place, key) if key in changes else None for key in ("only", "losses"))
    published = changes.pop("as_published", as_published)
    if not isinstance(published, bool):
        place.fail("'as_published' must be true or false.")
    return spec, _Selection(published, only, losses, changes)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _applies(key: str, run: Mapping[str, Any]) -> bool:
    """Return whether a change applies to a run: leave-one-out has neither sizes nor samples."""
    return not (run.get("draw") == "leave-one-out" and key in ("samples", "sizes"))


@dataclass(frozen=True)
class _SpecPlace:
    """A place in a file, for error messages."""

    path: str
    where: str = ""
    folder: Path = Path(".")

    def fail(self, message: str) -> NoReturn:
        raise FormatError(f"{self.where}: {message}" if self.where else message, path=self.path)


def _document(name: str, library: Traversable) -> tuple[dict[str, Any], _SpecPlace]:
    names = spec_names(library)
    if name not in names and not name.endswith(".toml"):
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise SettingsError(
            f"there is no experiment {name!r}.{hint} There are {', '.join(names)}, or give a .toml file of your own."
        )
    text = (library / f"{name}.toml").read_text("utf-8") if name in names else read_text(name, LARGEST_SPEC)
    place = _SpecPlace(name, folder=Path(name).parent)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place.fail(f"not TOML: {error}")
    return _table(document, place, "", SPEC_KEYS), place


def _table(value: Any, place: _SpecPlace, key: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        place.fail(f"{key!r} must be a table.")
    for name in value:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}."
            inside = f" in {key!r}" if key else ""
            place.fail(f"unknown key {name!r}{inside}; {hint}")
    return dict(value)


def _tables(document: Mapping[str, Any], key: str, place: _SpecPlace) -> list[Any]:
    value = document.get(key, [])
    if not isinstance(value, list):
        place.fail(f"{key!r} must be a list of tables: write [[{key}]].")
    return value


def _text(document: Mapping[str, Any], key: str, place: _SpecPlace) -> str:
    value = document.get(key, "")
    if not isinstance(value, str):
        place.fail(f"{key!r} must be a text.")
    return value


def _seconds(document: Mapping[str, Any], place: _SpecPlace) -> float | None:
    value = document.get("cpu_seconds_per_task")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf):
        place.fail("'cpu_seconds_per_task' must be a number of seconds above 0.")
    return value


def _strings(value: Any, place: _SpecPlace, key: str) -> list[str]:
    values = _as_list(value)
    if not values or not all(isinstance(item, str) for item in values):
        place.fail(f"{key!r} must be a text or a list of texts.")
    return values


def _block(run: dict[str, Any], place: _SpecPlace) -> Block:
    """Resolve one run."""
    keys = _problems(run, place)
    targets = tuple(_strings(run["targets"], place, "targets")) if "targets" in run else None
    draw = run.get("draw", "random")
    try:
        designs = tuple(
            Design(key, draw=draw, targets=targets, **values)
            for key in keys
            for values in _combinations(run, key, targets, place)
        )
        for design in designs:  # before hours are spent on tasks that fail
            problem = problem_of(design.problem)
            n_targets = len(target_columns(problem, design.targets))
            check_order(design.order, n_targets, name_of(design.problem), known=problem.known_order is not None)
    except FormatError:
        raise
    except (GradusError, TypeError) as error:
        place.fail(str(error))
    sizes, samples = _sizes_and_samples(run, keys, draw, place)
    block = Block(designs, sizes, samples, _count(run.get("repeats", 1), place, "repeats"))
    if len(block) > MOST_TASKS:
        place.fail(f"this run has {len(block):,} tasks; the most is {MOST_TASKS:,}.")
    return block


def _problems(run: Mapping[str, Any], place: _SpecPlace) -> list[str]:
    if ("problem" in run) == ("data" in run):
        place.fail("a run needs either 'problem' (names) or 'data' (a file of your own).")
    if "data" in run:
        table = _own_table(_table(run["data"], place, "data", DATA_KEYS), place)
        register([table])
        return [table.key]
    keys = _strings(run["problem"], place, "problem")
    for key in keys:
        try:
            problem_of(key)
        except GradusError as error:
            place.fail(str(error))
    return keys


def _own_table(data: Mapping[str, Any], place: _SpecPlace) -> OwnTable:
    if not isinstance(data.get("file"), str) or "targets" not in data:
        place.fail('\'data\' needs a file and targets: { file = "mine.csv", targets = ["z0", "z1"] }.')
    path = place.folder / data["file"]
    inputs = _strings(data["inputs"], place, "inputs") if "inputs" in data else None
    name = data.get("name", path.stem)
    if not isinstance(name, str) or not name or "#" in name:
        place.fail("the name of your data must be a text without '#'.")
    return OwnTable.read(name, path, _strings(data["targets"], place, "targets"), inputs)


def _combinations(
    run: Mapping[str, Any], key: str, targets: tuple[str, ...] | None, place: _SpecPlace
) -> Iterator[dict[str, Any]]:
    """Yield every combination of the values on the axes."""
    axes = {name: _as_list(run[name]) for name in AXES if name in run}
    if any(not values for values in axes.values()):
        place.fail(f"{next(name for name, values in axes.items() if not values)!r} has no values.")
    if "order" in axes:
        n_targets = len(targets) if targets is not None else problem_of(key).n_targets
        every_tau = [f"tau:{tau:.6g}" for tau in all_taus(n_targets)]
        axes["order"] = [word for order in axes["order"] for word in (every_tau if order == "tau:all" else [order])]
    for combination in itertools.product(*axes.values()):
        values = dict(zip(axes, combination, strict=True))
        settings = {name: values.pop(name) for name in SETTINGS_KEYS if name in values}
        if not isinstance(values.get("shuffle", False), bool):
            place.fail("'shuffle' must be true or false.")
        yield {**values, "settings": Settings(**settings)}


def _sizes_and_samples(
    run: Mapping[str, Any], keys: list[str], draw: Any, place: _SpecPlace
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    smallest = min(problem_of(key).n_patterns for key in keys)
    if draw == "leave-one-out":
        if len(keys) != 1:
            place.fail("leaving one out takes one problem per run.")
        if problem_of(keys[0]).is_lazy:
            place.fail(f'problem {keys[0]!r} has too many patterns to leave each out once; use draw = "random".')
        folds = _numbers(run.get("leave_out", [{"from": 0, "to": smallest - 1}]), place, "leave_out", least=0)
        if max(folds) >= smallest:
            place.fail(f"'leave_out' names pattern {max(folds)}, but the patterns are 0 to {smallest - 1}.")
        return (smallest - 1,), folds
    if "leave_out" in run:
        place.fail("'leave_out' needs draw = \"leave-one-out\".")
    for key in ("sizes", "samples"):
        if key not in run:
            place.fail(f"{key!r} is missing.")
    sizes = _numbers(run["sizes"], place, "sizes", least=1)
    if max(sizes) > smallest:
        place.fail(f"'sizes' has {max(sizes)}, but there are only {smallest} patterns to draw from.")
    return sizes, tuple(range(_count(run["samples"], place, "samples")))


def _numbers(value: Any, place: _SpecPlace, key: str, *, least: int) -> tuple[int, ...]:
    """Read whole numbers, each plain or as a range: [8, 16, { from = 24, to = 48, step = 8 }]."""
    result: list[int] = []
    for item in _as_list(value):
        if isinstance(item, dict):
            bounds = _table(item, place, key, ("from", "to", "step"))
            if not {"from", "to"} <= set(bounds) or not all(_is_whole(bound) for bound in bounds.values()):
                place.fail(f"{key!r}: a range needs whole numbers: {{ from = 8, to = 112, step = 8 }}.")
            step = bounds.get("step", 1)
            if step < 1 or (bounds["to"] - bounds["from"]) // step > 10**6:
                place.fail(f"{key!r}: the step of a range must be at least 1, and its length below a million.")
            result += range(bounds["from"], bounds["to"] + 1, step)
        elif _is_whole(item):
            result.append(item)
        else:
            place.fail(f"{key!r} has {item!r}; every entry must be a whole number or a range.")
    if not result or min(result) < least:
        place.fail(f"{key!r} must hold whole numbers of at least {least}.")
    return tuple(sorted(set(result)))


def _count(value: Any, place: _SpecPlace, key: str) -> int:
    if not _is_whole(value) or not 1 <= value <= MOST_SAMPLES:
        place.fail(f"{key!r} is {value!r}; it must be a whole number from 1 to {MOST_SAMPLES:,}.")
    return int(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
