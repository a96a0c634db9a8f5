"""What a row claims, proved again on the original data from a point, weights or a learner's arrays.

Nothing here knows how the answer was found: the proofs are those of
:mod:`perceptron_lab.certificates`, and for separations by ellipsoids those of
:mod:`perceptron_lab.ellipsoids.hard.separation_proof`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from perceptron_lab.datasets.problem import Problem
from perceptron_lab.goal_proofs import Proved
from perceptron_lab.goals import Goal, MarginUpper
from perceptron_lab.learners.learning import prove
from perceptron_lab.outward import text_above, text_below
from perceptron_lab.results import PROVED, FloatArray, Status
from perceptron_lab.system import ConicSystem

_PROVED_OF_SYSTEMS = PROVED - {Status.UNBOUNDED}
"""What an algorithm's row may state about the data."""

TOLERANCE = 1e-9
"""By this part of itself a bound may be missed: machines add up numbers in different orders."""


@dataclass(frozen=True)
class Claims:
    """What a row says is proved.

    Parameters
    ----------
    status, proved, margin_lower, margin_upper, goal, goal_reached
        Its columns; the goal is None for learners, and whether it is reached also in what was
        written before that was kept.
    margin_above, margin_below
        The bound that the algorithm itself was asked for, which makes it MARGIN_BOUNDED.
    spent
        Whether the budget was spent, where that is known.
    figures
        Numbers by name: what a learner reports, its bounds ``*_lower`` and ``*_upper`` among them,
        or the measures of an algorithm's answer.
    """

    status: Status
    proved: bool
    margin_lower: float | None = None
    margin_upper: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    goal: Goal | None = None
    goal_reached: bool | None = None
    margin_above: float | None = None
    margin_below: float | None = None
    spent: bool | None = None

    @property
    def nothing(self) -> bool:
        """Whether nothing is claimed: neither a status that states something, nor a bracket."""
        bracket = (self.margin_lower, self.margin_upper)
        return not self.proved and self.status not in PROVED and bracket == (None, None)


@dataclass(frozen=True)
class Finding:
    """What a proof has come to.

    Parameters
    ----------
    faults
        What is claimed and not proved, one sentence each; empty if all of it is.
    margin_lower, margin_upper
        The bracket that is proved now; None where there is none.
    unchecked
        Names of the figures that were neither proved nor computed again.
    """

    faults: tuple[str, ...]
    margin_lower: float | None = None
    margin_upper: float | None = None
    unchecked: tuple[str, ...] = ()


def prove_claims(
    claims: Claims, system: ConicSystem, point: FloatArray, weights: FloatArray | None
) -> Finding:
    """Prove what an algorithm's row claims.

    Parameters
    ----------
    claims
        FEASIBLE: the point is strictly feasible. INFEASIBLE: the weights prove it. With any
        status: the bracket of the margin, and whether it reaches the goal.
    system
        The problem's.
    point
        On the data as given, shape ``(unknowns,)``.
    weights
        On the data as given, flat; or None.
    """
    faults = _contradictions(claims, _PROVED_OF_SYSTEMS, claims.margin_lower, claims.margin_upper)
    lower, upper = None, None
    if claims.status is Status.FEASIBLE or claims.margin_lower is not None:
        lower = _lower(claims, system, point, faults)
    if claims.status is Status.INFEASIBLE or claims.margin_upper is not None:
        upper = _upper(claims, system, weights, faults)
    faults += _unreached_goal(claims)
    if claims.status is Status.MARGIN_BOUNDED and not _bounded(claims):
        faults.append("the margin is called bounded, and no bound that was asked for is proved")
    unchecked = ("goal_reached",) if claims.goal == "budget" and claims.spent is None else ()
    return Finding(tuple(faults), lower, upper, unchecked)


def _unreached_goal(claims: Claims) -> Iterator[str]:
    """Yield what is wrong with the goal, given the bracket, which is proved apart from it."""
    goal, known = claims.goal, claims.goal != "budget" or claims.spent is not None
    if goal is None or claims.goal_reached is None or not known:
        return
    proved = Proved(
        claims.status,
        claims.margin_lower,
        claims.margin_upper,
        relaxed=_relaxed(claims),
        spent=bool(claims.spent),
    )
    if claims.goal_reached and not proved.reaches(goal):
        yield f"the goal {goal} is called reached; {proved.missed(goal)}"
    if not claims.goal_reached and proved.reaches(goal):
        yield f"the goal {goal} is called missed, and it is reached"


def _relaxed(claims: Claims) -> bool:
    """Return whether the lower bound is the one that a relaxed answer has to have."""
    lower, asked = claims.margin_lower, claims.margin_above
    return lower is not None and asked is not None and lower >= asked


def _bounded(claims: Claims) -> bool:
    """Return whether the goal's bound, or the algorithm's own, is among what is claimed.

    What was written before goals were kept does not say what the algorithm was asked for: any
    bound will do, unless the goal is one.
    """
    lower, upper, asked = claims.margin_lower, claims.margin_upper, claims.margin_below
    if isinstance(claims.goal, MarginUpper):
        if upper is not None and upper <= claims.goal.margin_upper:
            return True
    elif claims.goal_reached is None:
        return (lower, upper) != (None, None)
    return _relaxed(claims) or (upper is not None and asked is not None and upper <= asked)


def prove_learnt(
    claims: Claims, problem: Problem, learner: Any, seed: int, proof: Mapping[str, FloatArray]
) -> Finding:
    """Prove what a learner's row claims of its training examples.

    Parameters
    ----------
    claims
        The status, and the figures that are bounds.
    problem
        Its tasks are what is learnt; features are extracted from them anew.
    learner, seed
        The learner's record, and the seed of the cell.
    proof
        The arrays that prove it.
    """
    bounds = {name: value for name, value in claims.figures.items() if name.endswith(_BOUNDS)}
    faults = _contradictions(claims, PROVED, *bounds.values())
    for name in ("margin_lower", "margin_upper"):
        if getattr(claims, name) is not None:
            faults.append(f"{name} is claimed, and a learner proves no margin")
    if claims.goal_reached is not None:
        faults.append("a goal is claimed, and a learner has none")
    unchecked = tuple(sorted(claims.figures.keys() - bounds.keys()))
    found = prove(learner, problem.tasks, seed, proof)
    if found is None:
        faults.append(f"a learner {type(learner).__name__} proves nothing")
        return Finding(tuple(faults), unchecked=unchecked)
    implied = {found.status, *([Status.MARGIN_BOUNDED] if found.status in _NONE else [])}
    if claims.status not in implied:
        faults.append(f"{claims.status} is claimed, {found.status} is proved ({found.message})")
    faults += _unreached(bounds, found.bounds)
    return Finding(tuple(faults), unchecked=unchecked)


def measured_again(claims: Claims, problem: Problem, point: FloatArray) -> list[str]:
    """Return which measures of an algorithm's answer are not those of its point.

    Parameters
    ----------
    claims
        The figures are the measures.
    problem
        It says how a point is measured.
    point
        The answer, on the data as given.
    """
    if not claims.figures:
        return []
    found = problem.measure(point) if problem.measure else {}
    faults = []
    for name, claimed in claims.figures.items():
        value = found.get(name)
        if value is None:
            faults.append(f"{name} {claimed:.10g} is stored, and nothing measures it")
        elif not np.allclose(value, claimed, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            faults.append(f"{name} {claimed:.10g} is stored, {float(value):.10g} is measured")
    return faults


_BOUNDS = ("_lower", "_upper")
"""The endings of a learner's figures that are bounds."""


def _unreached(claimed: Mapping[str, float], proved: Mapping[str, float]) -> Iterator[str]:
    """Yield the bounds of a learner that are not proved."""
    for name, value in claimed.items():
        if name not in proved:
            yield f"{name} {value:.10g} is claimed, and nothing proves such a bound"
        elif not _reaches(name, proved[name], value, 1.0 + abs(value)):
            yield f"{name} {value:.10g} is claimed, {proved[name]:.10g} is proved"


_NONE = (Status.INFEASIBLE,)
"""t = 0 is proved, and with it every positive bound of t."""


def _contradictions(claims: Claims, proved: frozenset[Status], *bounds: float | None) -> list[str]:
    """Return what no proof could mend."""
    said = "called proved" if claims.proved else "not called proved"
    wrong = [] if claims.proved == (claims.status in proved) else [f"{claims.status} is {said}"]
    if any(bound is not None and not math.isfinite(bound) for bound in bounds):
        wrong.append("a bound is not a finite number")
    return wrong


def _lower(
    claims: Claims, system: ConicSystem, point: FloatArray, faults: list[str]
) -> float | None:
    """Return the margin that is proved of the point; add to the faults."""
    unknowns = system.operator.unknowns
    if point.shape != (unknowns,):
        faults.append(f"a point of shape {point.shape} in a problem of {unknowns} unknowns")
        return None
    proof = _original(system).prove_point(point)
    lower = proof.margin_lower if np.isfinite(proof.margin_lower) else None
    if claims.status is Status.FEASIBLE and not proof.feasible:
        faults.append("the point is not proved strictly feasible")
    claimed = claims.margin_lower
    if claimed is not None and not _reaches("_lower", proof.margin_lower, claimed, abs(claimed)):
        shown = text_below(proof.margin_lower, 10)
        faults.append(f"a margin >= {claimed:.10g} is claimed, {shown} is proved")
    return lower


def _upper(
    claims: Claims, system: ConicSystem, weights: FloatArray | None, faults: list[str]
) -> float | None:
    """Return the upper bound of the margin that the weights prove; add to the faults."""
    if weights is None:
        faults.append("weights that prove a bound are claimed, and there are none")
        return None
    original = _original(system)
    if weights.shape != (original.cone.size,):
        # Some algorithms need whole matrices, unless they are too large; and so their weights.
        original = original.completed(required=False)
    if weights.shape != (original.cone.size,):
        faults.append(f"weights of shape {weights.shape} in a cone of size {original.cone.size}")
        return None
    upper = original.prove_weights(weights)
    if claims.status is Status.INFEASIBLE and upper != 0.0:
        if original.prove_infeasible(weights) is None:
            faults.append("the weights do not prove that no point is strictly feasible")
        else:
            upper = 0.0
    claimed = claims.margin_upper
    if claimed is not None and not _reaches("_upper", upper, claimed, abs(claimed)):
        shown = "nothing" if upper is None else text_above(upper, 10)
        faults.append(f"a margin <= {claimed:.10g} is claimed, {shown} is proved")
    return upper


def _original(system: ConicSystem) -> ConicSystem:
    """Return the system on the data as given, in whose coordinates answers are kept."""
    return system if system.origin is None else system.origin


def _reaches(name: str, found: float | None, claimed: float, size: float) -> bool:
    """Return whether a bound is as good as the one claimed, but for the tolerance."""
    if found is None or math.isnan(found):
        return False
    if name.endswith("_lower"):
        return found >= claimed - TOLERANCE * size
    return found <= claimed + TOLERANCE * size
