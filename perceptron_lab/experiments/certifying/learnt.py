"""Exact claims of learners: of verdicts, separating ellipsoids, and perceptrons on streams."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.problem import Problem, Task
from perceptron_lab.estimators.learners.learning import Learner
from perceptron_lab.estimators.learners.registered.ellipsoid_separation import EllipsoidSeparation
from perceptron_lab.estimators.learners.registered.online_perceptrons import OnlineLearner
from perceptron_lab.estimators.learners.registered.separation_verdict import ProvedSeparation
from perceptron_lab.exact.ellipsoid_ratio import (
    Vectors,
    ratio_at_least,
    ratio_unbounded,
    ratio_zero,
    ratios_at_most,
)
from perceptron_lab.exact.readings import Reading, of_squares, of_system
from perceptron_lab.exact.whole_numbers import CheckedSystem, Claim, exactly
from perceptron_lab.experiments.certifying.claims import CertifiedAnswer, Exact, exact_claims
from perceptron_lab.experiments.certifying.verdicts import on_task
from perceptron_lab.experiments.verification.claims import Claims
from perceptron_lab.experiments.verification.reproof import TOLERANCE
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.problems.ellipsoids.hard.separation_proof import ELLIPSOID, WEIGHTS

# Products of entries of examples that are written down for a separation ratio at most
MOST_PRODUCTS = 10_000_000
# Bounds of a margin are those that doubles prove, weaker by this part of themselves
_WEAKER = 1e-12


def on_learner(
    learner: Learner, problem: Problem, claims: Claims, seed: int, proof: Mapping[str, FloatArray]
) -> tuple[Reading, Exact]:
    """Return how the data are read, and what is proved exactly of a learner's row.

    Raises
    ------
    DataError
        If there are several tasks, or nothing that the learner claims has an exact proof.
    """
    if len(problem.tasks) != 1:
        raise DataError("figures of several tasks are means, which have no exact certificate")
    task = problem.tasks[0]
    arrays = {name.removeprefix("0."): array for name, array in proof.items()}
    if isinstance(learner, ProvedSeparation):
        return on_task(task, arrays, affine=learner.affine)
    if isinstance(learner, EllipsoidSeparation):
        return _on_ellipsoid(learner.classes(task, seed), claims, arrays)
    if isinstance(learner, OnlineLearner):
        return _on_stream(learner, task, arrays)
    raise DataError(f"a learner {type(learner).__name__} proves nothing")


def _on_ellipsoid(
    classes: tuple[FloatArray, FloatArray], claims: Claims, arrays: Mapping[str, FloatArray]
) -> tuple[Reading, Exact]:
    """Return the exact sides of the bracket of t; a side without proof is told."""
    count, width = sum(map(len, classes)), classes[0].shape[1] + 1
    if count * width * (width + 1) // 2 > MOST_PRODUCTS:
        raise DataError(f"NOT CERTIFIED: {count} examples of {width - 1} features are too many")
    reading = of_squares(*classes)
    system = reading.system()
    bits = system.scale.bit_length() - 1
    inside, outside = (
        [[*exactly(row, bits), 2**bits] for row in np.asarray(part, dtype=float)]
        for part in classes
    )
    found = Exact()
    if claims.status is Status.UNBOUNDED:
        found.add("ratio", [ratio_unbounded(inside, outside)], system)
    else:
        _ratio_claims(found, claims, arrays, classes, (inside, outside), system)
    found.missing = {name: f"NOT CERTIFIED: {reason}" for name, reason in found.missing.items()}
    return reading, found


def _ratio_claims(
    found: Exact,
    claims: Claims,
    arrays: Mapping[str, FloatArray],
    classes: tuple[FloatArray, FloatArray],
    vectors: tuple[Vectors, Vectors],
    system: CheckedSystem,
) -> None:
    """Add the exact bounds of t, by vectors (x, 1) of both classes in whole numbers."""
    weights = arrays[WEIGHTS[0]], arrays[WEIGHTS[1]]
    lower, upper = (claims.figures.get(f"ratio_{side}") for side in ("lower", "upper"))
    if lower is not None and lower > 0.0:
        claim = None
        if set(ELLIPSOID) <= arrays.keys():
            ellipsoid = Ellipsoid(*(arrays[name] for name in ELLIPSOID))
            claim = ratio_at_least(*vectors, ellipsoid, lower)
        _tell_weaker(found, "ratio_lower", found.add("ratio_lower", [claim], system), lower)
    if claims.status is Status.INFEASIBLE:
        found.add("ratio_upper", [ratio_zero(*vectors, weights, classes)], system)
    elif upper is not None:
        claim = found.add("ratio_upper", ratios_at_most(*vectors, weights, upper), system)
        _tell_weaker(found, "ratio_upper", claim, upper)


def _tell_weaker(found: Exact, name: str, claim: Claim | None, claimed: float) -> None:
    """Say it where an exact bound is weaker than the one claimed, beyond the tolerance."""
    exact = Fraction(claimed) if claim is None else Fraction(*claim["bound"])
    if abs(exact - Fraction(claimed)) > Fraction(TOLERANCE) * (1 + abs(Fraction(claimed))):
        shown = f"{to_double(exact):.10g}"
        found.missing[name] = f"{claimed:.10g}; proved exactly is {shown}"


def _on_stream(
    learner: OnlineLearner, task: Task, arrays: Mapping[str, FloatArray]
) -> tuple[Reading, Exact]:
    """Return that the examples are separated, and the margin gamma of Theorem 1's R^2 / gamma^2."""
    system = learner.separating(task)
    reading = of_system(system)
    comparison = arrays.get("novikoff_comparison")
    if comparison is None:
        raise DataError("NOT CERTIFIED: no comparison of Theorem 1 is claimed")
    multipliers = arrays["novikoff_multipliers"]
    if isinstance(system.operator, Gram):  # f* = sum_j c_j K(x_j, .) has signed features
        comparison = system.operator.signs * comparison
    answer = CertifiedAnswer(system, reading, reading.system(), comparison, multipliers)
    lower = system.prove_point(comparison).margin_lower
    upper = system.prove_weights(multipliers)
    claims = Claims(
        Status.FEASIBLE,
        True,
        lower * (1.0 - _WEAKER) if math.isfinite(lower) else None,
        None if upper is None else upper * (1.0 + _WEAKER),
    )
    found = exact_claims(claims, answer)
    found.missing["hinge_bound"] = "sums of hinge losses have no exact claim"
    return reading, found
