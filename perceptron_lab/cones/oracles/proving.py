"""Oracles of the semidefinite cone whose word is proved, both ways.

Asked about M = Z + sI, of order n, with u the unit roundoff:

- "definite" is said if M - cI has a factor, where c is what rounding may add to the lowest
  eigenvalue of a factorised matrix (:func:`.factor.rounding_taken`): then lambda_min(M) > 0.
- A cut is a direction v for which v'Mv <= 0 is proved (< 0 for the closed cone) by a compensated
  sum and its error bound. It is the one of the pivot that failed, or else of the lowest eigenvalue.
- What neither proves has an eigenvalue within rounding of zero. It is cut by a direction with
  v'Mv <= c norm(v)^2, up to rounding, so that what passes is proved; the closed cone accepts it.

The factor is one of M + cI for the closed cone, which accepts more than the open one.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from perceptron_lab.cones.oracles.examiner import Examiner, PatternExaminer
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.symmetric_products import diagonal_sizes
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, require_ieee_mode
from perceptron_lab.numerics.symmetric.factor import (
    Factor,
    LeadingBlocks,
    curvature_above,
    rounding_taken,
)
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair
from perceptron_lab.numerics.symmetric.pattern import Pattern

# Matrices of at most this order have their lowest eigenvalue computed as whole matrices
WHOLE_UP_TO = 200
# Entries beyond 2^+-this are scaled, so that no product of three overflows or is lost
LARGEST_EXPONENT = 300


class Answer(NamedTuple):
    """The answer of an oracle.

    Parameters
    ----------
    direction
        v with v'Mv <= 0 (closed cone: < 0), norm(v) at most sqrt n, or None if M passes.
    proved
        Whether v'Mv <= 0, or the definiteness of M, is proved. Not so within rounding of zero, and
        where the closed cone accepts M.
    """

    direction: FloatArray | None
    proved: bool


@dataclass(frozen=True)
class Question:
    """Whether M = Z + sI is positive definite; ``closed``: semidefinite.

    Parameters
    ----------
    pattern, entries, slack
        Z, finite, far from the ends of the range of doubles, and s.
    closed
        Which of the two is asked.
    largest, trace
        Of the diagonal of Z: the largest entry, and the sum of the positive ones.
    """

    pattern: Pattern
    entries: FloatArray
    slack: float
    closed: bool
    largest: float
    trace: float

    def shift(self, terms: int) -> float:
        """Return c - s, where inner products of so many terms may add c to an eigenvalue of M."""
        order, raised = self.pattern.order, max(self.slack, 0.0)
        largest = above(self.largest + raised, 2)
        taken = rounding_taken(terms, order, largest, above(self.trace + order * raised, 2))
        room = above(taken + 4.0 * UNIT_ROUNDOFF * abs(self.slack), 4) + SMALLEST
        return -self.slack - room if self.closed else room - self.slack

    def cut(self, direction: FloatArray) -> FloatArray | None:
        """Return the direction, its largest component 1 in magnitude, if it is proved to cut."""
        size = float(np.abs(direction).max())
        if not 0.0 < size < math.inf:
            return None
        scaled = direction / size
        above_zero = curvature_above(self.pattern, self.entries, self.slack, scaled)
        return scaled if above_zero < 0.0 or (above_zero == 0.0 and not self.closed) else None

    def lowest(self) -> FloatArray:
        """Return a unit eigenvector of the lowest eigenvalue."""
        pattern, entries = self.pattern, self.entries
        if pattern.order > WHOLE_UP_TO:
            tolerance = 0.25 * abs(self.shift(pattern.elimination.terms) + self.slack)
            return lowest_eigenpair(pattern.sparse(entries), tolerance).vector
        whole = pattern.dense(entries)
        return np.asarray(
            scipy.linalg.eigh(whole, subset_by_index=[0, 0], check_finite=False)[1][:, 0]
        )


class ProvingExaminer(PatternExaminer):
    """A running oracle whose word is proved.

    Attributes
    ----------
    unproved
        How many matrices were within rounding of zero.
    """

    def __init__(self, pattern: Pattern) -> None:
        super().__init__(pattern)
        require_ieee_mode()
        self.unproved = 0
        self._factor: Factor | None = None

    def find(self, entries: FloatArray, slack: float) -> FloatArray | None:
        """Return v with v'Mv <= 0, or None if M is proved to be positive definite.

        At slack s > 0 it is v'Mv < 0, or None if M is positive semidefinite, up to rounding.
        """
        answer = self.answer(entries, slack, closed=slack > 0)
        self.unproved += answer.direction is not None and not answer.proved
        return answer.direction

    def answer(self, entries: FloatArray, slack: float, *, closed: bool) -> Answer:
        """Answer whether M = Z + slack I is definite, or semidefinite.

        Parameters
        ----------
        entries
            Z on the pattern, finite, shape ``(size,)``.
        slack
            s.
        closed
            Whether positive semidefinite is enough.
        """
        entries = np.ascontiguousarray(entries)
        size, largest, trace = diagonal_sizes(self.pattern.diagonal, entries)
        exponent = math.frexp(max(size, abs(slack)))[1]
        if abs(exponent) > LARGEST_EXPONENT and size > 0.0:
            given = np.append(entries, slack)
            scaled = np.ldexp(given, -exponent)
            direction, proved = self.answer(scaled[:-1], float(scaled[-1]), closed=closed)
            exact = np.array_equal(np.ldexp(scaled, exponent), given)
            return Answer(direction, proved and exact)
        return self._settle(Question(self.pattern, entries, slack, closed, largest, trace))

    @abstractmethod
    def _settle(self, question: Question) -> Answer:
        """Answer a question."""

    @property
    def notes(self) -> list[str]:
        """How many matrices were within rounding of zero, if any."""
        if not self.unproved:
            return []
        return [f"the oracle cut {self.unproved} matrices off that are within rounding of singular"]

    def _by_sparse_factor(self, question: Question) -> Answer:
        """Answer by a sparse factor; Python allots its room at the first question."""
        if self._factor is None:
            self._factor = Factor(self.pattern)
        return self._by_factor(question, self._factor, self._factor.elimination.terms)

    def _by_factor(self, question: Question, factor: Factor | LeadingBlocks, terms: int) -> Answer:
        """Answer by a factor of M - cI, whose inner products have at most so many terms."""
        if factor.eliminate(question.entries, question.shift(terms)) < 0:
            return Answer(None, not question.closed)
        direction = factor.direction()
        cut = question.cut(direction)
        if cut is None:
            direction = question.lowest()
            cut = question.cut(direction)
        if cut is not None:
            return Answer(cut, True)
        return Answer(None if question.closed else direction, False)


class Proving(Examiner):
    """The record of an oracle whose word is proved."""

    @abstractmethod
    def on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle for matrices on a pattern."""

    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return v with v'Zv <= 0 (``closed``: < 0), or None if Z is definite; nothing is kept."""
        rows, columns = np.nonzero(np.triu(matrix != 0.0) | np.eye(len(matrix), dtype=bool))
        running = self.on(Pattern(len(matrix), rows, columns))
        return running.answer(matrix[rows, columns], 0.0, closed=closed).direction
