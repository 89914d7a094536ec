"""`gradus infer`: from time series to rules."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from gradus._cli.console import note, percent, print_json, print_rule, print_table, printable
from gradus._cli.data import number_or_word
from gradus._cli.output import check_file
from gradus._cli.progress_line import Watch
from gradus._core.checks import check_choice
from gradus._core.files import write_text_whole
from gradus._core.wording import counted
from gradus.errors import DataError, FormatError, SettingsError
from gradus.genes._inference import Inference, infer
from gradus.genes._result_files import as_document, check_folder, write_inference
from gradus.genes._result_tables import rule_rows
from gradus.genes._series import Series, parse_held, read_series

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
    prior: Annotated[
        Path | None, typer.Option(help="Edges believed: CSV of regulator,target,probability,sign, or a .bnet or .sbml model.")
    ] = None,
    allow: Annotated[
        Path | None, typer.Option(help="CSV of regulator,target: the targets in it have no other regulators.")
    ] = None,
    forbid: Annotated[Path | None, typer.Option(help="CSV of regulator,target: edges that may not be used.")] = None,
    held: Annotated[
        list[str] | None,
        typer.Option(metavar="[FILE:]GENE=0|1", help="A gene held by a knock-out (0) or over-expression (1); repeatable."),
    ] = None,
    steady: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="A table of steady states, one per row; repeatable.")
    ] = None,
    layout: Annotated[str, typer.Option(metavar="states|genes", help="What a row is; genes as in BoolNet.")] = "states",
    series_column: Annotated[str | None, typer.Option(help="Column that tells several series apart.")] = None,
    time_column: Annotated[str | None, typer.Option(help="Column that gives the times.")] = None,
    binarize: Annotated[
        str,
        typer.Option(metavar="none|kmeans|NUMBER", help="Values other than 0 and 1: an error, two clusters, or a threshold."),
    ] = "none",
    noise: Annotated[
        str, typer.Option(metavar="auto|NUMBER", help="Share of next values that differ from the rules.")
    ] = "auto",
    repair: Annotated[
        bool, typer.Option("--repair/--no-repair", help="Learn again with suspect values corrected; both ways list them.")
    ] = True,
    leave_out: Annotated[
        bool, typer.Option("--leave-out/--no-leave-out", help="Measure how well series that were left out are predicted.")
    ] = True,
    attractors: Annotated[
        bool, typer.Option("--attractors/--no-attractors", help="Find attractors and predict knock-outs (needs AEON).")
    ] = True,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; the rules are the best found by then.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    r"""Find the rules of a gene network from time series; read report.html in the folder first."""
    # Example: printf 'a,b\n0,0\n1,0\n1,1\n0,1\n0,0\n' >s.csv; gradus infer s.csv -o rules
    folder = _check_output(output)
    rows: Any = check_choice("--layout", layout, ("states", "genes"))
    read = read_series(series, layout=rows, series_column=series_column, time_column=time_column)
    every = _with_held((*read, *(read_series(steady, layout=rows) if steady else ())), held or [])
    if not read:
        raise DataError(f"{series[0]} holds no state; a series needs at least two.")
    begin = time.monotonic()
    with Watch(read[0].genes) as watch:
        found = infer(
            every[: len(read)],
            steady=every[len(read) :] or None,
            prior=prior,
            allow=allow,
            forbid=forbid,
            binarize=number_or_word("--binarize", binarize, {"none": None, "kmeans": "kmeans"}),
            noise=number_or_word("--noise", noise, {"auto": "auto"}),
            repair=repair,
            leave_out=leave_out,
            attractors=attractors,
            time_limit=time_limit,
            callback=watch,
        )
    files, notes = write_inference(found, folder, title=", ".join(path.name for path in series))
    if output != folder:
        write_text_whole(output, (folder / "rules.bnet").read_text(encoding="utf-8"))
        files.insert(0, output)
    if found.stopped:
        notes.append("the work was stopped early: the results are the best by then.")
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


def _with_held(series: tuple[Series, ...], texts: list[str]) -> tuple[Series, ...]:
    """Hold genes in every series, or in those of one file."""
    found = list(series)
    for text in texts:
        file, colon, genes = text.rpartition(":")
        values = parse_held(genes)
        places = [k for k, one in enumerate(found) if not colon or file in (str(one.path), Path(str(one.path)).name)]
        if not places:
            files = ", ".join(dict.fromkeys(Path(str(one.path)).name for one in found))
            raise SettingsError(f"--held is {text!r}, but {file!r} is not one of the files: {files}.")
        for k in places:
            found[k] = replace(found[k], held={**found[k].held, **values})
    return tuple(found)


def _show(found: Inference, files: list[Path], seconds: float) -> None:
    for sentence in found.data:
        print(printable(sentence))
    scores = {} if found.scores is None else {one.gene: one for one in (*found.scores.genes, found.scores.overall)}
    headings = ["gene", "probability", "contradicted"]
    headings += ["left out:\none step", "usual\nvalue", "stays\nas it is", "free\nrun"] if scores else []
    rows = []
    rules = rule_rows(found.model, found.scores)[1]
    for rule in rules:
        row = [rule["target"], percent(rule["probability"]), f"{rule['errors']:g} of {rule['transitions']:g}"]
        rows.append(row + _score_cells(scores.get(rule["target"])) if scores else row)
    if scores:
        rows.append(["all", "", "", *_score_cells(scores["all"])])
    print_table(headings, rows)
    for rule in rules:  # a column of the table would be too narrow for them
        score = scores.get(rule["target"])
        verdict = " (not learned)" if score is not None and score.scored and not score.learned else ""
        print_rule(f"{rule['target']}{verdict}: {rule['rule']}")
    for one in found.model.unexplained:
        better = ", ".join(one.regulators) or "no regulator"
        worse = f"{one.gene}: the allowed regulators explain it worse than {better}"
        print(f"{printable(worse)} (log evidence {one.log_evidence:.1f})")
    print(f"{counted(len(found.model.suspects), 'suspect value')}, {seconds:.1f} s; wrote")
    for path in files:
        print(f"  {path}")


def _score_cells(one: Any) -> list[str]:
    if one is None or not one.scored:
        return ["–"] * 4
    return [percent(value) for value in (one.one_step, one.constant, one.persistence, one.free_run)]
