"""Exact weights on the boundary of the dual cone: planted faces, and systems with no others."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import cvxpy
import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, Status, solve
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.exact.checker import checker
from perceptron_lab.exact.readings import of_system
from perceptron_lab.exact.weights import infeasible_on_face
from perceptron_lab.exact.whole_numbers import CheckedSystem, Claim
from perceptron_lab.systems import face_bases, face_equations, face_weights
from perceptron_lab.systems.exact_pencil import ExactPencil, Weights, guess_of
from perceptron_lab.systems.exact_solutions import Equation
from perceptron_lab.systems.face_bases import Basis, bases_of, by_lattice
from perceptron_lab.systems.face_weights import weights_near
from perceptron_lab.systems.facial_reduction import FaceSystem
from perceptron_lab.systems.pencil import homogenised
from perceptron_lab.systems.system import Objective, System
from tests.repetitions import repeated


def planted(seed: int) -> tuple[ConicSystem, FloatArray, FloatArray]:
    """Return a matrix inequality, W with <F_i, W> = 0 for all i, and flat weights near W."""
    rng = np.random.default_rng(seed)
    order, unknowns = int(rng.integers(2, 6)), int(rng.integers(1, 6))
    rank = int(rng.integers(1, order + 1))
    basis, core = rng.integers(-3, 4, (order, rank)), rng.integers(-2, 3, (rank, rank))
    basis[0, 0] = 1
    weights = basis @ (core @ core.T + np.eye(rank, dtype=int)) @ basis.T
    matrices = []
    while len(matrices) <= unknowns:
        left, right = (g + g.T for g in rng.integers(-3, 4, (2, order, order)))
        matrix = (right * weights).sum() * left - (left * weights).sum() * right
        matrices += [matrix.astype(float)] if matrix.any() else []
    system = ConicSystem.from_matrices(matrices[0], matrices[1:])
    system = replace(system, objective=Objective(np.zeros(unknowns)))
    flat = np.zeros(system.cone.size)
    part, at = system.cone.blocks[-1]
    if part.rank == order and len(system.cone.blocks) == 2:
        noise = 1e-10 * rng.standard_normal(part.size)
        flat[at] = weights[part.rows, part.columns] * part.multiplicity + noise
    return system, weights.astype(float), flat


def written(seed: int) -> tuple[CheckedSystem, Claim]:
    """Return the checker's system and the claim by planted weights."""
    system, _, flat = planted(seed)
    data = of_system(system).system()
    claim = infeasible_on_face(system.cone, flat, data)
    assert claim is not None
    return data, claim


def assert_planted_weights_become_exact(seed: int) -> None:
    system, _, flat = planted(seed)
    pencil = system.exact_pencil()
    assert pencil is not None
    exact = weights_near(pencil, guess_of(system.cone, flat))
    assert exact is not None
    assert not any(pencil.image(exact))
    assert all(d > 0 for terms in exact for d, _ in terms)
    assert system.prove_infeasible(flat) is not None


@pytest.mark.parametrize("seed", repeated(range(100), kept=12))
def test_planted_weights_become_exact(seed: int) -> None:
    assert_planted_weights_become_exact(seed)


@pytest.mark.parametrize("seed", repeated(range(40), kept=4))
def test_newton_s_method_recovers_a_range_that_is_known_to_six_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = rng.integers(-30, 31, (6, 2))
    weights = frame @ frame.T
    matrices = []
    for _ in range(18):
        left, right = (g + g.T for g in rng.integers(-3, 4, (2, 6, 6)))
        matrices.append((right * weights).sum() * left - (left * weights).sum() * right)
    system = ConicSystem.from_matrices(
        matrices[0].astype(float), [m.astype(float) for m in matrices[1:]]
    )
    (part, at), flat = system.cone.blocks[1], np.zeros(system.cone.size)
    near = weights / np.abs(weights).max() + 1e-6 * rng.standard_normal((6, 6))
    flat[at] = (near + near.T)[part.rows, part.columns] / 2.0 * part.multiplicity
    pencil = system.exact_pencil()
    assert pencil is not None
    exact = weights_near(pencil, guess_of(system.cone, flat))
    assert exact is not None
    assert not any(pencil.image(exact))


def test_exact_arithmetic_is_spared_irrational_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method converges to vv', v = (1, 2^(1/3), 2^(2/3)), in hundreds of digits."""
    rows = [(0, 0, 2, (0,), (1,)), (0, 1, 1, (0,), (-2,)), (0, 0, 1, (1,), (2,))]
    rows += [(0, 2, 2, (1,), (-2,)), (0, 1, 2, (2,), (1,)), (0, 0, 0, (2,), (-4,))]
    pencil = ExactPencil(3, [("matrix", 3)], rows, homogenised=False)
    ray = np.cbrt([1.0, 2.0, 4.0])
    longest, solved = [], face_weights.solved

    def watched(pencil: ExactPencil, bases: Sequence[Basis]) -> Weights | None:
        longest.append(max(Fraction(x).denominator for x in bases[0].tail.ravel().tolist()))
        return solved(pencil, bases)

    monkeypatch.setattr(face_weights, "solved", watched)
    assert weights_near(pencil, [np.outer(ray, ray)]) is None
    assert next(face_weights.refined_bases(pencil, [np.outer(ray, ray)]), None) is not None
    assert max(longest) < face_bases.LONGEST_ENTRY


def test_blocks_of_tiny_scores_have_weights() -> None:
    rows = [(0, 0, 0, (0,), (2**110,)), (1, 0, 0, (0,), (-1,))]
    pencil = ExactPencil(1, [("rows", 1), ("matrix", 1)], rows, homogenised=True)
    guess = [np.array([2.0**-110]), np.ones((1, 1))]
    exact = weights_near(pencil, guess)
    assert exact is not None
    assert pencil.proves(exact)
    assert pencil.mass_of_first(exact) > 0


def test_faces_with_tiny_scores_have_points() -> None:
    rows = [(0, 0, 0, (0, 1), (-96, 416)), (1, 0, 0, (0, 1), (22 * 2**120, -601 * 2**120))]
    face = FaceSystem.of(ExactPencil(2, [("rows", 1), ("matrix", 1)], rows, homogenised=True))
    result = solve(face, "interior-point")
    assert result.status is Status.FEASIBLE
    first, second = face.unscaled(result.point)
    assert 416 * second > 96 * first
    assert 22 * first > 601 * second


def test_unknowns_that_errors_change_least_are_solved_for() -> None:
    """Of x / 10^12 + 1000 y = 0 it is y, in units in which V was computed."""
    equations = [Equation({0: 10**12, 1: 10**15}, 0), Equation({0: 1, 2: 7}, 0)]
    assert face_equations._stable_order(equations, [10**24, 10**12, 1]) == [1, 2, 0]


@pytest.mark.parametrize("seed", repeated(range(100), kept=4))
def test_planted_weights_become_exact_in_that_order(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(face_equations, "PLACES", ((40, True),))
    assert_planted_weights_become_exact(seed)


def test_short_vectors_span_a_range_whose_echelon_form_is_long() -> None:
    """The unstable subspace of an integer matrix: echelon entries have minors as denominators."""
    rng = np.random.default_rng(3)
    frame = rng.integers(-40, 41, (7, 4))
    basis, _ = np.linalg.qr(frame.astype(float))
    pencil = ExactPencil(1, [("matrix", 7)], [(0, 0, 0, (0,), (1,))], homogenised=False)
    (computed,) = bases_of(pencil, [basis @ basis.T], 0.5)
    rounded = by_lattice([computed], 1e11)
    assert rounded is not None
    exact = np.array(rounded[0].vectors(), dtype=object).T
    # The columns of the frame are combinations of those of [I; K], exactly
    for column in frame.T.tolist():
        coefficients = np.array([column[pivot] for pivot in computed.pivots], dtype=object)
        assert (exact @ coefficients).tolist() == column
    assert max(x.denominator for x in map(Fraction, exact.ravel().tolist())) > 10**5


@pytest.mark.parametrize("seed", repeated(range(100), kept=12))
def test_the_checker_accepts_them_and_refuses_every_change(seed: int) -> None:
    data, claim = written(seed)
    assert checker().check_claim(data, claim).startswith("no x has F(x)")
    rng = np.random.default_rng(seed)
    for _ in range(10):
        forged = copy.deepcopy(claim)
        lists = [part for block in forged["weights"] for part in block if part]
        numbers = lists[int(rng.integers(len(lists)))]
        numbers[int(rng.integers(len(numbers)))] += int(rng.choice([-1, 1]))
        total = sum_of(data, forged)
        if total is None or any(total):
            with pytest.raises((checker().Refuted, ValueError)):
                checker().check_claim(data, forged)


def sum_of(data: CheckedSystem, claim: Claim) -> list[Fraction] | None:
    """Return A w of a claim about one matrix and the row x_0 > 0; None if w is indefinite."""
    (places, numbers), (parts, rest, *rows) = claim["weights"]
    if min([*numbers, *parts, *rest]) < 0:
        return None
    frame = np.array(rows, dtype=object).reshape(len(rest), len(parts))
    matrix = frame @ np.diag(np.array(parts, dtype=object)) @ frame.T + np.diag(
        np.array(rest, dtype=object)
    )
    total = [Fraction()] * data.width
    for block, i, j, columns, values in data.rows:
        weight = dict(zip(places, numbers, strict=True)).get(i, 0) if block == 0 else matrix[i, j]
        for at, value in zip(columns, values, strict=True):
            total[at] += (1 + (i != j)) * weight * value
    return total


def sdpa(text: str) -> ConicSystem:
    return homogenised(parse_sdpa(text))


def lyapunov(matrix: list[list[float]]) -> System:
    a = np.array(matrix)
    p = cvxpy.Variable(a.shape, symmetric=True)
    constraints = [p >> np.eye(len(a)), a.T @ p + p @ a << -np.eye(len(a))]
    return ConicSystem.from_cvxpy(cvxpy.Problem(cvxpy.Minimize(0), constraints))


def gram() -> System:
    q, s, t = cvxpy.Variable((3, 3), PSD=True), cvxpy.Variable(), cvxpy.Variable()
    constraints = [q[0, 0] == t, q[1, 1] == -1, q[2, 2] == s, q[0, 1] == 0, q[1, 2] == 0]
    return ConicSystem.from_cvxpy(cvxpy.Problem(cvxpy.Minimize(0), constraints))


def cone_and_rows() -> System:
    x, t = cvxpy.Variable(), cvxpy.Variable()
    constraints = [x >= 1, x <= 0, cvxpy.SOC(t, cvxpy.hstack([x]))]
    return ConicSystem.from_cvxpy(cvxpy.Problem(cvxpy.Minimize(0), constraints))


CASES = {
    "diag(-1, x)": (lambda: sdpa("1\n1\n2\n0\n0 1 1 1 1\n1 1 2 2 1\n"), "semidefinite"),
    "-1 >= 0, x >= 0": (lambda: sdpa("1\n1\n-2\n0\n0 1 1 1 1\n1 1 2 2 1\n"), "semidefinite"),
    "[[x, 1], [1, 0]]": (
        lambda: sdpa("1\n1\n2\n0\n0 1 1 2 -1\n1 1 1 1 1\n"),
        "positive definite; weakly",
    ),
    "decimals": (lambda: sdpa("1\n1\n2\n0\n0 1 1 1 .3\n1 1 2 2 .1\n"), "semidefinite"),
    "saddle": (lambda: lyapunov([[1.0, 2.0], [0.0, -3.0]]), "semidefinite"),
    "Gram matrix": (gram, "semidefinite"),
    "rows": (cone_and_rows, "no x is in all cones"),
}


@pytest.mark.parametrize("name", CASES)
def test_systems_that_have_weights_on_the_boundary_only(name: str) -> None:
    make, sentence = CASES[name]
    system = make()
    result = solve(system, budget=Budget(seconds=60))
    assert (result.status, result.proved) == (Status.INFEASIBLE, True), result.message
    assert sentence in result.message
    assert isinstance(system, ConicSystem)
    assert result.weights is not None
    assert system.prove_infeasible(result.weights) is not None


def test_weights_prove_something_only_with_a_w_equal_to_0_and_a_cone() -> None:
    """x_0 > 0, the rows x >= 0 and -x >= 0, and the pair norm(z) <= z."""
    rows = [(0, 0, 0, (0,), (1,)), (1, 0, 0, (1,), (1,)), (1, 1, 1, (1,), (-1,))]
    rows += [(2, 0, 0, (2,), (1,)), (2, 1, 1, (2,), (1,))]
    blocks = [("rows", 1), ("rows", 2), ("second-order", 2)]
    pencil = ExactPencil(3, blocks, rows, homogenised=True)
    one, zero = Fraction(1), Fraction(0)
    of_rows: Weights = [[], [(one, (zero,)), (one, (one,))], []]
    of_pair: Weights = [[], [], [(one, (-one, one))]]
    assert pencil.proves(of_pair)
    assert not pencil.proves(of_rows)
    assert replace(pencil, closed=True).proves(of_rows)
    assert not pencil.proves([[], [(one, (zero,))], of_pair[2]])
