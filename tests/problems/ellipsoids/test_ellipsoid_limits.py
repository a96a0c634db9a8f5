"""Ellipsoids that are ended early: brackets hold, and what is not affordable is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.estimators import EllipsoidSeparationClassifier
from perceptron_lab.problems.ellipsoids.hard import primal_dual
from perceptron_lab.problems.ellipsoids.hard.interior_point import solve_program
from perceptron_lab.problems.ellipsoids.hard.primal_dual import Iterate, Program
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from perceptron_lab.problems.ellipsoids.hard.solution import LimitReached, SolverLimits
from tests.stops import StopAt

FURTHER = 8


def shells(outside: float) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((60, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    return points[:30], outside * points[30:] * rng.uniform(1.0, 1.3, (30, 1))


@pytest.mark.parametrize("outside", [2.0, 0.5])
@pytest.mark.parametrize("solver", ["interior-point", "constraint-generation"])
def test_a_separation_ends_at_any_question_with_a_bracket(outside: float, solver: str) -> None:
    count, parts = StopAt(), shells(outside)
    with time_limit(math.inf, count):
        full = maximal_separation(*parts, solver=solver)
    incomplete = 0
    for questions in np.unique(np.linspace(1, count.asked, 12).astype(int)).tolist():
        stop = StopAt(questions)
        with time_limit(math.inf, stop):
            separation = maximal_separation(*parts, solver=solver)
        assert stop.asked <= questions + FURTHER
        assert separation.ratio_lower <= full.ratio_upper
        assert separation.ratio_upper >= full.ratio_lower
        incomplete += not separation.complete
    assert incomplete


def test_the_time_ends_an_iteration_between_two_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = shells(2.0)
    rows = np.vstack([inside, outside])
    program = Program(np.column_stack([rows, np.ones(60)]), np.repeat([1.0, -1.0], 30))
    start = Iterate.initial(program)
    monkeypatch.setattr(primal_dual, "PANEL", 8)
    assert solve_program(program, start, 1e-9, 0.0, SolverLimits(100))[1] > 0
    stop = StopAt(4)  # the first two questions are asked before the iteration
    with time_limit(math.inf, stop):
        assert solve_program(program, start, 1e-9, 0.0, SolverLimits(100)) == (start, 0)
    assert stop.asked == 4


@pytest.mark.parametrize("shape", [(1, 1), (128, 128), (300, 129), (700, 300)])
def test_panels_give_the_triangular_factor(shape: tuple[int, int]) -> None:
    columns = np.random.default_rng(0).standard_normal(shape)
    before = columns.copy()
    factor = primal_dual.triangular_factor(columns)
    expected = np.linalg.qr(columns, mode="r")
    np.testing.assert_array_equal(columns, before)
    np.testing.assert_array_equal(factor, np.triu(factor))
    np.testing.assert_allclose(factor, expected, atol=1e-13 * np.abs(expected).max())


def test_proofs_without_time_leave_the_bracket_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise TimeIsUp

    module = "perceptron_lab.problems.ellipsoids.hard.separation."
    for name in ("proved_lower_bound", "proved_upper_bound", "prove_inseparable"):
        monkeypatch.setattr(module + name, late)
    separation = maximal_separation(*shells(2.0))
    assert not separation.proved
    assert (separation.ratio_lower, separation.ratio_upper) == (0.0, math.inf)


def test_a_hull_that_exceeds_the_time_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise TimeIsUp

    monkeypatch.setattr("perceptron_lab.problems.ellipsoids.hard.separation_ratio.recession", late)
    with pytest.raises(NumericalError, match="raise max_seconds"):
        maximal_separation(*shells(2.0))


def test_a_central_path_without_time_returns_what_is_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    examples = np.vstack(shells(0.5))
    labels = np.repeat([1, 0], 30)
    model = EllipsoidSeparationClassifier(max_seconds=1000.0)

    module = "perceptron_lab.problems.ellipsoids.hard.central_path._Barrier.minimise"

    def ended(*_: object) -> None:
        raise LimitReached("the central path ends at nu = 300 by its limits")

    monkeypatch.setattr(module, ended)
    with pytest.warns(ConvergenceWarning, match="ends at nu"):
        model.fit(examples, labels)
    assert str(model.status_) == "INFEASIBLE"
    assert not model.converged_
    assert model.predict(examples).shape == (60,)
