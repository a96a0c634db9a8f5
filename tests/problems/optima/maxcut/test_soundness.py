"""Intervals of small programs against exact bounds, computed in rationals and apart from the code.

Below: unit vectors with rational coordinates, by stereographic projection, make an X with rational
entries, ones on its diagonal, that is positive semidefinite. Above: an x for which elimination in
rationals finds diag(x) - C positive semidefinite. The optimum lies between the two, exactly.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import flint
import numpy as np
import pytest

from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.experiments.verification.claims import OPTIMUM, Claims
from perceptron_lab.experiments.verification.reproof import prove_optimum
from perceptron_lab.problems.optima.bound_verification import VECTORS
from perceptron_lab.problems.optima.maxcut.low_rank import enclose
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.systems import ConicSystem
from tests.problems.optima.maxcut.small_graphs import dense, random_graph, random_program
from tests.repetitions import repeated

COUNT, EACH = 2000, 10
FAMILIES = 8


def program_of(seed: int) -> MaxCutProgram:
    """Integers, signs, doubles, all scales, bipartite, zero rows, copies of a vertex, negative."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 13))
    kind = seed % FAMILIES
    if kind == 0:
        return random_graph(seed, n)
    if kind == 1:
        return random_graph(seed, n, signed=True)
    if kind == 2:
        return random_program(seed, n)
    rows, columns = np.triu_indices(n, 1)
    present = rng.random(len(rows)) < rng.random()
    weights = rng.standard_normal(len(rows))
    if kind == 3:
        weights = weights * 10.0 ** rng.integers(-9, 10, len(rows))
    elif kind == 4:
        present &= (rows + columns) % 2 == 1
        weights = np.abs(weights)
    elif kind == 5:
        present &= (rows % 3 > 0) & (columns % 3 > 0)
    elif kind == 6:
        weights = np.where((rows < n // 2) == (columns < n // 2), 0.0, 1.0)
    else:
        weights = -np.abs(np.round(4.0 * weights))
    return MaxCutProgram.of_graph(n, rows[present], columns[present], weights[present])


def exact_matrix(program: MaxCutProgram) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in dense(program).tolist()]


def exact_below(program: MaxCutProgram, vectors: FloatArray) -> Fraction:
    """<C, X> of rational unit vectors near the rows of V."""
    units = []
    for row in vectors.tolist():
        length = float(np.linalg.norm(row))
        *first, last = (value / length for value in row)
        sign = -1 if last < 0.0 else 1  # projected from the far pole
        t = [Fraction(value) / Fraction(1.0 + abs(last)) for value in first]
        square = sum((entry * entry for entry in t), Fraction(0))
        unit = [2 * entry / (1 + square) for entry in t] + [sign * (1 - square) / (1 + square)]
        assert sum(entry * entry for entry in unit) == 1
        units.append(unit)
    total = Fraction(0)
    for i, row in enumerate(exact_matrix(program)):
        for j, value in enumerate(row):
            if value:
                total += value * sum(a * b for a, b in zip(units[i], units[j], strict=True))
    return total


def exactly_feasible(program: MaxCutProgram, x: FloatArray) -> bool:
    """Whether diag(x) - C is positive semidefinite: signs of its characteristic polynomial.

    Of a symmetric matrix all eigenvalues are >= 0 if the coefficients of det(t + A) are.
    """
    matrix = [[-value for value in row] for row in exact_matrix(program)]
    for i, value in enumerate(x.tolist()):
        matrix[i][i] += Fraction(value)
    common = lcm(*(value.denominator for row in matrix for value in row))
    full = flint.fmpz_mat([[int(-value * common) for value in row] for row in matrix])
    return all(int(coefficient) >= 0 for coefficient in full.charpoly().coeffs())


def misses(program: MaxCutProgram, seed: int) -> list[str]:
    """What is wrong with the interval of a program."""
    interval = enclose(program, width=1e-10, seed=seed, sweeps=3000)
    below = exact_below(program, interval.vectors)
    above = sum((Fraction(value) for value in interval.point.tolist()), Fraction(0))
    faults = []
    if not exactly_feasible(program, interval.point):
        faults.append("the point is not feasible")
    if not below <= above:
        faults.append("the judges contradict each other")
    if Fraction(interval.lower) > above or Fraction(interval.upper) < below:
        faults.append("the interval misses the optimum")
    if Fraction(interval.upper) < above:
        faults.append("the upper bound is below the objective of its point")
    size = sum((abs(value) for row in exact_matrix(program) for value in row), Fraction(0))
    if Fraction(interval.lower) > below + size * Fraction(1e-14):
        faults.append("the lower bound is above the objective of its vectors")
    return faults


@pytest.mark.parametrize("first", repeated(range(0, COUNT, EACH), kept=1))
def test_no_interval_misses_the_optimum(first: int) -> None:
    failures = {seed: misses(program_of(seed), seed) for seed in range(first, first + EACH)}
    assert not {seed: faults for seed, faults in failures.items() if faults}


@pytest.mark.parametrize("first", repeated(range(0, 400, 4), kept=1))
def test_false_claims_are_refused_with_any_arrays(first: int) -> None:
    """What is claimed beyond the exact bounds is refuted, with true arrays and tampered ones."""
    for seed in range(first, first + 4):
        program, rng = program_of(seed), np.random.default_rng(seed)
        interval = enclose(program, width=1e-8, seed=seed, sweeps=3000)
        x, vectors, system = interval.point, interval.vectors, program.system()
        size = 1.0 + abs(interval.upper) + float(np.abs(dense(program)).sum())
        assert not refuted(system, x, vectors, interval.lower, interval.upper)
        turned, k = vectors.copy(), int(rng.integers(len(x)))
        turned[k] = -turned[k]
        lowered = x - 1e-3 * size * np.eye(len(x))[k]
        noise = rng.standard_normal(len(x)), rng.standard_normal(vectors.shape)
        for point, rows in ((x, vectors), (lowered, turned), (0.5 * x, 0.0 * vectors), noise):
            assert refuted(system, point, rows, interval.upper + 1e-6 * size, interval.upper)
            assert refuted(system, point, rows, interval.lower, interval.lower - 1e-6 * size)


def refuted(
    system: ConicSystem, x: FloatArray, vectors: FloatArray, lower: float, upper: float
) -> bool:
    claims = Claims(Status.FEASIBLE, True, figures=dict(zip(OPTIMUM, (lower, upper), strict=True)))
    point = np.concatenate([[1.0], x])
    return bool(prove_optimum(claims, system, point, None, {VECTORS: vectors}).faults)


def test_the_reference_checks_detect_false_bounds() -> None:
    triangle = MaxCutProgram.of_graph(3, [0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
    assert exactly_feasible(triangle, np.full(3, 0.75))
    assert not exactly_feasible(triangle, np.full(3, np.nextafter(0.75, 0.0)))
    assert not exactly_feasible(triangle, np.array([0.75, 0.75, -1.0]))
    vectors = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -3.0]])
    assert exact_below(triangle, vectors) == 2
