"""A conic system that counts the oracle queries and the products of algorithms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from perceptron_lab.certificates.rounding import normalised
from perceptron_lab.cones.base import Atom, Cone, Frame
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import FloatArray, Result
from perceptron_lab.core.run_options import Oracle, RunOptions
from perceptron_lab.systems.system import Counters, Cut, Deepest, Loop, Objective, System

OVERFLOW = "the scores of the point are not finite (overflow)"
# Squares below this are not trusted: their terms may have underflowed
SMALL = 1e-290


@dataclass(frozen=True)
class CountedSystem(System):
    """The system A*y in int K as algorithms see it; scores that are not finite raise
    NumericalError.

    Parameters
    ----------
    operator, cone
        A* and K, of one ``size``.
    origin
        The system, innermost, on which the answers of this view are proved; or None.
    interior
        A point known to lie inside, shape ``(dimension,)``, by which an answer on the boundary can
        be moved; or None.
    unit_rows
        Whether the margin is that of the rows divided by their norms.
    multiple
        The factor > 0 that makes the data as given whole numbers.
    homogenised
        Whether F(x) = sum x_i F_i - F_0 has a homogenising x_0, coordinate 0, with x_0 > 0 as the
        first block.
    closed_rows
        Whether the rows after the first block may be 0, as linear conditions together with cones.
    names
        Of the blocks but x_0, and of the rows of diagonal blocks; empty for numbers.
    decimals
        Whether the numbers as given are the shortest decimals of the stored doubles.
    objective
        c of the program min c'x that the homogenised system is of; or None.
    tolerance
        A point passes at slack 0 if <atom, A*y> > tolerance * max |scores| for every atom. Raised
        when a point inside to rounding error could not be proved to be inside.
    target
        0, or the upper bound of the margin whose proof ends the run, instead of the bound that an
        algorithm would claim.
    ratio
        0, or the part of the largest margin whose proof ends the run.
    deciding
        Whether any proved answer ends the run.
    counters
        Counts of the queries and products of algorithms.
    """

    operator: Operator
    cone: Cone
    origin: Self | None = None
    interior: FloatArray | None = None
    unit_rows: bool = False
    multiple: float = 1.0
    homogenised: bool = False
    closed_rows: bool = False
    names: tuple[str, ...] = ()
    decimals: bool = False
    objective: Objective | None = None
    tolerance: float = 0.0
    target: float = 0.0
    ratio: float = 0.0
    deciding: bool = False
    counters: Counters = field(default_factory=Counters)

    @property
    def matrix(self) -> Matrix:
        """The operator of a system whose operator is a matrix."""
        assert isinstance(self.operator, Matrix)
        return self.operator

    def __post_init__(self) -> None:
        if self.operator.size != self.cone.size:
            raise InputError(
                f"the operator has {self.operator.size} scores, the cone {self.cone.size} "
                "coordinates; they must agree"
            )

    @property
    def dimension(self) -> int:
        """Number of coordinates of a point."""
        return self.operator.dimension

    @property
    def constraints(self) -> int:
        """Number of constraints: the rank of the cone."""
        return int(self.cone.rank)

    @property
    def unknowns(self) -> int:
        """Number of coordinates of an answer."""
        return int(self.operator.unknowns)

    @property
    def oracles(self) -> Mapping[str, Oracle]:
        """The oracle of each kind of cone, unless another one is chosen."""
        return self.cone.oracles

    def driven(self, algorithm: Any, options: RunOptions, loop: Loop) -> Result:
        """Run an algorithm on this system."""
        return loop(self, algorithm, options)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return A*point, shape ``(size,)``; counts one product."""
        self.counters.products += self.operator.scores_cost
        return self.operator.scores(point)

    def priced(self, point: FloatArray) -> FloatArray:
        """Return A*point in the precision of the data; counts one product."""
        self.counters.products += self.operator.scores_cost
        return self.operator.priced(point)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return A weights, shape ``(dimension,)``; counts one product."""
        self.counters.products += 1
        return self.operator.combine(weights)

    def row(self, index: int) -> FloatArray:
        """Return a row, shape ``(dimension,)``, of rows; counts its share of a product."""
        self.counters.products += 1.0 / self.operator.size
        return np.asarray(self.matrix.rows(np.array([index]))[0])

    def column(self, index: int) -> FloatArray:
        """Return a column, shape ``(size,)``, of rows; counts its share of a product."""
        self.counters.products += 1.0 / self.dimension
        return self.matrix.column(index)

    def cut(self, point: FloatArray, slack: float = 0.0) -> Cut | None:
        """Query the oracle at a point: a violated constraint or None; counts one query.

        Parameters
        ----------
        point
            Shape ``(dimension,)``.
        slack
            0: A*point must lie inside K (by the tolerance). s > 0: A*point + s e must lie in
            K (absolute).
        """
        self.counters.queries += 1
        scores = self.scores(point)
        # Relative to the largest score: the answer does not depend on the length of the point
        if self.tolerance and not slack:
            slack = -self.tolerance * float(np.abs(scores).max())
        atom = self.cone.separate(scores, slack)
        relevant = scores if atom is None else scores[atom.span]
        if not np.isfinite(relevant).all():
            raise NumericalError(OVERFLOW)
        if atom is None:
            return None
        return self._cut(atom, point)

    def _cut(self, atom: Atom, point: FloatArray) -> Cut:
        self.counters.products += self.operator.normal_cost
        normal = self.operator.normal(atom)
        cut = Cut(normal, atom, self.norm(normal))
        if self.counters.observe_cut is not None:
            self.counters.observe_cut(cut, self._depth(cut, point))
        return cut

    def _depth(self, cut: Cut, point: FloatArray) -> float:
        lengths = cut.norm * self.norm(point)
        return -self.operator.inner(cut.normal, point) / lengths if lengths else math.nan

    def deepest(self, point: FloatArray) -> Deepest:
        """Return the constraint with the least score at a point; counts one query."""
        self.counters.queries += 1
        scores = self.scores(point)
        atom, score = self.cone.deepest(scores)
        _refuse_overflow(score)
        return Deepest(self._cut(atom, point), score, scores)

    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, Frame]:
        """Return the eigenvalues of scores and their frame; counts one query."""
        self.counters.queries += 1
        values, frame = self.cone.spectrum(scores)
        _refuse_overflow(float(values.min()))
        return values, frame

    def lowest(self, scores: FloatArray) -> float:
        """Return the lowest eigenvalue of scores; counts one query."""
        self.counters.queries += 1
        score = self.cone.lowest(scores)
        _refuse_overflow(score)
        return score

    def inside(self, score: float, scores: FloatArray) -> bool:
        """Return whether scores with this lowest eigenvalue lie inside K, by the tolerance."""
        if not self.tolerance:
            return score > 0.0
        return score > 0.0 and score > self.tolerance * float(np.abs(scores).max())

    def contains(self, point: FloatArray) -> bool:
        """Return whether A*point lies inside K, by the tolerance; counts a product and a query."""
        scores = self.scores(point)
        return self.inside(self.lowest(scores), scores)

    def norm(self, point: FloatArray) -> float:
        """Return the norm of a point, also if its square overflows or underflows."""
        square = max(self.operator.inner(point, point), 0.0)
        if SMALL < square < math.inf:
            return math.sqrt(square)
        ray = normalised(point)
        if ray is None:
            return math.sqrt(square)
        power = float(np.abs(point).max()) / float(np.abs(ray).max())
        return math.sqrt(max(self.operator.inner(ray, ray), 0.0)) * power

    def margin(self, point: FloatArray) -> float:
        """Return the computed (not proved) margin of a point; -inf if it is 0 or not finite.

        Counts nothing.
        """
        ray = normalised(point)
        if ray is None:
            return -math.inf
        length = self.norm(ray)
        return self.cone.lowest(self.operator.scores(ray)) / length if length else -math.inf

    def upper(self, weights: FloatArray) -> float:
        """Return the computed (not proved) bound norm(A w) / <e, w> of the margin, or NaN.

        It is that of the cuts as this view has them. Counts nothing.
        """
        mass = float(weights @ self.cone.identity)
        return self.norm(self.operator.combine(weights)) / mass if mass > 0.0 else math.nan


def _refuse_overflow(score: float) -> None:
    if not math.isfinite(score):
        raise NumericalError(OVERFLOW)
