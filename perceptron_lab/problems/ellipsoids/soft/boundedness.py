"""When the soft separation ratio is bounded, and the cone programs of its dual.

max t - C+ sum_+ xi - C- sum_- xi, with x^'E^x^ <= 1 + xi on positives, x^'E^x^ >= 1 + t - xi on
negatives, xi >= 0 and E^ >= 0, is bounded exactly if its dual, (7.21) of `Kharechko2009` with
0 <= lambda <= C, is feasible. More weight on positives can only help, so that this means

    S(lambda) = sum_- lambda x^x^' <= C+ sum_+ x^x^'   for some lambda in the capped simplex
    {sum_- lambda = 1, 0 <= lambda <= C-}.

Such a lambda is 0 outside the span of the lifted positives. With z = (sum_+ x^x^')^(-1/2) x^ of the
negatives within it, the problem is bounded if and only if C- times their number is at least 1 and
C+ is at least the critical penalty

    min over the capped simplex of lambda_max(sum lambda z z')
    = max over W >= 0, trace W = 1, of the least of sum lambda z'Wz over the capped simplex.

Any W gives a direction in which the objective grows for every smaller C+.

The dual of the soft separation ratio, with some weights fixed, is the cone program

    minimise  sum_+ lambda - 1  subject to  0 <= lambda <= C,  sum_- lambda = 1,
    sum y lambda x^x^' positive semidefinite,  y = +1 or -1;

E^ is the multiplier of the matrix, 1 + t that of the sum. At an optimum most weights are at one of
their bounds: 0 where an example keeps its constraint, C where it has slack; in dimension n - 1,
n (n + 1) / 2 at most have to be in between. A round of constraint generation fixes those that the
last round has decided, and frees some that its solution contradicts. What is feasible with fixed
weights is feasible without, so that every round bounds the optimum; when no fixed weight is
contradicted, it is attained.

With fixed weights there may be no feasible ones, but weights lambda_0 that are feasible without are
known. They are included in

    lambda = (1 - s) (capped + mu) + s lambda_0,  0 <= mu <= C where free,  0 <= s <= 1,

and s = 0 at an optimum that contradicts no fixed weight. The unknowns are (1 - s) mu and s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import clarabel
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.problems.ellipsoids.ellipsoid import (
    quadratic_forms,
    smat,
    smat_order,
    squares,
    svec,
)
from perceptron_lab.problems.ellipsoids.hard.cone_solver import answer_of_clarabel, stacked

SPAN_TOLERANCE = 1e-9
"""Relative distance from the span of the positives up to which a white, lifted example is in it."""
ROOM = 1e-9
"""Relative violation up to which a fixed weight is not contradicted."""
FEW = 1000
"""Up to this number of weights, all are free."""
ROUNDS = 100
"""Largest number of rounds."""
FIXING = 20
"""Rounds in which weights may be fixed; later rounds only free weights, so that they end."""
DECIDED = 1e-6
"""A weight this near to 0 or to its cap, relative to the cap, is decided."""
ANSWERED = ("Solved", "AlmostSolved")
"""Statuses of Clarabel with a usable solution."""


@dataclass(frozen=True)
class CriticalPenalty:
    """The least C+ with a bounded soft separation ratio, for one C-."""

    # the critical penalty lies between them: the values of direction and of weights,
    # computed in floating point; infinite, both, if no C+ is enough
    lower: float
    upper: float
    # lambda of the negatives that attains upper, shape (m-,); zeros if none does
    weights: FloatArray
    # E^ >= 0 of a direction in which the objective grows for every C+ < lower, shape (n, n)
    direction: FloatArray
    within: npt.NDArray[np.bool_]  # which negatives lie in the span of the positives, shape (m-,)
    root: FloatArray  # (sum_+ x^x^')^(-1/2) on that span, shape (n, rank)


def critical_penalty(positives: FloatArray, negatives: FloatArray, cap: float) -> CriticalPenalty:
    """Return the critical penalty C+ for C- = cap."""
    # R has the singular values and the right vectors of the rows, at a cost independent of their
    # number once factored.
    triangle = np.linalg.qr(positives, mode="r")
    _, sizes, axes = np.linalg.svd(triangle, full_matrices=True)
    rank = int(np.count_nonzero(sizes > SPAN_TOLERANCE * sizes[0]))
    root = axes[:rank].T / sizes[:rank]
    away = axes[rank:].T
    off = np.linalg.norm(negatives @ away, axis=1)
    within = np.asarray(off <= SPAN_TOLERANCE * np.linalg.norm(negatives, axis=1))
    weights = np.zeros(len(negatives))
    outward = away @ away.T
    if cap * np.count_nonzero(within) < 1.0:
        return CriticalPenalty(math.inf, math.inf, weights, outward, within, root)
    images = negatives[within] @ root
    # Weights off the span are 0: no C+ outweighs them there, see the module's docstring.
    weights[within], dual = _least_spread(images, cap)
    upper = float(np.linalg.eigvalsh(images.T @ (weights[within, None] * images))[-1])
    forms = quadratic_forms(dual, images)
    lower = least_mean(forms, cap)
    direction = root @ dual @ root.T
    if not within.all():
        # Far enough out, negatives off the span no longer count in the least mean.
        nearest = float(((negatives[~within] @ away) ** 2).sum(axis=1).min())
        direction = direction + outward * (float(forms.max()) / nearest)
    return CriticalPenalty(lower, max(lower, upper), weights, direction, within, root)


def least_mean(values: FloatArray, cap: float) -> float:
    """Return the least of sum lambda v over sum lambda = 1, 0 <= lambda <= cap.

    That is the mean of the lowest 1 / cap of the values, the last one in part; infinity if there
    are fewer.
    """
    ordered = np.sort(values)
    if cap * len(ordered) < 1.0:
        return math.inf
    full = min(math.floor(1.0 / cap), len(ordered))
    rest = 1.0 - cap * full
    total = cap * float(ordered[:full].sum())
    return total + (rest * float(ordered[full]) if rest > 0.0 and full < len(ordered) else 0.0)


def marginal_value(values: FloatArray, cap: float) -> float:
    """Return the 1 / cap-th lowest value, the last one with a share in the least mean."""
    rank = min(max(math.ceil(1.0 / cap) - 1, 0), len(values) - 1)
    return float(np.partition(values, rank)[rank])


def _least_spread(images: FloatArray, cap: float) -> tuple[FloatArray, FloatArray]:
    """Return lambda that minimises lambda_max(sum lambda z z'), and the matrix W of its dual.

    Negatives with z'Wz below the marginal one have lambda = cap, those above it 0: only some near
    it are unknowns, in rounds.
    """
    everyone = np.arange(len(images))
    forms = (images**2).sum(axis=1)
    excess = marginal_value(forms, cap) - forms
    working = WorkingSet.around(excess, [everyone], images.shape[1] * (images.shape[1] + 1) // 2)
    for number in range(ROUNDS):
        weights, dual, level = _restricted_spread(images, cap, working)
        excess = level - quadratic_forms(dual, images)
        if not working.revise(excess, weights / cap, ROOM * abs(level), fix=number < FIXING):
            return project_to_capped_simplex(weights, cap), dual
    raise NumericalError(
        f"the critical penalty was not found in {ROUNDS} rounds of constraint generation"
    )


def _restricted_spread(
    images: FloatArray, cap: float, working: WorkingSet
) -> tuple[FloatArray, FloatArray, float]:
    """Return lambda, W, and z'Wz of negatives with lambda between its bounds."""
    free, fixed = images[working.free], images[working.capped]
    count, order = free.shape
    bounds = sp.eye_array(count, count + 1)
    spread = np.column_stack([squares(free).T, -svec(np.eye(order))])
    rows = np.append(np.ones(count), 0.0)[None, :], -bounds, bounds, spread
    cost, left = np.append(np.zeros(count), 1.0), max(0.0, 1.0 - cap * len(fixed))
    products = -cap * svec(fixed.T @ fixed)
    solution = solve_weights(cost, rows, left, np.full(count, cap), products, 1e-10)
    weights = np.where(working.capped, cap, 0.0)
    weights[working.free] = np.clip(solution.unknowns[:-1], 0.0, cap)
    total = float(solution.values.sum())
    dual = (solution.vectors * (solution.values / total)) @ solution.vectors.T
    return weights, dual, solution.level / total


def project_to_capped_simplex(weights: FloatArray, cap: float) -> FloatArray:
    """Return the Euclidean projection of weights onto the capped simplex.

    Bisection on the shift s of clip(weights - s, 0, cap), whose sum falls in s; what rounding
    leaves is spread over the weights strictly between the bounds.
    """
    low, high = float(weights.min()) - cap, float(weights.max())
    for _ in range(200):
        middle = 0.5 * (low + high)
        if np.clip(weights - middle, 0.0, cap).sum() >= 1.0:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(weights - low, 0.0, cap), dtype=np.float64)


@dataclass
class WorkingSet:
    """The free weights, and those fixed at their caps; all others are fixed at 0."""

    free: npt.NDArray[np.bool_]  # shape (m,) each, disjoint
    capped: npt.NDArray[np.bool_]
    # the numbers of the examples of each class: what is freed is counted by class
    parts: Sequence[IntArray]
    count: int  # how many of each class are free at first, and are freed in a round

    @classmethod
    def around(cls, excess: FloatArray, parts: Sequence[IntArray], count: int) -> Self:
        """Return the first working set: weights are at their caps where the excess is positive.

        Parameters
        ----------
        excess
            By how much each example violates its constraint, shape ``(m,)``; those of the least
            magnitude are free.
        parts, count
            See the class.
        """
        if len(excess) <= max(FEW, 4 * count):
            every = np.ones(len(excess), dtype=np.bool_)
            return cls(every, ~every, parts, count)
        free = np.zeros(len(excess), dtype=np.bool_)
        # Examples near their constraints: only their weights can be strictly between the bounds.
        free[_largest(-np.abs(excess), parts, count)] = True
        return cls(free, (excess > 0.0) & ~free, parts, count)

    def revise(self, excess: FloatArray, shares: FloatArray, room: float, *, fix: bool) -> int:
        """Fix decided weights and free the most contradicted ones; return how many were freed.

        Parameters
        ----------
        excess
            Violations of the constraints by the solution of this round, shape ``(m,)``.
        shares
            The weights of this solution relative to their caps, shape ``(m,)``.
        room
            Fixed weights are contradicted by an excess of the wrong sign beyond this.
        fix
            Whether weights are fixed; those nearest to their constraints never are.
        """
        contradiction = np.where(self.capped, -excess, excess)
        contradiction[self.free | (contradiction <= room)] = -np.inf
        added = _largest(contradiction, self.parts, self.count)
        added = added[contradiction[added] > room]
        if fix:
            nearest = np.zeros(len(excess), dtype=np.bool_)
            distance = np.where(self.free, np.abs(excess), np.inf)
            nearest[_largest(-distance, self.parts, self.count)] = True
            low = self.free & ~nearest & (shares <= DECIDED) & (excess < 0.0)
            high = self.free & ~nearest & (shares >= 1.0 - DECIDED) & (excess > 0.0)
            self.free &= ~(low | high)
            self.capped |= high
        self.free[added] = True
        self.capped[added] = False
        return len(added)


def _largest(values: FloatArray, parts: Sequence[IntArray], count: int) -> IntArray:
    """Return the indices of the ``count`` largest values of each part."""
    indices = [part[np.argsort(-values[part], kind="stable")[:count]] for part in parts]
    return np.concatenate(indices)


class ConeSolution(NamedTuple):
    """A solution of :func:`solve_weights`."""

    unknowns: FloatArray  # x
    level: float  # the multiplier of the equation
    # of the matrix, the eigenvalues, at least 0, and eigenvectors of its multiplier
    values: FloatArray
    vectors: FloatArray
    iterations: int  # of Clarabel


def solve_weights(
    cost: FloatArray,
    rows: Sequence[object],
    left: float,
    most: FloatArray,
    products: FloatArray,
    tolerance: float,
) -> ConeSolution:
    """Minimise cost'x over weights that make a matrix positive semidefinite.

    They have to satisfy, with the four blocks of rows R, dense or sparse, R1 x = left, R2 x <= 0,
    R3 x <= most, and products - R4 x = svec of a positive semidefinite matrix.
    """
    right = np.concatenate([[left], np.zeros(len(most)), most, products])
    cones = [
        clarabel.ZeroConeT(1),
        clarabel.NonnegativeConeT(2 * len(most)),
        clarabel.PSDTriangleConeT(smat_order(products)),
    ]
    answer = answer_of_clarabel(cost, stacked([[block] for block in rows]), right, cones, tolerance)
    if str(answer.status) not in ANSWERED:
        raise NumericalError(
            f"Clarabel ends with {answer.status} after {answer.iterations} iterations on a soft "
            "separation problem; try penalties farther from the critical ones, or a larger "
            "tolerance"
        )
    multipliers = np.array(answer.z)
    values, vectors = np.linalg.eigh(smat(multipliers[-len(products) :]))
    level = -float(multipliers[0])
    return ConeSolution(
        np.array(answer.x), level, np.maximum(values, 0.0), vectors, int(answer.iterations)
    )


class DualSolution(NamedTuple):
    """A solution of the dual."""

    quadratic: FloatArray  # E^, positive semidefinite, shape (n, n)
    weights: FloatArray  # lambda, shape (m,)
    level: float  # 1 + t, the multiplier of the sum of lambda
    iterations: int  # of Clarabel


@dataclass(frozen=True)
class DualProgram:
    """The dual with fixed weights."""

    examples: FloatArray  # lifted, shape (m, n)
    signs: FloatArray  # y, shape (m,)
    penalties: FloatArray  # C of each example, shape (m,)
    start: FloatArray  # lambda_0, feasible, shape (m,)
    working: WorkingSet  # which weights are free, at their caps, or 0

    def solve(self, tolerance: float) -> DualSolution:
        """Return the solution of the program with the fixed weights."""
        free, mixed = self.working.free, not self.working.free.all()
        capped = np.where(self.working.capped, self.penalties, 0.0)
        solution = self._solution(capped, tolerance, mixed=mixed)
        share = min(max(float(solution.unknowns[-1]), 0.0), 1.0) if mixed else 0.0
        weights = (1.0 - share) * capped
        most = (1.0 - share) * self.penalties[free]
        weights[free] = np.clip(solution.unknowns[: len(most)], 0.0, most)
        quadratic = (solution.vectors * solution.values) @ solution.vectors.T
        weights = weights + share * self.start
        return DualSolution(np.asarray(quadratic), weights, solution.level, solution.iterations)

    def _solution(self, capped: FloatArray, tolerance: float, *, mixed: bool) -> ConeSolution:
        """Return mu, s if it is an unknown, and the multipliers of the constraints."""
        free, negative = self.working.free, self.signs < 0
        left = max(0.0, 1.0 - float(capped[negative].sum()))
        total: FloatArray = negative[free].astype(np.float64)
        most = self.penalties[free]
        cost: FloatArray = 1.0 - total
        products = -(squares(self.examples[free]) * self.signs[free, None]).T
        bounds, limits = stacked([[sp.eye_array(len(total))]]), most
        if mixed:
            change = self.start - capped
            total, cost = np.append(total, left), np.append(cost, change[~negative].sum())
            products = np.column_stack([products, -svec(self._moment(change))])
            bounds = stacked([[bounds, most[:, None]], [np.zeros((1, len(most))), np.ones((1, 1))]])
            limits = np.append(most, 1.0)
        rows = total[None, :], -sp.eye_array(len(total)), bounds, products
        return solve_weights(cost, rows, left, limits, svec(self._moment(capped)), tolerance)

    def _moment(self, weights: FloatArray) -> FloatArray:
        nonzero = weights != 0.0
        rows = self.examples[nonzero]
        return np.asarray(rows.T @ ((weights * self.signs)[nonzero, None] * rows))
