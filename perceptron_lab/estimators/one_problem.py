"""Separation of one class from the rest: a run of an algorithm, its best point and its proofs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.certificates.rounding import normalised
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.core.goals import Budget, Goal, MarginUpper
from perceptron_lab.core.results import FloatArray, Result, Status
from perceptron_lab.core.time_limit import time_is_up
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem

SoftPoint = Callable[[], FloatArray]  # Computes the point of a soft margin


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
    soft_norm
        The norm of the soft margin's point before it was divided by it; 0 for other points.
    """

    point: FloatArray
    margin: float
    lower: float
    upper: float
    result: Result
    soft_norm: float = 0.0

    @property
    def canonical(self) -> FloatArray:
        """The point times a factor such that f is +1 and -1 on the margins."""
        return self.point * (self.soft_norm or (1.0 / self.margin if self.margin > 0.0 else 1.0))


@dataclass
class LeastViolation:
    """The recorded iterate with the least violation sum_i c_i max(0, -a_i'y) / norm(y).

    On unit rows each term is the sine of an angle: how far the hyperplane would have to turn for
    that example; for the geometric margin, where only norm(w) counts, it is a distance. The number
    of errors is less informative: it is as low for a function that assigns all examples to the
    larger class.
    """

    system: ConicSystem
    counts: FloatArray | None = None  # c_i, or None for ones
    points: list[FloatArray] = field(default_factory=list)

    def __call__(self, compact: FloatArray) -> dict[str, float]:
        """Keep a point; no measures are added to the trace."""
        self.points.append(compact.copy())
        return {}

    def violation(self, compact: FloatArray) -> float:
        """Return the violation of a point, or infinity where that cannot be computed."""
        point = self.system.operator.expand(compact)
        length = length_of(self.system, point)
        if not (length > 0.0 and math.isfinite(length)):
            return math.inf
        violations = np.maximum(-self.system.operator.scores(point), 0.0)
        total = violations.sum() if self.counts is None else self.counts @ violations
        return float(total) / length if math.isfinite(total) else math.inf

    def best(self) -> FloatArray:
        """Return the last point of least violation."""
        return min(reversed(self.points), key=self.violation)


def separate(
    system: ConicSystem,
    algorithm: AnyAlgorithm,
    oracle: str | None,
    *,
    goal: Goal,
    budget: Budget,
    seed: int,
    counts: FloatArray | None = None,
    start: FloatArray | None = None,
    soft: SoftPoint | None = None,
) -> SeparatingFunction:
    """Run an algorithm on the system of one class against the rest.

    Parameters
    ----------
    system, algorithm, oracle, goal, budget, seed
        As for :func:`~perceptron_lab.solving.entry.solve`.
    counts
        Weights of the violations of the rows, for the least sum; None for ones.
    start
        A point that may separate already. If not, the run starts there if the algorithm allows it.
    soft
        Computes the point that replaces the iterates if none separates.
    """
    if start is not None and isinstance(goal, MarginUpper):
        result = solve(system, Perceptron(), budget=Budget(updates=0), start=start)
        if result.status is Status.FEASIBLE:
            return _with_proved_point(system, result.point, replace(result, goal_reached=True))
    best = LeastViolation(system, counts)
    result = solve(
        system,
        algorithm,
        oracle=oracle,
        goal=goal,
        budget=budget,
        seed=seed,
        start=start if algorithm.takes_start else None,
        observe=best if soft is None else None,
    )
    if result.status is Status.FEASIBLE:
        return _with_proved_point(system, result.point, result)
    result = _with_infeasibility_proof(system, result)
    if soft is not None and not time_is_up():
        point = soft()
        norm = length_of(system, system.operator.expand(point))
        return replace(_with_proved_point(system, point, result), soft_norm=norm)
    best(result.point)
    return _with_proved_point(system, best.best(), result)


def length_of(system: ConicSystem, point: FloatArray) -> float:
    """Return the norm by which margins are measured: norm(w) for the geometric margin."""
    if not isinstance(system.operator, Classes):
        return system.norm(point)
    # Scaled by a power of two first: the squares of extreme entries would over- or underflow.
    scaled = normalised(point[:-1])
    if scaled is None:
        return system.operator.length(point)
    power = float(np.abs(point[:-1]).max()) / float(np.abs(scaled).max())
    return float(np.linalg.norm(scaled)) * power


def _with_infeasibility_proof(system: ConicSystem, result: Result) -> Result:
    """Return the result as INFEASIBLE if its weights prove it, which the goal does not test."""
    origin = system if system.origin is None else system.origin
    if result.status is Status.INFEASIBLE or result.weights is None or time_is_up():
        return result
    # The goal of a margin bound ends at the first good weights; exact ones with A w = 0 may exist
    # near them.
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


def _with_proved_point(
    system: ConicSystem, compact: FloatArray, result: Result
) -> SeparatingFunction:
    """Return the point with norm 1 and its proof, or the unscaled one if only that is proved."""
    point = system.operator.expand(compact)
    length = length_of(system, point)
    unit = compact / length if length > 0.0 else compact
    proof = system.prove_point(system.operator.expand(unit))
    if result.status is Status.FEASIBLE and not proof.feasible:
        unit = compact
    lower = -math.inf if result.margin_lower is None else result.margin_lower
    upper = math.inf if result.margin_upper is None else result.margin_upper
    margin, lower = system.margin(system.operator.expand(unit)), max(lower, proof.margin_lower)
    if proof.feasible:  # the computed margin lies in the bracket up to rounding
        margin = min(max(margin, lower), upper)
    return SeparatingFunction(unit, margin, lower, upper, result)
