from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from perceptron_lab.ellipsoids.soft.ellipsoid import SoftEllipsoid
from perceptron_lab.errors import InputError
from perceptron_lab.learners.controls import LinearScorer, PolynomialSvm
from perceptron_lab.learners.features.kernel_rows import KernelRows
from perceptron_lab.learners.models import Model
from perceptron_lab.operators.kernels import Linear, Polynomial
from tests.repetitions import examples

MODELS: list[Model] = [PolynomialSvm(), LinearScorer()]
seeds = st.integers(0, 2**32 - 1)
weights = st.sampled_from([None, "balanced"])


def clouds(seed: int, count: int = 60, columns: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds of unequal size."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(count) % 4 == 0, 1, -1)
    rows = rng.standard_normal((count, columns)) * (rng.random((count, columns)) < 0.6)
    return rows + 0.5 * labels[:, None] * (np.arange(columns) < 2), labels


@given(seeds, weights, st.sampled_from([1e-6, 1e-3, 1.0]))
def test_the_linear_scorer_is_at_its_minimum(seed: int, weight: Any, ridge: float) -> None:
    rows, labels = clouds(seed)
    model = LinearScorer(ridge, weight)
    found = model.fit(rows, labels)
    shares = np.full(60, 1 / 60) if weight is None else np.where(labels > 0, 1 / 30, 1 / 90)
    hinges = np.maximum(0.0, 1.0 - labels * (rows @ found.slope + found.constant))
    pull = -shares * labels * hinges
    gradient = np.append(rows.T @ pull + 0.5 * ridge * found.slope, pull.sum())
    assert found.converged
    assert np.linalg.norm(gradient) <= 1e-8
    value = 0.5 * shares @ hinges**2 + 0.25 * ridge * found.slope @ found.slope
    assert found.value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(found.scores(rows), rows @ found.slope + found.constant)


@settings(max_examples=examples(20))
@given(seeds, weights, st.sampled_from([1e-4, 1e-2, 1.0]))
def test_the_linear_scorer_is_the_soft_ellipsoid_of_rank_0(
    seed: int, weight: Any, ridge: float
) -> None:
    rows, labels = clouds(seed)
    linear = LinearScorer(ridge, weight).fit(rows, labels)
    flat = SoftEllipsoid(rank=0, regularisation=ridge, class_weight=weight, tolerance=1e-14).fit(
        rows, labels
    )
    assert linear.value <= flat.value * (1 + 1e-9)
    assert flat.value == pytest.approx(linear.value, rel=1e-6)
    np.testing.assert_allclose(linear.scores(rows), flat.scores(rows), atol=1e-3)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_sparse_rows_as_dense_rows(model: Model) -> None:
    rows, labels = clouds(1)
    dense = model.fit(rows, labels).scores(rows)
    sparse = model.fit(sp.csr_array(rows), labels).scores(sp.csr_array(rows))
    np.testing.assert_allclose(sparse, dense, atol=1e-6)
    assert dense[labels > 0].mean() > dense[labels < 0].mean()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_labels_in_every_form(model: Model) -> None:
    rows, labels = clouds(2)
    expected = model.fit(rows, labels).scores(rows)
    for same in (labels > 0, (labels > 0).astype(float), labels.tolist()):
        assert (model.fit(rows, same).scores(rows) == expected).all()


@settings(max_examples=examples(20))
@given(seeds, weights, st.sampled_from([0.1, 10.0]))
def test_the_machine_on_a_kernel_matrix_is_the_machine_on_rows(
    seed: int, weight: Any, penalty: float
) -> None:
    rows, labels = clouds(seed)
    model = PolynomialSvm(penalty, class_weight=weight, tolerance=1e-8)
    known = KernelRows.of(model.kernel, sp.csr_array(rows))
    training, new = np.arange(0, 60, 2), np.arange(1, 60, 2)
    direct = model.fit(rows[training], labels[training])
    by_matrix = model.fit(known[training], labels[training])
    assert direct.converged
    assert by_matrix.converged
    np.testing.assert_allclose(
        by_matrix.scores(known[new]), direct.scores(rows[new]), rtol=1e-4, atol=1e-4
    )


def test_the_machine_draws_an_ellipse() -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1.0, 1.0, (400, 2))
    inside = (rows[:, 0] / 0.8) ** 2 + (rows[:, 1] / 0.4) ** 2 < 1.0
    scores = PolynomialSvm(1e4).fit(rows, inside).scores(rows)
    assert ((scores > 0) == inside).mean() > 0.99
    # No linear function comes near.
    flat = LinearScorer(1e-6).fit(rows, inside).scores(rows)
    assert scores[inside].min() > scores[~inside].max() - 0.5
    assert flat[inside].min() < np.median(flat[~inside])


def test_too_few_iterations_are_told() -> None:
    rows, labels = clouds(3)
    assert not PolynomialSvm(1e6, iterations=3).fit(rows, labels).converged
    cut_off = LinearScorer(1e-9, iterations=1).fit(rows, labels)
    assert (cut_off.converged, cut_off.iterations) == (False, 1)


def test_kernel_rows() -> None:
    rows, _ = clouds(4)
    kernel = Polynomial(degree=2, coef0=1.0, gamma=1.0)
    known = KernelRows.of(kernel, sp.csr_array(rows))
    expected = (1.0 + rows @ rows.T) ** 2
    some = known[10:50][[3, 5, 7]]
    assert some.indices.tolist() == [13, 15, 17]
    assert some.shape == (3, 60)
    assert some.matrix is known.matrix
    np.testing.assert_allclose(some.against(known[:2]), expected[[13, 15, 17], :2], rtol=1e-12)
    assert known[np.arange(60) < 4].shape == (4, 60)


def test_kernel_rows_are_computed_by_blocks() -> None:
    rows, _ = clouds(5, count=700, columns=3)
    known = KernelRows.of(Linear(), rows)
    np.testing.assert_allclose(known.matrix, rows @ rows.T, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("rows", "labels", "reason"),
    [
        (np.eye(3), [1, 1, 1], "3 positive examples of 3; a model needs positive and negative"),
        (np.eye(3), [0, 0, 0], "0 positive examples of 3"),
        (np.eye(3), [1, 0], "3 examples, but 2 labels of shape"),
        (np.eye(3), [1, 0, 3], "allowed: booleans"),
        (np.full((2, 2), np.nan), [1, 0], "NaN or infinity"),
        (np.ones(3), [1, 0, 0], "non-empty matrix"),
    ],
)
def test_broken_training_data(model: Model, rows: Any, labels: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        model.fit(rows, labels)


def test_examples_of_another_kind() -> None:
    rows, labels = clouds(6)
    model = PolynomialSvm()
    known = KernelRows.of(model.kernel, rows)
    with pytest.raises(InputError, match="rows and KernelRows are mixed"):
        model.fit(known, labels).scores(rows)
    with pytest.raises(InputError, match="rows and KernelRows are mixed"):
        model.fit(rows, labels).scores(known)
    with pytest.raises(InputError, match="make them agree"):
        model.fit(KernelRows.of(Linear(), rows), labels)
    with pytest.raises(InputError, match="gamma is None"):
        PolynomialSvm(kernel=Polynomial(degree=2)).fit(rows, labels)
    with pytest.raises(InputError, match="examples with 4 features"):
        LinearScorer().fit(rows, labels).scores(rows[:, 1:])


@pytest.mark.parametrize(
    ("record", "parameters"),
    [
        (PolynomialSvm, {"penalty": 0.0}),
        (PolynomialSvm, {"penalty": float("inf")}),
        (PolynomialSvm, {"class_weight": "heavy"}),
        (PolynomialSvm, {"iterations": 0}),
        (LinearScorer, {"regularisation": 0.0}),
        (LinearScorer, {"tolerance": -1.0}),
        (LinearScorer, {"iterations": 0}),
        (LinearScorer, {"ridge": 1.0}),
    ],
)
def test_impossible_parameters(record: Any, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        record(**parameters)
