"""A proved bracket of the negative margin of an infeasible system of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np
import scipy

from perceptron_lab.certificates.rows.negative_margin import (
    Reach,
    Span,
    inner_radius,
    outer_radius,
    prove_reach,
    span_of,
)
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import seconds_left, time_is_up
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.systems.conic_system import ConicSystem, Problem

# Facets from which nearer ones are looked for
STARTS = 4
# Linear programs that follow one of them, at most
DESCENTS = 5


@dataclass(frozen=True)
class NegativeMargin:
    """A proved bracket of the margin rho = -|rho| within the span of the rows.

    ``print`` shows it; :meth:`with_radius` adds it to facts, for the bounds of algorithms.

    Parameters
    ----------
    lower, upper
        ``lower <= rho <= upper``; -inf and inf where nothing is proved. ``upper`` is negative if
        0 is proved to lie inside the hull, and inf otherwise: rho may be 0 or positive then.
    dimension
        Dimension of the span; 0 where it could not be proved.
    unknowns
        Dimension of the space; where it is larger, the margin over the whole space is 0.
    centre_norm
        An upper bound of norm(A q), q the equal weights; None if none is proved.
    reason
        Why a bound is missing; empty otherwise.
    """

    lower: float
    upper: float
    dimension: int
    unknowns: int
    centre_norm: float | None = None
    reason: str = ""

    def with_radius(self, facts: Facts) -> Facts:
        """Return facts with the proved radius -upper added, if there is one."""
        radius = -self.upper if self.upper < 0.0 else None
        return replace(facts, hull_radius=radius, centre_norm=self.centre_norm)

    def __str__(self) -> str:
        where = f"the span, of dimension {self.dimension} of {self.unknowns}"
        text = f"margin in [{self.lower:.6g}, {self.upper:.6g}] within {where}"
        return f"{text}: {self.reason}" if self.reason else text


def negative_margin(problem: Problem) -> NegativeMargin:
    """Prove a bracket of the margin of rows for which no point is feasible.

    rho = max over unit y in the span of min_i a_i'y, the rows divided by their norms, is negative
    where 0 lies inside their hull; -rho is the radius of the largest ball around 0 that the hull
    contains in the span (`RamdasPena2014`, Theorem 3). Finding it is NP-hard; for d dimensions
    2 d linear programs and a few more bound it, from below within a factor sqrt(d) of what its
    longest axes allow, from above by the nearest facet met. What they return is proved in double
    precision with bounds of all rounding errors.

    Parameters
    ----------
    problem
        Rows, shape ``(m, n)``, dense or sparse, a tuple of examples and labels, or a
        :class:`~perceptron_lab.systems.ConicSystem` of rows. They are made dense: it is meant for
        small systems (100 rows of dimension 5 take a tenth of a second, 1000 of dimension 50 some
        seconds).

    Raises
    ------
    InputError
        If it is no system of rows, or they were rounded to doubles.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_lab import negative_margin
    >>> square = np.vstack([np.eye(2), -np.eye(2)])  # the hull has the facets |x| + |y| <= 1
    >>> found = negative_margin(square)
    >>> round(found.lower, 6), round(found.upper, 6)
    (-0.707107, -0.707107)
    """
    system = ConicSystem.of(problem)
    innermost = system if system.origin is None else system.origin
    rows = _dense_rows(innermost)
    unit = innermost.unit_rows
    span = span_of(rows)
    lengths = np.linalg.norm(rows, axis=1)
    equal = barycentre(innermost.cone)  # on the cuts
    centre = innermost.prove_weights(equal / lengths if unit else equal)
    if span is None:
        reason = "the dimension of the span could not be proved"
        return NegativeMargin(-math.inf, math.inf, 0, rows.shape[1], centre, reason)
    # The search is in doubles; only reaches and normals that are proved later enter the bracket
    scaled = rows / lengths[:, None] if unit else rows
    search = _Search(scaled @ span.basis)
    axes = [(k, sign) for k in range(span.dimension) for sign in (1.0, -1.0)]
    reaches = [_reach(search, rows, span, k, sign, unit) for k, sign in axes]
    proved_reaches = [reach for reach in reaches if reach is not None]
    # A missing axis leaves a direction without a point, and no ball around 0
    inner = inner_radius(span, proved_reaches) if len(proved_reaches) == len(reaches) else 0.0
    outer, normal = math.inf, search.nearest()
    if normal is not None:
        direction, full = -span.basis @ normal, span.dimension == rows.shape[1]
        # In a proper subspace the normal needs preimages: the rows see only their span
        if not full:
            direction = np.asarray(np.linalg.lstsq(rows.T, direction, rcond=None)[0], float)
        outer = outer_radius(Matrix(rows), direction, complete=full, unit_rows=unit)
    reason = "" if inner else "0 could not be proved to lie inside the hull"
    # The bracket so far is valid; the reason says why it is not sharper
    if time_is_up():
        reason = "the time is up, before all axes and the facets near them were looked at"
    upper = -inner if inner else math.inf
    return NegativeMargin(-outer, upper, span.dimension, rows.shape[1], centre, reason)


def _dense_rows(system: ConicSystem) -> FloatArray:
    if not isinstance(system.operator, Matrix) or not system.cone.of_rows:
        raise InputError(
            "the negative margin received a system of kernels or cones; give rows: only "
            "their hull is a polytope in coordinates"
        )
    if system.operator.roundings:
        raise InputError(
            "the negative margin received rows that were rounded to doubles; give numbers that are "
            "doubles (integers up to 2^53, arrays of float64)"
        )
    data = system.operator.stored
    if isinstance(data, RowSource):
        raise InputError("the negative margin received rows on disk; give rows in memory")
    return np.asarray(dense_array(data), dtype=float)


@dataclass
class _Search:
    """The hull in coordinates of its span, and the facets found so far.

    Parameters
    ----------
    points
        One per row, shape ``(m, d)``.
    """

    points: FloatArray

    def __post_init__(self) -> None:
        self.facets: list[tuple[float, FloatArray]] = []

    def reach(self, direction: FloatArray) -> FloatArray | None:
        """Return weights of the point where a ray from 0 leaves the hull; store its facet.

        max t over w in the simplex with sum w_i p_i = t v. The multipliers y of these equations
        have p_i'y <= t y'v for all i: the facet. None where no facet exists, or the time is up.
        """
        count, dimension = self.points.shape
        equations = np.zeros((dimension + 1, count + 1))
        equations[:dimension, :count], equations[:dimension, count] = self.points.T, -direction
        equations[dimension, :count] = 1.0
        rights, cost = np.eye(dimension + 1)[dimension], -np.eye(count + 1)[count]
        left = seconds_left()
        if left <= 0.0:
            return None
        arguments: Any = {"A_eq": equations, "b_eq": rights, "method": "highs"}
        if math.isfinite(left):
            arguments["options"] = {"time_limit": left}
        answer = scipy.optimize.linprog(cost, **arguments)
        if answer.x is None or answer.x[count] <= 0.0:
            return None
        normal = -np.asarray(answer.eqlin.marginals)[:dimension]
        length = float(np.linalg.norm(normal))
        if length > 0.0:
            unit = normal / length
            unit = unit if self._distance(unit) <= self._distance(-unit) else -unit
            self.facets.append((self._distance(unit), unit))
        # HiGHS's tolerance allows weights just below 0
        return np.asarray(np.maximum(answer.x[:count], 0.0))

    def _distance(self, unit: FloatArray) -> float:
        """Return the support function of the hull at a unit vector."""
        return float((self.points @ unit).max())

    def nearest(self) -> FloatArray | None:
        """Return the normal of the nearest facet reached by a few steps from the known ones.

        The ray along a facet's normal leaves the hull no farther than the facet is: where it does,
        there is one as near or nearer.
        """
        distances = itemgetter(0)
        for distance, unit in sorted(self.facets, key=distances)[:STARTS]:
            for _ in range(DESCENTS):
                met = len(self.facets)
                self.reach(unit)
                if len(self.facets) == met or self.facets[-1][0] >= distance * (1.0 - 1e-9):
                    break
                distance, unit = self.facets[-1]
        return min(self.facets, key=distances)[1] if self.facets else None


def _reach(
    search: _Search,
    rows: FloatArray,
    span: Span,
    axis: int,
    sign: float,
    unit: bool,
) -> Reach | None:
    weights = search.reach(sign * np.eye(span.dimension)[axis])
    if weights is None:
        return None
    scaled = weights / np.linalg.norm(rows, axis=1) if unit else weights
    return prove_reach(rows, scaled, sign * span.basis[:, axis], unit_rows=unit)
