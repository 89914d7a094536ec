"""`gradus problems`: list, show and write the built-in problems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradus._core.wording import counted

if TYPE_CHECKING:
    from gradus.problems import Problem

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

ROWS_SHOWN = 8
Name = Annotated[str, typer.Argument(help="A name from 'gradus problems list', or add8, cpar12 …", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


@app.callback()
def _problems() -> None:
    """List, show and write the built-in problems.

    Example: gradus problems list
    """


@app.command("list")
def list_problems(as_json: AsJson = False) -> None:
    """List the problems of the paper, and others, with their sizes.

    Example: gradus problems list --json
    """
    from gradus import problems
    from gradus._cli.console import print_json, print_table

    facts, others = ([_facts(problems.load(name)) for name in names] for names in (problems.names(), problems.further()))
    if as_json:
        print_json({"problems": facts, "further": others, "families": list(problems.families())})
        return
    columns = ("name", "inputs", "targets", "patterns", "about")
    for shown, title in ((facts, "problems of the paper"), (others, "further circuits")):
        print_table(columns, [[str(fact[column]) for column in columns] for fact in shown], title=title)
    kinds = ", ".join(f"{family}N" for family in problems.families())
    print(f"Any size works: {kinds} (add10, cpar12, cmaj15, cmux31 …).")


@app.command("show")
def show(name: Name, as_json: AsJson = False) -> None:
    """Show one problem: its names, its order and its first patterns.

    Example: gradus problems show add8
    """
    from gradus import problems
    from gradus._cli.console import print_json, print_table

    problem = problems.load(name)
    if as_json:
        print_json({**_facts(problem), "known_order": problem.known_order, "first_rows": _first_rows(problem)})
        return
    print(f"{problem.name}: {problem.about}")
    print(f"{counted(problem.n_inputs, 'input')}: {' '.join(problem.input_names)}")
    print(f"{counted(problem.n_targets, 'target')}: {' '.join(problem.target_names)}")
    print(f"{_patterns(problem)} patterns; order of targets: {'as listed' if problem.known_order else 'not known'}")
    rows = [["".join(map(str, x)), "".join(map(str, y))] for x, y in _first_rows(problem)]
    print_table(("inputs", "targets"), rows, title=f"first {len(rows)} patterns")


@app.command("write")
def write(
    name: Name,
    file: Annotated[Path, typer.Argument(help="Where to write: .csv .tsv .parquet .pla", show_default=False)],
    examples: Annotated[
        int | None, typer.Option("--examples", "-n", help="Draw this many patterns instead of all.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Which sample to draw.")] = 0,
    test: Annotated[
        Path | None, typer.Option(help="Write the patterns that were not drawn to this file.", show_default=False)
    ] = None,
    n_test: Annotated[
        int | None, typer.Option(help="Test patterns to write (large problems: 10000 if not given).", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a problem, or a sample of it, as a table.

    Example: gradus problems write add6 train.csv --examples 96 --test test.csv
    """
    from gradus import problems
    from gradus._cli.console import print_json

    _check_places(file, test)
    problem = problems.load(name)
    parts = _parts(problem, examples, seed, test is not None, n_test)
    written = []
    for path, (X, Y) in zip([file, test], parts, strict=False):
        if path is not None:
            written.append(_write(problem, path, X, Y))
    if as_json:
        print_json({"problem": problem.name, "files": written})
        return
    for entry in written:
        print(f"wrote {entry['file']}: {counted(entry['rows'], 'row')}; targets: {','.join(entry['targets'])}")


def _check_places(file: Path, test: Path | None) -> None:
    """Check both files before the first is written, so that an error leaves none of them behind."""
    from gradus._cli.console import check_file
    from gradus._formats.table_files import WRITERS
    from gradus.errors import SettingsError

    for path in (file, test):
        if path is not None:
            check_file(path, WRITERS)
    if test is not None and test.resolve() == file.resolve():
        raise SettingsError(f"--test is {test}, the file of the training patterns; give it another name.")


def _facts(problem: Problem) -> dict[str, Any]:
    return {
        "name": problem.name,
        "inputs": problem.n_inputs,
        "targets": problem.n_targets,
        "patterns": _patterns(problem),
        "input_names": problem.input_names,
        "target_names": problem.target_names,
        "about": problem.about,
    }


def _patterns(problem: Problem) -> int | str:
    return f"2^{problem.n_inputs}" if problem.is_lazy else problem.n_patterns


def _first_rows(problem: Problem) -> list[tuple[list[int], list[int]]]:
    import numpy as np

    count = min(ROWS_SHOWN, problem.n_patterns)
    if problem.n_inputs > 62 and problem.is_lazy:
        X = np.zeros((count, problem.n_inputs), dtype=np.bool_)
        X[:, :3] = (np.arange(count)[:, np.newaxis] >> np.arange(3)) & 1
        Y = problem.evaluate(X)
    else:
        X, Y = problem.rows(np.arange(count))
    return list(zip(X.astype(int).tolist(), Y.astype(int).tolist(), strict=True))


def _parts(problem: Problem, examples: int | None, seed: int, wants_test: bool, n_test: int | None) -> list[Any]:
    """Return inputs and targets to write: all patterns, or those drawn and those left."""
    from gradus.errors import SettingsError

    if examples is None:
        if wants_test or n_test is not None:
            raise SettingsError("a test set goes with --examples, the number of patterns to draw.")
        if problem.is_lazy:
            raise SettingsError(f"{problem.name!r} has {_patterns(problem)} patterns; say with --examples how many.")
        return [(problem.X, problem.Y)]
    if not wants_test:
        n_test = 0 if n_test is None else n_test
    X_train, Y_train, X_test, Y_test = problem.examples(examples, seed, n_test=n_test)
    if wants_test and not len(X_test):
        raise SettingsError("every pattern is in the sample, so none is left for the test file.")
    return [(X_train, Y_train), (X_test, Y_test)]


def _write(problem: Problem, path: Path, X: Any, Y: Any) -> dict[str, Any]:
    from gradus._formats.table_files import write_table

    targets = write_table(path, X, Y, problem.input_names, problem.target_names)
    return {"file": str(path), "rows": len(X), "targets": targets}
