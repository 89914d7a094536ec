"""`BooleanNetworkClassifier`: Boolean circuits with the interface of scikit-learn."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs  # type: ignore[import-untyped]  # joblib has no types
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix, column_names
from gradus._core.checks import check_choice, check_count, check_time_limit
from gradus._core.kernels.clock import work_clock
from gradus._core.run import Callback, Progress, Run
from gradus._core.wording import counted
from gradus._curriculum import check_order
from gradus._lessons.learn import N_TRIES, LearnSettings, Order, learn_with
from gradus._tables.cells import read_cells
from gradus._tables.column_kinds import ColumnKind, column_kinds, named_columns
from gradus._tables.encoding import Missing, TableEncoding, complete_rows, encode_table
from gradus._tables.labels import (
    TargetEncoding,
    encode_target,
    is_unknown,
    majority,
    order_of_outputs,
    output_parts,
    side_by_side,
)
from gradus._tables.model import Model
from gradus._tables.target_columns import target_columns
from gradus._tables.vote import learn_vote
from gradus._tables.voters import TableExamples, outputs_of
from gradus.errors import DataError

__all__ = ["BooleanNetworkClassifier"]

SECONDS_PER_LINE = 1.0
MOST_BITS = 2  # values of a column that is one bit, whatever the values are


class BooleanNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns a small circuit of logic gates, one target at a time, easiest first.

    Any table will do: numbers, dates and categories become bits that are chosen for the targets, ids and free texts are
    left out (``model_.features.plan()`` says what becomes of each column), and a target of three or more classes takes one
    output per class.

    Where every column is one bit (0/1, or two values), the circuit is that of `gradus.learn`. Other tables are learned
    by a vote, because where a column is cut is chance: 25 circuits, each from another draw of rows, cuts and columns,
    and one more circuit that is learned from their vote, to be read (`rules`), drawn and exported. With ``n_circuits=1`` or
    ``noise=0`` there is no vote.

    Parameters
    ----------
    order : "self-paced", "auto", "entropy", "random", sequence of int, or None
        The order in which the targets are taught: always the one that is cheapest to add, by minimum feature sets, by
        conditional entropies, at random, the one given, or the order of the columns.
    gates : {"any", "nand"}
        Gates of the circuit: any function of two bits, or NAND only.
    noise : "auto" or float
        Share of the labels that may be wrong; "auto" lets the description length of circuit and errors decide, in a vote
        the voters.
    n_tries : int
        Tries per lesson, of which the smallest circuit is kept.
    n_circuits : int, optional
        Circuits that vote. By default 25, or where every column is one bit as many as `gradus.learn` finds worth their work.
    time_limit : float, optional
        Seconds, after which the best circuit so far is kept. With a limit, the result may differ from run to run.
    missing : {"category", "median", "drop"}
        What a missing cell of X is: a category of its own; the column's median, or most frequent category; or a reason not
        to learn from the row, and the median in `predict`.
    n_jobs : int, optional
        Threads, as elsewhere in scikit-learn; the result is the same for any number.
    verbose : int
        With 1, print progress lines.
    random_state : int, RandomState instance or None
        With a number s, the circuit of a table of zeros and ones is that of ``gradus.learn(X, y, seed=s)``.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray if y has several columns
        The labels of each target.
    model_ : Model
        Circuits and encodings: what `save` writes.
    network_ : Network
        The best circuit by itself. Its inputs and outputs are bits; their names say how they come from features and labels.
    networks_ : list of Network
        All circuits that vote, the best one first.
    order_ : tuple of int
        Outputs of `network_` in the order in which they were taught; without multi-class targets, the columns of y.
    errors_ : tuple of int
        Training examples that are wrong, for each target; unknown labels do not count.
    constant_ : tuple of bool
        For each target, whether no circuit explains it better than a constant.
    converged_ : bool
        Whether every training example is right.
    stopped_ : str or None
        What ended learning early: "time_limit", "callback" or "interrupted"; None if nothing did.
    n_outputs_ : int
        Number of targets.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if X had names in `fit`.

    Examples
    --------
    >>> from gradus import BooleanNetworkClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> Y = [[0, 0], [0, 1], [0, 1], [1, 0]]  # a half adder: carry, sum
    >>> classifier = BooleanNetworkClassifier(noise=0, random_state=1).fit(X, Y)
    >>> classifier.predict([[1, 1]])
    array([[1, 0]])
    >>> classifier.rules()["z0"]
    'x0 & x1'
    """

    def __init__(
        self,
        *,
        order: Order = "self-paced",
        gates: Literal["any", "nand"] = "any",
        noise: float | Literal["auto"] = "auto",
        n_tries: int = N_TRIES,
        n_circuits: int | None = None,
        time_limit: float | None = None,
        missing: Missing = "category",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.order = order
        self.gates = gates
        self.noise = noise
        self.n_tries = n_tries
        self.n_circuits = n_circuits
        self.time_limit = time_limit
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any) -> BooleanNetworkClassifier:
        """Learn from examples.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, features)
            Numbers, texts, dates, and NaN or None where a cell is missing.
        y : array-like or DataFrame of shape (n,) or (n, targets)
            Class labels; NaN, None or masked where a label is unknown, which then does not count.

        Returns
        -------
        BooleanNetworkClassifier
            This estimator.

        Warns
        -----
        ConvergenceWarning
            If the time limit ended learning, or ``noise=0`` asks for a circuit without errors and none was found.
        """
        limit = check_time_limit(self.time_limit)
        end = None if limit is None else work_clock() + limit
        framed = column_names(X) is not None
        checked = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan")
        found = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(checked.shape[1])] if found is None else [str(name) for name in found]
        # Columns of a data frame have types of their own.
        table = named_columns(X if framed else checked, names)
        return self._fit_columns(table, target_columns(y, len(checked)), column_kinds(table), end=end)

    def _fit_columns(
        self,
        table: dict[str, Any],
        labels: Mapping[str, npt.NDArray[Any]],
        kinds: Sequence[ColumnKind],
        callback: Callback | None = None,
        show_plan: Callable[[TableEncoding], None] | None = None,
        end: float | None = None,
    ) -> BooleanNetworkClassifier:
        """Learn from columns by name, of these kinds, until `end` on the work clock; if not given, for the time limit."""
        begin, limit = work_clock(), check_time_limit(self.time_limit)
        end = begin + limit if end is None and limit is not None else end
        check_choice("missing", self.missing, get_args(Missing))
        if self.missing == "drop":
            table, labels = _complete(table, labels, kinds)
        encoded = [encode_target(column, name) for name, column in labels.items()]
        targets = tuple(encoding for encoding, _, _ in encoded)
        codes = np.column_stack([found for _, _, found in encoded])
        cells = {name: read_cells(column) for name, column in table.items()}
        features = encode_table(cells, codes, kinds=kinds, missing=self.missing)
        if show_plan is not None:
            show_plan(features)
        output_names = [name for target in targets for name in target.output_names]
        watch = _ProgressLines(output_names) if self.verbose and callback is None else callback
        examples = TableExamples(cells, codes, targets, kinds, self.missing, features)
        self.model_, self.order_, self.stopped_ = self._learn(examples, watch, _time_left(begin, end))
        self.networks_, self.network_ = list(self.model_.networks), self.model_.network
        self.n_outputs_ = len(targets)
        self.classes_: Any = encoded[0][1] if len(encoded) == 1 else [classes for _, classes, _ in encoded]
        predicted = np.column_stack(self.model_.predict_codes(self.model_.features.encode(cells)))
        wrong = (predicted != codes) & (codes >= 0)
        self.errors_ = tuple(int(count) for count in wrong.sum(axis=0))
        self.constant_ = tuple(_is_constant(self.network_, part) for part in output_parts(targets))
        self.converged_ = not any(self.errors_)
        self.model_.about.update(self._about(len(codes), list(labels.values()), output_names))
        self._warn_of_errors(int(wrong.any(axis=1).sum()), len(codes), targets)
        return self

    def _learn(
        self, examples: TableExamples, callback: Callback | None, time_limit: float | None
    ) -> tuple[Model, tuple[int, ...], str | None]:
        """Return a model, the order of its outputs, and what ended learning early."""
        words = self.order is None or isinstance(self.order, str)
        order: Any = self.order
        if not words:
            order = order_of_outputs(check_order(self.order, len(examples.targets)), examples.targets)
        settings = LearnSettings(
            order=order,
            gates=self.gates,
            noise=self.noise,
            n_tries=self.n_tries,
            n_circuits=self.n_circuits,
            seed=_seed(self.random_state),
        )
        run = Run(time_limit, callback, n_jobs=effective_n_jobs(self.n_jobs))
        if self._votes(examples):
            return learn_vote(examples, settings, run)
        inputs = examples.encoding.encode(examples.columns)
        result = learn_with(inputs, outputs_of(examples.targets, examples.codes), settings, run)
        networks = result.circuits[: result.n_voting]
        model = Model.fit(networks, examples.encoding, examples.targets, inputs, examples.codes)
        return model, result.order, result.stopped

    def _votes(self, examples: TableExamples) -> bool:
        """Tell whether circuits vote: where some column could become several inputs, unless the settings say otherwise."""
        features = examples.encoding
        several = len(features.input_columns) > len(set(features.input_columns))
        cut = [column for column in features.columns if column.kind in ("above", "after")]
        elsewhere = any((~examples.columns[column.name].missing_values).sum() > MOST_BITS for column in cut)
        exact = not isinstance(self.noise, str) and self.noise == 0
        return (several or elsewhere) and not exact and self.n_circuits != 1

    def _about(self, rows: int, columns: Sequence[npt.NDArray[Any]], output_names: Sequence[str]) -> dict[str, Any]:
        """Return what is worth keeping of how the model was learned, as JSON can hold it."""
        plain: dict[str, Any] = {
            name: value
            for name, value in self.get_params().items()
            if name not in ("n_jobs", "verbose") and (value is None or isinstance(value, str | int | float))
        }
        if self.order is not None and not isinstance(self.order, str):
            plain["order"] = [int(k) for k in self.order]
        return {
            "rows": rows,
            "order": [output_names[k] for k in self.order_],
            "settings": plain,
            "majority": [majority(column) for column in columns],
            "errors": list(self.errors_),
            "constant": list(self.constant_),
            "converged": self.converged_,
        }

    def _warn_of_errors(self, wrong: int, rows: int, targets: Sequence[TargetEncoding]) -> None:
        exact = not isinstance(self.noise, str) and self.noise == 0
        if not self.stopped_ and not (exact and wrong):
            return
        worst = targets[int(np.argmax(self.errors_))].name
        message = "learning was ended early; this is the best model so far." if self.stopped_ else ""
        if wrong:
            message += f" The training error is not zero: {wrong} of {counted(rows, 'row')} wrong, most in {worst!r}."
        if exact and wrong and not self.stopped_:
            message += " With noise='auto' examples that contradict the others need not be fitted."
        warnings.warn(message.strip(), ConvergenceWarning, stacklevel=4)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the label of each target by the vote of the circuits; the best one decides a tie.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, features)

        Returns
        -------
        ndarray of shape (n,), or (n, targets) if y had several columns
        """
        inputs = self._inputs(X)
        codes = self.model_.predict_codes(inputs)
        classes = [self.classes_] if self.n_outputs_ == 1 else self.classes_
        columns = [labels[numbers] for labels, numbers in zip(classes, codes, strict=True)]
        return np.asarray(columns[0]) if self.n_outputs_ == 1 else side_by_side(columns)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64] | list[npt.NDArray[np.float64]]:
        """Return the probability of each class: the mean over the circuits, each by how often it was right in training.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, features)

        Returns
        -------
        ndarray of shape (n, classes), or a list of them, one per target, if y had several columns
            Columns as in `classes_`.
        """
        inputs = self._inputs(X)
        votes = self.model_.votes(inputs)
        return votes[0] if self.n_outputs_ == 1 else votes

    def _inputs(self, X: Any) -> BoolMatrix:
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=None, ensure_all_finite="allow-nan")
        return self.model_.features.encode(table)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows on which every target is right; unknown labels do not count.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, features)
        y : array-like of shape (n,) or (n, targets)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float

        Raises
        ------
        DataError
            If y has other rows or targets than the predictions.
        """
        predicted = self.predict(X)
        given = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        rows, targets = predicted.reshape(len(predicted), -1).shape
        if given.shape != (rows, targets) and not (targets == 1 and given.shape == (rows,)):
            raise DataError(
                f"y has the shape {given.shape}, but the predictions for X have the shape {predicted.shape}: "
                "give one row of y for each row of X, and one column for each target."
            )
        right = (predicted.reshape(rows, targets) == given.reshape(rows, targets)) | is_unknown(given.reshape(rows, targets))
        return float(np.average(right.all(axis=1), weights=sample_weight))

    def rules(self, *, as_frame: bool = False) -> Any:
        """Return what the best circuit says, as formulas of the columns; see `Model.rules`.

        Parameters
        ----------
        as_frame : bool
            Whether to return a pandas DataFrame.

        Returns
        -------
        dict of str to str, or DataFrame
            A formula for each target, or for each class of a target.
        """
        check_is_fitted(self)
        return self.model_.rules(as_frame=as_frame)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model for `gradus.load` and ``gradus predict``.

        Parameters
        ----------
        path : path-like
            A file of JSON, usually ``.json``.
        """
        check_is_fitted(self)
        self.model_.save(path)


class _ProgressLines:
    """Print a line now and then: the callback of ``verbose=1``."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.next = names, time.monotonic()

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() >= self.next:
            print(progress.describe(self.names), flush=True)
            self.next = time.monotonic() + SECONDS_PER_LINE


def _time_left(begin: float, end: float | None) -> float | None:
    """Return the seconds to learn in; after that the rows are encoded and counted, which takes as long as before."""
    now = work_clock()
    return None if end is None else max(end - now - (now - begin), 0.0)


def _is_constant(network: Network, outputs: slice) -> bool:
    """Tell whether outputs depend on no input."""
    return not network.cone(range(outputs.start, outputs.stop))[: network.n_inputs].any()


def _complete(
    table: dict[str, Any], labels: Mapping[str, npt.NDArray[Any]], kinds: Sequence[ColumnKind]
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Leave out the rows in which a cell is missing."""
    rows = complete_rows(table, kinds)
    if not rows.any():
        raise DataError("every row has a missing cell; use missing='category' or 'median'.")
    left = {name: np.asarray(column)[rows] for name, column in table.items()}
    return left, {name: column[rows] for name, column in labels.items()}


def _seed(random_state: Any) -> int:
    """Return the number the user gave, or one drawn from a generator."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return check_count("random_state", random_state, least=0)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
