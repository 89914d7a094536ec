"""`gradus curriculum`: the order in which targets are best taught, and the columns that each of them needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import typer

from gradus._circuit.drawing.picture import PICTURES
from gradus._cli.console import check_file, note, print_json, print_table, printable
from gradus._cli.data import FORMATS_HELP, input_file, read_examples
from gradus._cli.progress_line import Watch
from gradus._core.bits import BoolMatrix
from gradus._core.checks import OnConflict, check_choice, check_on_conflict
from gradus._curriculum.curriculum import Curriculum, find_curriculum
from gradus._curriculum.feature_sets import all_minimum_feature_sets
from gradus._tables.cuts import encode_table
from gradus._tables.labels import refuse_conflicts

__all__ = ["command"]

ADVICE = (
    "so that no columns can tell them apart; correct them, leave such pairs out with --on-conflict ignore, "
    "or let the first row count with --on-conflict first."
)
UNPROVEN = "not every set is proven to be the smallest; raise --time-limit."
MOST_SETS = 1000
SHOWN_SETS = 5


def command(
    data: Annotated[Path, typer.Argument(help=FORMATS_HELP, show_default=False)],
    targets: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="Target columns, separated by commas; by default the file's own, or the last."),
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option(metavar="COLUMNS", help="Input columns; all others if not given.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to draw the hierarchy (.svg, .png or .pdf).")
    ] = None,
    all_sets: Annotated[bool, typer.Option("--all", help="List every minimum feature set, not only the first.")] = False,
    choose: Annotated[
        str, typer.Option(metavar="first|random", help="Of several minimum sets take the first, or a random one.")
    ] = "first",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse every cell but 0 and 1.")] = False,
    on_conflict: Annotated[
        str,
        typer.Option(
            metavar="raise|ignore|first",
            help="Equal inputs with different targets: raise (an error), ignore (leave them out) or first.",
        ),
    ] = "raise",
    time_limit: Annotated[float | None, typer.Option(help="Seconds, after which the best sets so far are used.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the order of targets that are equally hard.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Find the order in which targets are best taught: those that need the fewest columns first.

    Example: gradus problems write add3 add3.csv

    Then: gradus curriculum add3.csv --targets z0,z1,z2
    """
    if output is not None:
        check_file(output, PICTURES)
    conflict = check_on_conflict(on_conflict, "--on-conflict")
    chosen: Any = check_choice("--choose", choose, ("first", "random"))
    coded = _read(data, targets, inputs, strict=strict, refuse=conflict == "raise")
    with Watch(coded.target_names) as watch:
        curriculum = find_curriculum(
            coded.X, coded.Y, seed=seed, choose=chosen, time_limit=time_limit, on_conflict=conflict, callback=watch
        )
    all_minimum = _all_sets(coded, conflict) if all_sets and not watch.stopped else None
    result = _document(curriculum, all_minimum, coded)
    if output is not None:
        _draw(output, result)
    if as_json:
        print_json(result)
    else:
        _show(result, curriculum, output)
    stopped = watch.stopped or (all_sets and all_minimum is None)
    if stopped or not curriculum.optimal:
        note("gradus: " + ("stopped; these are the best sets so far." if stopped else UNPROVEN))


class _Coded(NamedTuple):
    """A table as bits, with the names of its columns."""

    X: BoolMatrix
    Y: npt.NDArray[np.int64]
    input_names: tuple[str, ...]
    target_names: tuple[str, ...]


def _read(path: Path, targets: list[str] | None, inputs: list[str] | None, *, strict: bool, refuse: bool) -> _Coded:
    """Read a table; if asked to, refuse rows that differ in a target only."""
    with input_file(path) as file:
        examples = read_examples(file, targets, inputs, strict=strict, unknown_labels=False)
    Y = np.column_stack([np.unique(column, return_inverse=True)[1].ravel() for column in examples.targets.values()])
    encoding = encode_table(examples.columns, Y)
    coded = _Coded(encoding.encode(examples.columns), Y, encoding.input_names, tuple(examples.targets))
    if refuse:
        refuse_conflicts(coded.X, Y, coded.target_names, ADVICE)
    return coded


def _all_sets(coded: _Coded, conflict: OnConflict) -> list[list[tuple[int, ...]]] | None:
    """List the minimum sets of every target; None if that was interrupted, so that the order is still shown."""
    try:
        return [all_minimum_feature_sets(coded.X, column, limit=MOST_SETS, on_conflict=conflict) for column in coded.Y.T]
    except KeyboardInterrupt:
        return None


def _document(curriculum: Curriculum, all_minimum: list[list[tuple[int, ...]]] | None, coded: _Coded) -> dict[str, Any]:
    entries, inputs, targets = [], coded.input_names, coded.target_names
    for k in curriculum.order:
        entry = {
            "target": targets[k],
            "size": curriculum.sizes[k],
            "feature_set": [inputs[column] for column in curriculum.feature_sets[k].features],
            "lower_bound": curriculum.feature_sets[k].lower_bound,
            "proven": curriculum.feature_sets[k].optimal,
            "conflicts": curriculum.feature_sets[k].conflicts,
        }
        if all_minimum is not None:
            entry["all_minimum_sets"] = [[inputs[column] for column in columns] for columns in all_minimum[k]]
            entry["all_listed"] = len(all_minimum[k]) < MOST_SETS
        entries.append(entry)
    return {
        "order": [targets[k] for k in curriculum.order],
        "nestedness": curriculum.nestedness,
        "tied": [[targets[k] for k in group] for group in curriculum.tied_groups],
        "hierarchy": {targets[k]: [targets[j] for j in later] for k, later in curriculum.hierarchy().items()},
        "targets": entries,
    }


def _show(result: dict[str, Any], curriculum: Curriculum, output: Path | None) -> None:
    listed = "all_minimum_sets" in result["targets"][0]
    headings = ["place", "target", "size", "minimum feature set", "may be followed by"]
    headings += ["all minimum sets"] if listed else []
    rows = []
    for place, entry in enumerate(result["targets"], start=1):
        size = str(entry["size"]) if entry["proven"] else f"{entry['lower_bound']} to {entry['size']}"
        row = [str(place), entry["target"], size, _braces(entry["feature_set"])]
        row.append(", ".join(result["hierarchy"][entry["target"]]) or "–")
        if listed:
            sets = entry["all_minimum_sets"]
            more = f" and {len(sets) - SHOWN_SETS} more" if len(sets) > SHOWN_SETS else ""
            row.append(" ".join(map(_braces, sets[:SHOWN_SETS])) + more)
        rows.append(row)
    print_table(headings, rows)
    if len(rows) > 1:
        print(f"nestedness {curriculum.nestedness:.3f} (1: each set lies in the next, 0: they have nothing in common)")
    for group in result["tied"]:
        print(f"equally hard, in an order drawn by the seed: {printable(', '.join(group))}")
    if output is not None:
        print(f"drew {output}")
    ignored = [f"{entry['conflicts']} for {entry['target']!r}" for entry in result["targets"] if entry["conflicts"]]
    if ignored:
        note(f"gradus: pairs of rows that have the same inputs and differ in a target are left out: {', '.join(ignored)}.")


def _braces(names: list[str]) -> str:
    return "{" + ", ".join(names) + "}"


def _draw(path: Path, result: dict[str, Any]) -> None:
    from gradus._circuit.drawing.picture import draw_hierarchy

    edges = [(easier, harder) for easier, later in result["hierarchy"].items() for harder in later]
    sets = {entry["target"]: entry["feature_set"] for entry in result["targets"]}
    draw_hierarchy(path, result["order"], sets, edges)
