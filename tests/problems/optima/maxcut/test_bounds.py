"""Any V bounds the optimum from below, any x from above: theorems, with exact judges."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg

from perceptron_lab.certificates.matrices.definite import exactly_semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.maxcut import generate, graph_of
from perceptron_lab.numerics.symmetric.raised_factor import RaisedFactor
from perceptron_lab.problems.optima.maxcut.bounds import (
    proved_lower,
    proved_upper,
    proved_upper_with,
)
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.systems.pencil import homogenised
from tests.problems.optima.maxcut.small_graphs import (
    DEGENERATE,
    OPTIMA,
    dense,
    judged,
    random_graph,
    random_program,
)

ORIGINS = ("near", "below", "above", "wild", "mixed")


def some_point(program: MaxCutProgram, kind: str, rng: np.random.Generator) -> FloatArray:
    sums, n = np.abs(dense(program)).sum(axis=1), program.order
    scale = float(sums.max()) or 1.0
    return {
        "near": lambda: program.diagonal + program.row_sizes,
        "below": lambda: program.diagonal + 0.3 * program.row_sizes,
        "above": lambda: 2.0 * sums + scale,
        "wild": lambda: scale * rng.standard_normal(n),
        "mixed": lambda: scale * rng.standard_normal(n) * 10.0 ** rng.integers(-8, 8, n),
    }[kind]()


def assert_definite(program: MaxCutProgram, x: FloatArray) -> None:
    """F(x) is positive semidefinite by elimination in integers, entries as stored."""
    matrix = [[-Fraction(c) for c in row] for row in dense(program).tolist()]
    for i, value in enumerate(x.tolist()):
        matrix[i][i] += Fraction(value)
    assert _positive(matrix)


def _positive(rows: list[list[Fraction]]) -> bool:
    while rows:
        (pivot, *column), *rest = rows
        if pivot < 0 or (pivot == 0 and any(column)):
            return False
        if pivot:
            rest = [
                [a - row[0] * top / pivot for a, top in zip(row[1:], column, strict=True)]
                for row in rest
            ]
        else:
            rest = [row[1:] for row in rest]
        rows = rest
    return True


def test_the_fraction_and_the_integer_references_agree() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        half = rng.integers(-2, 3, (4, 4)).astype(float)
        matrix = half + half.T + rng.integers(0, 9) * np.eye(4)
        rows = [[Fraction(a) for a in row] for row in matrix.tolist()]
        assert _positive(rows) == exactly_semidefinite(matrix)


@pytest.mark.parametrize("kind", ORIGINS)
@pytest.mark.parametrize("floor", [0.0, 1e-3])
def test_any_vector_gives_a_point_that_is_exactly_feasible(kind: str, floor: float) -> None:
    for seed in range(6):
        program = random_program(seed, n=8) if seed % 2 else random_graph(seed, n=8, signed=True)
        x = some_point(program, kind, np.random.default_rng(seed))
        bound, point = proved_upper(program, x, floor=floor)
        assert (point >= x).all()
        assert_definite(program, point)
        assert Fraction(bound) >= sum(Fraction(value) for value in point.tolist())
        assert bound <= float(point.sum()) + 1e-12 * np.abs(point).sum()


@pytest.mark.parametrize("seed", range(4))
def test_bounds_contain_the_optimum_of_another_solver(seed: int) -> None:
    program = random_program(seed) if seed % 2 else random_graph(seed)
    optimum, rng = judged(program), np.random.default_rng(seed)
    slack = 1e-7 * max(1.0, abs(optimum))
    for rank in (1, 2, 5):
        assert proved_lower(program, rng.standard_normal((program.order, rank))) <= optimum + slack
    for kind in ORIGINS:
        assert proved_upper(program, some_point(program, kind, rng))[0] >= optimum - slack


@pytest.mark.parametrize("name", list(DEGENERATE))
def test_degenerate_programs_have_bounds(name: str) -> None:
    program, optimum = DEGENERATE[name], OPTIMA[name]
    rng = np.random.default_rng(0)
    assert proved_lower(program, rng.standard_normal((program.order, 3))) <= optimum
    bound, point = proved_upper(program, program.diagonal + program.row_sizes)
    assert optimum <= bound
    assert bound <= 2.0 * np.abs(dense(program)).sum() * (1.0 + 1e-12) + 1e-300
    assert_definite(program, point)


def test_a_feasible_point_is_unchanged_at_little_cost() -> None:
    for program in (random_graph(1), random_program(2)):
        lowest = scipy.linalg.eigvalsh(np.diag(program.row_sizes) - program.weights.toarray())[0]
        x = program.diagonal + program.row_sizes - lowest + 1e-9
        bound, point = proved_upper(program, x)
        np.testing.assert_array_equal(point, x)
        assert bound - x.sum() <= 1e-14 * np.abs(x).sum()
        assert proved_upper(program, point) == (bound, pytest.approx(point, abs=0.0))


def test_a_large_program_keeps_a_feasible_point_and_loses_little() -> None:
    """Sparse columns and a dense remainder of several panels."""
    program = MaxCutProgram.of_system(homogenised(generate("random-500-3000", 1)))
    assert program is not None
    how = program.pattern.elimination
    assert 100 < how.head < 400
    x = program.diagonal + program.row_sizes
    full = np.diag(x) - dense(program)
    lowest = scipy.linalg.eigvalsh(full)[0]
    bound, point = proved_upper(program, x - lowest + 1e-8)
    np.testing.assert_array_equal(point, x - lowest + 1e-8)
    bound, point = proved_upper(program, x - lowest - 1e-8)
    assert (point > x - lowest - 1e-8).any()
    assert scipy.linalg.eigvalsh(np.diag(point) - dense(program))[0] > -1e-12
    assert bound <= (x - lowest).sum() * (1.0 + 1e-4)


class Remembering(RaisedFactor):
    """It keeps the raises of its last decomposition."""

    def eliminate(self, values: FloatArray, floors: FloatArray) -> FloatArray:
        self.raises = super().eliminate(values, floors)
        return self.raises


@pytest.mark.parametrize("kind", ["below", "wild"])
def test_a_point_is_moved_by_the_raises_of_its_pivots_at_least(kind: str) -> None:
    program = random_program(3, n=10)
    x = some_point(program, kind, np.random.default_rng(3))
    factor = Remembering(program.pattern)
    _, point = proved_upper_with(program, x, factor)
    raises = np.ldexp(factor.raises, program.exponent)
    assert raises.any()
    for shifted, before, raised in zip(point.tolist(), x.tolist(), raises.tolist(), strict=True):
        assert Fraction(shifted) - Fraction(before) >= Fraction(raised)


def test_lower_bounds_do_not_depend_on_the_lengths_of_rows() -> None:
    program, rng = random_program(4), np.random.default_rng(4)
    vectors = rng.standard_normal((program.order, 3))
    bound = proved_lower(program, vectors)
    cosines = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    value = float((dense(program) * (cosines @ cosines.T)).sum())
    assert value - 1e-12 * np.abs(dense(program)).sum() <= bound <= value
    assert proved_lower(program, np.ldexp(vectors, 900)) == bound
    lengths = 10.0 ** rng.uniform(-100, 100, program.order)
    assert proved_lower(program, lengths[:, None] * vectors) == pytest.approx(bound, rel=1e-12)


def test_arrays_that_are_no_vectors_prove_nothing() -> None:
    program = random_graph(0)
    good = np.ones((program.order, 2))
    zero, infinite = good.copy(), good.copy()
    zero[3], infinite[0, 0] = 0.0, np.inf
    for vectors in (zero, infinite, good[1:], good[:, 0], good[:, :0]):
        assert proved_lower(program, vectors) == -np.inf
    for x in (np.full(program.order, np.nan), np.ones(3)):
        assert proved_upper(program, x)[0] == np.inf


def test_data_that_were_rounded_widen_both_bounds() -> None:
    program, rng = random_graph(3), np.random.default_rng(3)
    rounded = replace(program, roundings=1)
    vectors, x = rng.standard_normal((12, 4)), program.diagonal + program.row_sizes + 0.5
    size, u = float(np.abs(dense(program)).sum()), 2.0**-53
    lost = proved_lower(program, vectors) - proved_lower(rounded, vectors)
    assert 4.9 * u * size <= lost <= 8.0 * u * size + 4 * u * abs(proved_lower(program, vectors))
    bound, point = proved_upper(rounded, x)
    assert (point == x).all()
    assert bound - proved_upper(program, x)[0] >= 0.9 * u * x.sum()


@pytest.mark.parametrize("name", ["torus-3x10", "torus-5x40", "torus-20x20"])
def test_an_elimination_that_overflows_proves_nothing(name: str) -> None:
    """F(diag C) has a zero diagonal and entries beside it: indefinite, and its pivots vanish."""
    edges = graph_of(name, 0).tocoo()
    upper = edges.coords[0] < edges.coords[1]
    rows, columns = (end[upper] for end in edges.coords)
    program = MaxCutProgram.of_graph(edges.shape[0], rows, columns, edges.data[upper])
    bound, point = proved_upper(program, program.diagonal)
    assert bound == np.inf or (point > program.diagonal).sum() >= program.order / 2
    # the optimum lies above the trace of C, the value of X = I, by far
    assert bound > 1.1 * program.diagonal.sum() + 1.0
