"""The bounds of rounding errors behind a proof of infeasibility, against exact arithmetic."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from perceptron_lab.certificates import infeasibility, orthogonal_factor
from perceptron_lab.certificates.by_cone import proofs_of
from perceptron_lab.certificates.matrices.semidefinite import Congruence
from perceptron_lab.certificates.second_order import QuadraticRepresentation
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import ETA, rational, root_above
from tests.certificates.exact_weights import (
    Vector,
    inner,
    nearest,
    represented,
    symmetric,
    times,
)
from tests.certificates.small_systems import SMALL, infeasible_data
from tests.cones.oracles.exact import exact
from tests.cones.sample_cones import complete
from tests.repetitions import parts

RNG = np.random.default_rng
every_cone = pytest.mark.parametrize("cone", SMALL.values(), ids=SMALL)


def built(cone: Cone, data: FloatArray, weights: FloatArray) -> list[Any]:
    """The blocks at these weights, as the proof has them."""
    nonzero = np.flatnonzero(np.asarray(data).any(axis=0)).astype(np.int64)
    blocks: list[Any] = []
    for part, span in cone.blocks:
        proofs = proofs_of(part)
        at = span.start + proofs.support(weights[span])
        blocks += (proofs.automorphisms(data, nonzero, at, weights[at], 0) or []) if len(at) else []
    return blocks


def exact_weights(cone: Cone, blocks: list[Any]) -> Vector:
    """T e without rounding, T being defined by the doubles of the blocks."""
    weights = [Fraction()] * cone.size
    for block in blocks:
        if isinstance(block, Congruence):
            factor = exact(block.factor)
            full = times(factor, [list(row) for row in zip(*factor, strict=True)])
            indices = zip(block.cone.rows, block.cone.columns, block.cone.multiplicity, strict=True)
            entries = [full[i][j] * int(k) for i, j, k in indices]
        elif isinstance(block, QuadraticRepresentation):
            *u, t = rational(block.root)
            entries = [4 * t * x for x in u] + [2 * (t * t + inner(u, u))]
        else:
            entries = rational(block.positive)
        for index, entry in zip(block.indices.tolist(), entries, strict=True):
            weights[index] = entry
    return weights


BOUNDS = {"normal equations": infeasibility._ratio, "orthogonal factor": orthogonal_factor.ratio}
every_bound = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)


def assert_ratio_is_true(
    cone: Cone, data: FloatArray, weights: FloatArray, bound: Any = infeasibility._ratio
) -> float | None:
    """Return q if it was bounded, and then truly; None if nothing was proved."""
    block = built(cone, data, weights)
    ratio = bound(block)
    if ratio is None:
        return None
    at = exact_weights(cone, block)
    support = [entry if entry else Fraction() for entry in at]
    nearest_point = nearest(cone, data, support)
    assert nearest_point is not None
    assert nearest_point[1] <= Fraction(ratio)
    return float(nearest_point[1])


@every_cone
@every_bound
@pytest.mark.parametrize("seeds", parts(60, kept=10))
def test_the_bound_of_q_is_true_far_from_and_near_to_zero(
    seeds: range, cone: Cone, bound: Any
) -> None:
    """Weights with A w = 0 to rounding leave a residual of rounding errors, none of it lost."""
    bounded = 0
    for seed in seeds:
        rng = RNG(seed)
        data, weights = infeasible_data(cone, int(rng.integers(1, 4)), rng)
        weights = weights / np.abs(weights).max()
        if seed % 2:
            weights = weights + 10.0 ** rng.uniform(-17, -1) * cone.multiplicity * cone.identity
        bounded += assert_ratio_is_true(cone, data, weights, bound) is not None
    assert bounded > len(seeds) / 1.2


@every_cone
@pytest.mark.parametrize("seeds", parts(40, kept=12))
def test_the_bound_of_q_is_sharp_for_one_unknown(cone: Cone, seeds: range) -> None:
    """There norm(r)^2 / lambda_min is q itself: both errors of rounding are all that is added."""
    for seed in seeds:
        rng = RNG(seed)
        data = rng.standard_normal((cone.size, 1))
        data *= 10.0 ** rng.uniform(-100, 100)
        weights = cone.assemble(rng.uniform(0.1, 1.0, cone.rank), cone.spectrum(data[:, 0])[1])
        q = assert_ratio_is_true(cone, data, weights)
        assert q is not None
        ratio = infeasibility._ratio(built(cone, data, weights))
        assert ratio == pytest.approx(q, rel=1e-9, abs=1e-25)


@every_bound
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seeds", parts(400, kept=30))
def test_the_bound_of_q_is_true_where_the_equations_nearly_depend_on_each_other(
    turned: bool, bound: Any, seeds: range
) -> None:
    """B = diag(1, s) V, the rows of V orthonormal, the first orthogonal to e: q = <v_2, e>^2.

    The lowest eigenvalue s^2 falls to what rounding alone makes of B B'; s itself does not.
    """
    answers: Counter[bool] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        count = int(rng.integers(3, 8))
        v = rng.standard_normal((count, 2))
        v[:, 0] -= v[:, 0].mean()
        v[:, 0] /= np.linalg.norm(v[:, 0])
        v[:, 1] -= v[:, 0] * (v[:, 0] @ v[:, 1])
        v[:, 1] /= np.linalg.norm(v[:, 1])
        rows = v * [1.0, 10.0 ** rng.uniform(-8.5, -5)]
        if turned:
            rows = rows @ np.linalg.qr(rng.standard_normal((2, 2)))[0]
        q = assert_ratio_is_true(Orthant(count), rows, np.ones(count), bound)
        answers[q is not None] += 1
    if bound is orthogonal_factor.ratio:
        assert answers[True] == len(seeds)
    else:
        assert min(answers[True], answers[False]) > len(seeds) / 8


def exact_error(block: Any, cone: Cone, data: FloatArray, columns: FloatArray) -> Fraction:
    """Square of the Frobenius norm of fl(A T) - A T in isometric coordinates, as an upper bound."""
    root = root_above(Fraction(2))
    square = Fraction()
    for column, computed in zip(np.asarray(data).T, columns, strict=True):
        entries = rational(column)
        if isinstance(block, Congruence):
            factor = exact(block.factor)
            turned = [list(row) for row in zip(*factor, strict=True)]
            image = times(times(turned, symmetric(block.cone, entries)), factor)
            pairs = zip(block.cone.rows, block.cone.columns, strict=True)
            true = [image[i][j] * (1 if i == j else root) for i, j in pairs]
        elif isinstance(block, QuadraticRepresentation):
            root_weights = [2 * x for x in rational(block.root)]  # H at 2 v is 2 Q_v
            true = [x / 2 * root for x in represented(cone, root_weights, entries)]
        else:
            pairs = zip(rational(block.positive), entries, strict=True)
            true = [x * entry for x, entry in pairs]
        errors = zip(true, rational(computed), strict=True)
        square += sum(((a - b) ** 2 for a, b in errors), Fraction())
    return square


@pytest.mark.parametrize(
    "cone",
    [Orthant(5), SecondOrder(2), SecondOrder(5), complete(1), complete(2), complete(4)],
    ids=["rows", "second-order 2", "second-order 5", "matrix 1", "matrix 2", "matrix 4"],
)
@pytest.mark.parametrize("exponent", [0, -310, -140, 140])
@pytest.mark.parametrize("seeds", parts(25, kept=8))
def test_the_error_of_the_columns_is_within_its_bound(
    cone: Cone, exponent: int, seeds: range
) -> None:
    """Weights between the middle of the cone and its boundary; the bound says something, too."""
    for seed in seeds:
        rng = RNG(seed)
        frame = cone.spectrum(rng.standard_normal(cone.size))[1]
        weights = cone.assemble(10.0 ** rng.uniform(-10, 0, cone.rank), frame)
        data = rng.standard_normal((cone.size, 2)) * 10.0**exponent
        (block,) = built(cone, data, weights)
        columns, bound = block.columns()
        assert exact_error(block, cone, data, columns) <= Fraction(bound) ** 2
        length = np.linalg.norm(data / 10.0**exponent) * 10.0**exponent * np.abs(weights).max()
        assert bound <= 1e-13 * length * float(cone.multiplicity.max()) + 1e4 * ETA
        assert np.linalg.norm(block.unit) ** 2 == pytest.approx(cone.rank)
        at = np.array([float(entry) for entry in exact_weights(cone, [block])])
        np.testing.assert_allclose(block.weights(), at, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(at, weights, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("order", [1, 3, 10, 40])
def test_the_error_of_the_columns_allows_for_any_order_of_summation(order: int) -> None:
    """A product of k terms is off by up to k u times that of the magnitudes."""
    rng = RNG(order)
    roundoff = 2.0**-53
    cone = complete(order)
    data = rng.standard_normal((cone.size, 1))
    root = rng.standard_normal((order, order))
    full = root @ root.T + np.eye(order)
    (block,) = built(cone, data, full[cone.rows, cone.columns] * cone.multiplicity)
    magnitude = np.abs(block.factor)
    largest = magnitude.T @ np.abs(cone.matrix(data[:, 0])) @ magnitude
    assert block.columns()[1] >= 2 * order * roundoff * np.linalg.norm(largest)
    ball = SecondOrder(order + 1)
    rows = rng.standard_normal((order + 1, 1))
    (block,) = built(ball, rows, np.append(rng.standard_normal(order) / order, 1.0))
    v = np.abs(block.root)
    largest = np.abs(rows.T) @ (2 * np.outer(v, v) + (v @ v) * np.eye(order + 1))
    assert block.columns()[1] >= (order + 1) * roundoff * np.linalg.norm(largest)
    (block,) = built(Orthant(order), rows[:order], np.ones(order))
    assert block.columns()[1] >= roundoff * np.linalg.norm(rows[:order])


@dataclass
class Wrong:
    """A block whose columns are wrong by a known error, as those of one unknown may be."""

    unit: FloatArray
    computed: FloatArray
    error: float

    @property
    def rank(self) -> int:
        return len(self.unit)

    @property
    def image(self) -> tuple[FloatArray, float]:
        return self.computed, self.error


def ratio_of(
    true: FloatArray, invalid: FloatArray, bound: Any = infeasibility._ratio
) -> tuple[float, float]:
    """q of the true columns of one unknown, and what is proved of it from the wrong ones."""
    block = Wrong(np.ones(true.size), invalid, float(np.linalg.norm(invalid - true)))
    ratio = bound([block])
    assert ratio is not None
    return float(true.sum() ** 2 / (true**2).sum()), ratio


@every_bound
@pytest.mark.parametrize("seeds", parts(100, kept=20))
def test_the_bound_of_q_is_true_whatever_the_error_of_the_columns(seeds: range, bound: Any) -> None:
    """The residual shrinks by the error times sqrt k where all columns are too small alike.

    Where they nearly cancel, and the residual is as small as the error, nothing is left of it.
    """
    for seed in seeds:
        rng = RNG(seed)
        true = rng.uniform(0.5, 1.0, (1, int(rng.integers(2, 9))))
        if seed % 3:
            true += 10.0 ** rng.uniform(-6, -1) * (seed % 3 == 1) - true.mean()
            true += (seed % 3 == 2) * rng.uniform(0.1, 1.0) * np.linalg.norm(true)
        for error in (1e-12, 1e-6, 1e-3, 0.1):
            less, longer = -np.ones(true.shape) / np.sqrt(true.size), true / np.linalg.norm(true)
            for direction in (less, longer, less + longer, 2 * less + longer, less - longer):
                share = error * np.linalg.norm(true) / np.linalg.norm(direction)
                computed = true + share * direction
                q, ratio = ratio_of(true, computed, bound)
                assert q <= ratio * (1 + 1e-14)


@pytest.mark.parametrize("part", ["product", "residual", "both"])
def test_the_bound_of_q_is_true_whatever_the_errors_of_the_normal_equations(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """fl(B B') is off by gamma norm(B)^2, fl(B e) by gamma norm(B) sqrt k, with a large gamma."""
    exactly = infeasibility._normal_equations
    for gamma in (1e-10, 1e-4, 0.05):

        def computed(blocks: Any, gamma: float = gamma) -> tuple[FloatArray, FloatArray]:
            product, residual = exactly(blocks)
            length = np.linalg.norm(blocks[0].computed)
            if part != "residual":
                product = product + gamma * length**2 * np.eye(len(product))
            if part != "product":
                shrunk = gamma * length * np.sqrt(blocks[0].rank)
                residual = residual * (1.0 - min(1.0, shrunk / np.linalg.norm(residual)))
            return product, residual

        with monkeypatch.context() as patch:
            patch.setattr(infeasibility, "gamma", lambda terms, gamma=gamma: gamma)
            patch.setattr(infeasibility, "_normal_equations", computed)
            for seed in range(50):
                true = RNG(seed).uniform(0.5, 1.0, (1, 1 + seed % 8))
                q, ratio = ratio_of(true, true)
                assert q <= ratio * (1 + 1e-14)


@every_cone
def test_a_step_out_of_the_cone_is_refused(cone: Cone) -> None:
    frame = cone.spectrum(RNG(0).standard_normal(cone.size))[1]
    weights = cone.assemble(np.linspace(0.1, 1.0, cone.rank), frame)
    for block in built(cone, RNG(1).standard_normal((cone.size, 2)), weights):
        for step in (-1.5 * block.unit, -2.0 * block.unit, -7.0 * block.unit):
            assert block.at_step(step) is None
        shifted = block.at_step(-0.5 * block.unit)
        assert shifted is not None
        np.testing.assert_allclose(shifted.weights(), 0.5 * block.weights(), rtol=1e-12, atol=1e-15)
