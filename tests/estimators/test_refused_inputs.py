"""Wrong examples, labels and parameters of the separating classifiers, each with its reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.cones.operators.kernels import Rbf
from perceptron_lab.estimators import MaxMarginClassifier, PerceptronClassifier

ROWS, LABELS = [[1.0], [2.0], [4.0]], [0, 0, 1]
DATES = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"])})


@pytest.mark.parametrize(
    ("rows", "labels", "reason"),
    [
        (ROWS, [1, 1, 1], "MaxMarginClassifier needs examples of two classes; .* 1, in 3 rows"),
        ([[1.0]], ["yes"], "the data has one class, 'yes', in 1 row"),
        ([[1.0], [np.nan], [4.0]], LABELS, "Input X contains NaN"),
        ([[1.0], [np.inf], [4.0]], LABELS, "Input X contains infinity"),
        (ROWS, [0, np.nan, 1], r"label 1 is missing \(1 are None or NaN\)"),
        (ROWS, np.array([0, np.nan, 1]), "Input y contains NaN"),
        (ROWS, [0, None, 1], "label 1 is missing"),
        (ROWS, [0, "a", 1], "labels 'a' and 0; give texts or numbers, not both"),
        (ROWS, [0, 1], "inconsistent numbers of samples"),
        (ROWS, [0.1, 0.2, 0.3], "Unknown label type: continuous"),
        ([["a"], ["b"], ["c"]], LABELS, r"X contains a text \(.*'a'.*\); give numbers"),
        (
            pd.DataFrame({"colour": ["red", "blue", "red"]}),
            LABELS,
            "column 'colour' holds 'red' .*pandas.get_dummies",
        ),
        ([["1.5"], [2], ["x"]], LABELS, "X contains a text"),
        ([1.0, 2.0, 4.0], LABELS, "Expected 2D array, got 1D array"),
        (np.zeros((0, 2)), [], "0 sample"),
        (ROWS, [[0, 1], [0, 1], [1, 0]], "y should be a 1d array|bad input shape|multilabel"),
        ([[2**53 + 1], [2], [4]], LABELS, "no double is equal to"),
        ([[10**400], [2], [4]], LABELS, "X contains an integer above 1.8e308"),
        ([[1j], [2], [4]], LABELS, "X contains complex numbers; give real ones"),
        (np.array([[1j], [2], [4]]), LABELS, "Complex data not supported"),
        ([[1.0, 2.0], [3.0], [4.0]], LABELS, "rows of X differ in length"),
        ("data.csv", LABELS, r"X is 'data.csv' \(str\); give rows of numbers, such as pandas.read"),
        ({"a": [1, 2, 4]}, LABELS, r"X is \{'a': \[1, 2, 4\]\} \(dict\); give rows"),
        (iter(ROWS), LABELS, r"X is <list_iterator.*; give rows of numbers"),
        (None, LABELS, "X is None; give rows of numbers"),
        (ROWS, "y", r"y is 'y' \(str\); give one label per example, such as the column"),
        (ROWS, {0, 1}, r"y is \{0, 1\} \(set\); give one label"),
        (ROWS, iter(LABELS), "y is <list_iterator.*; give one label"),
    ],
)
def test_examples_and_labels(rows: Any, labels: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        MaxMarginClassifier().fit(rows, labels)


@pytest.mark.parametrize(
    "rows", ["data.csv", {"a": [5.0]}, [[10**400]], [[1j]], [[5.0], [5.0, 6.0]]]
)
def test_new_examples(rows: Any) -> None:
    with pytest.raises(ValueError, match=r"^X (is|contains)|^rows of X"):
        MaxMarginClassifier().fit(ROWS, LABELS).predict(rows)


def test_dates_are_no_numbers() -> None:
    with pytest.raises((TypeError, ValueError), match=r"datetime64|DateTime|column 'when'"):
        MaxMarginClassifier().fit(DATES, LABELS)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"kernel": "rbff"}, r"kernel='rbff': input should be None, 'linear', .*mean 'rbf'\?"),
        ({"kernel": Rbf}, r"kernel=<class .*: input should be .* a record such as Rbf\(gamma"),
        ({"kernel": 3}, "kernel=3: input should be None"),
        ({"max_iter": 0}, "max_iter=0: input should be greater than or equal to 1"),
        ({"max_iter": 10.5}, "max_iter=10.5: input should be a valid integer"),
        ({"max_seconds": 0.0}, "max_seconds=0.0: input should be greater than 0"),
        ({"tol": 1.0}, "tol=1.0: input should be less than 1"),
        ({"fit_intercept": "no"}, "fit_intercept='no': input should be a valid boolean"),
        ({"random_state": "x"}, "random_state='x': input should be"),
        ({"random_state": -1}, "random_state=-1: input should be greater than or equal to 0"),
        ({"random_state": 2**32}, "random_state=4294967296: input should be less than 4294967296"),
        ({"kernel": "precomputed"}, r"kernel='precomputed' with X of shape \(3, 1\)"),
    ],
)
def test_parameters(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        MaxMarginClassifier(**parameters).fit(ROWS, LABELS)


def test_kernels_divide_by_norms() -> None:
    model = PerceptronClassifier(kernel="rbf", normalized=False)
    with pytest.raises(ValueError, match="normalized=False with kernel='rbf'"):
        model.fit(ROWS, LABELS)


def test_a_zero_example_needs_a_constant() -> None:
    rows = [[0.0], [2.0], [4.0]]
    assert PerceptronClassifier().fit(rows, LABELS).separable_ is True
    with pytest.raises(ValueError, match="row 0 is zero"):
        PerceptronClassifier(fit_intercept=False).fit(rows, LABELS)
    with pytest.raises(ValueError, match=r"K\(x, x\) = 0 for example 0"):
        PerceptronClassifier(kernel="linear", fit_intercept=False).fit(rows, LABELS)


def test_numbers_of_numpy_are_numbers() -> None:
    model = PerceptronClassifier(max_iter=np.int64(50), tol=np.float64(1e-2)).fit(ROWS, LABELS)
    assert model.separable_ is True
