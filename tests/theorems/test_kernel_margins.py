"""The lemmas of RamdasPena2014 on margins in a kernel's space: Lemmas 1, 2, 3, 7, Theorems 2, 3.

Norms and inner products are those of the normalised signed Gram matrix G of its (9), formed here by
its definition; what the package computes on the same data is held against them.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
import scipy.optimize
import scipy.spatial

from perceptron_lab import Budget, ConicSystem, negative_margin, solve
from perceptron_lab.algorithms.smoothing.smoothed_perceptron import Euclidean, begin, iterate
from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from perceptron_lab.core.results import FloatArray, Status
from tests.families import gram_margin, infeasible, linear_gram, signed_gram
from tests.repetitions import repeated
from tests.theorems.margin_systems import ball_radius

SEEDS = range(20)
KERNELS: dict[str, Kernel] = {
    "rbf": Rbf(gamma=0.4),
    "polynomial": Polynomial(degree=3),
    "linear": Linear(),
}


class Sample(NamedTuple):
    """Separable examples, their Gram matrix and the lengths of their features, the margin, and the
    p of least norm in the simplex."""

    system: ConicSystem
    gram: FloatArray
    lengths: FloatArray
    margin: float
    nearest: FloatArray


def least_norm(gram: FloatArray) -> FloatArray:
    """argmin over the simplex of norm(p)_G, by non-negative least squares."""
    values, vectors = np.linalg.eigh(gram)
    rows = vectors * np.sqrt(np.maximum(values, 0.0))
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    weights = scipy.optimize.nnls(stacked, np.append(np.zeros(len(rows)), 1.0))[0]
    return np.asarray(weights / weights.sum())


def sample(kernel: Kernel, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    examples = rng.standard_normal((14, 3))
    labels = np.where(examples @ [1.0, -2.0, 0.5] > 0, 1.0, -1.0)
    labels[:2], examples[:2] = (1.0, -1.0), [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]]
    gram = signed_gram(kernel, examples, labels)
    system = ConicSystem.from_kernel(kernel, examples, labels)
    lengths = np.sqrt(kernel.matrix(examples, examples).diagonal())
    return Sample(system, gram, lengths, gram_margin(gram), least_norm(gram))


def norm(gram: FloatArray, alpha: FloatArray) -> float:
    return math.sqrt(max(float(alpha @ gram @ alpha), 0.0))


def loss(gram: FloatArray, alpha: FloatArray) -> float:
    """L(alpha) = max over p in the simplex of <-p, alpha>_G + norm(alpha)_G^2 / 2, (9)."""
    return float(-(gram @ alpha).min() + alpha @ gram @ alpha / 2)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_lemma_1_a_negative_loss_separates(seed: int, name: str) -> None:
    drawn = sample(KERNELS[name], seed)
    rng = np.random.default_rng(seed)
    alphas: list[FloatArray] = list(rng.dirichlet(np.ones(14), 50))
    alphas += [*rng.standard_normal((50, 14)), drawn.nearest]
    negative = [alpha for alpha in alphas if loss(drawn.gram, alpha) < 0]
    assert negative  # the minimiser at least
    for alpha in negative:
        assert (drawn.gram @ alpha > 0).all()
    result = solve(drawn.system, "smoothed-perceptron", goal="budget", budget=Budget(updates=400))
    alpha = result.point * drawn.lengths
    assert loss(drawn.gram, alpha) < 0
    assert (drawn.gram @ alpha > 0).all()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_lemma_2_the_kernel_norm_is_below_the_1_norm(seed: int, name: str) -> None:
    gram = sample(KERNELS[name], seed).gram
    rng = np.random.default_rng(seed)
    for alpha in rng.standard_normal((50, 14)) * (rng.random((50, 14)) < 0.5):
        first, second = np.abs(alpha).sum(), np.linalg.norm(alpha)
        assert norm(gram, alpha) <= first * (1 + 1e-12)
        assert first <= np.sqrt(14) * second * (1 + 1e-12)
    for atom in np.eye(14):
        assert norm(gram, atom) == pytest.approx(1.0)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_lemma_3_the_least_loss_is_minus_half_the_square_of_the_margin(
    seed: int, name: str
) -> None:
    """And rho <= norm(p)_G for every p in the simplex, with equality at the minimiser of L."""
    drawn = sample(KERNELS[name], seed)
    gram, margin = drawn.gram, drawn.margin
    assert margin > 0
    assert loss(gram, drawn.nearest) == pytest.approx(-(margin**2) / 2, abs=1e-9)
    assert norm(gram, drawn.nearest) == pytest.approx(margin)
    assert (gram @ drawn.nearest).min() / margin == pytest.approx(margin, abs=1e-9)
    rng = np.random.default_rng(seed)
    for p in rng.dirichlet(np.full(14, 0.3), 50):
        assert norm(gram, p) >= margin * (1 - 1e-12)
        assert (gram @ p).min() <= margin * norm(gram, p) * (1 + 1e-9)
        step = drawn.nearest + 0.1 * rng.standard_normal(14)
        assert loss(gram, step) >= -(margin**2) / 2 - 1e-12


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_proved_bracket_holds_the_margin(seed: int, name: str) -> None:
    drawn = sample(KERNELS[name], seed)
    result = solve(drawn.system, "mirror-prox", goal={"margin_ratio": 0.9})
    assert result.status is Status.FEASIBLE
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower <= drawn.margin * (1 + 1e-12)
    assert result.margin_upper >= drawn.margin * (1 - 1e-12)
    assert result.margin_lower >= 0.9 * result.margin_upper


# --- where no separator exists -------------------------------------------------------------------


def inseparable(dimension: int, seed: int) -> FloatArray:
    rows = infeasible(dimension, 14, np.random.default_rng(seed))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def margin_by_vertices(rows: FloatArray) -> float:
    """max over unit y of min_i a_i'y where that is negative.

    At a maximum the active rows leave y no direction: n of them have one score, and y is a normal
    of their affine hull.
    """
    dimension = rows.shape[1]
    best = -1.0
    for subset in combinations(rows, dimension):
        across = np.array(subset[1:]) - subset[0]
        normal = np.linalg.svd(across)[2][-1]
        best = max(best, *(float((rows @ y).min()) for y in (normal, -normal)))
    return best


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_theorem_3_the_negative_margin_is_the_radius_of_the_largest_ball_in_the_hull(
    seed: int, dimension: int
) -> None:
    """Both computed here; what the package proves of them is held against them."""
    rows = inseparable(dimension, seed)
    radius = ball_radius(rows)
    assert radius > 0
    assert margin_by_vertices(rows) == pytest.approx(-radius)
    bound = negative_margin(rows)
    assert bound.lower <= -radius * (1 - 1e-12)
    assert -radius * (1 + 1e-12) <= bound.upper <= -radius / math.sqrt(dimension) * (1 - 1e-9)
    result = solve(rows, "von-neumann", goal="budget", budget=Budget(updates=50))
    assert result.margin_lower is not None
    assert -1.0 <= result.margin_lower <= -radius * (1 - 1e-12)
    directions = np.random.default_rng(seed).standard_normal((500, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert (directions @ rows.T).min(axis=1).max() <= -radius + 1e-12
    for inside in directions * radius * (1 - 1e-9):  # the ball lies in the hull
        assert in_hull(rows, inside)


def in_hull(rows: FloatArray, point: FloatArray) -> bool:
    return bool((scipy.spatial.ConvexHull(rows).equations @ np.append(point, 1.0) <= 1e-12).all())


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_footnote_1_the_margin_is_0_where_the_points_do_not_span_the_space(seed: int) -> None:
    """A unit y orthogonal to their span has all scores 0; the radius is one of the span only."""
    rng = np.random.default_rng(seed)
    flat = inseparable(2, seed)
    basis = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    rows = flat @ basis[:2]
    assert rows @ basis[3] == pytest.approx(np.zeros(14), abs=1e-12)
    directions = rng.standard_normal((500, 4))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert (directions @ rows.T).min(axis=1).max() <= 1e-12
    assert ball_radius(flat) > 0.0
    bound = negative_margin(flat @ np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0]]))
    assert (bound.dimension, bound.unknowns) == (2, 4)
    assert bound.upper < 0.0
    result = solve(rows, "mirror-prox", goal={"margin_upper": 1e-3})
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.margin_lower is not None
    assert result.margin_lower <= 0.0


def distance_to_witnesses(rows: FloatArray, point: FloatArray) -> float:
    """min norm(q - w) over w in the simplex with sum w_i a_i = 0."""
    count = len(rows)
    equations = np.vstack([rows.T, np.ones(count)])
    rights = np.append(np.zeros(rows.shape[1]), 1.0)
    answer = scipy.optimize.minimize(  # type: ignore[call-overload]
        lambda w: float((w - point) @ (w - point)),
        np.full(count, 1.0 / count),
        jac=lambda w: 2.0 * (w - point),
        bounds=[(0.0, 1.0)] * count,
        constraints=scipy.optimize.LinearConstraint(equations, rights, rights),
        method="SLSQP",
        tol=1e-14,
    )
    assert answer.success
    assert answer.x.min() >= -1e-9
    assert equations @ answer.x == pytest.approx(rights, abs=1e-9)
    return float(np.linalg.norm(answer.x - point))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_lemma_7_bounds_the_distance_to_the_witnesses(seed: int, dimension: int) -> None:
    """dist(q, W) <= min {sqrt 2, sqrt 2 norm(q)_G / |rho|}, for |rho| as the package bounds it.

    And Lemma 9, which rests on it: norm(p_k)_G <= sqrt(mu_k) dist(q, W) in the package's Algorithm
    6, on the rows and on their Gram matrix.
    """
    rows, rng = inseparable(dimension, seed), np.random.default_rng(seed)
    system = ConicSystem.from_rows(rows)
    bound = negative_margin(system)
    assert -bound.upper <= ball_radius(rows)
    gram = linear_gram(rows, rng)
    for q in (*rng.dirichlet(np.full(14, 0.2), 2), np.eye(14)[0], np.full(14, 1 / 14)):
        distance = distance_to_witnesses(rows, q)
        length = system.upper(q)
        assert length == pytest.approx(float(np.linalg.norm(q @ rows)))
        assert distance <= np.sqrt(2) * min(1.0, length / ball_radius(rows)) + 1e-6
        for view in (system, gram):
            prox = Euclidean(q)
            state = begin(view, prox)
            size = 2.0 * math.sqrt(prox.constant(view))
            for k in range(60):
                reached = view.norm(state.mean)
                most = size / math.sqrt((k + 1) * (k + 2)) * (distance + 1e-6)
                assert reached <= most + 1e-7  # of a Gram matrix the norm is a root of rounding
                iterate(view, state, prox)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2), Rbf(gamma=0.5)], ids=repr)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_theorem_2_exactly_one_of_separator_and_witness(seed: int, kernel: Kernel) -> None:
    """Gordan in a kernel's space, decided by both exits of one algorithm on random labels."""
    rng = np.random.default_rng(seed)
    examples = rng.standard_normal((int(rng.integers(4, 16)), 2))
    labels = rng.choice([-1.0, 1.0], len(examples))
    labels[:2] = 1.0, -1.0
    margin = gram_margin(signed_gram(kernel, examples, labels))
    system = ConicSystem.from_kernel(kernel, examples, labels)
    result = solve(
        system,
        "adaptive-mirror-prox",
        goal={"margin_upper": 1e-5},
        budget=Budget(updates=50_000, seconds=20.0),
    )
    if margin > 2e-5:
        assert result.status is Status.FEASIBLE
    elif margin < 1e-9:
        assert result.status is Status.MARGIN_BOUNDED
        assert result.margin_lower is not None
        assert result.margin_lower <= 0.0
    else:
        assert result.status in (Status.FEASIBLE, Status.MARGIN_BOUNDED)
