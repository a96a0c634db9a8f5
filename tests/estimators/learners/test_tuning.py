from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import average_precision_score
from sklearn.svm import SVC

from perceptron_lab.cones.operators.kernels import Polynomial
from perceptron_lab.core.errors import InputError
from perceptron_lab.estimators import SoftEllipsoidClassifier, SquaredHingeClassifier
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures
from perceptron_lab.estimators.learners.partial_cholesky import kernel_matrix
from perceptron_lab.estimators.learners.tuning import (
    NEAR_TIE,
    Grid,
    Trial,
    best,
    choice_slack,
    tune,
)
from tests.repetitions import examples

Seen = list[tuple[np.ndarray, np.ndarray]]


class Column(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores by one column, and writes down what it is trained on and scores."""

    trained: Seen = []  # noqa: RUF012
    scored: list[np.ndarray] = []  # noqa: RUF012

    def __init__(self, column: int = 0, sign: Any = 1.0) -> None:
        self.column = column
        self.sign = sign

    def fit(self, examples: Any, labels: Any) -> "Column":
        self.trained.append((np.asarray(examples), np.asarray(labels)))
        return self

    def decision_function(self, examples: Any) -> np.ndarray:
        self.scored.append(np.asarray(examples))
        return np.asarray(self.sign * examples[:, self.column])


@pytest.fixture(autouse=True)
def _unused() -> None:
    Column.trained.clear()
    Column.scored.clear()


SVM = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0)


def noisy(seed: int = 0, count: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose first entry is their number and whose third entry tells the class."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(count) % 3 == 0, 1, -1)
    rows = rng.standard_normal((count, 4))
    rows[:, 0] = np.arange(count)
    rows[:, 2] += 2.0 * labels
    return rows, labels


def test_the_best_column_is_selected() -> None:
    rows, labels = noisy()
    grid = Grid(Column(), {"column": [1, 2, 3], "sign": [1.0, -1.0]})
    trials = tune(grid, rows, labels)
    selected = best(trials)
    assert selected.parameters == {"column": 2, "sign": 1.0}
    assert grid.with_parameters(selected.parameters).get_params() == selected.parameters
    assert [trial.parameters for trial in trials] == [
        {"column": column, "sign": sign} for column in (1, 2, 3) for sign in (1.0, -1.0)
    ]
    assert selected.mean == max(trial.mean for trial in trials)
    assert grid.edges(selected.parameters) == ("sign",)


@settings(max_examples=examples(20))
@given(st.integers(0, 1000), st.integers(2, 6))
def test_every_example_is_held_out_once(seed: int, folds: int) -> None:
    rows, labels = noisy(seed)
    model = Column()
    model.trained.clear()
    model.scored.clear()
    (trial,) = tune(Grid(model, {"column": [2]}), rows, labels, folds=folds, seed=seed)
    held_out = np.concatenate([part[:, 0] for part in model.scored])
    assert sorted(held_out.tolist()) == list(range(90))
    for (training, given_labels), part, precision in zip(
        model.trained, model.scored, trial.precisions, strict=True
    ):
        assert not set(training[:, 0]) & set(part[:, 0])
        assert len(training) + len(part) == 90
        numbers = training[:, 0].astype(int)
        assert ((labels[numbers] > 0) == given_labels).all()
        truth = labels[part[:, 0].astype(int)] > 0
        # A third is positive, in every fold.
        assert abs(truth.mean() - 1 / 3) < 0.06
        assert precision == pytest.approx(average_precision_score(truth, part[:, 2]))


def test_the_seed_determines_the_folds() -> None:
    rows, labels = noisy()
    grid = Grid(SVM, {"C": [0.1, 1.0]})
    first = tune(grid, rows, labels, seed=4)
    assert tune(grid, rows, labels, seed=4) == first
    assert tune(grid, rows, labels, seed=5) != first


def test_of_equal_candidates_the_first_wins() -> None:
    rows, labels = noisy()
    tuned = best(tune(Grid(Column(2), {"sign": [0.5, 3.0, 1.0]}), rows, labels))
    assert tuned.parameters == {"sign": 0.5}


Means = st.lists(st.floats(0.9, 0.91), min_size=1, max_size=8)
"""Ten tolerances wide: near ties abound."""


def trials_of(means: list[float]) -> tuple[Trial, ...]:
    return tuple(Trial({"place": index}, (mean,)) for index, mean in enumerate(means))


def selected_candidate(means: list[float], tolerance: float = NEAR_TIE) -> int:
    return int(best(trials_of(means), tolerance).parameters["place"])


@settings(max_examples=examples(100))
@given(Means)
def test_near_ties_go_to_the_most_regularised(means: list[float]) -> None:
    selected = selected_candidate(means)
    assert max(means) - means[selected] <= NEAR_TIE
    assert all(max(means) - mean > NEAR_TIE for mean in means[:selected])
    # without a tolerance the best wins
    assert means[selected_candidate(means, 0.0)] == max(means)
    assert selected <= selected_candidate(means, 0.0)


@settings(max_examples=examples(100))
@given(Means, st.data())
def test_small_changes_of_the_means_do_not_regularise_less(
    means: list[float], data: st.DataObject
) -> None:
    """All means off by e: the choice lies between those with tolerances 2 e more and 2 e less."""
    error = data.draw(st.floats(0.0, NEAR_TIE / 2))
    signs = data.draw(st.lists(st.floats(-1, 1), min_size=len(means), max_size=len(means)))
    shifted = [mean + 0.999999 * error * sign for mean, sign in zip(means, signs, strict=True)]
    widest = selected_candidate(means, NEAR_TIE + 2.0 * error + 1e-12)
    narrowest = selected_candidate(means, NEAR_TIE - 2.0 * error)
    assert widest <= selected_candidate(shifted) <= narrowest
    if error < NEAR_TIE / 4:
        # two candidates closer to one another than half of the tolerance stay tied
        indices = range(selected_candidate(shifted))
        assert all(max(means) - means[index] > NEAR_TIE / 2 for index in indices)


@settings(max_examples=examples(100))
@given(Means, st.data())
def test_within_the_tolerance_a_choice_is_stable(means: list[float], data: st.DataObject) -> None:
    selected, spare = selected_candidate(means), choice_slack(trials_of(means))
    signs = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=len(means), max_size=8))
    shifted = [
        mean + min(0.999999 * spare, 1.0) * sign for mean, sign in zip(means, signs, strict=False)
    ]
    assert selected_candidate(shifted + means[len(shifted) :]) == selected
    if len(means) == 1:
        assert spare == np.inf
        return
    # and no further: one mean that rises by more, while all others fall, changes it
    step = 1.000001 * spare + 1e-12
    changed = False
    for up in range(len(means)):
        other = [mean + step if index == up else mean - step for index, mean in enumerate(means)]
        changed |= selected_candidate(other) != selected
    assert changed


class _Counting(GramSchmidtFeatures):
    """Writes down how many examples each transformer is trained on, and with which labels."""

    trained: Seen

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        type(self).trained.append((np.asarray(X), np.asarray(y)))
        return super().fit_transform(X, y)


def test_features_are_trained_within_the_folds() -> None:
    rows, labels = noisy()
    rows[:, 0] += 1.0
    _Counting.trained = []
    model = Column(0)
    grid = Grid(model, {"sign": [1.0, -1.0]})
    trials = tune(grid, rows, labels, features=_Counting(2), folds=3)
    # Once per fold, however many candidates; never on a held-out example.
    assert len(_Counting.trained) == 3
    assert [len(fitted_rows) for fitted_rows, _ in _Counting.trained] == [60, 60, 60]
    for index, (fitted_rows, fitted_labels) in enumerate(_Counting.trained):
        transformer = GramSchmidtFeatures(2).fit(fitted_rows, fitted_labels)
        rest = np.isin(rows[:, 0], fitted_rows[:, 0], invert=True)
        np.testing.assert_allclose(model.scored[2 * index], transformer.transform(rows[rest]))
    assert len(trials) == 2


@pytest.mark.parametrize(
    "grid",
    [
        Grid(SVM, {"C": [0.1, 1.0, 10.0]}),
        Grid(SquaredHingeClassifier(), {"regularisation": [1e-2, 1e-3, 1e-4]}),
        Grid(SoftEllipsoidClassifier(2), {"regularisation": [1e-2, 1e-3, 1e-4]}),
    ],
    ids=["svm", "linear", "soft"],
)
def test_models_are_tuned_on_features_of_sparse_rows(grid: Grid) -> None:
    rows, labels = noisy()
    rows[:, 0] /= 90.0
    features = GramSchmidtFeatures(3)
    trials = tune(grid, sp.csr_array(rows), labels, features=features, seed=1)
    assert not hasattr(features, "pivots_")
    assert not hasattr(grid.model, "classes_")
    assert best(trials).mean > 0.5


def test_a_kernel_matrix_serves_all_folds() -> None:
    rows, labels = noisy()
    rows[:, 0] /= 90.0
    values = {"C": [0.1, 1.0, 10.0]}
    direct = tune(Grid(clone(SVM).set_params(tol=1e-9), values), rows, labels)
    by_matrix = Grid(SVC(kernel="precomputed", tol=1e-9), values)
    best_parameters = tune(by_matrix, kernel_matrix(Polynomial(2, 1.0, 1.0), rows), labels)
    assert best(best_parameters).parameters == best(direct).parameters
    for first, second in zip(best_parameters, direct, strict=True):
        np.testing.assert_allclose(first.precisions, second.precisions, atol=1e-6)


def test_one_kernel_matrix_of_features_serves_all_candidates() -> None:
    rows, labels = noisy()
    rows[:, 0] /= 90.0
    values = {"C": [0.1, 1.0, 10.0]}
    features = GramSchmidtFeatures(3)
    by_rows = Grid(clone(SVM).set_params(tol=1e-9), values)
    direct = tune(by_rows, rows, labels, features=features, seed=2)
    by_matrix = Grid(SVC(kernel="precomputed", tol=1e-9), values)
    kernel = Polynomial(2, 1.0, 1.0)
    best_parameters = tune(by_matrix, rows, labels, features=features, kernel=kernel, seed=2)
    assert [first.parameters for first in best_parameters] == [first.parameters for first in direct]
    for first, second in zip(best_parameters, direct, strict=True):
        np.testing.assert_allclose(first.precisions, second.precisions, atol=1e-6)


@pytest.mark.parametrize(
    ("values", "parameters", "edges"),
    [
        ({"column": [1, 2, 3]}, {"column": 2}, ()),
        ({"column": [1, 2, 3]}, {"column": 1}, ("column",)),
        ({"column": [2, 3, 1]}, {"column": 3}, ("column",)),
        ({"column": [2]}, {"column": 2}, ()),
        ({"sign": ["low", "high"]}, {"sign": "low"}, ()),
        ({"sign": [True, False]}, {"sign": True}, ()),
        ({"column": [1, 2], "sign": [0.0, 1.0, 2.0]}, {"column": 2, "sign": 1.0}, ("column",)),
    ],
)
def test_edges(values: dict[str, list[Any]], parameters: dict[str, Any], edges: tuple[str]) -> None:
    assert Grid(Column(), values).edges(parameters) == edges


def test_the_mean_of_a_trial() -> None:
    assert Trial({}, (0.5, 1.0)).mean == 0.75


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"degre": [1]}, r"SVC has no parameter 'degre' \(did you mean 'degree'"),
        ({"C": []}, r"SVC.C: values \[\]; give at least one, each once"),
        ({"C": [1.0, 1.0]}, "each once"),
    ],
)
def test_impossible_grids(values: dict[str, list[Any]], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Grid(SVM, values)


def test_values_out_of_range() -> None:
    rows, labels = noisy()
    grid = Grid(SquaredHingeClassifier(), {"regularisation": [1.0, -1.0]})
    with pytest.raises(InputError, match=r"regularisation=-1.0: .*greater than 0"):
        tune(grid, rows, labels)


@pytest.mark.parametrize(
    ("positives", "folds", "reason"),
    [
        (30, 1, "1 folds of 90 examples, 30 of them positive; allowed: 2 to 30"),
        (2, 3, "3 folds of 90 examples, 2 of them positive; allowed: 2 to 2"),
        (0, 2, "2 folds of 90 examples, 0 of them positive"),
    ],
)
def test_impossible_folds(positives: int, folds: int, reason: str) -> None:
    rows, _ = noisy()
    with pytest.raises(InputError, match=reason):
        tune(Grid(Column(), {"column": [1]}), rows, np.arange(90) < positives, folds=folds)


def test_features_of_a_precomputed_kernel() -> None:
    rows, labels = noisy()
    features = GramSchmidtFeatures(2, kernel="precomputed")
    with pytest.raises(InputError, match="precomputed kernel cannot be trained within folds"):
        tune(Grid(Column(), {"column": [0]}), rows @ rows.T, labels, features=features)
