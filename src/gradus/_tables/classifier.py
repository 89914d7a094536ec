"""`BooleanNetworkClassifier`: Boolean circuits with the interface of scikit-learn."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from gradus._core.bits import BoolMatrix, column_names
from gradus._core.cells import is_unknown
from gradus._core.checks import check_count, check_time_limit
from gradus._core.run import Progress, Run
from gradus._core.wording import counted
from gradus._formats.table import LARGEST_TABLE
from gradus._lessons.learn import N_TRIES, Order
from gradus._tables.cells import named_columns
from gradus._tables.column_kinds import column_kinds
from gradus._tables.cuts import Missing
from gradus._tables.fit import FitSettings, fit_table
from gradus._tables.goals import Goal
from gradus._tables.labels import check_classes, encode_target, output_names, plain_label, refuse_quantity, side_by_side
from gradus.errors import DataError

__all__ = ["BooleanNetworkClassifier"]

CHECKS: dict[str, Any] = {"dtype": None, "ensure_all_finite": "allow-nan", "accept_sparse": ("csr", "csc")}
SETTINGS = ("order", "gates", "noise", "n_tries", "n_circuits", "max_gates", "missing", "class_weight", "goal")
"""Parameters that are settings of a fit as they are."""


class BooleanNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns a small circuit of logic gates, one target at a time, easiest first.

    Any table will do: numbers, dates and categories become bits that are chosen for the targets, ids and free texts are
    left out (``model_.features.plan()`` lists what becomes of each column), and a target of three or more classes takes one
    output per class. Where that falls far behind the vote, an output compares two of four to twelve classes.

    Where every column is one bit (0/1, or two values), the circuit is that of `gradus.learn`. Other tables are learned
    by a vote, because cuts of columns depend on chance: 25 circuits, each from another draw of rows, cuts and columns.
    They predict. One more circuit is learned from their vote, to be read (`rules`), drawn and exported: the smallest that is
    nearly as good (`size_curve_`). With ``n_circuits=1`` or ``noise=0`` there is no vote.

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
        Circuits that vote. By default 25 (10 of more than 16,384 rows), or where every column is one bit as many as
        `gradus.learn` considers useful. With 1, the circuit of a large table may be a weighted sum of thousands of gates.
    max_gates : int, optional
        The most gates of the circuit that is shown: read, drawn and exported. By default the smallest one that is nearly as
        good as the best on rows held out; see `size_curve_`. The vote still predicts.
    time_limit : float, optional
        Seconds, after which the best circuit so far is kept. With a limit, the result may differ from run to run.
    missing : {"category", "median", "drop"}
        What a missing cell of X is: a category of its own; the column's median, or most frequent category; or a reason not
        to learn from the row, and the median in `predict`.
    class_weight : "balanced", dict or None
        How much each class counts: "balanced" gives all the same weight, a dict has weights by label (with several
        targets, a dict of dicts by target name).
    goal : {"accuracy", "balanced_accuracy", "f1"}
        What `predict` maximises; the threshold of the vote is chosen on rows that the voters have not seen.
    types : dict of str to str, optional
        Kinds of columns, where they are not to be guessed: "number", "category", "exact" (a category
        in which capitals matter), "bit", "date", "decimal-comma", "decimal-point", "day-first", "month-first", "keep", "drop".
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
        The best circuit by itself. Its inputs and outputs are bits; their names show how they follow from features and labels.
    networks_ : list of Network
        All circuits that vote, the best one first.
    size_curve_ : list of dict
        For each size of circuit that was tried its ``gates``, the ``conditions`` of its rules, its ``accuracy`` on rows that
        were held out (None where there was no time to score, or nothing votes), and whether it is ``shown``. After Ctrl-C it
        may be empty.
    order_ : tuple of int
        Outputs of `network_` in the order in which they were taught; without multi-class targets, the columns of y.
    feature_importances_ : ndarray of float
        The bits per row that each feature saves, measured on rows that voters have not seen: by how many bits the labels are
        longer to describe if the feature's values are shuffled.
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
        max_gates: int | None = None,
        time_limit: float | None = None,
        missing: Missing = "category",
        class_weight: Any = None,
        goal: Goal = "accuracy",
        types: Mapping[str, str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.order = order
        self.gates = gates
        self.noise = noise
        self.n_tries = n_tries
        self.n_circuits = n_circuits
        self.max_gates = max_gates
        self.time_limit = time_limit
        self.missing = missing
        self.class_weight = class_weight
        self.goal = goal
        self.types = types
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BooleanNetworkClassifier:
        """Learn from examples.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, features)
            Numbers, texts, dates, and NaN or None where a cell is missing.
        y : array-like or DataFrame of shape (n,) or (n, targets)
            Class labels; NaN, None or masked where a label is unknown, which then does not count.
        sample_weight : array-like of shape (n,), optional
            How much each row counts. A whole number is the same as that number of equal rows, and 0 leaves the row out.

        Returns
        -------
        BooleanNetworkClassifier
            This estimator.

        Warns
        -----
        ConvergenceWarning
            If the time limit ended learning, or ``noise=0`` asks for a circuit without errors and none was found.
        """
        lines = _ProgressLines()
        run = Run(check_time_limit(self.time_limit), lines if self.verbose else None, n_jobs=effective_n_jobs(self.n_jobs))
        framed = column_names(X) is not None
        checked = _dense(validate_data(self, X, **CHECKS))
        names = list(map(str, getattr(self, "feature_names_in_", (f"x{j}" for j in range(checked.shape[1])))))
        # Columns of a data frame have types of their own.
        columns = named_columns(X if framed else checked, names)
        targets = _target_columns(y, len(checked))
        for name, labels in targets.items():
            check_classes(labels, name)
            refuse_quantity(labels, name)
        lines.names = output_names(targets)
        kinds, seed = column_kinds(columns, types=self.types), _seed(self.random_state)
        settings = FitSettings(**{name: getattr(self, name) for name in SETTINGS}, kinds=kinds, seed=seed)
        self.model_ = fit_table(columns, targets, settings, run, sample_weight=sample_weight)
        self._describe(targets)
        self._warn_of_errors(settings.exact)
        return self

    def _describe(self, targets: dict[str, npt.NDArray[Any]]) -> None:
        """Set the attributes that say what was learned."""
        model, about = self.model_, self.model_.about
        self.networks_, self.network_ = list(model.networks), model.network
        self.order_ = tuple(model.network.output_names.index(name) for name in about["order"])
        self.errors_, self.constant_ = tuple(about["errors"]), tuple(about["constant"])
        self.size_curve_ = [dict(size) for size in about["size_curve"]]
        self.converged_, self.stopped_ = about["converged"], about["stopped"]
        self.n_outputs_ = len(targets)
        labels = [encode_target(column, name)[1] for name, column in targets.items()]
        # Rows with missing cells, and the classes that only they have, may be left out.
        pairs = zip(labels, model.targets, strict=True)
        classes = [found[[plain_label(label) in target.classes for label in found]] for found, target in pairs]
        self.classes_: Any = classes[0] if len(classes) == 1 else classes

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The bits per row that each feature saves: on rows not seen, or where no circuits vote, on all rows."""
        check_is_fitted(self)
        bits = self.model_.about["importances"]
        return np.array([bits.get(column.name, 0.0) for column in self.model_.features.columns])

    def _warn_of_errors(self, exact: bool) -> None:
        wrong, rows = self.model_.about["wrong_rows"], self.model_.about["rows"]
        if not self.stopped_ and not (exact and wrong):
            return
        worst = self.model_.target_names[int(np.argmax(self.errors_))]
        message = "learning was ended early; this is the best model so far." if self.stopped_ else ""
        if wrong:
            message += f" The training error is not zero: {wrong} of {counted(rows, 'row')} wrong, most in {worst!r}."
        if exact and wrong and not self.stopped_:
            message += " With noise='auto' examples that contradict the others need not be fitted."
        warnings.warn(message.strip(), ConvergenceWarning, stacklevel=3)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the label of each target by the vote of the circuits, cut for the `goal`; the best one decides a tie.

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
        return self.model_.features.encode(_dense(validate_data(self, X, reset=False, **CHECKS)))

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
        given = np.asarray(_dense(y))
        said = predicted.reshape(len(predicted), -1)
        if given.shape not in (said.shape, predicted.shape):
            raise DataError(
                f"y has the shape {given.shape}, but the predictions for X have the shape {predicted.shape}: "
                "give one row of y for each row of X, and one column for each target."
            )
        truth = given.reshape(said.shape)
        right = (said == truth) | is_unknown(truth)
        return float(np.average(right.all(axis=1), weights=sample_weight))

    def rules(self, *, as_frame: bool = False, as_text: bool = False) -> Any:
        """Return the best circuit as formulas of the columns; see `Model.rules`.

        Parameters
        ----------
        as_frame, as_text : bool
            Whether to return a pandas DataFrame, with what each rule covers, or lines of if and then.

        Returns
        -------
        dict of str to str, DataFrame, or str
            A formula for each target, or for each class of a target.
        """
        check_is_fitted(self)
        return self.model_.rules(as_frame=as_frame, as_text=as_text)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON for `gradus.load` and ``gradus predict``; `path` is path-like."""
        check_is_fitted(self)
        self.model_.save(path)


def _dense(X: Any) -> Any:
    """Return a sparse matrix as an array: a circuit needs few of its columns, but learning looks at all of them."""
    if not hasattr(X, "toarray"):
        return X
    if X.shape[0] * X.shape[1] > LARGEST_TABLE:
        raise DataError(
            f"X has {X.shape[0]} rows of {X.shape[1]} columns, more than {LARGEST_TABLE} cells; choose some columns."
        )
    return X.toarray()


class _ProgressLines:
    """Print a line now and then: the callback of ``verbose=1``."""

    def __init__(self) -> None:
        self.names: Sequence[str] = ()
        self.next = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() >= self.next:
            print(progress.describe(self.names), flush=True)
            self.next = time.monotonic() + 1.0


def _target_columns(y: Any, rows: int) -> dict[str, npt.NDArray[Any]]:
    """Check targets and split them into columns by name, each with its own type."""
    if y is None:
        raise ValueError("This BooleanNetworkClassifier estimator requires y to be passed, but the target y is None.")
    if isinstance(y, np.ma.MaskedArray):
        y = np.where(np.ma.getmaskarray(y), np.array(None, dtype=object), np.ma.getdata(y).astype(object))
    checked = check_array(y, accept_sparse="csr", ensure_all_finite="allow-nan", ensure_2d=False, dtype=None, input_name="y")
    dense = checked.toarray() if hasattr(checked, "toarray") else checked
    if dense.ndim == 1:
        name = getattr(y, "name", None)
        columns, names = [dense], ["y" if name is None else str(name)]
    else:
        if dense.shape[1] == 1:
            warnings.warn(
                "y has one column: a vector of shape (n,) was expected, and predictions will be one.",
                DataConversionWarning,
                stacklevel=3,
            )
        names = list(column_names(y, "y") or (f"z{k}" for k in range(dense.shape[1])))
        split = y.iloc if hasattr(y, "iloc") else dense
        columns = [np.asarray(split[:, k]) for k in range(dense.shape[1])]
    if len(columns[0]) != rows:
        check_consistent_length(np.empty(rows), columns[0])
    for column in columns:
        known = column[~is_unknown(column)]
        check_classification_targets(np.array(known.tolist()) if column.dtype == object and len(known) else known)
    return dict(zip(names, columns, strict=True))


def _seed(random_state: Any) -> int:
    """Return the number the user gave, or one drawn from a generator."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return check_count("random_state", random_state, least=0)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
