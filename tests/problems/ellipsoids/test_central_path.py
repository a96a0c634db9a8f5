"""The limit of the central path, against Clarabel and against its own optimality conditions."""

from __future__ import annotations

import cvxpy
import numpy as np
import pytest

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.problems.ellipsoids.ellipsoid import lifted, quadratic_values
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.problems.ellipsoids.hard.central_path import solve_by_central_path
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from perceptron_lab.problems.ellipsoids.hard.solution import ClassPair, Solution, SolverLimits
from tests.problems.ellipsoids.two_class_sets import overlapping


def like_documents(seed: int, positives: int, negatives: int, dimension: int) -> list[FloatArray]:
    """Non-negative, mostly small features; positives larger on the average, within the others."""
    rng = np.random.default_rng(seed)
    classes = []
    for count, size in ((positives, 0.3), (negatives, 0.1)):
        present = rng.random((count, dimension)) < 0.4
        classes.append(present * rng.exponential(size, (count, dimension)) + 0.01)
        classes[-1] += 0.02 * rng.standard_normal((count, dimension))
    return classes


def solved(positives: FloatArray, negatives: FloatArray) -> tuple[ClassPair, Solution]:
    frame = AffineFrame.of(positives, negatives)
    classes = ClassPair(frame.coordinates(positives), frame.coordinates(negatives))
    return classes, solve_by_central_path(classes, 1e-9, SolverLimits(500))


@pytest.mark.parametrize("seed", range(3))
def test_optimality_conditions(seed: int) -> None:
    classes, result = solved(*overlapping(seed, 50, 80, 3))
    inside = quadratic_values(result.quadratic, classes.positives)
    outside = quadratic_values(result.quadratic, classes.negatives)
    level = -2.0 * result.threshold
    assert level == pytest.approx(1.0, rel=1e-7)
    assert inside.max() < 0.0
    assert outside.min() > -level
    plus, minus = 1.0 / -inside, 1.0 / (outside + level)
    assert minus.sum() == pytest.approx(len(plus) + len(minus) + 3, rel=1e-7)
    assert plus.sum() == pytest.approx(minus.sum(), rel=1e-7)
    np.testing.assert_allclose(
        plus @ classes.positives, minus @ classes.negatives, atol=1e-6 * plus.sum()
    )
    moments = [(p.T * w) @ p for p, w in ((classes.positives, plus), (classes.negatives, minus))]
    inverse = np.linalg.inv(result.quadratic[:-1, :-1])
    np.testing.assert_allclose(moments[0] - moments[1], inverse, rtol=1e-5, atol=1e-6)


def test_affine_maps_do_not_change_the_ranking() -> None:
    positives, negatives = overlapping(3, 50, 80, 3)
    affine = np.array([[1e3, 2.0, 0.0], [0.0, 1.0, 0.5], [3.0, 0.0, 1e-2]])
    separation = maximal_separation(positives, negatives, solver="central-path")
    shifted = maximal_separation(positives @ affine, negatives @ affine, solver="central-path")
    np.testing.assert_allclose(
        shifted.decision_values(negatives @ affine),
        separation.decision_values(negatives),
        rtol=1e-5,
    )


def on_the_path(classes: ClassPair, distance: float) -> FloatArray:
    """Return (E^ - e e') / mu of the barrier problem (7.9) at mu = distance, by Clarabel."""
    order = classes.positives.shape[1] + 1
    matrix, ratio = cvxpy.Variable((order, order), symmetric=True), cvxpy.Variable()
    inside, outside = (
        cvxpy.sum(cvxpy.multiply(lifted(p) @ matrix, lifted(p)), axis=1)
        for p in (classes.positives, classes.negatives)
    )
    barrier = cvxpy.sum(cvxpy.log(1 - inside)) + cvxpy.sum(cvxpy.log(outside - 1 - ratio))
    objective = ratio / distance + barrier + cvxpy.log_det(matrix)
    options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    cvxpy.Problem(cvxpy.Maximize(objective)).solve(solver="CLARABEL", max_threads=1, **options)
    corner = np.zeros((order, order))
    corner[-1, -1] = 1.0
    return np.asarray((matrix.value - corner) / distance)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_it_is_the_limit_of_the_barrier_problem() -> None:
    frame = AffineFrame.of(*(parts := overlapping(5, 12, 15, 2)))
    classes = ClassPair(frame.coordinates(parts[0]), frame.coordinates(parts[1]))
    result = solve_by_central_path(classes, 1e-10, SolverLimits(500))
    limit = result.quadratic * (sum(map(len, parts)) + 2)  # there s = m + r
    errors = [
        np.linalg.norm(on_the_path(classes, distance) - limit) / np.linalg.norm(limit)
        for distance in (1e-3, 1e-4)
    ]
    assert errors[1] < 0.05
    assert errors[1] < 0.3 * errors[0]


def test_degenerate_data_have_a_ranking_and_no_ellipsoid() -> None:
    positives, negatives = like_documents(0, 60, 400, 5)
    fresh = like_documents(1, 60, 400, 5)
    limit = maximal_separation(positives, negatives, solver="central-path")
    other = maximal_separation(positives, negatives)
    for separation in (limit, other):
        assert separation.status is Status.INFEASIBLE
        assert separation.ratio == 0.0
        assert separation.ellipsoid is None
    np.testing.assert_array_equal(limit.matrix, np.diag([0.0] * 5 + [1.0]))
    np.testing.assert_allclose(other.matrix, limit.matrix, atol=1e-6)
    inside, outside = (limit.decision_values(part) for part in fresh)
    assert np.median(inside) > np.median(outside)


def test_examples_at_one_point_are_ranked_by_their_distance_to_it() -> None:
    positives, negatives = np.ones((2, 3)), np.vstack([np.ones((1, 3)), np.eye(3)])
    separation = maximal_separation(positives, negatives, solver="central-path")
    assert separation.status is Status.INFEASIBLE
    assert separation.inseparability is not None
    assert separation.inseparability.rows == (0, 0)
    values = separation.decision_values(np.vstack([positives, negatives]))
    assert values[0] == values[1] == values[2]
    assert (values[3:] < values[0]).all()


def test_classes_that_only_touch_have_no_limit() -> None:
    positives, negatives = np.array([[-1.0], [0.0], [1.0]]), np.array([[1.0], [2.0], [-3.0]])
    with pytest.raises(NumericalError, match="only touch"):
        maximal_separation(positives, negatives, solver="central-path")
    assert maximal_separation(positives, negatives).status is Status.INFEASIBLE
