"""Errors of an answer to the program of the largest margin, and the solvers given it directly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.external.cone_program import Clarabel, Scs
from perceptron_lab.algorithms.external.direct import ClarabelDirect, ScsDirect
from perceptron_lab.algorithms.external.largest_margin import (
    ERRORS,
    SIZE,
    LargestMargin,
    MarginAnswer,
)
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.maxcut import Maxcut
from tests.families import feasible_of, infeasible_of

PAIRS = [
    (ClarabelDirect(), Clarabel()),
    (ScsDirect(tolerance=1e-7), Scs(tolerance=1e-7, finest=1e-7)),
]


def optimal() -> tuple[LargestMargin, MarginAnswer]:
    """Rows (2, 0), (0, 2): the margin 1 / sqrt 2 at y = (1, 1) / sqrt 2, once divided by 2."""
    program = LargestMargin(ConicSystem(Matrix(np.diag([2.0, 2.0])), Orthant(2)))
    half = np.sqrt(0.5)
    point, weights = np.array([half, half]), np.array([0.5, 0.5])
    exact = MarginAnswer(
        point,
        half,
        slack=np.zeros(2),
        ball=np.append(point, 1.0),
        weights=weights,
        pull=np.append(-weights, half),
    )
    return program, exact


def test_an_optimal_answer_has_no_error() -> None:
    program, exact = optimal()
    figures = program.figures(exact)
    assert [figures[name] for name in ERRORS] == pytest.approx([0.0] * 6, abs=1e-15)


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"weights": np.array([0.5, 0.7])}, {1: np.hypot(0.2, 0.2) / 2}),
        ({"pull": np.array([-0.5, -0.5, 0.5])}, {2: (np.sqrt(0.5) - 0.5) / 2}),
        ({"slack": np.array([0.1, 0.0])}, {3: 0.05}),
        ({"ball": np.array([1.0, 1.0, 1.0])}, {4: (np.sqrt(2.0) - 1.0) / 2}),
        ({"top": 0.0}, {5: np.sqrt(0.5) / (1.0 + np.sqrt(0.5))}),
        ({"slack": np.array([1.0, 0.0])}, {6: 0.5 / (1.0 + 2.0 * np.sqrt(0.5))}),
    ],
)
def test_each_error_measures_its_own_fault(
    changes: dict[str, Any], errors: dict[int, float]
) -> None:
    program, exact = optimal()
    figures = program.figures(replace(exact, **changes))
    for number, value in errors.items():
        assert figures[ERRORS[number - 1]] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("kind", ["rows", "second-order", "semidefinite", "product"])
@pytest.mark.parametrize(("direct", "modelled"), PAIRS, ids=["clarabel", "scs"])
def test_directly_and_through_cvxpy_they_find_the_same_margin(
    kind: str, direct: Any, modelled: Any
) -> None:
    system = feasible_of(kind, 3).system
    first, second = solve(system, direct), solve(system, modelled)
    assert first.status is second.status is Status.FEASIBLE
    assert first.margin_lower == pytest.approx(second.margin_lower, rel=1e-3)
    assert first.margin_upper == pytest.approx(second.margin_upper, rel=1e-3)
    for result in (first, second):
        figures = result.certificate["figures"]
        assert max(abs(figures[name]) for name in ERRORS) < 1e-4
        assert figures[SIZE] > 0.0
    assert direct.version in first.message


@pytest.mark.parametrize("kind", ["semidefinite", "product"])
@pytest.mark.parametrize("direct", [pair[0] for pair in PAIRS], ids=["clarabel", "scs"])
def test_weights_prove_that_nothing_is_feasible(kind: str, direct: Any) -> None:
    result = solve(infeasible_of(kind, 1).system, direct)
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.proved


def test_a_matrix_of_odd_order_is_handed_over_entry_by_entry() -> None:
    """Triangles by rows and by columns agree up to order 2 only."""
    problem = Maxcut(instances=["random-9-14"]).load("random-9-14", seed=0, base=Path())
    margins = [solve(problem.system, pair[0]).margin_upper for pair in PAIRS]
    assert margins[0] == pytest.approx(margins[1], rel=1e-4)
