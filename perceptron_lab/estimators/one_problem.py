"""Separate one class from the rest: a run of an algorithm, its best point and its proofs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.certificates.rounding import normalised
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.goals import Budget, Goal
from perceptron_lab.core.results import FloatArray, Result, Status
from perceptron_lab.core.time_limit import time_is_up
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem

LOOKED = 256  # Updates of the method that looks for a point where none separates


@dataclass(frozen=True)
class SeparatingFunction:
    """The function found for one class against the rest.

    Parameters
    ----------
    point
        (w, b), or the coefficients of a kernel's signed features; of norm 1 by :func:`length_of`,
        unless rounding would cost the proof, or nothing was found.
    margin
        Its margin, as computed.
    lower, upper
        The proved bracket of the largest margin.
    result
        The run, and what proves its status.
    """

    point: FloatArray
    margin: float
    lower: float
    upper: float
    result: Result


@dataclass
class LeastViolation:
    """The point seen with the least violation: sum_i max(0, -a_i'y) / norm(y).

    On unit rows each term is the sine of an angle: how far the hyperplane would have to turn for
    that example; of the geometric margin, where norm(w) counts alone, a distance. A count of the
    errors says less, and is as low for a function that gives all examples to the larger class.
    """

    system: ConicSystem
    least: float = math.inf
    point: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __call__(self, compact: FloatArray) -> dict[str, float]:
        """Look at a point, in the terms of the data; nothing is left for the trace."""
        point = self.system.operator.expand(compact)
        length = length_of(self.system, point)
        if length > 0.0 and math.isfinite(length):
            scores = self.system.operator.scores(point)
            violation = float(np.maximum(-scores, 0.0).sum()) / length
            if violation <= self.least:
                self.least, self.point = violation, compact.copy()
        return {}


def separate(
    system: ConicSystem,
    algorithm: AnyAlgorithm,
    oracle: str | None,
    *,
    goal: Goal,
    budget: Budget,
    seed: int,
    other: AnyAlgorithm | None = None,
) -> SeparatingFunction:
    """Run an algorithm on the system of one class against the rest.

    Parameters
    ----------
    system, algorithm, oracle, goal, budget, seed
        As for :func:`~perceptron_lab.solving.entry.solve`.
    other
        A method of which the first points are looked at as well where the algorithm finds none that
        separates; None for none.
    """
    best = LeastViolation(system)
    result = solve(
        system, algorithm, oracle=oracle, goal=goal, budget=budget, seed=seed, observe=best
    )
    compact = result.point
    if result.status is not Status.FEASIBLE:
        result = _decided(system, result)
        best(compact)
        if other is not None and not time_is_up():
            _look(system, other, best, min(budget.updates, LOOKED))
        compact = best.point if len(best.point) else compact
    return _proved(system, compact, result)


def _look(system: ConicSystem, other: AnyAlgorithm, best: LeastViolation, most: int) -> None:
    """Look at the points of a method after 1, 2, 4, .. updates; nothing is proved of them."""
    rng = np.random.default_rng(0)
    view = other.view(system).started({}, rng)
    try:
        state, before = other.start(view, rng), -1
        while before < state.updates < most and not time_is_up():
            best(view.operator.compact(state.point))
            before = state.updates
            state, _ = advance(other, view, state, min(max(1, before), most - before))
        best(view.operator.compact(state.point))
    except NumericalError:
        return  # its numbers have left their range: those seen are good enough


def length_of(system: ConicSystem, point: FloatArray) -> float:
    """Return the norm by which margins are measured: norm(w) of the geometric one."""
    if not isinstance(system.operator, Classes):
        return system.norm(point)
    scaled = normalised(point[:-1])
    if scaled is None:
        return system.operator.length(point)
    power = float(np.abs(point[:-1]).max()) / float(np.abs(scaled).max())
    return float(np.linalg.norm(scaled)) * power


def _decided(system: ConicSystem, result: Result) -> Result:
    """Return the result as INFEASIBLE if its weights prove that: a bound alone does not ask it."""
    origin = system if system.origin is None else system.origin
    if result.status is Status.INFEASIBLE or result.weights is None or time_is_up():
        return result
    proof = origin.prove_infeasible(result.weights)
    if proof is None:
        return result
    return replace(
        result,
        status=Status.INFEASIBLE,
        proved=True,
        weights=proof.weights,
        margin_upper=0.0,
        certificate=result.certificate
        | {"infeasibility_ratio": proof.ratio, "infeasibility_method": proof.method},
        goal_reached=True,
        message="exact weights with A w = 0 are proved to exist near these",
    )


def _proved(system: ConicSystem, compact: FloatArray, result: Result) -> SeparatingFunction:
    """Return the point with norm 1, itself proved; the run's own if only that can be."""
    point = system.operator.expand(compact)
    length = length_of(system, point)
    unit = compact / length if length > 0.0 else compact
    proof = system.prove_point(system.operator.expand(unit))
    if result.status is Status.FEASIBLE and not proof.feasible:
        unit = compact
    lower = -math.inf if result.margin_lower is None else result.margin_lower
    upper = math.inf if result.margin_upper is None else result.margin_upper
    margin, lower = system.margin(system.operator.expand(unit)), max(lower, proof.margin_lower)
    if proof.feasible:  # computed, and of rounded numbers: up to that it is in the bracket
        margin = min(max(margin, lower), upper)
    return SeparatingFunction(unit, margin, lower, upper, result)
