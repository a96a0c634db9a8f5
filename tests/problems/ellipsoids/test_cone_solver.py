"""The cone solvers on badly scaled classes: large ratios, and attempts that give up."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import pytest

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import Status
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import SolverName, maximal_separation
from tests.problems.ellipsoids.two_class_sets import distant, overlapping, separable
from tests.repetitions import repeated

REFERENCES: list[SolverName] = [
    "clarabel",
    "cvxpy-clarabel",
    "cvxpy-scs",
    "constraint-generation",
]
SIZES = [(20, 30, 2), (60, 100, 3), (150, 350, 5)]


@pytest.mark.parametrize("factor", [10.0, 60.0, 300.0])
@pytest.mark.parametrize(("positives", "negatives", "dimension"), repeated(SIZES, kept=1))
def test_solvers_and_dual_agree_on_large_ratios(
    positives: int, negatives: int, dimension: int, factor: float
) -> None:
    classes = distant(dimension, positives, negatives, dimension, factor)
    separation = maximal_separation(*classes)
    assert 1e2 < separation.ratio < 1e6
    assert separation.ratio_upper - separation.ratio_lower <= 1e-8 * separation.ratio
    for solver in REFERENCES:
        other = maximal_separation(*classes, solver=solver, tolerance=1e-8)
        assert other.status is Status.FEASIBLE
        assert other.ratio == pytest.approx(separation.ratio, rel=1e-5)
        assert other.positive_weights.sum() - 1.0 == pytest.approx(separation.ratio, rel=1e-5)
        assert other.ratio_upper == pytest.approx(separation.ratio, rel=1e-5)
        assert other.ratio_lower == pytest.approx(separation.ratio, rel=1e-5)


@pytest.mark.parametrize("solver", ["auto", "clarabel", "constraint-generation"])
@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_far_strewn_negatives_take_other_coordinates(solver: SolverName, seed: int) -> None:
    positives, negatives = separable(seed, 14, 60, 10)
    factors = 10.0 ** np.random.default_rng(seed).uniform(1.0, 3.0, (60, 1))
    separation = maximal_separation(positives, 1.0 + factors * (negatives - 1.0), solver=solver)
    assert separation.status is Status.FEASIBLE
    assert separation.ratio > 1e3
    assert separation.ratio_upper - separation.ratio_lower <= 1e-8 * separation.ratio
    assert solver != "clarabel" or "Solved, rescaled: " in str(separation)


class Lazy:
    """Clarabel, stopped after some iterations at each of its first calls."""

    def __init__(self, iterations: int, calls: int) -> None:
        self.iterations, self.calls, self.settings = iterations, calls, clarabel.DefaultSettings

    def __call__(self) -> Any:
        settings = self.settings()
        if self.calls > 0:
            settings.max_iter = self.iterations
        self.calls -= 1
        return settings


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_failure_of_clarabel_is_fixed_by_other_coordinates(
    calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = separable(21, 20, 30, 2)
    expected = maximal_separation(*classes, solver="clarabel")
    monkeypatch.setattr(clarabel, "DefaultSettings", Lazy(4, calls))
    separation = maximal_separation(*classes, solver="clarabel")
    assert separation.ratio == pytest.approx(expected.ratio, rel=1e-9)
    assert separation.ratio_upper - separation.ratio_lower <= 1e-8 * separation.ratio
    assert "Clarabel: " + "MaxIterations, rescaled: " * calls in str(separation)


def test_clarabel_without_a_bracket_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = overlapping(0, 50, 80, 3)
    monkeypatch.setattr(clarabel, "DefaultSettings", Lazy(1, 100))
    with pytest.raises(NumericalError, match=r"ends with MaxIterations after 2 .* <= t <= "):
        maximal_separation(*classes, solver="clarabel")
    with pytest.raises(NumericalError, match="ends with MaxIterations after 1 "):
        maximal_separation(*classes, solver="clarabel", whiten=False)


def test_any_proved_bracket_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = separable(21, 20, 30, 2)
    exact = maximal_separation(*classes)
    monkeypatch.setattr(clarabel, "DefaultSettings", Lazy(5, 100))
    separation = maximal_separation(*classes, solver="clarabel")
    assert separation.status is Status.FEASIBLE
    assert not separation.complete
    assert separation.ratio_lower <= exact.ratio_upper
    assert exact.ratio_lower <= separation.ratio_upper < np.inf
    assert "MaxIterations" in str(separation)


def test_an_early_stop_is_an_answer_if_its_bracket_is_narrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    classes = separable(21, 20, 30, 2)
    monkeypatch.setattr(clarabel, "DefaultSettings", Lazy(7, 100))
    separation = maximal_separation(*classes, solver="clarabel", tolerance=1e-3)
    assert "MaxIterations" in str(separation)
    assert 0.0 < separation.ratio_upper - separation.ratio_lower <= 1e-2 * (1.0 + separation.ratio)
