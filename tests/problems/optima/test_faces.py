"""Reductions to a face: exact in rationals, sound for every V, and lossless for the right one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.optima.bound_verification import (
    DUAL,
    FACE,
    FACE_BLOCK,
    reverified_bounds,
)
from perceptron_lab.problems.optima.faces import Face, exposed_face, face_of_null_space, restricted
from perceptron_lab.problems.optima.lower_bounds import DualProblem
from perceptron_lab.problems.optima.optimiser import minimise
from perceptron_lab.problems.optima.upper_bounds import prove_upper
from perceptron_lab.problems.optima.verified_solver import VerifiedSolver
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData, homogenised
from tests.problems.optima.small_programs import judged, rational
from tests.repetitions import repeated


def bisection(seed: int, order: int = 7, rows: int = 0) -> ConicSystem:
    """Graph bisection: diag(X) = 1, v'Xv = 0, v = e but for a sign; rows beside it."""
    rng = np.random.default_rng(seed)
    upper = np.triu_indices(order)
    sign = np.ones(order)
    sign[rng.integers(order)] = -1.0
    half = np.triu(rng.integers(0, 2, (order, order)) * rng.integers(1, 4, (order, order)), 1)
    laplacian = (np.diag((half + half.T).sum(axis=0)) - half - half.T) / 4.0
    entries = [(1, 0, i, j, sign[i] * sign[j]) for i, j in zip(*upper, strict=True)]
    entries += [(i + 2, 0, i, i, 1.0) for i in range(order)]
    entries += [(0, 0, i, j, -laplacian[i, j]) for i, j in zip(*upper, strict=True)]
    # Rows x_i >= -5 of some variables
    entries += [(k + 2, 1, k, k, 1.0) for k in range(rows)]
    entries += [(0, 1, k, k, -5.0) for k in range(rows)]
    table = np.array(entries)
    objective = np.concatenate([[0.0], np.ones(order)])
    blocks = [order, -rows] if rows else [order]
    return homogenised(
        SdpaData.from_entries(objective, blocks, table[:, :4].astype(np.int64), table[:, 4])
    )


def block_of(system: ConicSystem, column: int) -> list[list[Fraction]]:
    """F_i, or -F_0 of column 0, of the first block of a system, as fractions."""
    part, span = system.cone.blocks[1]
    data = sp.csc_array(system.operator.data)[span]  # type: ignore[attr-defined]
    dense = part.matrix(data[:, [column]].toarray().ravel())  # type: ignore[attr-defined]
    return [[Fraction(value) for value in row] for row in dense.tolist()]


def inner(left: list[list[Fraction]], right: list[list[Fraction]]) -> Fraction:
    return sum(
        (
            a * b
            for first, two in zip(left, right, strict=True)
            for a, b in zip(first, two, strict=True)
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_products_with_every_matrix_are_those_on_the_face(seed: int) -> None:
    """<F_i, VZV'> = <V'F_i V, Z> in fractions, for all i that are left, and V'F_1 V = 0."""
    system = bisection(seed, rows=2)
    face = exposed_face(system)
    assert face is not None
    reduced = restricted(system, face).system
    assert reduced.unknowns == system.unknowns - 1
    rng = np.random.default_rng(seed)
    half = rng.integers(-4, 5, (face.basis.shape[1],) * 2)
    small = (half + half.T).astype(float)
    full = (face.basis @ small @ face.basis.T).tolist()
    large = [[Fraction(value) for value in row] for row in full]
    few = [[Fraction(value) for value in row] for row in small.tolist()]
    assert inner(block_of(system, 1), large) == 0
    for before, after in [(0, 0), *((i + 1, i) for i in range(1, reduced.unknowns))]:
        assert inner(block_of(system, before), large) == inner(block_of(reduced, after), few)


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_the_reduced_program_has_the_optimum_of_the_original_one(seed: int) -> None:
    system = bisection(seed, rows=seed % 2)
    face = exposed_face(system)
    assert face is not None
    optimum = judged(restricted(system, face).system)
    # Without an interior it is a program that Clarabel solves to a few digits
    assert judged(system) == pytest.approx(optimum, abs=1e-3 * (1.0 + abs(optimum)))
    assert DualProblem.of(system).inner is None
    result = minimise(system, VerifiedSolver(solver="clarabel"))
    assert result.optimum_width is not None
    # No x attains the optimum of the original program: those that are lifted come near to it
    assert result.optimum_width <= 1e-6
    assert result.updates == 1  # solved on the face alone
    assert result.point[1 + (face.variable or 0)] > 0.0
    assert result.optimum_lower is not None
    assert result.optimum_lower <= optimum + 1e-5 * (1.0 + abs(optimum))
    again = reverified_bounds(system, result.point, result.proof, result.optimum_lower)
    assert again == (result.optimum_lower, result.optimum_upper)


def test_without_facial_reduction_the_message_names_the_failing_side() -> None:
    result = minimise(bisection(1, order=4), VerifiedSolver(solver="clarabel", faces=False))
    assert result.optimum_upper is not None
    assert result.optimum_lower is None
    assert "the dual problem may have no interior" in result.message


def test_other_faces_are_sound_and_non_faces_prove_nothing() -> None:
    """Any V of whole numbers bounds the optimum from below, if it bounds anything."""
    system = bisection(3)
    result = minimise(system, VerifiedSolver(solver="clarabel"))
    assert result.optimum_lower is not None
    proof = result.proof
    for name, array in (
        (FACE, proof[FACE] * 1.5),
        (FACE, proof[FACE][:-1]),
        (FACE, np.full_like(proof[FACE], np.nan)),
        (FACE_BLOCK, np.array([1.0])),
        (FACE_BLOCK, np.array([0.5])),
        (FACE_BLOCK, np.array([-2.0])),
        (DUAL, proof[DUAL] * 1.5),
        (DUAL, proof[DUAL][:-1]),
    ):
        forged = {**proof, name: array}
        assert reverified_bounds(system, result.point, forged, result.optimum_lower)[0] is None
    shifted = proof[FACE].copy()
    shifted[:, 0] += shifted[:, 1]
    bound = reverified_bounds(system, result.point, {**proof, FACE: shifted}, result.optimum_lower)[
        0
    ]
    assert bound is None or bound <= judged(system) + 1e-6


def test_numbers_that_would_be_rounded_are_refused() -> None:
    system = bisection(2)
    face = exposed_face(system)
    assert face is not None
    data = sp.csr_array(system.operator.data).copy()  # type: ignore[attr-defined]
    data.data[1:3] = [1.0 + 2.0**-52, 2.0**40]
    long = replace(system, operator=Matrix(data))
    with pytest.raises(InputError, match="more than 53 bits"):
        restricted(long, face)
    decimal = replace(system, operator=Matrix(data, roundings=1))
    assert exposed_face(decimal) is None
    with pytest.raises(InputError, match="rounded decimals"):
        restricted(decimal, face)
    with pytest.raises(InputError, match="whole numbers"):
        restricted(system, Face(0, np.full((7, 2), 0.5)))


def test_implied_equations_are_dropped() -> None:
    """Two equations of which one is the other's double, with their right sides."""
    system = bisection(4)
    columns = sp.csc_array(system.operator.data)  # type: ignore[attr-defined]
    both = sp.hstack([columns, 2.0 * columns[:, [3]] - columns[:, [4]]])
    objective = system.objective
    assert objective is not None
    c = objective.values
    face = exposed_face(system)
    assert face is not None
    for last, size in ((2.0 * c[2] - c[3], 7), (5.0, 8)):
        more = replace(
            system,
            operator=Matrix(sp.csr_array(both)),
            objective=replace(objective, values=np.append(c, last)),
            interior=None,
        )
        reduced = restricted(more, face).system
        assert reduced.unknowns - 1 == size
        # Equations that contradict each other are not left out, and nothing is proved of them
        assert (DualProblem.of(reduced).least > 0.0) == (size == 7)


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_an_integer_null_space_is_computed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    basis = np.zeros((6, 4))
    basis[2:], basis[:2] = np.eye(4), rng.integers(-2, 3, (2, 4))
    half = rng.standard_normal((4, 4))
    matrix = basis @ (half @ half.T + np.eye(4)) @ basis.T + 1e-9 * np.eye(6)
    face = face_of_null_space(0, matrix)
    assert face is not None
    assert face.basis.shape == (6, 4)
    both: FloatArray = np.hstack([face.basis, basis])
    assert np.linalg.matrix_rank(both) == 4
    assert all(value.denominator == 1 for row in face.basis for value in rational(row))
    assert face_of_null_space(0, np.eye(6)) is None
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    assert face_of_null_space(0, turn @ np.diag([0.0, 0, 1, 1, 1, 1]) @ turn.T) is None


@pytest.mark.parametrize("exponent", [-24, -30])
def test_a_point_lifted_from_a_face_equals_the_verified_one(exponent: int) -> None:
    """[[x, -e, 0], [-e, y, 0], [0, 0, e - y]], e small: with x = 1e8 nothing is proved."""
    e = 2.0**exponent
    table = np.array(
        [(1, 0, 0, 0, 1), (2, 0, 1, 1, 1), (2, 0, 2, 2, -1), (0, 0, 2, 2, -e), (0, 0, 0, 1, e)]
    )
    system = homogenised(
        SdpaData.from_entries(np.zeros(2), [3], table[:, :4].astype(np.int64), table[:, 4])
    )
    result = minimise(system, VerifiedSolver(solver="clarabel"))
    assert result.optimum_upper == 0.0
    assert prove_upper(system, result.point) == 0.0
