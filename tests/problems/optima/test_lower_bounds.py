"""Lower bounds: exact feasibility of what is behind them, and nothing from anything less."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.optima.cutting_planes import Cuts, central_dual, relaxed_dual
from perceptron_lab.problems.optima.lower_bounds import DualProblem, corrected_in_metric
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import homogenised
from tests.problems.optima.small_programs import dense_program, judged, maxcut, rational
from tests.repetitions import repeated

SEEDS = range(12)


def programs(seed: int) -> list[ConicSystem]:
    return [maxcut(seed, "random-8-12"), homogenised(dense_program(seed))]


def random_cuts(dual: DualProblem, seed: int, count: int = 40) -> dict[int, FloatArray]:
    rng = np.random.default_rng(seed)
    return {
        block: rng.standard_normal((count, part.rank))
        for block, (part, _) in enumerate(dual.blocks)
        if isinstance(part, Semidefinite)
    }


def inside(cuts: Cuts) -> tuple[FloatArray, float] | None:
    central = central_dual(cuts)
    return None if central is None else cuts.dual.interior(central)


def fraction(value: flint.fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def rationally(dual: DualProblem, weights: FloatArray) -> tuple[list[Fraction], Fraction]:
    """The feasible point that the bound of some weights speaks of, and its objective, exactly."""
    dense = dual.rows.toarray()
    columns = [rational(column) for column in dense.T]
    double = rational(dual.multiplicity)
    exact_weights, c = rational(weights), rational(dual.objective)

    def inner(left: list[Fraction], right: list[Fraction], scale: list[Fraction]) -> Fraction:
        return sum((a * b * s for a, b, s in zip(left, right, scale, strict=True)), Fraction(0))

    ones = [Fraction(1)] * len(exact_weights)
    gram = flint.fmpq_mat(
        [
            [flint.fmpq(v.numerator, v.denominator) for v in row]
            for row in [[inner(f, g, double) for g in columns] for f in columns]
        ]
    )
    short = [want - inner(exact_weights, f, ones) for want, f in zip(c, columns, strict=True)]
    right = flint.fmpq_mat([[flint.fmpq(v.numerator, v.denominator)] for v in short])
    z = [fraction(gram.solve(right)[i, 0]) for i in range(len(columns))]
    exact = [
        w + s * sum((zk * f[p] for zk, f in zip(z, columns, strict=True)), Fraction(0))
        for p, (w, s) in enumerate(zip(exact_weights, double, strict=True))
    ]
    assert [inner(exact, f, ones) for f in columns] == c
    return exact, inner(exact, rational(dual.constant), ones)


def definite(rows: list[list[Fraction]]) -> bool:
    """Whether a rational symmetric matrix is positive semidefinite, by elimination."""
    rest = [row[:] for row in rows]
    while rest:
        pivot, column = rest[0][0], rest[0][1:]
        if pivot < 0 or (pivot == 0 and any(column)):
            return False
        below = [row[1:] for row in rest[1:]]
        if pivot:
            below = [
                [a - left * top / pivot for a, top in zip(row, column, strict=True)]
                for row, left in zip(below, column, strict=True)
            ]
        rest = below
    return True


def semidefinite_blocks(dual: DualProblem, exact: list[Fraction]) -> bool:
    for part, span in dual.blocks:
        block = exact[span]
        if not isinstance(part, Semidefinite):
            if min(block) < 0:
                return False
            continue
        matrix = [[Fraction(0)] * part.rank for _ in range(part.rank)]
        for i, j, w in zip(part.rows.tolist(), part.columns.tolist(), block, strict=True):
            matrix[i][j] = matrix[j][i] = w if i == j else w / 2
        if not definite(matrix):
            return False
    return True


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_repaired_weights_stand_for_an_exactly_feasible_point(seed: int) -> None:
    for system in programs(seed):
        dual = DualProblem.of(system)
        cuts = Cuts.of(dual, random_cuts(dual, seed))
        weights, inner = relaxed_dual(cuts), inside(cuts)
        assert weights is not None
        repaired_and_bound = dual.repaired(weights, inner)
        assert repaired_and_bound is not None
        repaired, bound = repaired_and_bound
        exact, objective = rationally(dual, repaired)
        assert semidefinite_blocks(dual, exact)
        assert bound <= objective
        assert bound >= objective - Fraction(1e-6) * (1 + abs(objective))
        assert bound <= judged(system) + 1e-6


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_more_cuts_give_better_bounds_and_central_weights_are_inside(seed: int) -> None:
    for system in programs(seed):
        dual = DualProblem.of(system)
        few, many = (Cuts.of(dual, random_cuts(dual, seed, count)) for count in (20, 500))
        inner = inside(many)
        assert inner is not None
        assert inner[1] > 0.0
        weights = [relaxed_dual(few), relaxed_dual(many)]
        bounds = [None if w is None else dual.repaired(w, inner) for w in weights]
        assert bounds[1] is not None
        assert bounds[0] is None or bounds[0][1] <= bounds[1][1] + 1e-6


def test_weights_that_miss_the_equations_or_the_cone_prove_nothing() -> None:
    dual = DualProblem.of(maxcut(1))
    assert dual.inner is not None
    good, _ = dual.inner
    assert dual.prove(good) is not None
    assert dual.prove(good * (1.0 + 1e-6)) is None or dual.lowest(good) > 1e-7
    outside = good.copy()
    part, _ = dual.blocks[0]
    outside[part.identity == 0.0] = 5.0  # an indefinite matrix with the right diagonal
    assert dual.prove(outside) is None
    assert dual.prove(good[:-1]) is None
    assert dual.prove(np.full(dual.size, np.nan)) is None
    assert dual.repaired(np.zeros(dual.size)) is None


def test_a_bound_allows_for_equations_that_are_missed() -> None:
    """Weights off by a little prove a bound that is lower by no less than what they gain."""
    dual = DualProblem.of(maxcut(2))
    assert dual.inner is not None
    good, _ = dual.inner
    exact = dual.prove(good)
    assert exact is not None
    for factor in (1.0 + 1e-9, 1.0 - 1e-9):
        off = dual.prove(good * factor)
        assert off is not None
        assert off < exact


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_a_correction_in_the_metric_of_a_point_keeps_its_small_eigenvalues(seed: int) -> None:
    """X has eigenvalues of 1e-12, and the equations are missed by 1e-9 relative to it."""
    system = homogenised(dense_program(seed))
    dual = DualProblem.of(system)
    rng = np.random.default_rng(seed)
    weights = np.zeros(dual.size)
    for part, span in dual.blocks:
        if not isinstance(part, Semidefinite):
            weights[span] = 10.0 ** -rng.integers(0, 13, span.stop - span.start)
            continue
        turn = np.linalg.qr(rng.standard_normal((part.rank, part.rank)))[0]
        root = turn * 10.0 ** (-6.0 * rng.integers(0, 2, part.rank))
        weights[span] = (root @ root.T)[part.rows, part.columns] * part.multiplicity
    # Its own right sides, but for a little: L (I + Z) L' for a small Z has them
    requested = np.concatenate([weights @ dual.rows * (1.0 + 1e-9 * rng.standard_normal())])
    assert system.objective is not None
    approximate = replace(system, objective=replace(system.objective, values=requested))
    corrected = corrected_in_metric(DualProblem.of(approximate), weights)
    assert corrected is not None
    np.testing.assert_allclose(corrected @ dual.rows, requested, rtol=1e-13, atol=1e-15)
    assert dual.lowest(corrected) >= 0.5 * dual.lowest(weights) - 1e-15
    assert corrected_in_metric(dual, -weights) is None


def test_systems_without_an_objective_are_refused() -> None:
    with pytest.raises(InputError, match="no objective"):
        DualProblem.of(ConicSystem.from_rows([[1.0, 0.0]]))


def test_dependent_matrices_have_no_lower_bounds() -> None:
    data = dense_program(3)
    doubled = np.isin(data.matrix, (1, 2))
    first = data.matrix == 1
    indices = np.column_stack([data.matrix, data.block, data.row, data.column])
    copies = indices[first].copy()
    copies[:, 0] = 2
    mask = ~doubled | first
    program = type(data).from_entries(
        data.objective,
        data.blocks,
        np.vstack([indices[mask], copies]),
        np.concatenate([data.value[mask], data.value[first]]),
    )
    dual = DualProblem.of(homogenised(program))
    assert dual.least <= 0.0
    assert dual.inner is None
    assert dual.repaired(np.ones(dual.size)) is None
