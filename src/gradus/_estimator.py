"""`BooleanNetworkClassifier`: Boolean networks with the interface of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from gradus._bits import BoolMatrix, column_names
from gradus._defaults import DEFAULT_ATTEMPTS, DEFAULT_MAX_ITER, DEFAULT_RESTARTS, DEFAULT_SHRINK
from gradus._encoding.conflicts import settle_by_majority
from gradus._encoding.features import Binarize, encode_features
from gradus._encoding.labels import encode_target, order_of_outputs
from gradus._search.learner import Backend, Order, SearchResult, search
from gradus._wording import counted
from gradus.errors import DataError, SettingsError
from gradus.losses import LossName

__all__ = ["BooleanNetworkClassifier"]

SEARCH_SETTINGS = (
    "loss",
    "gates_per_target",
    "history",
    "max_iter",
    "n_restarts",
    "shrink",
    "attempts",
    "time_limit",
    "backend",
)


class BooleanNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that learns a circuit of NAND gates, teaching its outputs in order, easiest first.

    It is made for tables of zeros and ones with one or several binary targets that depend on each other; numbers and
    categories are cut into bits, and targets of more than two classes are learned as binary numbers.

    Parameters
    ----------
    loss : {"lgh", "llh", "lw", "l1"}
        How strictly the order of the targets is enforced, see `gradus.losses`.
    order : "auto", "entropy", "random", sequence of int, or None
        The order in which the targets are taught: found from minimum feature sets, from conditional entropies, at
        random, the one given, or the order of the columns.
    gates_per_target : int
        Gates of the network for each output.
    history : int
        Length of the late-acceptance history.
    max_iter : int
        Steps after which a search that has not reached zero error starts again.
    n_restarts : int
        How many times it may start again.
    shrink : int
        Steps spent on finding a smaller network once every example is right; smaller ones generalise better.
    attempts : int
        Independent searches, of which the smallest network without error is kept.
    time_limit : float, optional
        Seconds for each network. With one, the result may differ from run to run.
    binarize : float, "quantile" or None
        What to do with numeric columns that are not all 0 or 1: one input that says whether the value exceeds this
        threshold; one for each quartile; or an error. Columns of texts always become one input a category.
    n_networks : int
        Networks that vote, each from a seed of its own.
    n_jobs : int, optional
        How many of them are trained at once, as elsewhere in scikit-learn.
    backend : {"cpu", "cuda"}
        Where the search runs; the result is the same.
    random_state : int, RandomState instance or None
        With a number s and one network, the network is that of ``gradus.search(X, y, seed=s)``.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray if y has several columns
        The labels of each target.
    network_ : Network
        The network, or the first of those that vote. Its inputs and outputs are bits; their names say how they come
        from features and labels.
    networks_ : list of Network
        All networks.
    order_ : tuple of int
        Outputs of `network_` in the order in which they were taught; without multi-class targets, the columns of y.
    curriculum_ : Curriculum or None
        How the order was found; None unless ``order="auto"``.
    n_iter_ : int
        Steps of the search for `network_`.
    converged_ : bool
        Whether all networks are right on every training example.
    feature_encoding_ : FeatureEncoding
        How features become inputs.
    target_encodings_ : list of TargetEncoding
        How labels become outputs.
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
    >>> model = BooleanNetworkClassifier(order=None, random_state=1, shrink=1000).fit(X, Y)
    >>> model.predict([[1, 1]])
    array([[1, 0]])
    >>> model.score(X, Y)
    1.0
    """

    def __init__(
        self,
        *,
        loss: LossName = "lgh",
        order: Order = "auto",
        gates_per_target: int = 21,
        history: int = 250,
        max_iter: int = DEFAULT_MAX_ITER,
        n_restarts: int = DEFAULT_RESTARTS,
        shrink: int = DEFAULT_SHRINK,
        attempts: int = DEFAULT_ATTEMPTS,
        time_limit: float | None = None,
        binarize: Binarize = "quantile",
        n_networks: int = 1,
        n_jobs: int | None = None,
        backend: Backend = "cpu",
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.order = order
        self.gates_per_target = gates_per_target
        self.history = history
        self.max_iter = max_iter
        self.n_restarts = n_restarts
        self.shrink = shrink
        self.attempts = attempts
        self.time_limit = time_limit
        self.binarize = binarize
        self.n_networks = n_networks
        self.n_jobs = n_jobs
        self.backend = backend
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any) -> BooleanNetworkClassifier:
        """Learn from examples.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, features)
        y : array-like or DataFrame of shape (n,) or (n, targets)
            Class labels; any two or more per target.

        Returns
        -------
        BooleanNetworkClassifier
            This estimator.

        Warns
        -----
        ConvergenceWarning
            If a training example is still wrong; the message says how many and why.
        """
        _check_count(self.n_networks)
        table, labels = validate_data(self, X, y, dtype=None, multi_output=True)
        names = getattr(self, "feature_names_in_", None)
        self.feature_encoding_ = encode_features(table, names, binarize=self.binarize, categories=_categorical_columns(X))
        inputs = self.feature_encoding_.encode(table)
        codes = self._encode_targets(y, labels)
        settled, outvoted = settle_by_majority(inputs, codes)
        results = self._learn_all(inputs, self._outputs(settled))
        self._keep(results)
        self._warn_of_errors(inputs, self._outputs(codes), outvoted, all(one.converged for one in results))
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the label of each target; of several networks, the label with the most votes.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, features)

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
            With the shape of the y that was given to `fit`.
        """
        votes = self._votes(X)
        columns = [labels[np.argmax(share, axis=1)] for labels, share in zip(self._classes_list(), votes, strict=True)]
        return columns[0] if self._is_flat else _side_by_side(columns)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64] | list[npt.NDArray[np.float64]]:
        """Share of the networks that vote for each class; with one network 0 or 1.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, features)

        Returns
        -------
        ndarray of shape (n, classes), or a list of them, one a target, if y had several columns
            Columns as in `classes_`.
        """
        votes = self._votes(X)
        return votes[0] if self._is_flat else votes

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows on which every target is right.

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
        right = (predicted.reshape(len(predicted), -1) == given.reshape(len(predicted), -1)).all(axis=1)
        return float(np.average(right, weights=sample_weight))

    def _encode_targets(self, y: Any, labels: Any) -> npt.NDArray[np.int64]:
        """Decide how labels become outputs; return each target's classes as numbers."""
        columns, names = _target_columns(y, labels)
        self._is_flat = getattr(labels, "ndim", 2) == 1 or len(columns) == 1
        for column in columns:
            check_classification_targets(column)
        encoded = [encode_target(column, name) for column, name in zip(columns, names, strict=True)]
        self.n_outputs_ = len(encoded)
        self.target_encodings_ = [encoding for encoding, _, _ in encoded]
        classes = [labels for _, labels, _ in encoded]
        self.classes_: Any = classes[0] if self._is_flat else classes
        return np.column_stack([codes for _, _, codes in encoded])

    def _outputs(self, codes: npt.NDArray[np.int64]) -> BoolMatrix:
        pairs = zip(self.target_encodings_, codes.T, strict=True)
        return np.hstack([encoding.encode(column) for encoding, column in pairs])

    def _learn_all(self, inputs: BoolMatrix, outputs: BoolMatrix) -> list[SearchResult]:
        order = order_of_outputs(self.order, self.target_encodings_)
        settings = {name: getattr(self, name) for name in SEARCH_SETTINGS}
        seeds = _seeds(self.random_state, int(self.n_networks))
        # The search runs outside Python's lock, so that threads are enough.
        run = Parallel(n_jobs=self.n_jobs, prefer="threads")
        return list(run(delayed(search)(inputs, outputs, order=order, seed=seed, **settings) for seed in seeds))

    def _keep(self, results: Sequence[SearchResult]) -> None:
        output_names = [name for encoding in self.target_encodings_ for name in encoding.output_names]
        self.networks_ = [one.network.with_names(self.feature_encoding_.input_names, output_names) for one in results]
        self.network_ = self.networks_[0]
        self.order_ = results[0].order
        self.curriculum_ = results[0].curriculum
        self.n_iter_ = results[0].iterations

    def _warn_of_errors(self, inputs: BoolMatrix, outputs: BoolMatrix, outvoted: int, all_fitted: bool) -> None:
        wrong = np.mean([network.predict(inputs) != outputs for network in self.networks_], axis=0)
        self.converged_ = not wrong.any()
        if self.converged_:
            return
        rows = int(wrong.any(axis=1).sum())
        worst = int(np.argmax(wrong.mean(axis=0)))
        message = (
            f"the training error is not zero: {rows} of {len(inputs)} rows are wrong, most often in "
            f"{self.network_.output_names[worst]!r} (error {wrong[:, worst].mean():.3g})."
        )
        if outvoted:
            message += (
                f" {counted(outvoted, 'row has', 'rows have')} the inputs of others and different labels, so that "
                "no network can be right on all of them; the majority was taught."
            )
        if not all_fitted:
            message += " Raise max_iter, n_restarts or gates_per_target."
        if self.loss == "lgh" and outputs.shape[1] > 1 and not all_fitted:
            message += (
                " With loss='lgh' a target counts only once all earlier ones are right, so that the later ones are hardly "
                "learned; loss='lw' or 'l1' learns what it can of each."
            )
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _votes(self, X: Any) -> list[npt.NDArray[np.float64]]:
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=None)
        inputs = self.feature_encoding_.encode(table)
        votes = [np.zeros((len(inputs), len(encoding.classes))) for encoding in self.target_encodings_]
        rows = np.arange(len(inputs))
        for network in self.networks_:
            outputs, start = network.predict(inputs), 0
            for share, encoding in zip(votes, self.target_encodings_, strict=True):
                codes = encoding.decode(outputs[:, start : start + encoding.n_outputs])
                share[rows, codes] += 1 / len(self.networks_)
                start += encoding.n_outputs
        return votes

    def _classes_list(self) -> list[npt.NDArray[Any]]:
        return list([self.classes_] if self._is_flat else self.classes_)


def _check_count(n_networks: Any) -> None:
    if isinstance(n_networks, bool) or not isinstance(n_networks, int | np.integer) or n_networks < 1:
        raise SettingsError(f"n_networks is {n_networks!r}; it must be a whole number of at least 1.")


def _categorical_columns(X: Any) -> list[int]:
    """Columns that a data frame declares to be categories, whatever their values look like."""
    kinds = [str(kind).lower() for kind in getattr(X, "dtypes", ())]
    return [j for j, kind in enumerate(kinds) if kind.startswith("categor") or kind.startswith("enum")]


def _target_columns(y: Any, labels: Any) -> tuple[list[npt.NDArray[Any]], list[str]]:
    """Split targets into columns, each with its own type, and name them."""
    dense = labels.toarray() if hasattr(labels, "toarray") else np.asarray(labels)
    if dense.ndim == 1:
        name = getattr(y, "name", None)
        return [dense], ["y" if name is None else str(name)]
    if dense.shape[1] == 1:
        warnings.warn(
            "y has one column: a vector of shape (n,) was expected, and predictions will be one.",
            DataConversionWarning,
            stacklevel=4,
        )
    names = column_names(y, "y") or tuple(f"z{k}" for k in range(dense.shape[1]))
    split = y.iloc if hasattr(y, "iloc") else dense
    return [np.asarray(split[:, k]) for k in range(dense.shape[1])], list(names)


def _seeds(random_state: Any, count: int) -> list[int]:
    """Draw a seed for each network; the first is the number the user gave."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        first = int(random_state)
        if first < 0:
            raise SettingsError(f"random_state is {first}; it must be a whole number of at least 0.")
    else:
        first = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    others = np.random.SeedSequence(first).generate_state(count - 1, np.uint64)
    return [first, *(int(seed) for seed in others)]


def _side_by_side(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Columns as one array; with labels of different kinds, one of objects, so that no label changes its type."""
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.column_stack(columns)
