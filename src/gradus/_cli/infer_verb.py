"""`gradus infer`: from time series to rules."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gradus._checks import check_choice, check_on_conflict
from gradus._cli.console import note, percent, print_json, print_table
from gradus._cli.output import check_file
from gradus._cli.progress_line import Watch
from gradus._files import write_text_whole
from gradus._formats.series import read_series
from gradus._formats.transitions import Transitions, read_transitions
from gradus._inference.inference import DEFAULT_LEFT_OUT_NETWORKS, DEFAULT_NETWORKS, Inference, infer
from gradus._inference.prior import Prior, read_edges
from gradus._inference.result_files import as_document, check_folder, write_inference
from gradus._wording import counted
from gradus.errors import ConflictError, DataError, FormatError, SettingsError

__all__ = ["command"]


def command(
    series: Annotated[
        list[Path],
        typer.Argument(
            metavar="SERIES",
            help="Tables of states: a column per gene, a row per time; one file per series.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="A folder for all results; or a .bnet file, beside which that folder is made.",
            show_default=False,
        ),
    ],
    n_networks: Annotated[int, typer.Option(help="Networks trained for each group of genes.")] = DEFAULT_NETWORKS,
    allow: Annotated[
        Path | None, typer.Option(help="CSV of regulator,target: the targets in it have no other regulators.")
    ] = None,
    forbid: Annotated[Path | None, typer.Option(help="CSV of regulator,target: edges that may not be used.")] = None,
    regulators: Annotated[
        str, typer.Option(help="What networks may read: all genes, or only the minimum regulator sets.")
    ] = "all",
    layout: Annotated[str, typer.Option(help="What a row is: states, or genes (as in BoolNet).")] = "states",
    series_column: Annotated[str | None, typer.Option(help="Column that tells several series apart.")] = None,
    time_column: Annotated[str | None, typer.Option(help="Column that gives the times.")] = None,
    binarize: Annotated[
        str, typer.Option(help="Values other than 0 and 1: none (an error), kmeans, or a threshold.")
    ] = "none",
    on_conflict: Annotated[
        str, typer.Option(help="A state with different successors: raise (an error), ignore (leave it out) or first.")
    ] = "raise",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out/--no-leave-one-out", help="Measure how well unseen transitions are predicted.")
    ] = True,
    n_left_out_networks: Annotated[
        int, typer.Option(help="Networks trained for that in each group, without each transition.")
    ] = DEFAULT_LEFT_OUT_NETWORKS,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for training; rules come from what is trained then.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rules.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results for machines.")] = False,
) -> None:
    r"""Find the rules of a gene network from time series; read report.html in the folder first.

    Example: printf 'a,b\n0,0\n1,0\n1,1\n' >s.csv; gradus infer s.csv -o rules
    """
    folder = _check_output(output)
    moves = _transitions(series, layout, series_column, time_column, binarize, on_conflict)
    prior = Prior(None if allow is None else read_edges(allow), () if forbid is None else read_edges(forbid))
    prior.check(moves.input_names)
    begin = time.monotonic()
    with Watch(()) as watch:
        found = infer(
            moves,
            n_networks=n_networks,
            seed=seed,
            prior=prior,
            regulators=_regulators(regulators),
            leave_one_out=leave_one_out,
            n_left_out_networks=n_left_out_networks,
            time_limit=time_limit,
            n_jobs=n_jobs,
            callback=watch,
        )
    files, notes = write_inference(found, folder, title=", ".join(path.name for path in series))
    if output != folder:
        write_text_whole(output, (folder / "rules.bnet").read_text(encoding="utf-8"))
        files.insert(0, output)
    if found.stopped:
        notes.append("the training was stopped early: genes without a network have no rule, and nothing was measured.")
    for sentence in notes:
        note(f"gradus: {sentence}")
    if as_json:
        print_json({**as_document(found), "files": [str(path) for path in files]})
    else:
        _show(found, files, time.monotonic() - begin)


def _check_output(output: Path) -> Path:
    """Return the folder that the results go to, before any work is done for them."""
    kind = output.suffix.lower()
    if kind == ".bnet":
        check_file(output, [".bnet"])
    elif kind and not output.is_dir():
        raise FormatError("give a folder without an extension, or a .bnet file, beside which a folder is made.", path=output)
    folder = output.with_suffix("") if kind == ".bnet" else output
    check_folder(folder)
    return folder


def _transitions(
    paths: list[Path], layout: str, series_column: str | None, time_column: str | None, binarize: str, on_conflict: str
) -> Transitions:
    check_choice("--layout", layout, ("states", "genes"))
    conflict = check_on_conflict(on_conflict, "--on-conflict")
    read: Any = read_series(
        paths, layout="genes" if layout == "genes" else "states", series_column=series_column, time_column=time_column
    )
    if not read:
        raise DataError(f"{paths[0]} holds no state; a series needs at least two.")
    try:
        return read_transitions(read, binarize=_threshold(binarize), on_conflict=conflict)
    except ConflictError as error:
        raise ConflictError(
            error.what, "Use --on-conflict ignore to leave them out, or first to keep the first of each."
        ) from error


def _threshold(text: str) -> Literal["kmeans"] | float | None:
    if text in ("none", "kmeans"):
        return None if text == "none" else "kmeans"
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"--binarize is {text!r}; use none, kmeans or a number.") from None


def _regulators(text: str) -> Literal["all", "minimum"]:
    return "all" if check_choice("--regulators", text, ("all", "minimum")) == "all" else "minimum"


def _show(found: Inference, files: list[Path], seconds: float) -> None:
    for sentence in found.transitions.report():
        print(sentence)
    targets = found.transitions.target_names
    for one in found.hierarchies:
        names = ", ".join(targets[k] for k in one.targets)
        print(f"learned together, in this order: {names}" if len(one.targets) > 1 else f"learned apart: {names}")
    scores = found.leave_one_out
    by_target = {} if scores is None else {one.target: one for one in scores.targets}
    headings = ["gene", "rule", "same rule", "agreement"]
    headings += [] if scores is None else ["left out: vote", "stays as it is", "usual value"]
    rows = []
    for rule in found.rules:
        row = [rule.target, rule.text, percent(rule.share), percent(rule.agreement)]
        if scores is not None:
            own = by_target.get(rule.target)
            row += ["–"] * 3 if own is None else [percent(own.vote), percent(own.persistence), percent(own.majority)]
        rows.append(row)
    if scores is not None and scores.overall is not None:
        o = scores.overall
        rows.append(["all", "", "", "", percent(o.vote), percent(o.persistence), percent(o.majority)])
    print_table(headings, rows)
    print(f"{counted(found.n_networks, 'network')} per group, {seconds:.1f} s; wrote")
    for path in files:
        print(f"  {path}")
