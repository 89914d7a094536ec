"""`fit_table`: from the columns of a table and their targets to a model, for the estimator and the command line alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from gradus._core.checks import check_choice, check_count
from gradus._core.kernels.clock import work_clock
from gradus._core.run import Run
from gradus._curriculum.orders import check_order
from gradus._lessons.learn import LearnSettings, learn_with
from gradus._lessons.small_circuits import fit_small
from gradus._tables.cells import read_cells
from gradus._tables.column_kinds import ColumnKind, column_kinds
from gradus._tables.cuts import Missing, complete_rows, encode_table
from gradus._tables.encoding import TableEncoding
from gradus._tables.labels import encode_target, order_of_outputs, output_parts
from gradus._tables.model import Model
from gradus._tables.sizes import curve_entry, n_gates
from gradus._tables.vote import learn_vote
from gradus._tables.voters import TableExamples, outputs_of
from gradus.errors import DataError

__all__ = ["FitSettings", "fit_table"]

MOST_BITS = 2  # values of a column that is one bit, whatever the values are

Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class FitSettings(LearnSettings):
    """How a model is learned: as circuits are, and what becomes of the table's cells."""

    max_gates: int | None = None
    """The most gates of the circuit that is shown; if not given, scores on rows held out decide."""
    missing: Missing = "category"
    kinds: Sequence[ColumnKind] | None = None
    """What the columns hold; if not given, the table decides."""

    @property
    def exact(self) -> bool:
        """Whether no error is allowed."""
        return not isinstance(self.noise, str) and self.noise == 0

    def to_json(self) -> dict[str, Any]:
        """Return what is worth keeping in a model, as JSON can hold it."""
        words = self.order is None or isinstance(self.order, str)
        order = self.order if words else [int(k) for k in self.order]  # type: ignore[union-attr]  # not None
        return {
            "order": order,
            "gates": self.gates,
            "noise": self.noise,
            "n_tries": self.n_tries,
            "n_circuits": self.n_circuits,
            "max_gates": self.max_gates,
            "missing": self.missing,
            "seed": self.seed,
        }


def fit_table(
    columns: Mapping[str, Any],
    targets: Columns,
    settings: FitSettings,
    run: Run,
    show_plan: Callable[[TableEncoding], None] | None = None,
) -> Model:
    """Learn a model; `show_plan` is told, before that takes time, how columns become inputs."""
    begin = work_clock()
    examples = _examples(columns, targets, settings)
    if show_plan is not None:
        show_plan(examples.encoding)
    left = run.seconds_left()
    # Afterwards the rows are encoded and counted, which takes as long as it took before.
    learning = run.part(seconds=None if left is None else max(left - (work_clock() - begin), 0.0), weight=1)
    run.expect(1)
    model, order, stopped = _learn(examples, settings, learning)
    codes = examples.codes
    predicted = np.column_stack(model.predict_codes(model.features.encode(examples.columns)))
    errors = [int(count) for count in ((predicted != codes) & (codes >= 0)).sum(axis=0)]
    network = model.network
    readers = [network.cone(range(part.start, part.stop))[: network.n_inputs] for part in output_parts(model.targets)]
    model.about.setdefault("size_curve", [curve_entry(model, None, True)])
    model.about.update(
        rows=len(codes),
        order=[network.output_names[k] for k in order],
        settings=settings.to_json(),
        majority=[target.most_frequent(column) for target, column in zip(examples.targets, codes.T, strict=True)],
        errors=errors,
        constant=[not read.any() for read in readers],
        converged=not any(errors),
        wrong_rows=int(((predicted != codes) & (codes >= 0)).any(axis=1).sum()),
        stopped=stopped,
    )
    return model


def _examples(columns: Mapping[str, Any], targets: Columns, settings: FitSettings) -> TableExamples:
    """Encode a table and its targets."""
    check_choice("missing", settings.missing, get_args(Missing))
    kinds = column_kinds(columns) if settings.kinds is None else settings.kinds
    if settings.missing == "drop":
        columns, targets = _complete(columns, targets, kinds)
    encodings, _, numbers = zip(*map(encode_target, targets.values(), targets), strict=True)
    codes = np.column_stack(numbers)
    cells = dict(zip(columns, map(read_cells, columns.values()), strict=True))
    features = encode_table(cells, codes, kinds=kinds, missing=settings.missing)
    return TableExamples(cells, codes, encodings, kinds, settings.missing, features)


def _complete(columns: Mapping[str, Any], targets: Columns, kinds: Sequence[ColumnKind]) -> tuple[Columns, Columns]:
    """Leave out the rows in which a cell is missing."""
    rows = complete_rows(columns, kinds)
    if not rows.any():
        raise DataError("every row has a missing cell; use missing='category' or 'median'.")
    left = {name: np.asarray(column)[rows] for name, column in columns.items()}
    return left, {name: column[rows] for name, column in targets.items()}


def _learn(examples: TableExamples, settings: FitSettings, run: Run) -> tuple[Model, tuple[int, ...], str | None]:
    """Return a model, the order of its outputs, and what ended learning early."""
    order: Any = settings.order
    if order is not None and not isinstance(order, str):
        order = order_of_outputs(check_order(order, len(examples.targets)), examples.targets)
    most = None if settings.max_gates is None else check_count("max_gates", settings.max_gates)
    circuits = replace(settings, order=order)
    if _is_voted_on(examples, settings):
        return learn_vote(examples, circuits, run, most)
    inputs, outputs = examples.encoding.encode(examples.columns), outputs_of(examples.targets, examples.codes)
    result = learn_with(inputs, outputs, circuits, run)
    networks = list(result.circuits[: result.n_voting])
    if most is not None and n_gates(networks[0]) > most:
        small = fit_small(inputs, outputs, [most], n_tries=settings.n_tries, seed=settings.seed, run=run.part())
        networks = [*small, *networks]
    model = Model.fit(networks, examples.encoding, examples.targets, inputs, examples.codes)
    return replace(model, apart=len(networks) > result.n_voting), result.order, result.stopped


def _is_voted_on(examples: TableExamples, settings: FitSettings) -> bool:
    """Tell whether circuits vote: where some column could become several inputs, unless the settings say otherwise."""
    features = examples.encoding
    several = len(features.input_columns) > len(set(features.input_columns))
    elsewhere = any(
        column.kind in ("above", "after") and (~examples.columns[column.name].missing_values).sum() > MOST_BITS
        for column in features.columns
    )
    return (several or elsewhere) and not settings.exact and settings.n_circuits != 1
