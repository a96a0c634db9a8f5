"""Sweeps are those of their definition, and without momentum none lowers the objective."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.maxcut import ascend, sweep
from perceptron_lab.problems.optima.maxcut.low_rank import Ascent
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from tests.problems.optima.maxcut.small_graphs import DEGENERATE, dense, random_program


def plain_sweep(
    matrix: FloatArray, vectors: FloatArray, before: FloatArray, momentum: float
) -> tuple[FloatArray, float]:
    """The definition, in numpy."""
    new = vectors + momentum * (vectors - before)
    turn = 0.0
    for i in range(len(new)):
        gradient = matrix[i] @ new - matrix[i, i] * new[i]
        if gradient.any():
            row = gradient / np.linalg.norm(gradient)
            turn += float((new[i] - row) @ (row - vectors[i]))
            new[i] = row
    return new, turn


def arrays(program: MaxCutProgram) -> tuple[object, object, object]:
    full = program.weights
    return full.indptr.astype(np.int64), full.indices.astype(np.int64), full.data


@pytest.mark.parametrize("momentum", [0.0, 0.7])
@pytest.mark.parametrize("n", [3, 12, 30])
def test_a_sweep_is_that_of_its_definition(n: int, momentum: float) -> None:
    program = random_program(n, n=n)  # rows of no, few and more than four neighbours
    rng = np.random.default_rng(n)
    pair = [rng.standard_normal((n, 5)) for _ in range(2)]
    vectors, before = (factor / np.linalg.norm(factor, axis=1)[:, None] for factor in pair)
    expected, turned = plain_sweep(dense(program), vectors, before, momentum)
    turn = ascend(*arrays(program), vectors, before, momentum)  # type: ignore[arg-type]
    np.testing.assert_allclose(before, expected, rtol=1e-11, atol=1e-12)
    assert turn == pytest.approx(turned, abs=1e-10)


def test_without_momentum_no_sweep_lowers_the_objective() -> None:
    program = random_program(5, n=25)
    matrix = dense(program)
    ascent = Ascent(program, 6, np.random.default_rng(1))
    values = []
    for _ in range(30):
        ascend(*arrays(program), ascent.vectors, ascent._previous, 0.0)  # type: ignore[arg-type]
        ascent.vectors, ascent._previous = ascent._previous, ascent.vectors
        values.append(float((matrix * (ascent.vectors @ ascent.vectors.T)).sum()))
    assert min(np.diff(values)) >= -1e-12 * abs(values[-1])
    assert values[-1] > values[0]


def test_momentum_grows_from_its_restart_at_a_turn() -> None:
    program = random_program(6, n=20)
    first, second = (Ascent(program, 5, np.random.default_rng(0)) for _ in range(2))
    first.run(200)
    for _ in range(200):
        second.run(1)
    np.testing.assert_array_equal(first.vectors, second.vectors)
    assert first.sweeps == 200
    # past the maximum a step turns back; on the way to it none does
    for early, late, turns in ((8, 300, True), (3, 4, False)):
        before, vectors = (Ascent(program, 5, np.random.default_rng(0)) for _ in range(2))
        before.run(early)
        vectors.run(late)
        pair = vectors.vectors, before.vectors
        assert (plain_sweep(dense(program), *pair, 50.0 / 55.0)[1] > 0.0) is turns
        data = arrays(program)
        since, swapped = sweep(*data, *pair, 1, 50, 5.0)  # type: ignore[arg-type]
        assert (since, swapped) == (0 if turns else 51, 1)


@pytest.mark.parametrize("name", list(DEGENERATE))
def test_rows_stay_of_length_one(name: str) -> None:
    ascent = Ascent(DEGENERATE[name], 4, np.random.default_rng(2))
    ascent.run(25)
    ascent.widen()
    ascent.run(25)
    lengths = np.linalg.norm(ascent.vectors, axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-12)
    assert ascent.vectors.shape[1] == 8
