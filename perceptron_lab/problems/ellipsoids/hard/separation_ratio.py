"""Pattern separation by the ellipsoid of maximal separation ratio (`Kharechko2009`, chapter 7)."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from typing import Literal

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF
from perceptron_lab.problems.ellipsoids.ellipsoid import two_classes
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.problems.ellipsoids.hard.equivalent_classes import (
    EquivalentClasses,
    ResidualEllipsoid,
    is_narrow,
)
from perceptron_lab.problems.ellipsoids.hard.ratio_bounds import (
    Recession,
    proved_lower_bound,
    recession,
    scatter,
)
from perceptron_lab.problems.ellipsoids.hard.separation import (
    Assessment,
    Rule,
    Separation,
    bounds_sentence,
    status_of,
)
from perceptron_lab.problems.ellipsoids.hard.solution import (
    Bracket,
    ClassPair,
    LimitReached,
    Solution,
    SolverLimits,
    middle,
)

_SOLVERS = {
    "auto": "interior_point:solve_by_size",
    "interior-point": "interior_point:solve_by_interior_point",
    "clarabel": "cone_solver:solve_directly",
    "cvxpy-clarabel": "cone_solver:solve_with_clarabel",
    "cvxpy-scs": "cone_solver:solve_with_scs",
    "constraint-generation": "interior_point:solve_by_generation",
    "central-path": "central_path:solve_by_central_path",
}
SolverName = Literal[
    "auto",
    "interior-point",
    "constraint-generation",
    "clarabel",
    "cvxpy-clarabel",
    "cvxpy-scs",
    "central-path",
]


ROUGH = 1e-6
"""Least tolerance for an ellipsoid that serves as a rule only, and does not prove t."""


def maximal_separation(
    positives: npt.ArrayLike,
    negatives: npt.ArrayLike,
    *,
    solver: SolverName = "auto",
    tolerance: float = 1e-9,
    whiten: bool = True,
    max_iterations: int = 1000,
    max_seconds: float | None = None,
) -> Separation:
    """Return the ellipsoid of maximal separation ratio, with its proofs.

        maximise t over E^ >= 0 with x^'E^x^ <= 1 (positives), x^'E^x^ >= 1 + t (negatives),

    x^ = (x, 1) (Glineur; `Kharechko2009`, (7.9) and (8.1)). The half-axes of two concentric,
    similar ellipsoids, one with all positives inside, one with all negatives outside, have the
    ratio sqrt(1 + t).

    Columns that depend on others but for rounding: t and its bounds are those of the doubles, which
    include the rounding errors. The returned ellipsoid does not use these errors, since new points
    are rounded differently. The message reports where that makes a difference.

    Parameters
    ----------
    positives, negatives
        Dense finite rows, shapes ``(m, k)`` with one k, at least one each.
    solver
        ``interior-point`` takes all examples at once, ``constraint-generation`` a working set of
        them, ``auto`` the one or the other by their number; ``clarabel`` (directly),
        ``cvxpy-clarabel``, ``cvxpy-scs`` are references; ``central-path`` is for classes that no
        ellipsoid separates.
    tolerance
        The solver's tolerance, in (0, 1). The first three solvers end when the width of the bracket
        of t, relative to t, is at most this.
    whiten
        Whether to solve in coordinates of mean-free, white examples, or others that the solver
        finds better scaled, which makes the answer invariant to affine maps in floating point as
        well. If false, the solver keeps to the coordinates given.
    max_iterations
        Largest number of iterations of the solver in total, 1 or more (SCS: times 200). The answer
        at the limit has valid bounds, and ``complete`` is false.
    max_seconds
        Time limit, > 0. The answer at the limit has valid bounds, and ``complete`` is false. None
        for no limit, so that the answer does not depend on the machine.

    Raises
    ------
    InputError
        If the examples are not as bounds_sentence, or their products of coordinates would not fit.
    NumericalError
        If the solver gives up, or the time is too short for a first ellipsoid; with
        ``central-path`` if the classes are separable or touch.
    """
    inner, outer = two_classes(positives, negatives)
    limits = SolverLimits(max_iterations)
    try:
        with time_limit(math.inf if max_seconds is None else max_seconds):
            return _separation(inner, outer, solver, tolerance, limits, whiten=whiten)
    except TimeIsUp:
        raise LimitReached(
            "the time was too short for a first ellipsoid; raise max_seconds"
        ) from None


def _separation(
    inner: FloatArray,
    outer: FloatArray,
    solver: SolverName,
    tolerance: float,
    limits: SolverLimits,
    *,
    whiten: bool,
) -> Separation:
    frame = AffineFrame.of(inner, outer, whiten=whiten)
    direction = recession(inner, outer, frame)
    if direction is not None:
        return _unbounded(inner, outer, frame, direction)
    # what rounding left of dependent columns decides on t, not on this ellipsoid
    rough = tolerance if frame.is_decided or frame.exactly_inside.any() else max(tolerance, ROUGH)
    plain = _assessment(inner, outer, frame, solver, rough, limits, fixed=not whiten)
    first, how = plain.separation(), plain.solution.message
    if frame.no_negative_inside:
        # The ellipsoid and the rule are those to rounding: new points need a rule as well.
        message = (
            "no negative lies in the affine hull of the positives, though some do to rounding "
            "(proved): t is unbounded; the ellipsoid returned takes those for points of the hull "
            f"({how})"
        )
        unbounded = replace(first, status=Status.UNBOUNDED, proved=True, message=message)
        return replace(unbounded, ratio=math.inf, ratio_lower=math.inf, ratio_upper=math.inf)
    narrow = is_narrow(first.ratio_lower, first.ratio_upper)
    if narrow or (frame.is_decided and limits.reached(first.iterations)):
        return first
    equivalent = EquivalentClasses.of(inner, outer, frame)
    if equivalent is None:
        return first
    parts = equivalent.positives, equivalent.negatives, equivalent.frame
    left = limits.remaining_after(first.iterations)
    try:
        resolved = _assessment(*parts, "auto", tolerance, left, fixed=not whiten)
    except (NumericalError, InputError, TimeIsUp) as error:
        message = f"{first.message}; the bounds of t could not be sharpened: {error}"
        return replace(first, message=message, complete=False)
    how += f"; with what is left of columns that depend on others, {resolved.solution.message}"
    better = resolved.separation()
    in_rows = _expressed_in_rows(first, better, equivalent, (inner, outer), frame)
    return _with_sharper_bounds(in_rows, better, equivalent, how)


def _assessment(
    inner: FloatArray,
    outer: FloatArray,
    frame: AffineFrame,
    solver: SolverName,
    tolerance: float,
    limits: SolverLimits,
    *,
    fixed: bool,
) -> Assessment:
    """Return the solver's ellipsoid and weights, as input of the proofs."""
    inside = np.flatnonzero(~frame.outside)
    classes = ClassPair(frame.coordinates(inner), frame.coordinates(outer[inside]), fixed=fixed)
    module, _, name = _SOLVERS[solver].partition(":")
    solve = getattr(import_module(f"perceptron_lab.problems.ellipsoids.hard.{module}"), name)
    solution: Solution = solve(classes, tolerance, limits)
    return Assessment(inner, outer, inside, frame, solution)


def _unbounded(
    positives: FloatArray, negatives: FloatArray, frame: AffineFrame, direction: Recession
) -> Separation:
    """Return the unbounded separation; its rule is the distance from the hull of the positives."""
    order = frame.dimension + 1
    nearest = float((frame.offsets(negatives) ** 2).sum(axis=1).min())
    rule = Rule(frame, np.zeros((order, order)), middle(1.0), 2.0 / nearest)
    # a direction that holds to rounding proves the ratio that it attains
    least, most, lower = direction.least_negative, direction.largest_positive, math.inf
    if not direction.proved and most > 0.0:
        # The factor covers the roundings of the quotient, the difference and both bounds.
        lower = max(0.0, least / most * (1 - 1e-12) - 1.0)
    weights = np.zeros(len(positives)), np.zeros(len(negatives))
    how = "proved" if direction.proved else "to rounding"
    words = (
        f"no negative lies in the affine hull of the positives, of dimension {order - 1} ({how}): "
        "t is unbounded"
    )
    values = direction.proved, math.inf, lower, math.inf, direction.matrix, *weights, rule, words
    return Separation(Status.UNBOUNDED, *values, recession=direction)


def _expressed_in_rows(
    separation: Separation,
    better: Separation,
    classes: EquivalentClasses,
    examples: tuple[FloatArray, FloatArray],
    frame: AffineFrame,
) -> Separation:
    """Return the residual ellipsoid as a rule of x, if it separates the classes beyond rounding.

    Nearly dependent columns have residuals far above one rounding of the entries: then it is a rule
    for other points as well.
    """
    if better.ellipsoid is None:
        return separation
    ellipsoid = ResidualEllipsoid(better.ellipsoid, classes.residuals).of_rows()
    # With every entry known to one rounding only, as those of new points are.
    reached, most = proved_lower_bound(*examples, ellipsoid, UNIT_ROUNDOFF)
    if not reached > separation.ratio_lower:
        return separation
    ellipsoid = ellipsoid.scaled(1.0 / most)
    rule = Rule.of_ellipsoid(ellipsoid, frame, reached)
    lower = proved_lower_bound(*examples, ellipsoid)[0]
    ranked = replace(separation, rule=rule, matrix=rule.homogeneous(), ellipsoid=ellipsoid)
    return replace(ranked, ratio=lower, ratio_lower=lower, reached=lower)


def _with_sharper_bounds(
    separation: Separation, better: Separation, classes: EquivalentClasses, how: str
) -> Separation:
    """Return a separation with the bounds of t of its equivalent classes as well, and their proofs.

    Its ellipsoid and its rule are unchanged.
    """
    lower = max(separation.ratio_lower, better.ratio_lower)
    upper = min(separation.ratio_upper, better.ratio_upper)
    proof = better.inseparability
    status = status_of(lower, upper, proof)
    ratio = 0.0 if proof else Bracket(lower, upper).clip(max(separation.ratio, better.ratio))
    words = bounds_sentence(status, lower, upper, proof, separation.reached)
    # the ellipsoid found may fall short of the lower bound
    short = ""
    if not (is_narrow(separation.reached, lower) or separation.reached > lower):
        short = (
            f"; the ellipsoid returned does not use that, and reaches t = {separation.reached:.6g}"
        )
    residual = None
    if better.ellipsoid is not None and better.ratio_lower > separation.ratio_lower:
        residual = ResidualEllipsoid(better.ellipsoid, classes.residuals)
    weights, count = (
        (separation.positive_weights, separation.negative_weights),
        len(separation.negative_weights),
    )
    if better.ratio_upper < separation.ratio_upper:
        negative = scatter(better.negative_weights, classes.negative_indices, count)
        weights = better.positive_weights, negative
    return replace(
        separation,
        status=status,
        proved=status is not Status.UNVERIFIED,
        ratio=ratio,
        reached=0.0 if proof else separation.reached,
        ratio_lower=lower,
        ratio_upper=upper,
        positive_weights=weights[0],
        negative_weights=weights[1],
        inseparability=proof and proof.renumbered(classes.negative_indices, count),
        iterations=separation.iterations + better.iterations,
        message=f"{words} ({how}{short})",
        complete=better.complete,
        residual_ellipsoid=residual,
    )
