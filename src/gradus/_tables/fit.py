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
from gradus._tables.cells import Cells, read_cells
from gradus._tables.class_codes import MANY_CLASSES, coded
from gradus._tables.column_kinds import ColumnKind, column_kinds
from gradus._tables.cuts import Missing, complete_rows, encode_table
from gradus._tables.encoding import TableEncoding
from gradus._tables.goals import GOALS, Goal, Weights, class_weights, row_weights
from gradus._tables.importances import column_importances, telling_columns, with_telling_columns
from gradus._tables.labels import TargetEncoding, encode_target, order_of_outputs, output_parts
from gradus._tables.model import Model
from gradus._tables.readable_rules import rule_coverage
from gradus._tables.sizes import curve_entry, n_gates
from gradus._tables.vote import LARGE_GROWTH, VOTER_NOISE, learn_vote, learner_of
from gradus._tables.voters import TableExamples, outputs_of, rows_by_weight
from gradus._tables.weighed import learn_weighed
from gradus.errors import DataError

__all__ = ["FitSettings", "fit_table"]

MOST_BITS = 2  # values of a column that is one bit, whatever the values are

MOST_REPEATED = 16  # times as many rows as there are, up to which whole weights repeat rows

Columns = Mapping[str, Any]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FitSettings(LearnSettings):
    """How a model is learned: as circuits are, and what becomes of the table's cells."""

    max_gates: int | None = None
    """The most gates of the circuit that is shown; if not given, scores on rows held out decide."""
    missing: Missing = "category"
    kinds: Sequence[ColumnKind] | None = None
    """What the columns hold; if not given, the table decides."""
    class_weight: Any = None
    """How much each class counts: None for all alike, "balanced", or a mapping by label."""
    goal: Goal = "accuracy"

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
            "class_weight": self.class_weight if self.class_weight is None or isinstance(self.class_weight, str) else "given",
            "goal": self.goal,
            "seed": self.seed,
        }


def fit_table(
    columns: Mapping[str, Any],
    targets: Columns,
    settings: FitSettings,
    run: Run,
    show_plan: Callable[[TableEncoding], None] | None = None,
    sample_weight: Floats | None = None,
) -> Model:
    """Learn a model; `show_plan` is called first with how columns become inputs."""
    begin = work_clock()
    if settings.n_circuits is not None:
        check_count("n_circuits", settings.n_circuits)
    examples = _examples(columns, targets, settings, sample_weight)
    if show_plan is not None:
        show_plan(examples.encoding)
    left = run.seconds_left()
    # Afterwards the rows are encoded and counted, which takes as long as it took before.
    learning = run.part(seconds=None if left is None else max(left - (work_clock() - begin), 0.0), weight=1)
    run.expect(1)
    model, order, stopped = _learn(examples, settings, learning)
    model = replace(model, goal=settings.goal)
    codes = examples.codes
    inputs = model.features.encode(examples.columns)
    predicted = np.column_stack(model.predict_codes(inputs))
    errors = [int(count) for count in ((predicted != codes) & (codes >= 0)).sum(axis=0)]
    network = model.network
    readers = [network.cone(range(part.start, part.stop))[: network.n_inputs] for part in output_parts(model.targets)]
    # After a stop, what takes a moment to compute is left out.
    if "size_curve" not in model.about:
        model.about["size_curve"] = [] if stopped else [curve_entry(model, None, True)]
    if "importances" not in model.about:  # no circuits vote: there are no rows that they have not seen
        seen = [np.ones(len(codes), np.bool_)] * len(model.networks)
        model.about["importances"] = {} if stopped else column_importances(model, inputs, codes, seen, len(seen))
    model.about.update(
        rows=len(codes),
        order=[network.output_names[k] for k in order],
        settings=settings.to_json(),
        majority=[target.most_frequent(column) for target, column in zip(examples.targets, codes.T, strict=True)],
        errors=errors,
        coverage=rule_coverage(network.predict(inputs), model.targets, codes),
        constant=[not read.any() for read in readers],
        converged=not any(errors),
        wrong_rows=int(((predicted != codes) & (codes >= 0)).any(axis=1).sum()),
        stopped=stopped,
        telling=[]
        if stopped
        else telling_columns(examples.encoding, examples.targets, examples.encoding.encode(examples.columns), codes),
    )
    return model


def _examples(
    columns: Mapping[str, Any], targets: Columns, settings: FitSettings, sample_weight: Floats | None = None
) -> TableExamples:
    """Encode a table and its targets."""
    check_choice("missing", settings.missing, get_args(Missing))
    check_choice("goal", settings.goal, GOALS)
    columns, targets, rows = _weighted(columns, targets, sample_weight)
    kinds = column_kinds(columns) if settings.kinds is None else settings.kinds
    if settings.missing == "drop":
        complete = complete_rows(columns, kinds)
        if not complete.any():
            raise DataError("every row has a missing cell; use missing='category' or 'median'.")
        columns, targets, rows = _taken(columns, complete), _taken(targets, complete), rows[complete]
    encodings, _, numbers = zip(*map(encode_target, targets.values(), targets), strict=True)
    codes = np.column_stack(numbers)
    cells = dict(zip(columns, map(read_cells, columns.values()), strict=True))
    order = _settled_order(cells, codes, rows)
    cells, codes, rows = {name: one.take(order) for name, one in cells.items()}, codes[order], rows[order]
    features = with_telling_columns(encode_table(cells, codes, kinds=kinds, missing=settings.missing), cells, codes)
    encodings = _coded(encodings, codes, features, cells)
    of_classes = (
        class_weights(_of_target(settings.class_weight, name, len(targets)), target, column, rows)
        for name, target, column in zip(targets, encodings, codes.T, strict=True)
    )
    return TableExamples(
        cells, codes, encodings, kinds, settings.missing, features, Weights(rows, tuple(of_classes)), settings.goal
    )


def _coded(
    targets: Sequence[TargetEncoding], codes: Ints, features: TableEncoding, cells: Mapping[str, Cells]
) -> tuple[TargetEncoding, ...]:
    """Let the many classes of a target share outputs."""
    if all(len(target.classes) <= MANY_CLASSES for target in targets):
        return tuple(targets)
    inputs, names = features.encode(cells), features.input_names
    return tuple(coded(target, column, inputs, names) for target, column in zip(targets, codes.T, strict=True))


def _of_target(class_weight: Any, name: str, n_targets: int) -> Any:
    """Return the weights of one target: with several, a mapping may have them by the target's name."""
    if n_targets > 1 and isinstance(class_weight, Mapping):
        return class_weight.get(name)
    return class_weight


def _weighted(columns: Columns, targets: Columns, given: Any) -> tuple[Columns, Columns, Floats]:
    """Leave out rows that weigh nothing, and repeat those that weigh as much as several, which is the same."""
    n = len(next(iter(targets.values())))
    if given is None:
        return columns, targets, np.ones(n)
    weights = row_weights(given, n)
    whole = bool((weights == np.round(weights)).all()) and weights.sum() <= MOST_REPEATED * n
    rows = np.repeat(np.arange(n), weights.astype(np.int64) if whole else (weights > 0).astype(np.int64))
    return _taken(columns, rows), _taken(targets, rows), np.ones(len(rows)) if whole else weights[rows]


def _taken(columns: Columns, rows: npt.NDArray[Any]) -> dict[str, Any]:
    """Return some rows."""
    return {
        name: column.iloc[rows] if hasattr(column, "iloc") else np.asarray(column)[rows] for name, column in columns.items()
    }


def _settled_order(cells: Mapping[str, Cells], codes: Ints, weights: Floats) -> Ints:
    """Return the rows in an order that depends on their content alone: the model is the same however they are shuffled."""
    keys = [column.ranks[column.place] for column in cells.values()]
    return np.lexsort([weights, *codes.T, *keys])


def _learn(examples: TableExamples, settings: FitSettings, run: Run) -> tuple[Model, tuple[int, ...], str | None]:
    """Return a model, the order of its outputs, and what ended learning early."""
    order: Any = settings.order
    if order is not None and not isinstance(order, str):
        order = order_of_outputs(check_order(order, len(examples.targets)), examples.targets)
    most = None if settings.max_gates is None else check_count("max_gates", settings.max_gates)
    circuits = replace(settings, order=order)
    if _is_voted_on(examples, settings):
        return learn_vote(examples, circuits, run, most)
    if most is None and _may_be_weighed(examples, settings) and (weighed := _weighed(examples, settings, run)):
        return weighed, (0,), None
    inputs, outputs = examples.encoding.encode(examples.columns), outputs_of(examples.targets, examples.codes)
    rows = rows_by_weight(examples, len(outputs))
    result = learn_with(inputs[rows], outputs[rows], circuits, run)
    networks = list(result.voters)
    if most is not None and n_gates(networks[0]) > most:
        tries, seed = settings.n_tries, settings.seed
        small = fit_small(inputs[rows], outputs[rows], [most], n_tries=tries, seed=seed, run=run.part())
        networks = [*small, *networks]
    model = Model.fit(networks, examples.encoding, examples.targets, inputs, examples.codes, examples.weights)
    return replace(model, apart=len(networks) > len(result.voters)), result.order, result.stopped


def _weighed(examples: TableExamples, settings: FitSettings, run: Run) -> Model | None:
    """Return a model whose circuit is a weighted sum, if that is shorter to describe; there must be half the time left."""
    left = run.seconds_left()
    part = run.part(seconds=None if left is None else left / 2, weight=1)
    learner = learner_of(settings, part, noise=VOTER_NOISE, n_tries=1, growth=LARGE_GROWTH)
    weighed = learn_weighed(examples, learner, settings.seed, part)
    if weighed is None:
        return None
    inputs = weighed.encoding.encode(examples.columns)
    return Model.fit([weighed.network], weighed.encoding, examples.targets, inputs, examples.codes, examples.weights)


def _is_voted_on(examples: TableExamples, settings: FitSettings) -> bool:
    """Tell whether circuits vote: where some column could become several inputs, unless the settings say otherwise."""
    return _has_several(examples) and not settings.exact and settings.n_circuits != 1


def _may_be_weighed(examples: TableExamples, settings: FitSettings) -> bool:
    """Tell whether a single circuit may be a weighted sum: on large tables of numbers with one target of two classes."""
    one_output = len(examples.targets) == 1 and examples.targets[0].n_outputs == 1
    one_circuit = settings.n_circuits == 1 and settings.gates == "any" and not settings.exact
    return examples.is_large and one_output and one_circuit and _has_several(examples)


def _has_several(examples: TableExamples) -> bool:
    """Tell whether some column could become several inputs."""
    features = examples.encoding
    several = len(features.input_columns) > len(set(features.input_columns))
    elsewhere = any(
        column.kind in ("above", "after") and (~examples.columns[column.name].missing_values).sum() > MOST_BITS
        for column in features.columns
    )
    return several or elsewhere
