"""Claims of matrix blocks, some of which are too large to be written as whole matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perceptron_lab import Budget, solve
from perceptron_lab.cones import semidefinite
from perceptron_lab.core.results import Result
from perceptron_lab.experiments.verification.claims import Claims
from perceptron_lab.experiments.verification.reproof import prove_claims
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData, homogenised

ORDERS = [70, 65]


@pytest.fixture(autouse=True)
def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semidefinite, "LARGEST_WHOLE", 66)


def chains() -> ConicSystem:
    """x_k I - F_k, F_k with ones beside the diagonal: a block that is too large, and one not."""
    rows = []
    for block, order in enumerate(ORDERS):
        rows += [[block + 1, block, i, i] for i in range(order)]
        rows += [[0, block, i, i + 1] for i in range(order - 1)]
    ones = np.ones(len(rows))
    return homogenised(SdpaData.from_entries(np.ones(2), ORDERS, np.array(rows), ones))


def claims_of(result: Result) -> Claims:
    bracket = result.margin_lower, result.margin_upper
    return Claims(result.status, result.proved, *bracket, goal="decide", goal_reached=True)


@pytest.mark.parametrize("algorithm", ["von-neumann", "perceptron"])
def test_weights_are_proved_on_the_blocks_that_the_algorithm_had(algorithm: str) -> None:
    system = chains()
    result = solve(system, algorithm, budget=Budget(updates=2000))
    assert result.goal_reached
    assert result.margin_upper is not None
    assert result.weights is not None
    full = result.weights.shape == (1 + 70 + 69 + 65 * 66 // 2,)
    assert full == (algorithm == "von-neumann")
    finding = prove_claims(claims_of(result), system, result.point, result.weights)
    assert finding.faults == ()
    assert finding.margin_upper == result.margin_upper


def test_weights_of_another_shape_are_a_fault_and_no_question_for_whole_matrices() -> None:
    system = chains()
    result = solve(system, "perceptron", budget=Budget(updates=2000))
    assert result.weights is not None
    refuted = prove_claims(claims_of(result), system, result.point, result.weights[1:])
    assert len(refuted.faults) == 1
    assert refuted.faults[0].startswith(f"weights of shape ({len(result.weights) - 1},) in a cone")


@pytest.mark.parametrize(
    ("margin", "missed", "proved"),
    [(1e-12, 1e-16, True), (1e-12, 2e-15, False), (0.1, 1e-16, True), (0.1, 1.1e-10, False)],
)
def test_a_margin_may_be_missed_by_the_rounding_of_another_machine(
    margin: float, missed: float, proved: bool
) -> None:
    """But a tiny one not by more than a thousandth of itself, a large one not by a billionth."""
    system = ConicSystem.from_rows(np.array([[1.0, margin], [-1.0, margin]]))
    result = solve(system, "auto")
    assert result.margin_lower == pytest.approx(margin, rel=1e-2)
    claims = replace(claims_of(result), margin_lower=result.margin_lower + missed)
    finding = prove_claims(claims, system, result.point, result.weights)
    assert finding.margin_lower == result.margin_lower
    assert (finding.faults == ()) == proved
