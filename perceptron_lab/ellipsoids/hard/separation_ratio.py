"""Pattern separation by the ellipsoid of maximal separation ratio (`Kharechko2009`, chapter 7)."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass as record

from perceptron_lab.ellipsoids.examples import two_classes
from perceptron_lab.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.ellipsoids.hard.assessment import Assessment
from perceptron_lab.ellipsoids.hard.finer import FinerClasses, is_narrow
from perceptron_lab.ellipsoids.hard.refinement import refined, without_bound
from perceptron_lab.ellipsoids.hard.separation import Rule, Separation
from perceptron_lab.ellipsoids.hard.solution import Classes, Limits, Solution, middle
from perceptron_lab.ellipsoids.hard.unboundedness import Recession, recession
from perceptron_lab.errors import InputError, NumericalError
from perceptron_lab.goals import STRICT
from perceptron_lab.results import FloatArray, Status

_SOLVERS = {
    "auto": "constraint_generation:solve_by_size",
    "interior-point": "interior_point:solve_by_interior_point",
    "clarabel": "cone_solver:solve_directly",
    "cvxpy-clarabel": "reference_solvers:solve_with_clarabel",
    "cvxpy-scs": "reference_solvers:solve_with_scs",
    "constraint-generation": "constraint_generation:solve_by_generation",
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
"""The least tolerance of an ellipsoid that is not the one by which t is proved."""


@record(frozen=True, config=STRICT)
class MaximalSeparation:
    """The ellipsoid of maximal separation ratio (Glineur; `Kharechko2009`, (7.9) and (8.1)).

    maximise t over E^ >= 0 with x^'E^x^ <= 1 for the positives and x^'E^x^ >= 1 + t for the
    negatives, x^ = (x, 1). The half-axes of two concentric, similar ellipsoids, one with all
    positives inside, one with all negatives outside, have the ratio sqrt(1 + t).

    Columns that depend on others but for rounding count for t, and for what is proved of it, as the
    doubles that they are; the ellipsoid returned uses them only as far as they depend, since other
    points are rounded otherwise. The message says so where that makes a difference.

    Parameters
    ----------
    solver
        ``interior-point`` takes all examples at once, ``constraint-generation`` a working set of
        them, ``auto`` (default) the one or the other by their number; ``clarabel`` (directly),
        ``cvxpy-clarabel``, ``cvxpy-scs`` are references; ``central-path`` is for classes that no
        ellipsoid separates.
    tolerance
        The solver's, between 0 and 1 (default 1e-9); the first three end where the bracket of t is
        as narrow relative to t.
    whiten
        Whether to solve in coordinates of mean-free, white examples (default true), or others that
        the solver finds better scaled, which makes the answer invariant to affine maps in floating
        point as well. If false, the solver keeps to the coordinates given.
    negligible
        A proved upper bound of t at or below this ends as MARGIN_BOUNDED (default 1e-6), > 0.
    max_iterations
        Of the solver in total, 1 or more (default 1000; SCS: times 200). What is proved of what it
        has then is the answer, and ``complete`` is false.
    max_seconds
        Of the solver, > 0; by default None, no limit, so that the answer does not depend on the
        machine.
    """

    solver: SolverName = "auto"
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-9
    whiten: bool = True
    negligible: Annotated[float, Field(gt=0)] = 1e-6
    max_iterations: Annotated[int, Field(ge=1)] = 1000
    max_seconds: Annotated[float, Field(gt=0)] | None = None

    def fit(self, positives: Any, negatives: Any) -> Separation:
        """Return the separation of two classes, with what is proved of it.

        Parameters
        ----------
        positives, negatives
            Dense finite rows, shapes ``(m, k)`` with one k, at least one each.

        Raises
        ------
        InputError
            If they are not, or their products of coordinates would not fit.
        NumericalError
            If the solver gives up; with ``central-path`` if the classes are separable or touch.
        """
        inner, outer = two_classes(positives, negatives)
        frame = AffineFrame.of(inner, outer, whiten=self.whiten)
        direction = recession(inner, outer, frame)
        if direction is not None:
            return _unbounded(inner, outer, frame, direction)
        limits = Limits.of(self.max_iterations, self.max_seconds)
        sharp = frame.exact or frame.certain.any()
        model = self if sharp else replace(self, tolerance=max(self.tolerance, ROUGH))
        plain = model._solved(inner, outer, frame, limits)
        found = plain.separation()
        if frame.empty:
            return without_bound(found, plain.solution.message)
        narrow = is_narrow(found.ratio_lower, found.ratio_upper)
        if narrow or (frame.exact and limits.reached(found.iterations)):
            return found
        finer = FinerClasses.of(inner, outer, frame)
        if finer is None:
            return found
        return self._refined(plain, found, finer, limits.after(found.iterations))

    def _refined(
        self, plain: Assessment, found: Separation, finer: FinerClasses, limits: Limits
    ) -> Separation:
        """Return the separation found with the bounds of its finer classes."""
        parts = finer.positives, finer.negatives, finer.frame
        try:
            whole = replace(self, solver="auto")._solved(*parts, limits)
        except (NumericalError, InputError) as error:
            left = f"{found.message}; what is left of dependent columns leaves t open: {error}"
            return replace(found, message=left, complete=False)
        how = f"{plain.solution.message}; with what is left of columns that depend on others, "
        how += whole.solution.message
        return refined(found, whole.separation(), finer, self.negligible, how)

    def _solved(
        self, inner: FloatArray, outer: FloatArray, frame: AffineFrame, limits: Limits
    ) -> Assessment:
        """Return the solver's ellipsoid and weights, of which something is to be proved."""
        kept = np.flatnonzero(~frame.outside)
        classes = Classes(
            frame.coordinates(inner), frame.coordinates(outer[kept]), fixed=not self.whiten
        )
        module, _, name = _SOLVERS[self.solver].partition(":")
        solve = getattr(import_module(f"perceptron_lab.ellipsoids.hard.{module}"), name)
        solution: Solution = solve(classes, self.tolerance, limits)
        return Assessment(inner, outer, kept, frame, solution, self.negligible)


def _unbounded(
    positives: FloatArray, negatives: FloatArray, frame: AffineFrame, direction: Recession
) -> Separation:
    """Return the separation by a direction of recession, which is the rule as well."""
    order = frame.dimension + 1
    least = float((frame.offsets(negatives) ** 2).sum(axis=1).min())
    rule = Rule(frame, np.zeros((order, order)), middle(1.0), 2.0 / least)
    how = "proved" if direction.proved else "to rounding"
    return Separation(
        Status.UNBOUNDED,
        direction.proved,
        math.inf,
        _recession_bound(direction),
        math.inf,
        direction.matrix,
        np.zeros(len(positives)),
        np.zeros(len(negatives)),
        None,
        None,
        direction,
        None,
        0,
        f"no negative lies in the affine hull of the positives, of dimension {order - 1} ({how}): "
        "t is unbounded",
        rule,
    )


def _recession_bound(direction: Recession) -> float:
    """Return a proved lower bound of t: that of the computed direction itself."""
    if direction.proved:
        return math.inf
    if direction.largest_positive <= 0.0:
        return math.inf
    return max(0.0, direction.least_negative / direction.largest_positive * (1 - 1e-12) - 1.0)
