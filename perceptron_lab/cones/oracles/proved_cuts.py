"""Registered oracles of the semidefinite cone whose word is proved, for matrices of any size."""

from __future__ import annotations

from typing import ClassVar

from perceptron_lab.cones.oracles.proving import Answer, Proving, ProvingExaminer, Question
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.numerics.symmetric.factor import FIRST, LeadingBlocks
from perceptron_lab.numerics.symmetric.lanczos import negative_direction
from perceptron_lab.numerics.symmetric.pattern import Pattern

# Leading blocks of a larger order are not written; the sparse factor has the last word
LARGEST_BLOCK = 3000
# Pairs of operations of a factor that take no longer than a few dozens of products with vectors
LIGHT = 4e6


@parameter_record
class SparseLdl(Proving):
    """The sparse decomposition M = L D L', stopped at the first pivot that is not positive.

    Rows and columns are eliminated in an order with little fill (SuperLU's minimum degree), found
    once, and the trailing part that is filled all the same is left to LAPACK. If d_k is the first
    pivot that is not positive, u with L'u = e_k on the leading rows, 0 behind them, has u'Mu = d_k.
    Both answers are proved: "definite" by a factor of M - cI, c the rounding errors of the
    decomposition, a cut by u'Mu <= 0. The fastest way on sparse matrices.

    References
    ----------
    T. A. Davis, Direct Methods for Sparse Linear Systems, SIAM 2006, chapter 4. S. M. Rump,
    Verification of positive definiteness, BIT 46 (2006) 433-452.
    """

    def on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle."""
        return _Sparse(pattern)


@parameter_record
class Lanczos(Proving):
    """The Lanczos method from a fixed start, stopped at the first negative Ritz value.

    Its Ritz vector is a cut, proved by u'Mu < 0, that takes few products with the matrix where M is
    far from semidefinite. That none is found says nothing: then ``sparse-ldl`` has the last word,
    on which definiteness rests.

    Parameters
    ----------
    products
        Products with the matrix of one query, at most; 1 or more (default 100).

    References
    ----------
    G. H. Golub, C. F. Van Loan, Matrix Computations, 4th edition, 2013, chapter 10.
    """

    products: Count = 100

    def on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle."""
        return _Lanczos(pattern, self.products)


@parameter_record
class LeadingCholesky(Proving):
    """LAPACK's Cholesky decomposition of leading blocks of order 128, 256, 512 and so on.

    The first block that has none gives the direction of its pivot that fails, and nothing behind it
    is looked at. Both answers are proved, as those of ``sparse-ldl``. Matrices of an order above
    3000 are not written as a whole: ``sparse-ldl`` has the last word on them.

    References
    ----------
    E. Anderson et al., LAPACK Users' Guide, SIAM 1999 (dpotrf). S. M. Rump, Verification of
    positive definiteness, BIT 46 (2006) 433-452.
    """

    def on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle."""
        return _Leading(pattern)


@parameter_record
class AutoOracle(Proving):
    """``sparse-ldl``, ``leading-cholesky`` or ``lanczos``, by order, fill and the last answer.

    Matrices with every entry are factorised by leading blocks, others by ``sparse-ldl``. Where such
    a factor is heavy (more than 4e6 pairs of multiplications and additions, counted in its
    structure), ``lanczos`` looks for a cut first: until it has missed one, or the matrix was
    definite, and again after the factor has found a cut. How often each one answered is in the
    certificate's ``notes``, and in the columns ``oracle.NAME`` of a row.
    """

    def on(self, pattern: Pattern) -> ProvingExaminer:
        """Return a running oracle."""
        return _Automatic(pattern)


class _Sparse(ProvingExaminer):
    name: ClassVar[str] = "sparse-ldl"

    def _settle(self, question: Question) -> Answer:
        self.answers[self.name] += 1
        return self._by_sparse_factor(question)


class _Leading(ProvingExaminer):
    name: ClassVar[str] = "leading-cholesky"

    def __init__(self, pattern: Pattern) -> None:
        super().__init__(pattern)
        self._blocks = LeadingBlocks(pattern, min(pattern.order, LARGEST_BLOCK))

    def _settle(self, question: Question) -> Answer:
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
        """Return the answer, if it is a cut that is proved."""
        matrix = self.pattern.sparse(question.entries)
        direction, _ = negative_direction(matrix, -question.slack, self.products)
        cut = None if direction is None else question.cut(direction)
        return None if cut is None else Answer(cut, True)

    def _settle(self, question: Question) -> Answer:
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
        self.heavy = operations > LIGHT
        self._cut = True

    def _settle(self, question: Question) -> Answer:
        first, found = self.heavy and self._cut, None
        if first:
            found = self._lanczos.cut(question)
        way = self._factors.name if found is None else self._lanczos.name
        answer = found or self._factors._settle(question)
        self.answers[way] += 1
        self._cut = answer.direction is not None and (found is not None or not first)
        return answer

    @property
    def notes(self) -> list[str]:
        """Which ways it chose, and how many matrices were within rounding of zero."""
        ways = [f"{name} {count}" for name, count in self.answers.most_common()]
        chosen = [f"the oracle auto answered by {', '.join(ways)}"] if ways else []
        return [*chosen, *super().notes]
