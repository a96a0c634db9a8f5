"""Rescaled data against the explicit map H: the same numbers, however they are kept."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import Rescaled, RescaledMap, RescaledRows
from perceptron_lab.core.results import FloatArray
from tests.repetitions import examples

PROPERTY = settings(deadline=None, max_examples=examples(60), derandomize=True)

stretches = st.lists(
    st.tuples(st.integers(0, 1000), st.sampled_from([1.0, 0.3, 4.0, 0.02, 0.0])), max_size=12
)


def unit(seed: int, dimension: int) -> FloatArray:
    direction = np.random.default_rng(seed).standard_normal(dimension)
    return np.asarray(direction / np.linalg.norm(direction))


def unit_rows(seed: int, count: int, dimension: int) -> tuple[FloatArray, Matrix, Matrix]:
    """Unit rows, and operators that hold them dense and sparse, scaled from other lengths."""
    rng = np.random.default_rng(seed)
    raw = rng.standard_normal((count, dimension)) * 10.0 ** rng.uniform(-3, 3, (count, 1))
    norms = np.linalg.norm(raw, axis=1)
    scaled = Matrix(raw, 1.0 / norms), Matrix(sp.csr_array(raw), 1.0 / norms)
    return raw / norms[:, None], *scaled


def stretched(operator: Rescaled, steps: list[tuple[int, float]]) -> FloatArray:
    """Apply the steps and return the explicit product of the I + factor x x'."""
    explicit = np.eye(operator.dimension)
    for seed, factor in steps:
        direction = unit(seed, operator.dimension)
        operator.stretch(direction, factor)
        explicit = explicit + factor * np.outer(direction, direction @ explicit)
    return explicit


def assert_acts_like(operator: Rescaled, rows: FloatArray, seed: int) -> None:
    """Everything an algorithm asks of the operator, against explicit rows."""
    rng = np.random.default_rng(seed)
    point, weights = rng.standard_normal((rows.shape[1],)), rng.standard_normal(len(rows))
    scale = max(1.0, float(np.abs(rows).max()))
    np.testing.assert_allclose(operator.scores(point), rows @ point, atol=1e-10 * scale)
    np.testing.assert_allclose(operator.combine(weights), weights @ rows, atol=1e-10 * scale)
    for i in range(len(rows)):
        atom = Atom(slice(i, i + 1), np.ones(1))
        normal = operator.normal(atom)
        np.testing.assert_allclose(normal, rows[i], atol=1e-10 * scale)
        np.testing.assert_allclose(operator.scores(normal), rows @ rows[i], atol=1e-9 * scale**2)


@PROPERTY
@given(stretches, st.integers(0, 1000), st.integers(2, 6))
def test_rescaled_rows_are_the_normalised_images_of_the_rows(
    steps: list[tuple[int, float]], seed: int, dimension: int
) -> None:
    rows, dense, sparse = unit_rows(seed, 7, dimension)
    for base in (dense, sparse):
        operator = RescaledRows(base)
        images = rows @ stretched(operator, steps).T
        assert_acts_like(operator, images / np.linalg.norm(images, axis=1, keepdims=True), seed)


@PROPERTY
@given(stretches, st.integers(0, 1000))
def test_a_rescaled_map_is_the_explicit_product(steps: list[tuple[int, float]], seed: int) -> None:
    data = np.random.default_rng(seed).standard_normal((6, 4))
    for base in (Matrix(data), Matrix(sp.csr_array(data))):
        operator = RescaledMap(base)
        explicit = stretched(operator, steps)
        assert_acts_like(operator, data @ explicit.T, seed)
        np.testing.assert_allclose(operator.map, explicit, atol=1e-10 * abs(explicit).max())


@PROPERTY
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6), st.integers(0, 1000))
def test_a_map_may_shrink_again_and_again_along_the_same_direction(
    seeds: list[int], seed: int
) -> None:
    """Norms are found anew each time: a formula from the norms before would double their errors."""
    rows, dense, sparse = unit_rows(seed, 7, 4)
    for base in (dense, sparse):
        operator, explicit = RescaledRows(base), np.eye(4)
        for number in [*seeds, *([seeds[0]] * 10)]:
            matrix = np.eye(4) - 0.5 * np.outer(unit(number, 4), unit(number, 4))
            operator.transform(matrix)
            explicit = matrix @ explicit
            explicit /= abs(explicit).max()
        images = rows @ explicit.T
        lengths = np.linalg.norm(images, axis=1)
        assert_acts_like(operator, images / lengths[:, None], seed)
        weights = np.random.default_rng(seed).uniform(size=7)
        given_back = operator.weights_to_base(weights)
        combined = operator.map @ base.combine(given_back)
        np.testing.assert_allclose(combined, operator.combine(weights), atol=1e-9)


@PROPERTY
@given(stretches, st.integers(0, 1000))
def test_points_are_mapped_back(steps: list[tuple[int, float]], seed: int) -> None:
    """Scores of a point are those of its base point, over the lengths of the rescaled rows."""
    rows, dense, sparse = unit_rows(seed, 7, 4)
    point = np.random.default_rng(seed).standard_normal(4)
    for operator in (RescaledRows(dense), RescaledRows(sparse), RescaledMap(sparse)):
        explicit = stretched(operator, steps)
        size = float(np.abs(explicit).max())
        back = operator.to_base(point)
        np.testing.assert_allclose(back, explicit.T @ point, atol=1e-9 * size)
        lengths = np.linalg.norm(rows @ explicit.T, axis=1)
        if isinstance(operator, RescaledMap):
            lengths = np.ones(7)
        np.testing.assert_allclose(operator.scores(point) * lengths, rows @ back, atol=1e-9 * size)


@pytest.mark.parametrize("kind", [RescaledRows, RescaledMap])
def test_without_a_stretch_nothing_changes(kind: type[Rescaled]) -> None:
    rows, dense, sparse = unit_rows(3, 5, 3)
    point = np.array([1.0, -2.0, 0.5])
    for base in (dense, sparse):
        operator = kind(base)
        assert (operator.size, operator.dimension) == (5, 3)
        assert_acts_like(operator, rows, 0)
        np.testing.assert_array_equal(operator.to_base(point), point)
        operator.stretch(unit(0, 3), 0.0)
        assert_acts_like(operator, rows, 0)


@pytest.mark.parametrize("kind", [RescaledRows, RescaledMap])
def test_the_base_and_the_direction_stay_as_they_are(kind: type[Rescaled]) -> None:
    _, dense, sparse = unit_rows(4, 5, 3)
    direction = unit(1, 3)
    for base in (dense, sparse):
        data, scale, given_direction = base.data.copy(), base.scale, direction.copy()
        assert scale is not None
        before = scale.copy()
        operator = kind(base)
        for _ in range(3):
            operator.stretch(direction, 1.0)
        assert (sp.csr_array(base.data) - sp.csr_array(data)).count_nonzero() == 0
        np.testing.assert_array_equal(scale, before)
        np.testing.assert_array_equal(direction, given_direction)


def test_thousands_of_stretches_do_not_overflow() -> None:
    """Norms grow like 2^t where rows lie along x: they are kept clear of overflow."""
    rows, dense, sparse = unit_rows(5, 8, 4)
    left, right = RescaledRows(dense), RescaledRows(sparse)
    for t in range(4000):
        direction = unit(t % 3, 4)
        left.stretch(direction, 1.0)
        right.stretch(direction, 1.0)
    point = unit(77, 4)
    for operator in (left, right):
        assert np.isfinite(operator.map).all()
        back = operator.to_base(point)
        assert back.any()
        normals = np.array([operator.normal(atom) for atom in atoms(8)])
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, rtol=1e-6)
        np.testing.assert_array_equal(np.sign(operator.scores(point)), np.sign(rows @ back))


def atoms(count: int) -> list[Atom]:
    return [Atom(slice(i, i + 1), np.ones(1)) for i in range(count)]
