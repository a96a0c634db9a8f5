"""The maximal separation ratio: solvers against one another, proofs, invariance."""

from __future__ import annotations

import math
from functools import cache
from typing import get_args

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.outward_rounding import text_above
from perceptron_lab.core.results import Status
from perceptron_lab.estimators import EllipsoidSeparationClassifier
from perceptron_lab.problems.ellipsoids.hard import separation, solution
from perceptron_lab.problems.ellipsoids.hard.separation import Separation
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import SolverName, maximal_separation
from perceptron_lab.problems.ellipsoids.hard.solution import Bracket
from tests.problems.ellipsoids.two_class_sets import overlapping, separable
from tests.repetitions import examples, repeated

REFERENCES: list[SolverName] = [
    "interior-point",
    "clarabel",
    "cvxpy-clarabel",
    "cvxpy-scs",
    "constraint-generation",
]
SIZES = [(20, 30, 2), (60, 100, 3), (150, 350, 5)]


@pytest.mark.parametrize(("positives", "negatives", "dimension"), repeated(SIZES, kept=2))
def test_solvers_and_dual_agree_on_separable_classes(
    positives: int, negatives: int, dimension: int
) -> None:
    classes = separable(dimension, positives, negatives, dimension)
    separation = maximal_separation(*classes)
    assert separation.status is Status.FEASIBLE
    assert separation.proved
    assert separation.ratio > 0.1
    for solver in REFERENCES:
        other = maximal_separation(*classes, solver=solver, tolerance=1e-8)
        assert other.status is Status.FEASIBLE
        assert other.ratio == pytest.approx(separation.ratio, rel=1e-5)
        assert other.positive_weights.sum() - 1.0 == pytest.approx(separation.ratio, rel=1e-5)
        assert other.ratio_upper == pytest.approx(separation.ratio, rel=1e-5)
        assert other.ratio_lower == pytest.approx(separation.ratio, rel=1e-5)


def test_the_dual_program_has_the_same_value() -> None:
    positives, negatives = separable(6, 30, 50, 2)
    plus, minus = cvxpy.Variable(30, nonneg=True), cvxpy.Variable(50, nonneg=True)
    lifted = [np.hstack([part, np.ones((len(part), 1))]) for part in (positives, negatives)]
    moments = [p.T @ cvxpy.diag(w) @ p for p, w in zip(lifted, (plus, minus), strict=True)]
    constraints = [moments[0] - moments[1] >> 0, cvxpy.sum(minus) == 1]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(plus)), constraints)
    value = problem.solve(solver="CLARABEL", max_threads=1)
    separation = maximal_separation(positives, negatives)
    assert value - 1.0 == pytest.approx(separation.ratio, rel=1e-5)
    assert separation.ratio_lower <= value - 1.0 + 1e-6


@settings(max_examples=examples(15))
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_the_interval_contains_the_values_of_other_solvers(seed: int, dimension: int) -> None:
    classes = separable(seed, 8 * dimension, 12 * dimension, dimension)
    first, other = (maximal_separation(*classes, solver=solver) for solver in ("clarabel", "auto"))
    assert first.ratio_lower <= other.ratio_upper
    assert other.ratio_lower <= first.ratio_upper
    assert first.ratio_lower <= first.ratio * (1.0 + 1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_optimality_conditions(seed: int) -> None:
    positives, negatives = separable(seed, 40, 60, 3)
    separation = maximal_separation(positives, negatives)
    gaps = separation.gaps
    assert gaps is not None
    assert max(map(abs, gaps)) < 1e-7
    # (7.17): support examples lie on the boundaries; (7.22): sum_+ lambda = 1 + t
    assert separation.negative_weights.sum() == pytest.approx(1.0)
    assert separation.positive_weights.sum() == pytest.approx(1.0 + separation.ratio, rel=1e-7)
    assert separation.ellipsoid is not None
    inside, outside = separation.support
    np.testing.assert_allclose(separation.ellipsoid.values(positives[inside]), 1.0, rtol=1e-4)
    np.testing.assert_allclose(
        separation.ellipsoid.values(negatives[outside]), 1.0 + separation.ratio, rtol=1e-4
    )
    lifted = [np.hstack([part, np.ones((len(part), 1))]) for part in (positives, negatives)]
    moment = (lifted[0].T * separation.positive_weights) @ lifted[0]
    dual = moment - (lifted[1].T * separation.negative_weights) @ lifted[1]
    size = np.linalg.norm(moment)
    assert np.linalg.eigvalsh(dual)[0] > -1e-8 * size
    assert abs(np.trace(dual @ separation.matrix)) < 1e-6 * (1.0 + separation.ratio)


def test_ellipsoid_separates_in_its_own_canonical_form() -> None:
    positives, negatives = separable(4, 50, 80, 3)
    separation = maximal_separation(positives, negatives)
    assert separation.ellipsoid is not None
    assert separation.centre is not None
    shape, centre = separation.ellipsoid.shape, separation.centre
    distances = [np.einsum("ij,jk,ik->i", p - centre, shape, p - centre) for p in (positives,)]
    assert distances[0].max() <= 1.0 + 1e-9
    shifted = negatives - centre
    least = np.einsum("ij,jk,ik->i", shifted, shape, shifted).min()
    assert least == pytest.approx(1.0 + separation.ratio, rel=1e-7)
    # (7.8): E^ = (E, -Ec; -c'E, c'Ec)
    np.testing.assert_allclose(separation.matrix[:-1, :-1], shape, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(separation.matrix[:-1, -1], -shape @ centre, rtol=1e-7, atol=1e-9)
    assert separation.matrix[-1, -1] == pytest.approx(centre @ shape @ centre, rel=1e-7)
    lengths, directions = separation.ellipsoid.axes()
    ends = centre + lengths[:, None] * directions.T
    np.testing.assert_allclose(separation.ellipsoid.values(ends), 1.0, rtol=1e-9)


def test_classifier_is_that_of_the_middle_ellipsoid() -> None:
    positives, negatives = separable(5, 50, 80, 3)
    separation = maximal_separation(positives, negatives)
    assert (separation.decision_values(positives) > 0).all()
    assert (separation.decision_values(negatives) < 0).all()
    lifted = np.hstack([negatives, np.ones((len(negatives), 1))])
    values = np.einsum("ij,jk,ik->i", lifted, separation.matrix, lifted)
    middle = ((1.0 + separation.separation_ratio) / 2.0) ** 2
    np.testing.assert_allclose(separation.decision_values(negatives), middle - values, atol=1e-8)


AFFINE = separable(7, 40, 60, 3)


@cache
def separation_of_affine() -> Separation:
    return maximal_separation(*AFFINE)


@settings(max_examples=examples(15))
@given(st.integers(0, 2**32), st.integers(-6, 6), st.booleans())
def test_affine_maps_do_not_change_the_ratio(seed: int, exponent: int, one_column: bool) -> None:
    positives, negatives = AFFINE
    rng = np.random.default_rng(seed)
    scale = np.full(3, 10.0**exponent)
    scale[1:] = np.where(one_column, 1.0, scale[1:])
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    affine = (rotation + 0.3 * np.eye(3)) * scale  # of condition number below 2e6
    shift = rng.standard_normal(3) * scale
    mapped = [part @ affine + shift for part in (positives, negatives)]
    before, after = separation_of_affine(), maximal_separation(*mapped)
    assert abs(after.ratio - before.ratio) < 1e-8 * before.ratio
    np.testing.assert_allclose(
        after.decision_values(mapped[1]), before.decision_values(negatives), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize(
    "solver", ["interior-point", "clarabel", "central-path", "constraint-generation"]
)
@pytest.mark.parametrize("seed", range(3))
def test_overlapping_classes_are_proved_inseparable(solver: SolverName, seed: int) -> None:
    classes = overlapping(seed, 50, 80, 3)
    separation = maximal_separation(*classes, solver=solver)
    assert separation.status is Status.INFEASIBLE
    assert separation.proved
    assert separation.ratio == separation.ratio_lower == separation.ratio_upper == 0.0
    assert separation.ellipsoid is None
    assert separation.inseparability is not None
    assert separation.inseparability.slack > 0.0
    assert separation.inseparability.weights is not None
    inner, outer = separation.inseparability.weights
    assert inner.sum() == pytest.approx(outer.sum())
    np.testing.assert_allclose(inner @ classes[0], outer @ classes[1], rtol=1e-9, atol=1e-12)


def test_identical_rows_of_both_classes_prove_inseparability() -> None:
    positives, negatives = separable(8, 30, 40, 2)
    negatives[17] = positives[5]
    separation = maximal_separation(positives, negatives)
    assert separation.status is Status.INFEASIBLE
    assert separation.inseparability is not None
    assert separation.inseparability.rows == (5, 17)


def test_without_exact_weights_a_bound_of_the_ratio_is_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(separation, "prove_inseparable", lambda *_: None)
    nearly_zero = maximal_separation(*overlapping(19, 50, 80, 3))
    assert nearly_zero.status is Status.MARGIN_BOUNDED
    assert nearly_zero.proved
    assert 0.0 <= nearly_zero.ratio_upper <= 1e-6
    assert text_above(nearly_zero.ratio_upper, 3) in nearly_zero.message
    monkeypatch.setattr(separation, "NEGLIGIBLE", 1e-15)
    strict = maximal_separation(*overlapping(19, 50, 80, 3))
    assert strict.status is Status.UNVERIFIED
    assert not strict.proved


def test_one_point_against_itself() -> None:
    separation = maximal_separation([[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]])
    assert separation.status is Status.INFEASIBLE
    assert separation.ratio == 0.0


def test_few_positives_are_unbounded_with_a_direction() -> None:
    positives, negatives = separable(9, 3, 40, 3)
    separation = maximal_separation(positives, negatives)
    assert separation.status is Status.UNBOUNDED
    assert separation.proved
    assert math.isinf(separation.ratio)
    assert math.isinf(separation.ratio_lower)
    assert separation.recession is not None
    lifted = [np.hstack([part, np.ones((len(part), 1))]) for part in (positives, negatives)]
    values = [np.einsum("ij,jk,ik->i", p, separation.recession.matrix, p) for p in lifted]
    assert abs(values[0]).max() < 1e-10 * values[1].min()
    assert separation.recession.largest_positive < 1e-20 * separation.recession.least_negative
    assert (separation.decision_values(positives) > 0).all()
    assert (separation.decision_values(negatives) < 0).all()


def test_a_flat_class_is_unbounded_to_rounding() -> None:
    positives, negatives = separable(10, 30, 40, 3)
    positives[:, 2] = positives[:, :2] @ [0.3, 0.7] + 0.1
    separation = maximal_separation(positives, negatives)
    assert separation.status is Status.UNBOUNDED
    assert not separation.proved
    assert separation.ratio_lower > 1e15


def test_negatives_off_the_hull_do_not_limit_the_ratio() -> None:
    flat = separable(11, 30, 40, 2)
    away = np.hstack([flat[0][:5], np.ones((5, 1))])
    positives, negatives = (np.hstack([part, np.zeros((len(part), 1))]) for part in flat)
    expected = maximal_separation(*flat)
    separation = maximal_separation(positives, np.vstack([negatives, away]))
    assert separation.status is Status.FEASIBLE
    assert separation.ratio == pytest.approx(expected.ratio, rel=1e-8)
    assert separation.ratio_lower == pytest.approx(separation.ratio, rel=1e-7)
    assert separation.ratio_upper == pytest.approx(separation.ratio, rel=1e-7)
    assert (separation.decision_values(away) < 0).all()
    assert not separation.negative_weights[-5:].any()


def test_constant_and_repeated_columns_do_not_stop_the_proofs() -> None:
    classes = overlapping(12, 40, 50, 2)
    wide = [np.insert(part, 1, 0.1, axis=1) for part in classes]
    wide = [np.hstack([part, part[:, :1]]) for part in wide]
    separation = maximal_separation(*wide)
    assert separation.status is Status.INFEASIBLE
    assert separation.inseparability is not None
    assert separation.inseparability.weights is not None


def test_raw_coordinates_find_the_same_ratio() -> None:
    classes = separable(14, 30, 40, 2)
    raw = maximal_separation(*classes, whiten=False)
    assert raw.ratio == pytest.approx(maximal_separation(*classes).ratio, rel=1e-6)


def test_central_path_refuses_separable_classes() -> None:
    with pytest.raises(NumericalError, match="an ellipsoid separates"):
        maximal_separation(*separable(15, 30, 40, 2), solver="central-path")


def test_chunking_uses_few_examples() -> None:
    classes = separable(16, 2000, 3000, 4)
    separation = maximal_separation(*classes, solver="constraint-generation", tolerance=1e-5)
    assert separation.status is Status.FEASIBLE
    assert separation.ratio_upper - separation.ratio_lower <= 1e-4 * separation.ratio_upper
    support = np.count_nonzero(separation.positive_weights) + np.count_nonzero(
        separation.negative_weights
    )
    assert support < 500


def test_every_round_brackets_the_ratio_of_all_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = separable(20, 150, 350, 3)
    exact = maximal_separation(*classes, solver="interior-point")
    brackets: list[Bracket] = []
    narrow = Bracket.meets

    def recorded(self: Bracket, goal: float) -> bool:
        if goal == 1e-9:  # of all examples; those of a working set are narrower
            brackets.append(self)
        return narrow(self, goal)

    monkeypatch.setattr(Bracket, "meets", recorded)
    separation = maximal_separation(*classes, solver="constraint-generation")
    assert len(brackets) > 3
    for bracket in brackets:
        assert bracket.lower <= exact.ratio_upper + 1e-12
        assert bracket.upper >= exact.ratio_lower - 1e-12
    assert brackets[0].upper - brackets[0].lower > 1e-3
    assert separation.ratio == pytest.approx(exact.ratio, rel=2e-9)


@pytest.mark.parametrize("solver", ["auto", "interior-point", "clarabel"])
def test_a_limit_leaves_a_wider_bracket(solver: SolverName) -> None:
    classes = separable(20, 60, 90, 3)
    exact = maximal_separation(*classes)
    ended = maximal_separation(*classes, solver=solver, max_iterations=7)
    assert exact.complete
    assert not ended.complete
    assert ended.iterations == 7
    assert ended.status is Status.FEASIBLE
    assert 0.0 < ended.ratio_lower < exact.ratio_lower <= exact.ratio_upper < ended.ratio_upper
    timed = maximal_separation(*classes, solver=solver, max_seconds=1e-9)
    assert not timed.complete
    assert timed.iterations <= 1


@pytest.mark.parametrize("solver", ["interior-point", "clarabel", "cvxpy-scs", "central-path"])
def test_too_many_products(solver: SolverName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solution, "MOST_NUMBERS", 300)
    with pytest.raises(InputError, match="50 examples of 2 features"):
        maximal_separation(*separable(22, 20, 30, 2), solver=solver)


def test_inputs_are_not_changed() -> None:
    classes = separable(17, 20, 30, 2)
    copies = [part.copy() for part in classes]
    maximal_separation(*classes)
    for part, copy in zip(classes, copies, strict=True):
        np.testing.assert_array_equal(part, copy)


@pytest.mark.parametrize(
    ("positives", "negatives", "words"),
    [
        ([[1.0, 2.0]], [[1.0]], "give rows of 2"),
        ([[1.0, math.nan]], [[1.0, 2.0]], "NaN"),
        (np.zeros((0, 2)), [[1.0, 2.0]], "non-empty"),
        (sp.csr_array(np.eye(2)), np.eye(2), "sparse"),
        ([[1.0, 2.0]], [["a", "b"]], "real numbers"),
        ([[1.0, 1e120]], [[1.0, 2.0]], "rescale"),
        ([[1.0, 1e-120]], [[2.0, 0.0]], "column 1 varies by 1e-120"),
    ],
)
def test_broken_classes(positives: object, negatives: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        maximal_separation(positives, negatives)


def test_broken_points_and_parameters() -> None:
    separation = maximal_separation(*separable(18, 20, 30, 2))
    with pytest.raises(InputError, match="give rows of 2"):
        separation.decision_values([[1.0, 2.0, 3.0]])
    for arguments in ({"solver": "newton"}, {"tol": 0.0}, {"max_iter": -1}, {"whiten": 1}):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            EllipsoidSeparationClassifier(**arguments).fit([[0.0], [1.0]], [0, 1])  # type: ignore[arg-type]


def test_every_solver_name_is_tested() -> None:
    assert {*REFERENCES, "auto", "central-path"} == set(get_args(SolverName))
