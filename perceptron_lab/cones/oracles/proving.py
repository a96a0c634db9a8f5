"""Oracles of the semidefinite cone that prove both answers, cuts and definiteness.

The question is whether M = Z + sI, of order n, is positive definite. With u the unit roundoff:

- M is declared definite if M - cI has a factor, where c is what rounding may add to the lowest
  eigenvalue of a factorised matrix (:func:`.factor.eigenvalue_rounding`): then lambda_min(M) > 0.
- A cut is a direction v for which v'Mv <= 0 is proved (< 0 for the closed cone) by a compensated
  sum and its error bound. It is the one of the pivot that failed, or else of the lowest eigenvalue.
- If neither succeeds, M has an eigenvalue within rounding of zero. The open cone cuts it by a
  direction with v'Mv <= c norm(v)^2, up to rounding; the closed cone accepts it.

For the closed cone, which accepts more than the open one, M + cI is factorised.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import scipy.linalg

from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.compiled.sparse_ldl import solve_upper
from perceptron_lab.numerics.compiled.symmetric_products import diagonal_sizes, quadratic_form
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, require_ieee_mode
from perceptron_lab.numerics.symmetric.factor import (
    FACTOR,
    FIRST,
    Factor,
    LeadingBlocks,
    curvature_above,
    eigenvalue_rounding,
)
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair, negative_direction
from perceptron_lab.numerics.symmetric.pattern import Pattern


class Examiner(ABC):
    """An oracle of the semidefinite cone for dense matrices.

    Attributes
    ----------
    overwrites
        Whether ``find`` overwrites its argument.
    compiled, compiled_on_pattern
        The compiled functions that it calls, for full matrices and on a sparsity pattern.
    """

    kind: ClassVar[Literal["semidefinite"]] = "semidefinite"
    overwrites: ClassVar[bool] = True
    compiled: ClassVar[Functions] = ()
    compiled_on_pattern: ClassVar[Functions] = ()

    @property
    def accepts_boundary(self) -> bool:
        """Whether a singular matrix can pass as positive definite."""
        return False

    def start(self, order: int) -> Examiner:
        """Return a running oracle for matrices of this order: itself if it has no state."""
        return self

    @abstractmethod
    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return v with v'Zv <= 0 (``closed``: < 0), or None if Z seems positive (semi)definite.

        Parameters
        ----------
        matrix
            Z, symmetric, shape ``(n, n)``, C order, both triangles. It may be overwritten.
        closed
            Whether positive semidefinite is enough.
        """


class PatternExaminer(ABC):
    """A running oracle that reads the entries of a matrix Z on a sparsity pattern.

    Parameters
    ----------
    pattern
        The positions of the entries.

    Attributes
    ----------
    answers
        Name of an oracle -> the number of questions that its method answered; empty for an oracle
        with a single method.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.answers: Counter[str] = Counter()

    @property
    def notes(self) -> list[str]:
        """Remarks about the oracle's answers."""
        return []

    @abstractmethod
    def find(self, entries: FloatArray, slack: float) -> FloatArray | None:
        """Return v with v'Mv <= 0, M = Z + slack I, or None if M seems positive definite.

        At slack s > 0 it is v'Mv < 0, or None if M seems positive semidefinite.
        """


# Up to this order the lowest eigenvalue is computed from the full matrix
WHOLE_UP_TO = 200
# Entries beyond 2^+-this are scaled, so that no product of three overflows or underflows
LARGEST_EXPONENT = 300


class Answer(NamedTuple):
    """The answer of an oracle.

    Parameters
    ----------
    direction
        v with v'Mv <= 0 (closed cone: < 0), norm(v) at most sqrt n, or None if M passes.
    proved
        Whether v'Mv <= 0, or the definiteness of M, is proved. False if M is singular up to
        rounding, or if the closed cone accepts M.
    """

    direction: FloatArray | None
    proved: bool


@dataclass(frozen=True)
class Question:
    """The question whether M = Z + sI is positive definite (``closed``: semidefinite).

    Parameters
    ----------
    pattern, entries, slack
        Z, finite, far from the ends of the range of doubles, and s.
    closed
        Whether the question is semidefiniteness.
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
        """Return c - s, where c bounds the rounding of eigenvalues by inner products this long."""
        order, raised = self.pattern.order, max(self.slack, 0.0)
        largest = above(self.largest + raised, 2)
        rounding = eigenvalue_rounding(terms, order, largest, above(self.trace + order * raised, 2))
        room = above(rounding + 4.0 * UNIT_ROUNDOFF * abs(self.slack), 4) + SMALLEST
        return -self.slack - room if self.closed else room - self.slack

    def cut(self, direction: FloatArray) -> FloatArray | None:
        """Return the direction scaled to largest component 1 if it is proved to cut, or None."""
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
        matrix = pattern.dense(entries)
        return np.asarray(
            scipy.linalg.eigh(matrix, subset_by_index=[0, 0], check_finite=False)[1][:, 0]
        )


class ProvingExaminer(PatternExaminer):
    """A running oracle with proved answers.

    Attributes
    ----------
    unproved
        Number of matrices that were singular up to rounding.
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
        # Scaling by a power of two changes no digit, except where entries underflow: then nothing
        # is proved.
        entries = np.ascontiguousarray(entries)
        size, largest, trace = diagonal_sizes(self.pattern.diagonal, entries)
        exponent = math.frexp(max(size, abs(slack)))[1]
        if abs(exponent) > LARGEST_EXPONENT and size > 0.0:
            vector = np.append(entries, slack)
            scaled = np.ldexp(vector, -exponent)
            direction, proved = self.answer(scaled[:-1], float(scaled[-1]), closed=closed)
            exact = np.array_equal(np.ldexp(scaled, exponent), vector)
            return Answer(direction, proved and exact)
        return self._answer_question(Question(self.pattern, entries, slack, closed, largest, trace))

    @abstractmethod
    def _answer_question(self, question: Question) -> Answer:
        """Answer a question."""

    @property
    def notes(self) -> list[str]:
        """Remark: the number of matrices that were singular up to rounding, if any."""
        if not self.unproved:
            return []
        return [f"the oracle cut off {self.unproved} matrices that are singular up to rounding"]

    def _by_sparse_factor(self, question: Question) -> Answer:
        """Answer by a sparse factor, whose memory is allocated at the first question."""
        if self._factor is None:
            self._factor = Factor(self.pattern)
        return self._by_factor(question, self._factor, self._factor.elimination.terms)

    def _by_factor(self, question: Question, factor: Factor | LeadingBlocks, terms: int) -> Answer:
        """Answer by a factor of M - cI with inner products of at most ``terms`` terms."""
        if factor.eliminate(question.entries, question.shift(terms)) < 0:
            return Answer(None, not question.closed)
        direction = factor.direction()
        # The failing pivot often gives a cut at no cost; the eigenvector is the deepest one, and
        # the last chance for a proof.
        cut = question.cut(direction)
        if cut is None:
            direction = question.lowest()
            cut = question.cut(direction)
        if cut is not None:
            return Answer(cut, True)
        return Answer(None if question.closed else direction, False)


class Proving(Examiner):
    """The record of an oracle with proved answers."""

    compiled: ClassVar[Functions] = (diagonal_sizes, *FACTOR, solve_upper, quadratic_form)
    compiled_on_pattern: ClassVar[Functions] = compiled

    @abstractmethod
    def running_on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle for matrices on a pattern."""

    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return v with v'Zv <= 0 (``closed``: < 0), or None if Z is definite."""
        # A dense matrix is treated on the pattern of its nonzeros, the diagonal included.
        rows, columns = np.nonzero(np.triu(matrix != 0.0) | np.eye(len(matrix), dtype=bool))
        running = self.running_on(Pattern(len(matrix), rows, columns))
        return running.answer(matrix[rows, columns], 0.0, closed=closed).direction


# Largest order of leading blocks; beyond it the sparse factor decides
LARGEST_BLOCK = 3000
# Operations of a factor that takes no longer than a few dozen products with vectors
LIGHT = 4e6


@parameter_record
class SparseLdl(Proving):
    """The sparse decomposition M = L D L', stopped at the first pivot that is not positive.

    Rows and columns are eliminated in an order with little fill (SuperLU's minimum degree), found
    once, and the trailing part, which fills in anyway, is factorised by LAPACK. If d_k is the first
    pivot that is not positive, u with L'u = e_k on the leading rows, 0 behind them, has u'Mu = d_k.
    Both answers are proved: "definite" by a factor of M - cI, c the rounding errors of the
    decomposition, a cut by u'Mu <= 0. The fastest way on sparse matrices.

    References
    ----------
    T. A. Davis, Direct Methods for Sparse Linear Systems, SIAM 2006, chapter 4. S. M. Rump,
    Verification of positive definiteness, BIT 46 (2006) 433-452.
    """

    def running_on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle."""
        return _Sparse(pattern)


@parameter_record
class Lanczos(Proving):
    """The Lanczos method from a fixed start, stopped at the first negative Ritz value.

    Its Ritz vector is a cut, proved by u'Mu < 0, that takes few products with the matrix where M is
    far from semidefinite. If no cut is found, M may still be indefinite: then ``sparse-ldl``
    decides and proves definiteness.

    Parameters
    ----------
    products
        Largest number of products with the matrix per query; 1 or more (default 100).

    References
    ----------
    G. H. Golub, C. F. Van Loan, Matrix Computations, 4th edition, 2013, chapter 10.
    """

    products: Count = 100

    def running_on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle."""
        return _Lanczos(pattern, self.products)


@parameter_record
class LeadingCholesky(Proving):
    """LAPACK's Cholesky decomposition of leading blocks of order 128, 256, 512 and so on.

    The first block without a decomposition gives the direction of its failing pivot; later blocks
    are not read. Both answers are proved, as for ``sparse-ldl``. For matrices of order above 3000,
    which are not stored as full matrices, ``sparse-ldl`` decides.

    References
    ----------
    E. Anderson et al., LAPACK Users' Guide, SIAM 1999 (dpotrf). S. M. Rump, Verification of
    positive definiteness, BIT 46 (2006) 433-452.
    """

    def running_on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle."""
        return _Leading(pattern)


@parameter_record
class AutoOracle(Proving):
    """``sparse-ldl``, ``leading-cholesky`` or ``lanczos``, by order, fill and the last answer.

    Matrices with every entry are factorised by leading blocks, others by ``sparse-ldl``. Where such
    a factor is expensive (more than 4e6 pairs of multiplications and additions, counted in its
    structure), ``lanczos`` searches for a cut first, until it misses one or the matrix is
    definite, and again after the factor has found a cut. The numbers of answers of each method are
    in the certificate's ``notes``, and in the columns ``oracle.NAME`` of a row.
    """

    def running_on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle."""
        return _Automatic(pattern)


class _Sparse(ProvingExaminer):
    name: ClassVar[str] = "sparse-ldl"

    def _answer_question(self, question: Question) -> Answer:
        self.answers[self.name] += 1
        return self._by_sparse_factor(question)


class _Leading(ProvingExaminer):
    name: ClassVar[str] = "leading-cholesky"

    def __init__(self, pattern: Pattern) -> None:
        super().__init__(pattern)
        self._blocks = LeadingBlocks(pattern, min(pattern.order, LARGEST_BLOCK))

    def _answer_question(self, question: Question) -> Answer:
        self.answers[self.name] += 1
        answer = self._by_factor(question, self._blocks, self._blocks.order)
        if answer.direction is None and self._blocks.order < self.pattern.order:
            return self._by_sparse_factor(question)
        return answer


class _Lanczos(ProvingExaminer):
    name: ClassVar[str] = "lanczos"

    def __init__(self, pattern: Pattern, products: int) -> None:
        super().__init__(pattern)
        self.products = products

    def cut(self, question: Question) -> Answer | None:
        """Return the answer if Lanczos finds a proved cut, or None."""
        matrix = self.pattern.sparse(question.entries)
        direction, _ = negative_direction(matrix, -question.slack, self.products)
        cut = None if direction is None else question.cut(direction)
        return None if cut is None else Answer(cut, True)

    def _answer_question(self, question: Question) -> Answer:
        answer = self.cut(question)
        self.answers[_Sparse.name if answer is None else self.name] += 1
        return answer or self._by_sparse_factor(question)


class _Automatic(ProvingExaminer):
    def __init__(self, pattern: Pattern) -> None:
        super().__init__(pattern)
        blocks = pattern.complete and pattern.order > FIRST
        self._factors = _Leading(pattern) if blocks else _Sparse(pattern)
        self._lanczos = _Lanczos(pattern, Lanczos().products)
        operations = pattern.order**3 / 6 if blocks else pattern.elimination.operations
        self.factor_is_expensive = operations > LIGHT
        self._lanczos_first = True

    def _answer_question(self, question: Question) -> Answer:
        first, cut = self.factor_is_expensive and self._lanczos_first, None
        if first:
            cut = self._lanczos.cut(question)
        way = self._factors.name if cut is None else self._lanczos.name
        answer = cut or self._factors._answer_question(question)
        self.answers[way] += 1
        # Lanczos is worth trying only while it finds cuts more cheaply than the factor.
        self._lanczos_first = answer.direction is not None and (cut is not None or not first)
        return answer

    @property
    def notes(self) -> list[str]:
        """Remarks: which methods answered, and the number of matrices singular up to rounding."""
        ways = [f"{name} {count}" for name, count in self.answers.most_common()]
        methods = [f"the oracle auto answered by {', '.join(ways)}"] if ways else []
        return [*methods, *super().notes]
