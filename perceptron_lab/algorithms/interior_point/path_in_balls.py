"""The central path of the weights in extended precision, from its beginning to A w = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb, arb_mat

from perceptron_lab.algorithms.base import SeesAll, State, Step
from perceptron_lab.certificates.representations import (
    OVERHEAD,
    Balls,
    Represented,
    precision,
    represented,
    supported,
)
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.semidefinite import matrices_of
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import Bound, FloatArray, IntArray
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.systems import ConicSystem

# Multiplications of a step at most: a tenth of a second, and about a hundred steps are made
MOST_PRODUCTS = 600_000
# Length of a step at most, in the local norm of each block, where 1 is the boundary at least
LONGEST = 0.9
# The path continues where the centre is nearer in this norm; else the step leads there alone
CENTRAL = 0.8
# Weights are claimed where Newton's step to the centre is shorter
CENTRED = 0.3
# A smaller part of the rest of the way is no progress; and steps at most
LEAST, STEPS = 1e-3, 500
# Steps between claims of points that only the multipliers say to be feasible
APART = 8


def within_reach(system: ConicSystem) -> bool:
    """Return whether a step takes a tenth of a second at most."""
    if not isinstance(system.operator, Matrix):
        return False
    columns = float(system.dimension + 1)
    cubes = sum(2.0 * part.rank**3 for part, _ in matrices_of(system.cone.blocks))
    operations = columns * (cubes + columns * system.cone.size) + OVERHEAD * system.cone.size
    return operations <= MOST_PRODUCTS


@dataclass
class Newton:
    """Newton's directions at w, towards the centre and towards A w = 0, with y and mu.

    ``lengths`` are the coefficients of norm(inwards + eta onwards)^2 in the local norm, by rising
    powers of eta, shape ``(blocks, 3)``.
    """

    inwards: arb_mat
    onwards: arb_mat
    multipliers: list[arb]
    lengths: FloatArray

    def part(self) -> float:
        """Return the largest eta <= 1 for which no block moves by more than LONGEST."""
        constant, linear, square = self.lengths.T
        room = LONGEST**2 - constant
        root = linear + np.sqrt(linear * linear + square * room)
        moving = root > 0.0  # the length of other blocks does not grow
        return float(np.min(room[moving] / root[moving], initial=1.0))

    def point(self) -> FloatArray:
        """Return y, divided by its largest entry."""
        point = self.multipliers[:-1]
        largest = max(abs(value) for value in point)
        return np.array([float((value / largest).mid()) for value in point])

    @property
    def beyond(self) -> bool:
        """Whether mu <= 0: then A*y lies inside K for w on the path."""
        return bool(self.multipliers[-1] <= 0)


@dataclass(kw_only=True)
class BallState(State):
    """The blocks, A* with e as last column, the weights w, theta, and whether w was claimed."""

    blocks: list[Represented]
    indices: IntArray
    data: arb_mat
    values: arb_mat
    theta: float = 1.0
    claimed_weights: bool = False

    def newton(self) -> Newton:
        """Solve Newton's equations at w for both directions."""
        values = [row[0] for row in self.values.tolist()]
        image, across = self._image(values).mid(), self.data.transpose()
        residual = [row[0] for row in (across * self.values).tolist()]
        # One factorisation serves both right-hand sides
        targets = [[value, value] for value in residual[:-1]] + [[residual[-1], arb(0)]]
        try:
            solved = (across * image).mid().solve(arb_mat(targets).mid(), algorithm="approx")
        except ZeroDivisionError:
            raise NumericalError("the normal equations are singular") from None
        scores, moves = self.data * solved, image * solved
        return Newton(
            inwards=(self.values - _column(moves, 0)).mid(),
            onwards=-_column(moves, 1).mid(),
            multipliers=[row[0] for row in solved.tolist()],
            lengths=self._lengths(values, scores.tolist(), moves.tolist()),
        )

    def _image(self, values: list[arb]) -> arb_mat:
        rows: Balls = []
        for block in self.blocks:
            image = block.image(values[len(rows) : len(rows) + len(block.indices)])
            if image is None:
                raise NumericalError("the weights have left the cone")
            rows += image
        return arb_mat(rows)

    def _lengths(self, values: list[arb], scores: Balls, moves: Balls) -> FloatArray:
        """Return the coefficients of norm(w - H a - eta H b)^2 = <., H^-1 .>, <w, H^-1 w> = r."""
        quadratics, at = [], 0
        for block in self.blocks:
            end = at + len(block.indices)
            a, b = ([row[k] for row in scores[at:end]] for k in (0, 1))
            seen_a, seen_b = ([row[k] for row in moves[at:end]] for k in (0, 1))
            w, at = values[at:end], end
            constant = block.rank - 2 * _dot(w, a) + _dot(a, seen_a)
            quadratics.append([constant, _dot(a, seen_b) - _dot(w, b), _dot(b, seen_b)])
        floats = np.array([[float(x.mid()) for x in row] for row in quadratics])
        # Squared norms: rounding to doubles can make them slightly negative
        floats[:, [0, 2]] = np.maximum(floats[:, [0, 2]], 0.0)
        return floats

    def move(self, newton: Newton) -> None:
        """Make a damped step to the centre if it is far away; otherwise step along the path too."""
        lengths = np.sqrt(newton.lengths[:, 0])
        # Damped Newton step of self-concordance: 1 / (1 + norm) keeps w inside the cone
        if lengths.max() > CENTRAL:
            step, eta = arb(1.0 / (1.0 + float(np.linalg.norm(lengths)))), 0.0
        else:
            step, eta = arb(1), newton.part()
            if eta < LEAST:
                raise NumericalError(f"the path in extended precision ends at {self.theta:.1e}")
        self.values = (self.values + step * (newton.inwards + arb(eta) * newton.onwards)).mid()
        self.theta *= 1.0 - eta
        self.updates += 1
        self.iterations += 1

    def flat(self, size: int) -> FloatArray:
        """Return the weights, rounded to doubles."""
        weights = np.zeros(size)
        weights[self.indices] = [float(row[0].mid()) for row in self.values.tolist()]
        return weights


class PathInBalls(SeesAll[BallState]):
    """Newton's method along the central path of the weights, with 256 bits.

    w(theta) is the point of largest determinant with A w = theta A e and <e, w> = <e, e>; w(1) = e.
    Let H be the quadratic representation of w. Newton's direction from w to w(theta - eta theta) is
    w - H (A*y + mu e), with

        A H (A*y + mu e) = (1 + eta) A w,   <e, H (A*y + mu e)> = <e, w>,

    of local norm sqrt(<d, H^-1 d>). At w(theta), w^-1 = A*y + mu e: where mu <= 0 already, y is a
    feasible point; one is claimed as soon as A*y is inside K. If the hull of the cuts has 0 in its
    interior, the path leads to w(0), inside K with A w = 0, and as far from the boundary as such
    weights are. All numbers are midpoints of balls, of which nothing is assumed: claims are
    proved as all are. It is for what the path in doubles leaves open.
    """

    measures: ClassVar[bool] = True

    def start(self, system: ConicSystem, rng: np.random.Generator) -> BallState:
        """Return the state at w = e."""
        weights = system.cone.multiplicity * system.cone.identity
        parts = supported(system.cone, weights)
        if parts is None:
            raise InputError(
                "path-in-balls takes rows, second-order blocks and matrices with all entries; "
                "choose another"
            )
        # With e as a column, mu is the last multiplier
        dense = np.column_stack([dense_array(system.matrix.scaled()), system.cone.identity])
        with precision():
            blocks = [represented(part, indices, dense) for part, indices in parts]
            weighted = np.concatenate([block.indices for block in blocks])
            return BallState(
                np.zeros(system.dimension),
                weights=weights,
                phase="path-in-balls",
                blocks=blocks,
                indices=weighted,
                data=arb_mat([row for block in blocks for row in block.rows]),
                values=arb_mat([[arb(value)] for value in weights[weighted].tolist()]),
            )

    def step(self, system: ConicSystem, state: BallState, most: int) -> Step[BallState]:
        """Make up to ``most`` steps along the path."""
        with precision():
            for _ in range(most):
                claim = self._step(system, state)
                if claim is not None:
                    return state, claim
        return state, None

    def _step(self, system: ConicSystem, state: BallState) -> Claim | None:
        if state.claimed_weights or state.updates >= STEPS:
            raise NumericalError("the weights of the path in extended precision prove nothing")
        newton = state.newton()
        point = newton.point()
        inside = system.contains(point)
        # A rejected claim costs a proof: repeat it only when the point has moved on
        worth = state.updates - state.claimed >= (1 if inside else APART)
        if worth and (inside or newton.beyond):
            state.point, state.claimed = point, state.updates
            return FeasiblePoint(point.copy())
        if state.theta == 0.0 and np.linalg.norm(np.sqrt(newton.lengths[:, 0])) < CENTRED:
            state.claimed_weights = True
            return MarginBelow(state.flat(system.cone.size), 0.0)
        state.move(newton)
        state.weights = state.flat(system.cone.size)
        return None

    def bound(self, facts: Facts) -> Bound:
        """Return no bound."""
        return Bound(None, "the central path in extended precision", "none is stated")


def _column(matrix: arb_mat, k: int) -> arb_mat:
    return arb_mat([[row[k]] for row in matrix.tolist()])


def _dot(left: list[arb], right: list[arb]) -> arb:
    return sum((x * y for x, y in zip(left, right, strict=True)), arb(0))
