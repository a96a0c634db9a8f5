"""Both ellipsoid classifiers, with default parameters, on the data that everybody tries first."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.estimators import EllipsoidSeparationClassifier, SoftEllipsoidClassifier
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame
from tests.estimators.usual_data import Case, generated, pairs
from tests.gaussian_shells import GaussianShells
from tests.repetitions import repeated

SMALL = [
    case
    for loader in (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer)
    for case in pairs(loader)
]
DIGITS = pairs(datasets.load_digits)
_ROUNDED = {f"digits 6 in {outer} standardised" for outer in (5, 3, 9)}
ROUNDED = [case for case in DIGITS if case.name in _ROUNDED]
"""A column of these depends on others to rounding."""
TIGHT = 1e-6


def named(cases: list[Case], count: int) -> list[object]:
    return repeated([pytest.param(case, id=case.name) for case in cases], count)


def holds_narrowly(fitted: EllipsoidSeparationClassifier) -> bool:
    """Tell whether t is proved to 1e-6 of itself; to 1e-6 where nothing positive is proved."""
    separation = fitted.separation_
    assert separation.proved
    if separation.status is Status.UNBOUNDED:
        return math.isinf(separation.ratio_lower)
    scale = separation.ratio_lower if separation.ratio_lower > 0.0 else 1.0
    return separation.ratio_upper - separation.ratio_lower <= TIGHT * scale


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [*named(SMALL, 3), *named(DIGITS, 1), *named(generated(1000)[:4], 2)]
)
def test_the_ratio_is_proved_to_six_digits(case: Case) -> None:
    rows, labels = case.load()
    fitted = EllipsoidSeparationClassifier().fit(rows, labels)
    assert holds_narrowly(fitted)
    assert np.isfinite(fitted.decision_function(rows)).all()
    if fitted.separation_.ratio_lower > 0.0:
        assert (fitted.predict(rows) == labels).all()


@pytest.mark.slow
@pytest.mark.parametrize("case", named(ROUNDED, 1))
def test_negatives_moved_off_the_hull_by_rounding_are_decided(case: Case) -> None:
    rows, labels = case.load()
    fitted = EllipsoidSeparationClassifier().fit(rows, labels)
    separation = fitted.separation_
    assert fitted.status_ is Status.FEASIBLE
    assert separation.ratio_upper - separation.ratio_lower <= TIGHT * separation.ratio_lower
    assert (fitted.predict(rows) == labels).all()
    inside = AffineFrame.of(rows[labels], rows[~labels])
    assert not inside.is_decided
    assert inside.exactly_inside.any()


@pytest.mark.slow
@pytest.mark.parametrize("digit", repeated(range(1, 10), kept=1))
def test_a_digit_against_all_others_has_an_exactly_known_hull(digit: int) -> None:
    rows, labels = datasets.load_digits(return_X_y=True)
    rows = StandardScaler().fit_transform(rows)
    frame = AffineFrame.of(rows[labels == digit], rows[labels != digit])
    assert frame.hull_is_exact
    assert frame.exactly_inside.any()


@pytest.mark.parametrize("case", named([*generated(10_000), *generated(100_000)], 1))
def test_many_rows(case: Case) -> None:
    rows, labels = case.load()
    assert holds_narrowly(EllipsoidSeparationClassifier().fit(rows, labels))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("inner", [1, 0])
def test_columns_computed_from_others_are_decided(inner: int) -> None:
    rows, labels = datasets.make_classification(1000, random_state=0)  # two of 20 are redundant
    fitted = EllipsoidSeparationClassifier().fit(rows, labels == inner)
    assert holds_narrowly(fitted)
    separation = fitted.separation_
    if inner:  # how much more than in the hull to rounding depends on how the kernel rounds
        assert separation.reached == pytest.approx(0.000296035, rel=1e-5)
        assert separation.ratio >= separation.ratio_lower > 10.0 * separation.reached
        assert (fitted.predict(rows) == labels).all()
    else:
        assert separation.ratio_lower == 0.0


@pytest.mark.parametrize("case", named([*SMALL, *generated(1000), *DIGITS], 4))
def test_the_soft_classifier_fits(case: Case) -> None:
    rows, labels = case.load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = SoftEllipsoidClassifier().fit(rows, labels)
    assert np.isfinite(fitted.decision_function(rows)).all()
    assert np.isfinite(fitted.objective_)


@pytest.mark.slow
@pytest.mark.parametrize("drawn", repeated([1000, 2000, 5000, 100_000], 1))
def test_shells_are_separated_by_more_than_their_ball(drawn: int) -> None:
    inside, outside = GaussianShells(drawn).sample(0)
    rows, labels = np.vstack([inside, outside]), np.repeat([1, 0], [len(inside), len(outside)])
    fitted = EllipsoidSeparationClassifier().fit(rows, labels)
    assert holds_narrowly(fitted)
    assert fitted.separation_.ratio_upper >= outside_over_inside(inside, outside) - 1.0
    assert "constraint generation" in fitted.separation_.message


def outside_over_inside(inside: np.ndarray, outside: np.ndarray) -> float:
    return float((outside**2).sum(axis=1).min() / (inside**2).sum(axis=1).max())


def test_shells_are_reproducible_and_checked() -> None:
    first, second = (GaussianShells(500).sample(3) for _ in range(2))
    for part, same in zip(first, second, strict=True):
        np.testing.assert_array_equal(part, same)
    assert (first[0] ** 2).sum(axis=1).max() < 16.0
    assert (first[1] ** 2).sum(axis=1).min() > 20.0
    with pytest.raises(InputError, match="0 < inner <= outer"):
        GaussianShells(inner=3.0, outer=2.0)
    with pytest.raises(InputError, match="draw more"):
        GaussianShells(1).sample(0)
