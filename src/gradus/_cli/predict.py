"""`gradus predict`: the targets of new rows."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from gradus._cli.console import check_file, note, percent, print_json, printable
from gradus._cli.data import STANDARD, input_file
from gradus._core.cells import is_unknown
from gradus._core.files import write_text_whole
from gradus._core.wording import counted
from gradus._formats.table import Table
from gradus._formats.table_files import READERS, read_table
from gradus._tables.cells import read_cells
from gradus._tables.dataset import column_of, identifying_column
from gradus._tables.labels import labels_between, labels_of, majority, output_parts, renamed
from gradus._tables.model import Model, load
from gradus.errors import DataError

__all__ = ["command"]

SHOWN_DIGITS = 4  # of a probability


def command(
    model: Annotated[
        Path, typer.Argument(help="A model from 'gradus learn' or an estimator's save (.json).", show_default=False)
    ],
    data: Annotated[
        Path,
        typer.Argument(
            help=f"A table with the model's input columns ({' '.join(READERS)}), or - for CSV on standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the predictions (.csv); if not given, or -, print.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the conditions that decide each row, by the rules shown.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print predictions and scores as JSON.")] = False,
) -> None:
    """Predict the targets of new rows; where the table has them already, print how many are right.

    The first column that the model does not read and that differs in nearly every row, such as an id, is kept beside them.

    Example: gradus predict model.json new.csv -o predictions.csv
    """
    if output == STANDARD:
        output = None
    if output is not None:
        check_file(output, [".csv"])
    learned = load(model)
    with input_file(data) as file:
        table = read_table(file)
    cells = _cells(learned, table)
    predicted = dict(zip(learned.target_names, learned.predict(cells).reshape(table.n_rows, -1).T, strict=True))
    scores = _scores(learned, predicted, table)
    rows = {**identifying_column(table, (*learned.feature_names, *learned.target_names)), **predicted}
    shares = _probabilities(learned, cells) if proba else {}
    reasons = _reasons(learned, cells, predicted) if explain else {}
    rows |= shares | reasons
    if output is not None:
        write_text_whole(output, _as_csv(rows))
    if as_json:
        document = {"targets": {name: column.tolist() for name, column in predicted.items()}, "scores": scores}
        more = {"probabilities": {name: column.tolist() for name, column in shares.items()}} if proba else {}
        more |= {"because": {name: column.tolist() for name, column in reasons.items()}} if explain else {}
        print_json({**document, **more})
        return
    # Standard output is for the results: the predictions if no file takes them, or else the scores.
    say = note if output is None else print
    if output is None:
        sys.stdout.write(_as_csv(rows))
    else:
        say(f"wrote {output}: {counted(table.n_rows, 'row')}, {counted(len(predicted), 'target')}")
    for score in scores:
        usual = f"always {score['majority']!r}, the majority in {score['majority_of']}: {percent(score['majority_accuracy'])}"
        say(printable(f"{score['target']}: {percent(score['accuracy'])} right ({usual})"))


def _cells(model: Model, table: Table) -> Any:
    """Return the columns of a table that a model reads, as it reads them."""
    names = model.feature_names
    missing = [name for name in names if name not in table.columns]
    if missing:
        wanted = ", ".join(names)
        raise DataError(f"{table.named()} has no column {missing[0]!r}, which the model reads; it reads {wanted}.")
    read = [column for column in model.features.columns if column.input_names]
    if all(column.kind == "bit" and column.strict for column in read):
        return table.bits(names)
    cells = {c.name: table.text(c.name) if c.kind == "group" or c.comma else table.column(c.name) for c in read}
    _say_what_counts_as_missing(model, cells)
    return cells


def _probabilities(model: Model, cells: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the probability of each class of each target, by names such as ``P(sex = f)``."""
    chances = model.predict_proba(cells)
    columns = {}
    for target, shares in zip(model.targets, chances if isinstance(chances, list) else [chances], strict=True):
        for label, column in zip(target.classes, shares.T, strict=True):
            columns[f"P({target.name} = {label})"] = np.round(column, SHOWN_DIGITS)
    return columns


def _say_what_counts_as_missing(model: Model, cells: dict[str, npt.NDArray[Any]]) -> None:
    """Name cells that the model cannot read: a decimal comma, or another way of writing dates, would go unnoticed."""
    for column in model.features.columns:
        lost = column.not_understood(cells[column.name]) if column.name in cells else []
        if lost:
            what = "a date as those learned from" if column.kind == "after" else "a number as those learned from"
            count = "it counts" if len(lost) == 1 else f"{len(lost):,} such cells count"
            note(printable(f"gradus: column {column.name!r} has {lost[0]!r:.40}, which is not {what}; {count} as missing."))


def _reasons(model: Model, cells: Any, predicted: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Return for each target the conditions that decide what the rules say, and that where the vote says otherwise."""
    from gradus._tables.explained import Explainer

    inputs = model.features.encode(cells)
    outputs, explainer = model.network.predict(inputs), Explainer(model.network, model.features)
    columns = {}
    for k, (target, part) in enumerate(zip(model.targets, output_parts(model.targets), strict=True)):
        answers = model.answer(k, outputs[:, part]).tolist()
        texts = []
        for text, answer, voted in zip(explainer.explain(inputs, part), answers, predicted[target.name].tolist(), strict=True):
            label = target.classes[answer]
            texts.append(text if label == voted else f"the vote; the rules say {label}: {text}")
        columns[f"because ({target.name})"] = np.array(texts, dtype=object)
    return columns


def _scores(model: Model, predicted: dict[str, npt.NDArray[Any]], table: Table) -> list[dict[str, Any]]:
    """Return the accuracy of each target in the table, beside that of the label most frequent in training, if known."""
    kept = model.about.get("majority")
    usual = dict(zip(model.target_names, kept if isinstance(kept, list) else [], strict=False))
    scores = []
    for target in model.targets:
        # A target that is also an input is that gene's next value, which the table does not hold.
        if target.name not in table.columns or target.name in model.feature_names:
            continue
        as_text = all(isinstance(label, str) for label in target.classes)
        kept = model.about.get("cuts")
        cuts = kept.get(target.name) if isinstance(kept, dict) else None
        if isinstance(cuts, list):
            truth = labels_between(read_cells(column_of(table, target.name)).numbers(), cuts)
        else:
            truth = labels_of(table.text(target.name) if as_text else table.column(target.name))
            merged = model.about.get("merged")
            names = merged.get(target.name) if isinstance(merged, dict) else None
            truth = renamed(truth, names) if isinstance(names, dict) else truth
        known = ~is_unknown(truth)
        if not known.any():
            continue
        label = usual.get(target.name, majority(truth))
        scores.append(
            {
                "target": target.name,
                "accuracy": _share_equal(truth[known], predicted[target.name][known].tolist()),
                "majority": label,
                "majority_of": "training" if target.name in usual else "this table",
                "majority_accuracy": _share_equal(truth[known], [label] * int(known.sum())),
            }
        )
    return scores


def _share_equal(truth: npt.NDArray[Any], labels: list[Any]) -> float:
    return float(np.mean([a == b for a, b in zip(truth.tolist(), labels, strict=True)]))


def _as_csv(predicted: dict[str, npt.NDArray[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(predicted)
    writer.writerows(
        [int(value) if isinstance(value, bool) else value for value in row]
        for row in zip(*(column.tolist() for column in predicted.values()), strict=True)
    )
    return text.getvalue()
