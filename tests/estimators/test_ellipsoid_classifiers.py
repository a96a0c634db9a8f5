from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import Status
from perceptron_lab.estimators import (
    EllipsoidSeparationClassifier,
    SoftEllipsoidClassifier,
    SoftSeparationClassifier,
    SquaredHingeClassifier,
)
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures
from tests.estimators.usual_data import exclusive_or
from tests.repetitions import repeated

Data = tuple[np.ndarray, np.ndarray]
BOTH = [EllipsoidSeparationClassifier(), SoftEllipsoidClassifier()]
ALL = [*BOTH, SoftSeparationClassifier()]


def disk_in_ring(seed: int) -> Data:
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 120)
    inside = np.arange(120) < 60
    radius = np.where(inside, rng.uniform(0, 1, 120), rng.uniform(1.5, 2, 120))
    rows = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return rows, np.where(inside, "in", "a ring")


def clouds(seed: int) -> Data:
    """Overlapping classes that no ellipsoid separates."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 200)
    return rng.standard_normal((200, 2)) + 1.5 * labels[:, None], labels


@pytest.mark.parametrize("model", ALL)
def test_disk_in_ring(model: BaseEstimator) -> None:
    rows, labels = disk_in_ring(0)
    # The larger label is the inner one.
    fitted = clone(model).fit(rows, np.where(labels == "in", "z", "a"))
    assert fitted.classes_.tolist() == ["a", "z"]
    assert fitted.n_features_in_ == 2
    new, truth = disk_in_ring(1)
    predicted = fitted.predict(new)
    assert (predicted == np.where(truth == "in", "z", "a")).mean() > 0.98
    assert ((fitted.decision_function(new) > 0) == (predicted == "z")).all()


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("data", [disk_in_ring, exclusive_or])
def test_kernel_features_in_a_pipeline(model: BaseEstimator, data: object) -> None:
    (rows, labels), (new, truth) = data(0), data(1)  # type: ignore[operator]
    features = GramSchmidtFeatures(8, kernel="rbf", gamma=0.5)
    fitted = make_pipeline(features, clone(model)).fit(rows, labels)
    assert fitted.score(new, truth) > 0.93


def test_separation_is_by_equation_8_2() -> None:
    rows, labels = disk_in_ring(0)
    fitted = EllipsoidSeparationClassifier().fit(rows, labels)
    assert fitted.status_ is Status.FEASIBLE
    assert fitted.separation_.ratio > 0.5
    lifted = np.hstack([rows, np.ones((120, 1))])
    middle = ((1 + fitted.separation_.separation_ratio) / 2) ** 2
    distance = np.einsum("ij,ij->i", lifted @ fitted.separation_.matrix, lifted)
    assert fitted.decision_function(rows) == pytest.approx(middle - distance, abs=1e-6)
    assert (fitted.predict(rows) == labels).all()


def test_inseparable_classes_are_ranked_by_the_central_path() -> None:
    rows, labels = clouds(0)
    fitted = EllipsoidSeparationClassifier().fit(rows, labels)
    assert fitted.status_ in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert fitted.separation_.ratio == pytest.approx(0.0, abs=1e-6)
    assert fitted.score(*clouds(1)) > 0.7


def test_inseparable_classes_can_be_refused() -> None:
    model = EllipsoidSeparationClassifier(inseparable="error")
    with pytest.raises(ValueError, match="no ellipsoid separates the classes"):
        model.fit(*clouds(0))
    assert model.fit(*disk_in_ring(0)).status_ is Status.FEASIBLE


def test_classes_separated_only_by_rounding_are_ranked_by_the_central_path() -> None:
    drawn = np.random.default_rng(0).standard_normal((16, 1))
    labels = np.repeat([1, 0], 8)
    rows = np.hstack([drawn] + [drawn / divisor for divisor in (3, 7, 11, 13, 19)])
    with pytest.warns(ConvergenceWarning, match="uses the rounding errors of columns"):
        fitted = EllipsoidSeparationClassifier().fit(rows, labels)
    separation = fitted.separation_
    assert separation.status is Status.FEASIBLE
    assert fitted.status_ is Status.UNVERIFIED
    assert (fitted.predict(rows) != labels).any()
    assert (
        0.5
        < separation.ratio_lower
        <= separation.ratio_upper
        <= (1 + 1e-6) * separation.ratio_lower
    )
    assert separation.ellipsoid is None
    assert separation.residual_ellipsoid is not None
    assert "does not use that, and reaches t = 0" in separation.message
    line = EllipsoidSeparationClassifier().fit(drawn, labels)
    assert fitted.predict(rows).tolist() == line.predict(drawn).tolist()


def test_few_positives_are_their_hull() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20, 5))
    labels = np.arange(20) < 4
    fitted = EllipsoidSeparationClassifier().fit(rows, labels)
    assert fitted.status_ is Status.UNBOUNDED
    assert (fitted.predict(rows) == labels).all()
    within = rows[labels].T @ rng.dirichlet(np.ones(4))
    assert fitted.predict(within[None]).tolist() == [True]


def test_unknown_choice_for_inseparable_classes() -> None:
    with pytest.raises(ValueError, match="inseparable='slack': input should be 'central-path'"):
        EllipsoidSeparationClassifier(inseparable="slack").fit(*clouds(0))  # type: ignore[arg-type]


WEIGHTS = "input should be None, 'balanced', or a mapping of labels to finite numbers above 0"


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            EllipsoidSeparationClassifier(solver="newton"),
            "^solver='newton': input should be 'a",
        ),  # type: ignore[arg-type]
        (EllipsoidSeparationClassifier(tol=2.0), "^tol=2.0: input should be less than 1$"),
        (SoftEllipsoidClassifier(rank=-1), "^rank=-1: input should be greater than or equal to 0$"),
        (SoftEllipsoidClassifier(rank=2.5), "^rank=2.5: input should be a valid integer$"),  # type: ignore[arg-type]
        (SoftEllipsoidClassifier(max_iter=0), "^max_iter=0: input should be greater"),
        (SoftEllipsoidClassifier(tol=0.0), "^tol=0.0: input should be greater than 0$"),
        (SoftEllipsoidClassifier(class_weight="even"), f"^class_weight='even': {WEIGHTS}$"),  # type: ignore[arg-type]
        (
            SoftEllipsoidClassifier(class_weight={1: 0.0}),
            rf"^class_weight=\{{1: 0.0\}}: {WEIGHTS}$",
        ),
        (
            SquaredHingeClassifier(class_weight={1: float("nan")}),
            rf"^class_weight=\{{1: nan\}}: {WEIGHTS}$",
        ),
    ],
)
def test_errors_name_parameters_as_the_user_passed_them(model: BaseEstimator, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        model.fit(*clouds(0))


def test_the_warning_for_touching_classes_states_what_to_do() -> None:
    model = EllipsoidSeparationClassifier()
    with pytest.raises(NumericalError, match=r"identical rows.*only touch; use slacks"):
        model.fit([[0.0], [1.0], [1.0], [2.0]], [1, 1, 0, 0])


def test_a_generator_draws_the_start() -> None:
    rows, labels = clouds(0)
    first, second, other = (
        SoftEllipsoidClassifier(2, random_state=np.random.default_rng(seed)).fit(rows, labels)
        for seed in (3, 3, 4)
    )
    assert (first.quadratic_.packed() == second.quadratic_.packed()).all()
    assert (first.quadratic_.packed() != other.quadratic_.packed()).any()
    assert first.score(*clouds(1)) > 0.8


def test_sparse_examples() -> None:
    rows, labels = clouds(0)
    dense = SoftEllipsoidClassifier(tol=1e-13).fit(rows, labels)
    sparse = SoftEllipsoidClassifier(tol=1e-13).fit(sp.csc_array(rows), labels)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-8)
    assert (sparse.predict(sp.coo_array(rows)) == dense.predict(rows)).all()
    for model in (EllipsoidSeparationClassifier(), SoftEllipsoidClassifier(whiten=True)):
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            model.fit(sp.csr_array(rows), labels)


def test_whitening_forgets_the_units() -> None:
    rows, labels = clouds(0)
    model = SoftEllipsoidClassifier(rank=2, whiten=True)
    shifted = rows * [1e6, 1e-3] + [5e6, 1.0]
    assert (
        clone(model).fit(shifted, labels).predict(shifted) == model.fit(rows, labels).predict(rows)
    ).all()


@pytest.mark.parametrize("class_weight", ["balanced", {0: 30.0}])
def test_class_weights_move_the_boundary(class_weight: object) -> None:
    rows, labels = clouds(0)
    few = np.flatnonzero((labels == 1) | (np.cumsum(labels == 0) <= 10))
    rows, labels = rows[few], labels[few]
    plain = SoftEllipsoidClassifier().fit(rows, labels)
    weighted = SoftEllipsoidClassifier(class_weight=class_weight).fit(rows, labels)  # type: ignore[arg-type]
    assert (weighted.predict(rows) == 0).sum() > (plain.predict(rows) == 0).sum()


def test_sample_weights_of_zero_leave_out() -> None:
    rows, labels = clouds(0)
    mask = np.arange(200) < 150
    model = SoftEllipsoidClassifier(regularisation=1e-2, tol=1e-14, whiten=True)
    left_out = clone(model).fit(rows, labels, sample_weight=mask.astype(float))
    without = clone(model).fit(rows[mask], labels[mask])
    assert left_out.objective_ == pytest.approx(without.objective_, rel=1e-8)
    assert left_out.decision_function(rows) == pytest.approx(
        without.decision_function(rows), abs=1e-3
    )


def test_missing_convergence_is_a_warning() -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        SoftEllipsoidClassifier(max_iter=1).fit(*clouds(0))


@pytest.mark.parametrize("limit", [{"max_iter": 1}, {"max_iter": 7}, {"max_seconds": 1e-9}])
@pytest.mark.parametrize("data", [disk_in_ring, clouds])
def test_limits_leave_a_usable_classifier(
    limit: dict[str, float], data: Callable[[int], Data]
) -> None:
    rows, labels = data(0)
    with pytest.warns(ConvergenceWarning, match="raise tol, max_iter or max_seconds"):
        ended = EllipsoidSeparationClassifier(**limit).fit(rows, labels)  # type: ignore[arg-type]
    assert ended.n_iter_ <= limit.get("max_iter", 1)
    assert ended.score(rows, labels) >= 0.5
    again = EllipsoidSeparationClassifier().fit(rows, labels)
    assert ended.separation_.ratio_upper >= again.separation_.ratio_lower


def test_time_limits_of_the_soft_classifier() -> None:
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        ended = SoftEllipsoidClassifier(max_seconds=1e-9).fit(*clouds(0))
    assert ended.n_iter_ <= 1


def test_no_limit_of_time_is_the_default() -> None:
    for model in BOTH:
        assert model.get_params()["max_seconds"] is None


@pytest.mark.slow
@pytest.mark.parametrize("standardised", repeated([False, True], kept=1))
@pytest.mark.parametrize("inner", repeated([1, 0], kept=1))
def test_breast_cancer(inner: int, standardised: bool) -> None:
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = StandardScaler().fit_transform(rows) if standardised else rows
    fitted = EllipsoidSeparationClassifier().fit(rows, labels == inner)
    separation = fitted.separation_
    assert fitted.status_ is Status.FEASIBLE
    assert separation.ratio == pytest.approx({0: 0.46614366, 1: 1.3020917}[inner], rel=1e-7)
    assert separation.ratio_upper - separation.ratio_lower <= 1e-8 * separation.ratio_lower
    assert (fitted.predict(rows) == (labels == inner)).all()


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize(
    ("rows", "labels", "reason"),
    [
        (np.eye(3), [1, 1, 1], "one class"),
        (np.eye(3), [0, 1, 2], "Only binary classification"),
        (np.eye(3), [0.1, 0.5, 0.9], "Unknown label type"),
        (np.full((3, 2), np.nan), [0, 1, 1], "NaN"),
        (np.zeros((0, 2)), [], "0 sample"),
        (np.eye(3), [0, 1], "inconsistent numbers of samples"),
    ],
)
def test_usual_errors(
    model: BaseEstimator, rows: np.ndarray, labels: list[float], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        clone(model).fit(rows, labels)


LARGE = 2**53 + 1
LARGE_ROWS: list[Any] = [
    np.array([[LARGE, 0], [LARGE - 1, 1], [3, 5]]),
    [[LARGE, 0.5], [LARGE - 1, 1.5], [3, 5.5]],
    [[Fraction(1, 3), 0], [1, 2], [5, 8]],
    np.array([[1, 0], [1, 2], [5, 8]], dtype=np.longdouble) / 3,
    pd.DataFrame({"id": [LARGE, LARGE - 1, 3], "length": [0.5, 1.5, 5.5]}),
    sp.csr_array(np.array([[LARGE, 0], [LARGE - 1, 1], [3, 5]])),
]


@pytest.mark.parametrize("model", [*BOTH, GramSchmidtFeatures(1, bias=1.0)])
@pytest.mark.parametrize("rows", LARGE_ROWS)
def test_numbers_that_are_no_doubles_are_refused(model: BaseEstimator, rows: Any) -> None:
    dense = isinstance(model, EllipsoidSeparationClassifier) and sp.issparse(rows)
    reason = "[Ss]parse data was passed" if dense else "numbers that no double is equal to"
    with pytest.raises((ValueError, TypeError), match=reason):
        clone(model).fit(rows, [1, 0, 1])
    fitted = clone(model).fit([[0.0, 0.0], [9.0, 1.0], [3.0, 5.0]], [1, 0, 1])
    use = fitted.transform if hasattr(fitted, "transform") else fitted.predict
    with pytest.raises((ValueError, TypeError), match=reason):
        use(rows.to_numpy(dtype=object) if isinstance(rows, pd.DataFrame) else rows)


def test_large_doubles_are_accepted() -> None:
    rows = np.array([[2**60, 0], [2**60 + 2**20, 1], [2**60 - 2**20, 5], [2**60 + 2**21, 2]])
    fitted = EllipsoidSeparationClassifier().fit(rows, [1, 0, 1, 0])
    assert fitted.status_ is Status.UNBOUNDED


@pytest.mark.parametrize("model", ALL)
def test_use_before_and_after_fit(model: BaseEstimator) -> None:
    rows, labels = disk_in_ring(0)
    fresh = clone(model)
    with pytest.raises(NotFittedError):
        fresh.predict(rows)
    fresh.fit(rows, labels)
    with pytest.raises(ValueError, match="3 features"):
        fresh.predict(np.eye(3))
    with pytest.raises(ValueError, match="NaN"):
        fresh.decision_function(np.full((1, 2), np.nan))
    copy = pickle.loads(pickle.dumps(fresh))
    assert (copy.decision_function(rows) == fresh.decision_function(rows)).all()


def test_with_the_tools_of_scikit_learn() -> None:
    rows, labels = clouds(0)
    search = GridSearchCV(
        SoftEllipsoidClassifier(rank=2),
        {"regularisation": [1e-4, 1e-2], "rank": [0, 2]},
        scoring="average_precision",
        cv=3,
    ).fit(rows, labels)
    assert search.best_score_ > 0.85
    three = np.digitize(rows.sum(axis=1), [-1.0, 2.0])
    several = OneVsRestClassifier(SoftEllipsoidClassifier(rank=2))
    assert cross_val_score(several, rows, three, cv=3).mean() > 0.9
