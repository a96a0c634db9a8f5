"""Exact optima against a simplex method in fractions, and by their own certificates."""

from __future__ import annotations

from fractions import Fraction

import pytest

from perceptron_lab.algorithms.linear.exact_optimum import ExactOptimum, minimised
from perceptron_lab.algorithms.linear.proofs import combination, contradiction
from perceptron_lab.core.results import Status
from perceptron_lab.systems.linear_system import LinearSystem
from tests.algorithms.linear.random_programs import Costs, is_bounded, random_program


def check(system: LinearSystem, costs: Costs, optimum: ExactOptimum) -> None:
    """Assert that the numbers of an optimum prove it, on the conditions as given."""
    if optimum.status is Status.INFEASIBLE:
        assert contradiction(system, optimum.weights) is not None
        return
    assert optimum.point is not None
    assert system.violation(optimum.point) == 0
    value = sum((cost * optimum.point[j] for j, cost in costs.items()), Fraction(0))
    assert value == optimum.upper
    if optimum.status is Status.UNBOUNDED:
        ray = optimum.ray
        assert ray is not None
        assert sum(cost * ray[j] for j, cost in costs.items()) < 0
        far = tuple(x + 10**30 * r for x, r in zip(optimum.point, ray, strict=True))
        assert system.violation(far) == 0
        return
    assert optimum.status is Status.FEASIBLE
    assert all(w > 0 or system.conditions[k].equation for k, w in optimum.weights.items())
    assert combination(system, optimum.weights) == (costs, value)
    assert optimum.lower == value


@pytest.mark.parametrize("block", range(10))
def test_small_programs_are_decided_as_by_a_simplex_method_in_fractions(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        given, costs = random_program(seed)
        optimum = minimised(given.system(), costs)
        check(given.system(), costs, optimum)
        assert (optimum.status is Status.INFEASIBLE) == (not given.has_a_point()), seed
        if optimum.status is not Status.INFEASIBLE:
            assert (optimum.status is Status.FEASIBLE) == is_bounded(given, costs), seed
