"""What is proved of the examples, predict says of them: over scales, conditions, and containers."""

from __future__ import annotations

import io
import math
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from perceptron_lab.cones.operators.kernels import Rbf
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import Status
from perceptron_lab.estimators import (
    EllipsoidMethodClassifier,
    EllipsoidSeparationClassifier,
    MarginPerceptronClassifier,
    MaxMarginClassifier,
    MirrorProxClassifier,
    PerceptronClassifier,
    RescaledPerceptronClassifier,
    SmoothedPerceptronClassifier,
)
from perceptron_lab.estimators.linear_functions import linear_values
from tests.repetitions import repeated

Data = tuple[np.ndarray, np.ndarray]

LINEAR = [
    PerceptronClassifier,
    MarginPerceptronClassifier,
    MaxMarginClassifier,
    SmoothedPerceptronClassifier,
    MirrorProxClassifier,
    EllipsoidMethodClassifier,
    RescaledPerceptronClassifier,
]


def rotation(rng: np.random.Generator, columns: int) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((columns, columns)))[0]


def mapped(seed: int, columns: int, digits: int, *, ring: bool) -> Data:
    """Classes that a ball or a hyperplane separates, behind a map of condition 10^digits."""
    rng = np.random.default_rng(seed)
    rows, labels = rng.standard_normal((30, columns)), np.arange(30) % 2
    if ring:
        rows *= (np.where(labels, 0.8, 2.0) / np.linalg.norm(rows, axis=1))[:, None]
    else:
        rows[:, 0] = (2 * labels - 1) * (0.3 + np.abs(rows[:, 0]))
    scales = np.logspace(digits / 2, -digits / 2, columns)
    return rows @ (rotation(rng, columns) * scales) @ rotation(rng, columns), labels


def agrees(model: Any, rows: Any, labels: np.ndarray) -> bool:
    """Fit, and assert that a proved separation is what predict says; return whether it is one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows, labels)
    assert all(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    values = model.decision_function(rows)
    assert np.isfinite(values).all()
    if model.status_ is not Status.FEASIBLE:
        # an answer that is less than a proof is never silent
        assert caught or model.status_ is not Status.UNVERIFIED
        return False
    one_by_one = np.concatenate([model.predict(rows[[k]]) for k in range(len(labels))])
    assert (model.predict(rows) == labels).all()
    assert (one_by_one == labels).all()
    if values.ndim == 1:
        assert (np.sign(values) == np.where(labels == model.classes_[1], 1.0, -1.0)).all()
    if isinstance(model, EllipsoidSeparationClassifier):
        separation = model.separation_
        assert separation.ratio_lower <= separation.ratio <= separation.ratio_upper
        assert separation.reached > 0.0
    else:
        assert (model.margin_bounds_[:, 0] <= model.margin_).all()
        assert (model.margin_ <= model.margin_bounds_[:, 1]).all()
    return True


@contextmanager
def or_refused(kind: Any, reason: str) -> Iterator[None]:
    """Allow an error of a kind for a reason."""
    try:
        yield
    except kind as error:
        if not re.search(reason, str(error)):
            raise


@given(
    st.integers(0, 10**6),
    st.sampled_from(LINEAR),
    st.integers(1, 4),
    st.integers(0, 12),
    st.integers(-200, 200),
    st.booleans(),
    st.sampled_from([None, None, "linear", "rbf", "poly"]),
    st.booleans(),
)
@example(0, MaxMarginClassifier, 2, 0, -200, False, None, True)
@example(0, MaxMarginClassifier, 2, 6, 100, False, None, True)
@example(0, RescaledPerceptronClassifier, 2, 12, 0, False, None, True)
def test_linear_functions(
    seed: int,
    kind: Callable[..., Any],
    columns: int,
    digits: int,
    scale: int,
    sparse: bool,
    kernel: str | None,
    intercept: bool,
) -> None:
    rows, labels = mapped(seed, columns, digits, ring=False)
    rows = rows * 10.0**scale
    model = kind(max_iter=300, kernel=kernel, fit_intercept=intercept)
    proved = None
    if scale + digits / 2 < 45 and scale - digits / 2 > -45:
        proved = agrees(model, sp.csr_array(rows) if sparse else rows, labels)
    else:  # the range of the rows, of zero rows, of the kernel's values
        with or_refused(InputError, "rescale them|scale the|zero row|vanishing feature"):
            proved = agrees(model, sp.csr_array(rows) if sparse else rows, labels)
    assert proved is None or proved == (model.status_ is Status.FEASIBLE)


@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(0, 12),
    st.integers(-110, 110),
    st.booleans(),
)
@example(0, 2, 10, 0, True)
@example(0, 2, 11, 0, True)
@example(1, 3, 12, 0, True)
def test_ellipsoids(seed: int, columns: int, digits: int, scale: int, whiten: bool) -> None:
    rows, labels = mapped(seed, columns, digits, ring=True)
    rows = rows * 10.0**scale
    model = EllipsoidSeparationClassifier(whiten=whiten, max_iter=100)
    reason = "rescale the features|only touch"
    if scale + digits / 2 > 95 or scale - digits / 2 < -90:
        reason += "|rescale it"
    with or_refused((InputError, NumericalError), reason):
        proved = agrees(model, rows, labels)
        assert proved or not whiten or model.status_ is Status.UNBOUNDED or abs(scale) > 40


@pytest.mark.parametrize("digits", repeated([0, 6, 9, 12, 3, 8, 10, 11], kept=4))
@pytest.mark.parametrize("seed", range(3))
def test_t_and_predictions_do_not_depend_on_a_linear_map(seed: int, digits: int) -> None:
    rows, labels = mapped(seed, 3, 0, ring=True)
    straight = EllipsoidSeparationClassifier().fit(rows, labels)
    shifted, _ = mapped(seed, 3, digits, ring=True)
    model = EllipsoidSeparationClassifier()
    assert agrees(model, shifted, labels)
    error = 1e-13 * 10.0**digits + 1e-8  # of the entries, seen through the map
    assert model.separation_.ratio == pytest.approx(straight.separation_.ratio, rel=error)
    assert model.separation_.reached == pytest.approx(straight.separation_.ratio, rel=error)
    assert model.separation_.ellipsoid is not None
    # other points of the two shells
    assert (model.predict(shifted * 0.95)[labels == 1] == 1).all()
    assert (model.predict(shifted * 1.05)[labels == 0] == 0).all()


def test_values_are_exact_where_rounding_or_the_range_would_decide() -> None:
    weights = np.array([[1.0, 1.0, 1.0], [1e-200, 0.0, 0.0]])
    rows = np.array([[1e100, 1.0, -1e100], [1e308, 1e308, 1e308], [-1e-200, 0.0, 0.0], [0.0] * 3])
    expected = np.array(
        [[1.0, 1e-100], [np.finfo(float).max, 1e108], [-1e-200, -5e-324], [0.0, 0.0]]
    )
    for form in (rows, sp.csr_array(rows)):
        values = linear_values(form, weights, np.zeros(2))
        assert values == pytest.approx(expected, rel=1e-15, abs=0.0)
        assert values[2, 1] < 0.0
    assert linear_values(rows, weights, np.array([-1.0, 0.0]))[0, 0] == 0.0
    assert linear_values(rows, np.zeros((1, 3)), np.array([2.0])).tolist() == [[2.0]] * 4


def test_the_sign_of_new_examples_beyond_the_range() -> None:
    model = PerceptronClassifier().fit([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    far = np.array([[1.7e308, -1.7e308], [-1.7e308, 1.7e308]])
    assert np.isfinite(model.decision_function(far)).all()
    assert model.predict(far).tolist() == [1, 0]
    curved = PerceptronClassifier(kernel="poly").fit([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    with pytest.raises(InputError, match="kernel='poly' overflows on row 1 of X; scale"):
        curved.predict(np.array([[1.0, 1.0], [1e200, 1e200]]))


def test_a_kernel_that_loses_the_signs_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = mapped(0, 2, 0, ring=False)
    model = MaxMarginClassifier(kernel=Rbf())
    monkeypatch.setattr(
        "perceptron_lab.estimators.separating.kernel_columns",
        lambda kernel, data, *rest: -np.ones((len(data), len(rest[1]))),
    )
    with pytest.warns(ConvergenceWarning, match="although the classes are proved separable"):
        model.fit(rows, labels)
    assert model.status_ is Status.UNVERIFIED


MODELS: list[BaseEstimator] = [
    EllipsoidSeparationClassifier(),
    MaxMarginClassifier(),
    PerceptronClassifier(kernel="rbf"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_copies_and_containers_have_the_same_answer(model: Any, tmp_path: Path) -> None:
    digits = 11 if isinstance(model, EllipsoidSeparationClassifier) else 3
    rows, labels = mapped(0, 2, digits, ring=isinstance(model, EllipsoidSeparationClassifier))
    fitted = clone(model)
    assert agrees(fitted, rows, labels)
    values = fitted.decision_function(rows)
    joblib.dump(fitted, tmp_path / "model")
    copies = pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model")
    assert all((copy.decision_function(rows) == values).all() for copy in copies)
    np.save(tmp_path / "rows.npy", rows)
    mapped_rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    again = clone(fitted)
    assert agrees(again, mapped_rows, labels)
    assert (again.decision_function(mapped_rows) == values).all()
    single, buffer = rows.astype(np.float32), io.BytesIO()
    joblib.dump(clone(fitted), buffer)
    fresh = joblib.load(io.BytesIO(buffer.getvalue()))
    wide = clone(fitted)
    agreements = agrees(fresh, single, labels), agrees(wide, single.astype(np.float64), labels)
    assert agreements[0] == agreements[1]
    assert (fresh.decision_function(single) == wide.decision_function(single)).all()
    assert math.isfinite(float(values.sum()))
