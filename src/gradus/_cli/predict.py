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

from gradus._cli.console import note, percent, print_json
from gradus._cli.data import read_columns
from gradus._cli.model_file import Model, load_model
from gradus._cli.output import check_file
from gradus._cli.scores import majority
from gradus._files import write_text_whole
from gradus._formats.tables import Table, read_table
from gradus._wording import counted
from gradus.errors import DataError

__all__ = ["command"]


def command(
    model: Annotated[Path, typer.Argument(help="A model that 'gradus learn' wrote (.json).", show_default=False)],
    data: Annotated[
        Path, typer.Argument(help="A table with the model's input columns; others are passed over.", show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the predictions (.csv); if not given, print.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print predictions and scores for machines.")] = False,
) -> None:
    """Let a model tell the targets of new rows; where the table holds them already, say how many are right.

    Example: gradus predict model.json new.csv -o predictions.csv
    """
    if output is not None:
        check_file(output, [".csv"])
    learned = load_model(model)
    table = read_table(data)
    features = _features(learned, table, data)
    predicted = learned.predict(features)
    scores = _scores(learned, predicted, table, data)
    names = [encoding.name for encoding in learned.targets]
    if output is not None:
        write_text_whole(output, _as_csv(names, predicted))
    if as_json:
        print_json({"targets": {name: column.tolist() for name, column in zip(names, predicted, strict=True)},
                    "scores": scores})  # fmt: skip
        return
    # Standard output is for the results: the predictions if no file takes them, or else the scores.
    say = note if output is None else print
    if output is None:
        sys.stdout.write(_as_csv(names, predicted))
    else:
        say(f"wrote {output}: {counted(len(features), 'row')}, {counted(len(names), 'target')}")
    for score in scores:
        say(
            f"{score['target']}: {percent(score['accuracy'])} right (always {score['majority']!r}, the majority in "
            f"{score['majority_of']}: {percent(score['majority_accuracy'])})"
        )


def _features(model: Model, table: Table, path: Path) -> npt.NDArray[Any]:
    names = [column.name for column in model.features.columns]
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}, which the model reads; it reads {', '.join(names)}.")
    if all(column.kind == "bit" and column.strict for column in model.features.columns):
        return table.bits(names)
    return read_columns(path, names, table=table)


def _scores(model: Model, predicted: list[npt.NDArray[Any]], table: Table, path: Path) -> list[dict[str, Any]]:
    """Accuracy of every target that the table holds, beside that of the label most frequent in training, if known."""
    kept = model.about.get("majority")
    usual = kept if isinstance(kept, list) else []
    inputs = {column.name for column in model.features.columns}
    found = []
    for k, encoding in enumerate(model.targets):
        # A target that is also an input is that gene's next value, which the table does not hold.
        if encoding.name not in table.columns or encoding.name in inputs:
            continue
        truth = _labels(read_columns(path, [encoding.name], table=table)[:, 0], encoding.classes)
        trained = len(usual) > k
        label = usual[k] if trained else _plain(majority(truth))
        found.append(
            {
                "target": encoding.name,
                "accuracy": float(np.mean([a == b for a, b in zip(truth.tolist(), predicted[k].tolist(), strict=True)])),
                "majority": label,
                "majority_of": "training" if trained else "this table",
                "majority_accuracy": float(np.mean([value == label for value in truth.tolist()])),
            }
        )
    return found


def _labels(column: npt.NDArray[Any], classes: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Labels as the model has them: texts, or whole numbers."""
    if all(isinstance(label, str) for label in classes):
        return column.astype(str)
    is_whole = column.dtype != object and np.isfinite(column).all() and (column == np.round(column)).all()
    return column.astype(np.int64) if is_whole else column


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _as_csv(names: list[str], columns: list[npt.NDArray[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(
        [int(value) if isinstance(value, bool) else value for value in row]
        for row in zip(*(column.tolist() for column in columns), strict=True)
    )
    return text.getvalue()
