"""`BooleanNetworkClassifier` against scikit-learn's contract, and inside scikit-learn's own tools."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from gradus import BooleanNetworkClassifier, problems
from gradus._lessons import learn
from gradus.errors import DataError, SettingsError


def quick(**settings):
    return BooleanNetworkClassifier(**{"noise": 0, "random_state": 0, **settings})


# No check is listed as an expected failure.
@parametrize_with_checks([BooleanNetworkClassifier(n_tries=1, n_circuits=2)])
def test_scikit_learns_own_checks_pass(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.fixture(scope="module")
def adder():
    problem = problems.load("add3")
    train, test = problem.sample(40, seed=1)
    return (problem, problem.X[train].astype(int), problem.Y[train].astype(int), problem.X[test].astype(int), problem.Y[test])


def test_the_network_is_the_one_that_learn_finds(adder):
    _, X, Y, _, _ = adder
    settings = {"gates": "nand", "noise": 0, "n_tries": 2}
    model = BooleanNetworkClassifier(**settings, random_state=7).fit(X, Y)
    learned = learn(X, Y, **settings, seed=7)
    assert model.network_ == learned.network
    assert model.networks_ == list(learned.circuits[: learned.n_voting])
    assert model.order_ == tuple(learned.order)
    assert model.errors_ == tuple(learned.errors) == (0, 0, 0)
    assert model.converged_


def test_predictions_are_in_the_callers_columns_and_one_dimensional_where_y_was(adder):
    _, X, Y, _, _ = adder
    model = quick(order=[2, 0, 1]).fit(X, Y)
    assert model.order_ == (2, 0, 1)
    assert np.array_equal(model.predict(X), Y)
    assert model.predict(X).dtype == Y.dtype
    assert quick(order=None).fit(X, Y[:, 0]).predict(X).tolist() == Y[:, 0].tolist()
    with pytest.warns(DataConversionWarning):
        assert quick(order=None).fit(X, Y[:, :1]).predict(X).shape == (len(X),)


def test_several_circuits_vote(adder):
    _, X, Y, X_test, _ = adder
    model = quick(n_circuits=5, n_jobs=2).fit(X, Y)
    assert 1 <= len(model.networks_) <= 5
    shares = model.predict_proba(X_test)
    assert [share.shape for share in shares] == [(len(X_test), 2)] * 3
    votes = np.mean([network.predict(X_test) for network in model.networks_], axis=0)
    for k, share in enumerate(shares):
        # Every circuit is right on all rows, so that one that is the only one to say 1 is believed as much as any other.
        assert np.array_equal(share[:, 1] > 0.5, votes[:, k] > 0.5)
        assert np.allclose(share.sum(axis=1), 1)
    assert np.array_equal(model.predict(X_test), votes > 0.5)
    one = quick(n_circuits=3).fit(X, Y[:, 0])
    assert one.predict_proba(X_test).shape == (len(X_test), 2)


def test_any_labels_and_any_number_of_classes_in_each_target(adder):
    _, X, Y, _, _ = adder
    number = Y @ [1, 2, 4]
    targets = pd.DataFrame({"low": np.where(Y[:, 0], "yes", "no"), "sum": number, "half": np.where(number > 3, 2.0, -1.0)})
    model = quick().fit(X, targets)
    assert [classes.tolist() for classes in model.classes_] == [["no", "yes"], list(range(8)), [-1.0, 2.0]]
    assert model.network_.output_names == ("low = yes", *(f"sum = {k}" for k in range(8)), "half = 2")
    predicted = model.predict(X)
    assert predicted.dtype == object
    assert predicted.tolist() == targets.to_numpy(dtype=object).tolist()
    assert model.score(X, targets) == 1.0
    assert [share.shape[1] for share in model.predict_proba(X)] == [2, 8, 2]


def test_a_given_order_keeps_the_bits_of_a_target_together(adder):
    _, X, Y, _, _ = adder
    model = quick(order=[1, 0]).fit(X, np.column_stack([Y @ [1, 2, 4], Y[:, 0]]))
    assert model.order_ == (8, *range(8))


def test_a_multi_class_target_alone():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    y = np.array(["a", "b", "c", "b"] * 2)
    model = quick().fit(pd.DataFrame(X, columns=["p", "q"]), pd.Series(y, name="kind"))
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict(pd.DataFrame(X, columns=["p", "q"])).tolist() == y.tolist()
    assert model.network_.output_names == ("kind = a", "kind = b", "kind = c")
    assert model.feature_names_in_.tolist() == ["p", "q"]


def test_numbers_and_categories_become_named_inputs():
    frame = pd.DataFrame(
        {
            "size": [1.5, 2.5, 3.5, 4.5],
            "colour": ["red", "blue", "red", "blue"],
            "grade": pd.Categorical([1, 2, 2, 3]),
            "on": [True, False, True, False],
        }
    )
    model = quick().fit(frame, [0, 1, 1, 0])
    names = ("size > 2", "size > 3", "size > 4", "colour = red", "grade = 1", "grade = 2", "grade = 3", "on")
    assert model.network_.input_names == names
    assert model.predict(frame).tolist() == [0, 1, 1, 0]
    assert model.model_.features.plan() == (
        "size: number, cut at 2, 3 and 4",
        "colour: category, 2 categories",
        "grade: category, 3 categories",
        "on: 0/1",
    )


@pytest.mark.parametrize("missing", ["category", "median", "drop"])
def test_missing_cells_are_learned_from_and_answered(missing):
    size = np.array([1.5, 2.5, 8.5, 9.5, np.nan, np.nan] * 4)
    frame = pd.DataFrame({"size": size, "colour": ["red", None, "blue"] * 8})
    y = (size > 5) | (np.isnan(size) if missing == "category" else False)
    model = quick(missing=missing).fit(frame, y)
    assert model.score(frame[~np.isnan(size)], y[~np.isnan(size)]) == 1.0
    assert ("size is missing" in model.network_.input_names) == (missing == "category")
    assert model.model_.about["rows"] == (12 if missing == "drop" else 24)
    assert len(model.predict(pd.DataFrame({"size": [None, 7.0], "colour": ["pink", "red"]}))) == 2
    if missing == "category":
        assert model.converged_


def test_rows_to_learn_from_must_be_left():
    with pytest.raises(DataError, match="every row has a missing cell"):
        quick(missing="drop").fit([[1.5, np.nan], [2.5, np.nan], [np.nan, 3.5], [np.nan, 4.5]], [0, 1, 0, 1])


def test_ids_and_free_texts_are_left_out():
    frame = pd.DataFrame({"no": range(40), "name": [f"Mr. {i} the {i}th" for i in range(40)], "on": [0, 1] * 20})
    model = quick().fit(frame, [0, 1] * 20)
    assert model.network_.input_names == ("on",)
    assert model.model_.feature_names == ("on",)
    assert model.model_.predict({"on": [1]}).tolist() == [1]


def test_contradictory_rows_are_learned_by_majority_without_a_warning():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
    y = X[:, 0] ^ X[:, 1]
    y[0] ^= 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = quick(noise="auto").fit(X, y)
    assert model.errors_ == (1,)
    assert not model.converged_
    assert model.predict(X[:4]).tolist() == [0, 1, 1, 0]


def test_exact_fitting_that_fails_warns_and_says_how_many_rows_are_wrong():
    with pytest.warns(ConvergenceWarning, match=r"1 of 16 rows wrong, most in 'y'.*noise='auto'"):
        model = quick(noise=0).fit([[0]] * 8 + [[1]] * 8, [1] + [0] * 7 + [1] * 8)
    assert model.errors_ == (1,)
    assert model.predict([[0], [1]]).tolist() == [0, 1]


def test_a_time_limit_of_zero_gives_a_model_at_once_and_a_warning(adder):
    _, X, Y, _, _ = adder
    with pytest.warns(ConvergenceWarning, match="learning was ended early; this is the best model so far"):
        model = quick(time_limit=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("unknown", [np.nan, None, np.ma.masked])
def test_unknown_labels_do_not_count(adder, unknown):
    _, X, Y, _, _ = adder
    if unknown is np.ma.masked:
        holes = np.ma.array(Y, mask=np.zeros(Y.shape, dtype=bool))
    else:
        holes = Y.astype(object if unknown is None else float)
    holes[0, 0] = holes[3, 2] = unknown
    model = quick().fit(X, holes)
    assert model.errors_ == (0, 0, 0)
    known = np.ones(Y.shape, dtype=bool)
    known[0, 0] = known[3, 2] = False
    assert np.array_equal(model.predict(X)[known], Y[known])
    if unknown is not np.ma.masked:
        assert model.score(X, holes) == 1.0
    assert all(np.isin(labels, (0, 1)).all() for labels in model.classes_)


def test_unknown_labels_of_a_multi_class_target_are_unknown_in_every_bit():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    model = quick().fit(X, np.array(["a", "b", "c", None] * 2, dtype=object))
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict(X[:3]).tolist() == ["a", "b", "c"]
    with pytest.raises(DataError, match="no known label"):
        quick().fit(X, np.full(8, np.nan))


def test_verbose_prints_lines(adder, capsys):
    _, X, Y, _, _ = adder
    quick(verbose=1).fit(X, Y)
    assert capsys.readouterr().out.count("\n") >= 1
    quick().fit(X, Y)
    assert capsys.readouterr().out == ""


def test_a_target_that_never_changes_is_predicted_as_it_was(adder):
    _, X, Y, _, _ = adder
    model = quick(order=None).fit(X, np.column_stack([Y[:, 0], np.full(len(X), 5), np.ones(len(X), dtype=int)]))
    assert model.predict(X)[:, 1:].tolist() == [[5, 1]] * len(X)
    assert model.network_.predict(X)[:, 2].all()


def test_sparse_labels_are_labels(adder):
    _, X, Y, _, _ = adder
    model = quick(order=None).fit(X, sparse.csr_matrix(Y))
    assert np.array_equal(model.predict(X), Y)
    assert model.score(X, sparse.csr_matrix(Y)) == 1.0


def test_score_counts_rows_that_are_right_in_every_target(adder):
    _, X, Y, _, _ = adder
    model = quick(order=None).fit(X, Y)
    other = Y.copy()
    other[0, 1] ^= 1
    assert model.score(X, other) == 1 - 1 / len(X)
    assert model.score(X, other, sample_weight=[0] + [1] * (len(X) - 1)) == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_circuits": 0}, "n_circuits is 0"),
        ({"n_tries": 0}, "n_tries is 0"),
        ({"random_state": -1}, "random_state is -1"),
        ({"gates": "xor"}, "gates is 'xor'"),
        ({"time_limit": True}, "time_limit is True"),
        ({"order": [0, 0, 1]}, "names target 0 twice"),
        ({"missing": "zero"}, "missing is 'zero'"),
    ],
)
def test_settings_are_checked_in_fit_and_not_before(adder, settings, message):
    _, X, Y, _, _ = adder
    model = quick(**settings)
    with pytest.raises(SettingsError, match=message):
        model.fit(X, Y)


def test_it_can_be_cloned_and_pickled(adder):
    _, X, Y, X_test, _ = adder
    model = quick(order=(1, 0, 2)).fit(X, Y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X_test), model.predict(X_test))
    copy = clone(model)
    assert not hasattr(copy, "network_")
    assert copy.fit(X, Y).network_ == model.network_


def test_it_works_in_a_pipeline_with_data_frames():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    y = (frame["a"] > 0).astype(int)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), quick())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pipeline.fit(frame, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b", "c"]
    assert pipeline.score(frame, y) > 0.9


def test_grid_search_and_cross_validation_run(adder):
    problem, *_ = adder
    X, Y = problem.X.astype(int), problem.Y.astype(int)
    grid = GridSearchCV(quick(), {"gates": ["any", "nand"], "n_tries": [1, 2]}, cv=2, error_score="raise")
    grid.fit(X, Y)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()
    assert grid.best_estimator_.score(X, Y) == 1.0
    assert cross_val_score(quick(), X, Y[:, 0], cv=4, error_score="raise").shape == (4,)


def test_the_order_found_orders_a_classifier_chain(adder):
    _, X, Y, _, _ = adder
    model = quick().fit(X, Y)
    chain = ClassifierChain(DecisionTreeClassifier(random_state=0), order=list(model.order_)).fit(X, Y)
    assert list(chain.order_) == list(model.order_)
    assert np.array_equal(chain.predict(X), Y)


@pytest.mark.parametrize("columns", [1, 2])
def test_a_score_needs_as_many_labels_as_rows(adder, columns):
    _, X, Y, _, _ = adder
    model = quick().fit(X, Y[:, :columns] if columns > 1 else Y[:, 0])
    again = Y[:, :columns]
    assert model.score(X, again) == 1.0
    for wrong in (np.vstack([again, again]), again[:1], np.hstack([again, again]), again.ravel()[:-1]):
        with pytest.raises(DataError, match="one row of y for each row of X"):
            model.score(X, wrong)


def test_a_data_frame_with_a_repeated_name_is_refused_by_a_data_error():
    X = pd.DataFrame([[0, 1], [1, 1]], columns=["a", "a"])
    with pytest.raises(DataError, match="'a'"):
        BooleanNetworkClassifier().fit(X, [0, 1])


def refusal(y):
    with pytest.raises(DataError) as caught:
        quick().fit(np.arange(len(y))[:, np.newaxis] % 7, y)
    return str(caught.value)


def test_targets_that_are_no_classes_are_refused_as_on_the_command_line():
    assert refusal([k % 50 for k in range(100)]) == (
        "target 'y' has 50 different numbers in 100 rows; a target must hold classes: replace its numbers by a few words, "
        "such as low and high (gradus learn --cut NAME=median), or give it as texts (gradus learn --types y=category)."
    )
    assert "another value in every row, as an id has" in refusal([f"row {k}" for k in range(30)])
    assert "more than 256 different values" in refusal([k % 300 for k in range(3000)])


def test_empty_labels_are_unknown_and_words_are_classes():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    assert quick().fit(X, ["None", "mild", "", "mild"] * 2).classes_.tolist() == ["None", "mild"]
