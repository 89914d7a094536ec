"""`gradus infer`: from time series to rules."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from gradus._cli.console import check_file, note, percent, print_json, print_rule, print_table, printable
from gradus._cli.data import number_or_word
from gradus._cli.progress_line import Watch
from gradus._core.files import check_new_folder, write_text_whole
from gradus._core.wording import counted
from gradus.errors import DataError, FormatError, SettingsError
from gradus.genes import Experiment, GeneScore, Inference, Series, infer, read_series
from gradus.genes._advice import allowed_states, held_places
from gradus.genes._report import as_document, write_inference
from gradus.genes._results import TABLES
from gradus.genes._series import parse_held

__all__ = ["command"]

Tables = typer.Argument(
    metavar="SERIES",
    help="Tables of states, one file per series: a row per time and a column per gene, or a row per gene below 'gene'.",
    show_default=False,
)
Output = typer.Option(
    "--output", "-o", help="A folder for all results; or a .bnet file, beside which that folder is made.", show_default=False
)
Prior = typer.Option(help="Edges known from elsewhere: CSV of regulator,target,probability,sign, or a .bnet or .sbml model.")
Allow = typer.Option(help="CSV of regulator,target: the targets in it have no other regulators.")
Forbid = typer.Option(help="CSV of regulator,target: edges that may not be used.")
Held = typer.Option(metavar="[FILE:]GENE=0|1", help="A gene held by a knock-out (0) or over-expression (1); repeatable.")
Steady = typer.Option(metavar="FILE", help="A table of steady states, one per row; repeatable.")
Binarize = typer.Option(
    metavar="none|kmeans|NUMBER", help="Values other than 0 and 1: an error, two clusters, or a threshold."
)
Noise = typer.Option(metavar="auto|NUMBER", help="Share of next values that differ from the rules.")
Advise = typer.Option(metavar="N", help="Also list the N experiments expected to settle most of what is open.", min=0)
AdviseStates = typer.Option(metavar="FILE", help="Table of states in which experiments can begin, one per row; else any.")
AdviseHold = typer.Option(metavar="all|none|GENES", help="Genes that can be held at a value, separated by commas.")


def command(
    series: Annotated[list[Path], Tables],
    output: Annotated[Path, Output],
    prior: Annotated[Path | None, Prior] = None,
    allow: Annotated[Path | None, Allow] = None,
    forbid: Annotated[Path | None, Forbid] = None,
    held: Annotated[list[str] | None, Held] = None,
    steady: Annotated[list[Path] | None, Steady] = None,
    binarize: Annotated[str, Binarize] = "none",
    noise: Annotated[str, Noise] = "auto",
    advise: Annotated[int, Advise] = 0,
    advise_states: Annotated[Path | None, AdviseStates] = None,
    advise_hold: Annotated[str, AdviseHold] = "all",
    time_limit: Annotated[float | None, typer.Option(help="Seconds; the rules are the best found by then.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    r"""Find the rules of a gene network from time series; read report.html in the folder first.

    Example: printf 'a,b\n0,0\n1,0\n1,1\n0,1\n0,0\n' >s.csv; gradus infer s.csv -o rules
    """
    folder = _check_output(output)
    runs, steadies = read_series(series), read_series(steady) if steady else ()
    if not runs:
        raise DataError(f"{series[0]} holds no state; a series needs at least two.")
    hold = None if advise_hold == "all" else () if advise_hold == "none" else tuple(advise_hold.split(","))
    held_places(hold, runs[0].genes)  # requests that cannot be met are refused before any work
    allowed = None if advise_states is None else read_series(advise_states)
    if allowed is not None:
        allowed_states(allowed, runs[0].genes)
    everything = _with_held((*runs, *(replace(table, steady=True) for table in steadies)), held or [])
    begin = time.monotonic()
    with Watch(runs[0].genes) as watch:
        inference = infer(
            everything,
            prior=prior,
            allow=allow,
            forbid=forbid,
            binarize=number_or_word("--binarize", binarize, {"none": None, "kmeans": "kmeans"}),
            noise=number_or_word("--noise", noise, {"auto": "auto"}),
            time_limit=time_limit,
            callback=watch,
        )
        advice: tuple[Experiment, ...] = ()
        if advise and not inference.stopped:
            left = None if time_limit is None else max(0.0, time_limit - (time.monotonic() - begin))
            advice = inference.next_experiments(advise, states=allowed, hold=hold, time_limit=left, callback=watch)
    files, notes = write_inference(inference, folder, title=", ".join(path.name for path in series), advice=advice)
    if output != folder:
        write_text_whole(output, (folder / "rules.bnet").read_text(encoding="utf-8"))
        files.insert(0, output)
    for sentence in notes:
        note(f"gradus: {sentence}")
    if inference.stopped:
        note("gradus: the work was stopped early: the results are the best by then.")
    if as_json:
        print_json({**as_document(inference, advice), "files": [str(path) for path in files]})
    else:
        _show(inference, advice, files, time.monotonic() - begin)


def _check_output(output: Path) -> Path:
    """Return the folder that the results go to, before any work is done for them."""
    kind = output.suffix.lower()
    if kind == ".bnet":
        check_file(output, [".bnet"])
    elif kind and not output.is_dir():
        raise FormatError("give a folder without an extension, or a .bnet file, beside which a folder is made.", path=output)
    folder = output.with_suffix("") if kind == ".bnet" else output
    check_new_folder(folder)
    return folder


def _with_held(series: tuple[Series, ...], texts: list[str]) -> list[Series]:
    """Hold genes in every series, or in those of one file."""
    held = list(series)
    for text in texts:
        file, colon, genes = text.rpartition(":")
        values = parse_held(genes)
        places = [k for k, table in enumerate(held) if not colon or file in (str(table.path), _file_name(table))]
        if not places:
            files = ", ".join(dict.fromkeys(map(_file_name, held)))
            raise SettingsError(f"--held is {text!r}, but {file!r} is not one of the files: {files}.")
        for k in places:
            held[k] = replace(held[k], held={**held[k].held, **values})
    return held


def _file_name(series: Series) -> str:
    return Path(str(series.path)).name


def _show(inference: Inference, advice: Sequence[Experiment], files: list[Path], seconds: float) -> None:
    for sentence in inference.data:
        print(printable(sentence))
    scores = (
        {}
        if inference.scores is None
        else {score.gene: score for score in (*inference.scores.genes, inference.scores.overall)}
    )
    headings = ["gene", "probability", "contradicted"]
    headings += ["left out:\none step", "usual\nvalue", "stays\nas it is", "free\nrun"] if scores else []
    rows = []
    rules = TABLES["rules"].rows(inference)
    for rule in rules:
        row = [rule["target"], percent(rule["probability"]), f"{rule['errors']:g} of {rule['transitions']:g}"]
        rows.append(row + _score_cells(scores.get(rule["target"])) if scores else row)
    if scores:
        rows.append(["all", "", "", *_score_cells(scores["all"])])
    print_table(headings, rows)
    for rule in rules:  # a column of the table would be too narrow for them
        words = ["not learned"] * (rule["learned"] is False) + ["decided"] * rule["decided"]
        print_rule(f"{rule['target']}{' (' + ', '.join(words) + ')' if words else ''}: {rule['rule']}")
    for gene in inference.model.unexplained:
        better = ", ".join(gene.regulators) or "no regulator"
        worse = f"{gene.gene}: the allowed regulators explain it worse than {better}"
        print(f"{printable(worse)} (log evidence {gene.log_evidence:.1f})")
    for number, chosen in enumerate(advice, start=1):
        on = [gene for gene, value in chosen.state.items() if value]
        held = "".join(f", {gene} held at {value}" for gene, value in chosen.held.items())
        print(printable(f"experiment {number} ({chosen.bits:.1f} bits): on {', '.join(on) or 'nothing'}{held}"))
    print(f"{counted(len(inference.model.suspects), 'suspect value')}, {seconds:.1f} s; wrote")
    for path in files:
        print(f"  {path}")


def _score_cells(score: GeneScore | None) -> list[str]:
    if score is None or not score.scored:
        return ["–"] * 4
    return [percent(value) for value in (score.one_step, score.constant, score.persistence, score.free_run)]
