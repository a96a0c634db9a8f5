"""A conic system with proofs of its margins, bounds and facts on the original data.

Exact weights w >= 0 of a few rows with sum_i w_i a_i = 0, in rational numbers.

Where few rows contradict each other, their weights are the only ones, and computed weights of other
rows are rounding errors: the rows of large weights are solved for exactly, the fewest first. Where
that gives a negative weight, those of a vertex are tried, which a linear program proposes; of many
rows it is tried first, since it has few rows, and costs less.

Where time is left, more rows are solved for, and vertices are sought among the rows that a computed
point hardly separates, in sets of twice the size each time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.infeasibility import (
    ALGEBRAIC,
    RATIONAL,
    InfeasibilityProof,
    prove_infeasible,
)
from perceptron_lab.certificates.margin import prove_point, prove_weights
from perceptron_lab.certificates.norms import cached_bound, norm_bound
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Operator, combined, rows_at
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import row_indices
from perceptron_lab.cones.semidefinite import matrices_of
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray, IntArray, Result
from perceptron_lab.core.time_limit import check_time, seconds_left
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF
from perceptron_lab.systems.counted import CountedSystem
from perceptron_lab.systems.exact_pencil import ExactPencil, flat_of, flat_weights, guess_of

# Rows whose part of the sum of norms is below such a part of the largest may be left out
_PARTS = (1e-2, 1e-5, 1e-9, 1e-13)
# norm(A w) relative to the sum of norms, beyond which no exact weights are near
_NEAR = 1e-6
# Rows solved for at most, and entries that are not 0; all that takes about a second, or minutes
_ROWS, _ENTRIES = 600, 300_000
_MOST_ROWS, _MOST_ENTRIES = 3000, 3_000_000
# Rows of the first set in which vertices are sought, in units of the dimension, and vertices of one
_FIRST, _VERTICES = 2, 4
# Entries of a linear program that takes less than a tenth of it; larger ones are killed in time
_QUICK = 20_000
# So few are solved for in a hundredth of it
_FEW = 60
# Scores of a system of cones that is written in whole numbers
_MOST_SCORES = 200_000


def exact_weights(
    operator: Matrix, weights: FloatArray, *, quick: bool = False
) -> FloatArray | None:
    """Return doubles near exact weights w >= 0, w != 0, with A w = 0, or None.

    Parameters
    ----------
    operator
        Rows that are meant as they are stored, dense, sparse, mapped or read from files. Of rows
        that were rounded nothing is said.
    weights
        Weights of the operator's rows, >= 0, shape ``(m,)``.
    quick
        Whether no more rows are solved for than take about a second.

    Raises
    ------
    TimeIsUp
        If a time limit ends first.
    """
    if not _may_be_exact(operator, weights):
        return None
    mass, last_size = weights * operator.row_norms(), 0
    rows, entries = (_ROWS, _ENTRIES) if quick else (_MOST_ROWS, _MOST_ENTRIES)
    for part in _PARTS:
        support = np.flatnonzero(mass > part * mass.max())
        if len(support) == last_size or len(support) > rows:
            continue
        last_size = len(support)
        exact = _of_rows(operator, support, weights[support], entries)
        if exact is not None:
            return _spread(support, exact, len(weights))
    return None


def search_exact_weights(
    operator: Matrix, weights: FloatArray, scores: FloatArray
) -> FloatArray | None:
    """Return doubles near exact weights, near the given ones or on any other rows.

    Parameters
    ----------
    operator, weights
        As there.
    scores
        Of the rows at a point that hardly separates them, shape ``(m,)``: where a point separates
        all others, those of positive weights have scores of 0.

    Raises
    ------
    TimeIsUp
        If a time limit ends first.
    """
    exact = exact_weights(operator, weights)
    norms = operator.row_norms()
    if exact is not None or not (_may_be_exact(operator, weights) and norms.min() > 0.0):
        return exact
    mass = weights * norms
    # Rows of large weight first, then those whose scores are nearest to 0
    heavy = mass > _PARTS[0] * mass.max()
    order = np.lexsort((np.abs(scores) / norms, ~heavy))
    size = _FIRST * operator.dimension
    while True:
        exact = _in_support(operator, np.sort(order[:size]))
        if exact is not None or size >= len(order):
            return exact
        # Doubling keeps the total work within a factor of that of the last set
        size *= 2


def _in_support(operator: Matrix, support: IntArray) -> FloatArray | None:
    """Return doubles near exact weights at a vertex of the given rows, or of all but one."""
    size = operator.size
    for _ in range(_VERTICES):
        check_time()
        rows = sp.csr_array(rows_at(operator.stored, support))
        if rows.nnz > _MOST_ENTRIES:
            return None
        vertex = _vertex(rows)
        if vertex is None:
            return None
        solution = _solved(rows, vertex) if np.count_nonzero(vertex) <= _MOST_ROWS else None
        if solution is not None:
            return _spread(support, solution, size)
        norms = operator.row_norms()[support]
        support = np.delete(support, int(np.argmax(vertex * norms)))
    return None


def _may_be_exact(operator: Matrix, weights: FloatArray) -> bool:
    """Return whether the data are exact and norm(A w) is small enough for exact weights."""
    total = float(weights @ operator.row_norms())
    if operator.roundings or not (np.isfinite(total) and total > 0.0):
        return False
    return float(np.linalg.norm(combined(weights, operator.stored))) <= _NEAR * total


def _spread(support: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Extend the weights of a support to all rows by zeros."""
    flat = np.zeros(size)
    flat[support] = values
    return flat


def _of_rows(
    operator: Matrix, support: IntArray, guess: FloatArray, entries: int
) -> FloatArray | None:
    """Return doubles near exact weights of the given rows, near a guess or at a vertex."""
    check_time()
    rows = sp.csr_array(rows_at(operator.stored, support))
    if rows.nnz > entries:
        return None
    few = len(support) <= _FEW
    solution = _solved(rows, guess) if few else None
    if solution is None:
        vertex = _vertex(rows)
        solution = None if vertex is None else _solved(rows, vertex)
    return solution if few or solution is not None else _solved(rows, guess)


def _solved(rows: sp.csr_array, guess: FloatArray) -> FloatArray | None:
    """Return doubles near an exact solution that is close to a guess, >= 0 and nonzero; or None."""
    at = np.flatnonzero(guess)
    equations: dict[int, dict[int, int]] = {}
    scales, lengths = [], np.zeros(len(at))
    for position, i in enumerate(at.tolist()):
        check_time()
        span = slice(rows.indptr[i], rows.indptr[i + 1])
        entries = [Fraction(entry) for entry in rows.data[span].tolist()]
        # All denominators are powers of two
        scale = max((entry.denominator for entry in entries), default=1)
        scales.append(scale)
        lengths[position] = float(np.abs(rows.data[span]).max(initial=0.0))
        for j, number in zip(rows.indices[span].tolist(), entries, strict=True):
            equations.setdefault(j, {})[position] = int(number * scale)
    scaled = [
        Fraction(weight) / scale for weight, scale in zip(guess[at].tolist(), scales, strict=True)
    ]
    order: list[int] = np.argsort(-guess[at] * lengths, kind="stable").tolist()
    from perceptron_lab.systems.exact_solutions import Equation, near_solution

    solution = near_solution(
        [Equation(entries_of, 0) for entries_of in equations.values()], scaled, order, _MOST_ROWS
    )
    if solution is None or min(solution) < 0 or not any(solution):
        return None
    exact = np.zeros(len(guess))
    exact[at] = to_doubles(
        [w * scale for w, scale in zip(solution, scales, strict=True)], scaled=True
    )
    return exact


def vertex_of(equations: Any, seconds: float) -> FloatArray | None:
    """Return a vertex x >= 0 of equations with right-hand side (0, ..., 0, 1), by HiGHS.

    None where it finds none in so many seconds, which it may take no notice of for some more.
    """
    right = np.zeros(equations.shape[0])
    right[-1] = 1.0
    options: Any = {"time_limit": seconds} if np.isfinite(seconds) else {}
    costs = np.zeros(equations.shape[1])
    answer = scipy.optimize.linprog(
        costs, A_eq=equations, b_eq=right, method="highs-ds", options=options
    )
    return np.asarray(answer.x, dtype=float) if answer.status == 0 else None


def _vertex(rows: sp.csr_array) -> FloatArray | None:
    """Return a vertex of {w >= 0 : sum_i w_i a_i = 0, sum_i w_i norm(a_i) = 1} in doubles."""
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    if not (np.isfinite(norms).all() and norms.min() > 0.0):
        return None
    unit = sp.csr_array(sp.diags_array(1.0 / norms) @ rows)
    last = sp.csr_array(np.ones((1, len(norms))))
    equations = sp.csc_array(sp.vstack([sp.csr_array(unit.T), last]))
    equations = sp.csc_array(equations[np.diff(sp.csr_array(equations).indptr) > 0])
    program = equations, seconds_left()
    values = vertex_of(*program) if rows.nnz <= _QUICK else killable(vertex_of, *program)
    check_time()
    if values is None:
        return None
    weights = np.maximum(values, 0.0) / norms
    return np.where(weights * norms > 1e-9 * (weights * norms).max(), weights, 0.0)


# Steps that balance the blocks of central weights, at most; two blocks take one
STEPS = 20


@dataclass(frozen=True)
class CertifiedSystem(CountedSystem):
    """A system whose answers are verified on ``origin``, the innermost data.

    The parameters are those of :class:`~perceptron_lab.systems.counted.CountedSystem`.
    """

    @property
    def margin_name(self) -> str:
        """The margin that is proved: ``unit``, ``directional`` or ``geometric``; empty of cones.

        Matrices and second-order blocks have one margin only.
        """
        if not self.cone.of_rows:
            return ""
        if self._innermost()[0].free_bias:
            return "geometric"
        return "unit" if self.unit_rows else "directional"

    @property
    def margin_is_proved(self) -> bool:
        """Whether the margin of this view is the margin of the original data.

        False where classes are seen as unit rows (x, 1): then the geometric margin of the answers
        is proved, and a bound of one margin does not bound the other.
        """
        return self.operator.free_bias or not self._innermost()[0].free_bias

    def margin(self, point: FloatArray) -> float:
        """Return the computed, unverified margin of a point; -inf if it is 0 or not finite.

        Of classes the geometric one, whatever this view has. Counts nothing.
        """
        operator, _ = self._innermost()
        if not isinstance(operator, Classes):
            return super().margin(point)
        length = operator.length(point)
        return float(operator.scores(point).min()) / length if length > 0.0 else -math.inf

    def upper(self, weights: FloatArray) -> float:
        """Return the computed, unverified bound of the margin by weights, or NaN.

        It is norm(A w) / <e, w> of the cuts as this view has them; of classes half the distance of
        the two points of their hulls. Counts nothing.
        """
        operator, _ = self._innermost()
        if not isinstance(operator, Classes):
            return super().upper(weights)
        return operator.half_distance(self.weights_to_origin(weights))

    @property
    def resolution(self) -> float:
        """An upper bound of the margins that double precision cannot distinguish from 0.

        0 for rows and matrices. With inner products alone, norm(A w)^2 = w'Sw is known to about
        2 (m + 2) u only, and to the errors of the kernel's values or what was added to its
        diagonal; its root to the root of that.
        """
        system = self if self.origin is None else self.origin
        if not isinstance(system.operator, Gram):
            return 0.0
        matrix = system.operator.matrix
        rounding = 2.0 * (self.cone.size + 2) * UNIT_ROUNDOFF
        return 2.0 * math.sqrt(rounding + matrix.spread + matrix.diagonal_shift)

    def worth(self, epsilon: float) -> float:
        """Return the largest norm(A w) for which weights are claimed: epsilon or the target."""
        return max(self.target or epsilon, self.resolution)

    def weights_to_origin(self, weights: FloatArray) -> FloatArray:
        """Return weights of this view as those of the original data: w_i / norm(a_i) for rows."""
        return weights if self.operator.scale is None else weights * self.operator.scale

    def _innermost(self) -> tuple[Operator, Cone]:
        system = self if self.origin is None else self.origin
        return system.operator, system.cone

    def prove_point(self, point: FloatArray) -> PointProof:
        """Prove the margin of a point on the original data."""
        operator, cone = self._innermost()
        return prove_point(operator, cone, self.operator.compact(point), unit_rows=self.unit_rows)

    def prove_weights(self, weights: FloatArray) -> float | None:
        """Prove an upper bound of the margin on the original data; None if nothing is proved.

        The bound 0 says that no point is feasible. Weights of rows that may be 0 do not prove that,
        and have the least positive double instead.
        """
        operator, cone = self._innermost()
        at_origin = self.weights_to_origin(weights)
        upper = prove_weights(operator, cone, at_origin, unit_rows=self.unit_rows)
        closed = self.closed_rows and not cone.of_rows and not at_origin[0]
        if upper == 0.0 and closed and not at_origin[self._of_cones()].any():
            return math.ulp(0.0)
        return upper

    def _of_cones(self) -> IntArray:
        """Return the scores of blocks that are no rows."""
        _, cone = self._innermost()
        return np.setdiff1d(np.arange(cone.size), row_indices(cone.blocks))

    def prove_infeasible(
        self, weights: FloatArray, *, quick: bool = False
    ) -> InfeasibilityProof | None:
        """Prove that exact weights with A w = 0 exist near these; None where that fails.

        ``quick`` leaves out what takes more than about a second in rational numbers, and weights on
        the boundary of K*.
        """
        operator, cone = self._innermost()
        exactly, at_origin = partial(exact_weights, quick=quick), self.weights_to_origin(weights)
        proof = prove_infeasible(operator, cone, at_origin, exactly)
        return self._on_boundary(at_origin) if proof is None and not quick else proof

    def exact_scores(self) -> Iterator[Mapping[int, Fraction]] | None:
        """Return the scores' exact coefficients by columns, as given; None if they are unknown."""
        operator, _ = self._innermost()
        origin = self if self.origin is None else self.origin
        if not isinstance(operator, Matrix) or (operator.roundings and not origin.decimals):
            return None
        # The shortest decimal of a double is the one that it was read from
        exact = (lambda x: Fraction(repr(x))) if operator.roundings else Fraction
        rows: Any = sp.csr_array(operator.data)
        spans = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
        return (
            dict(zip(rows.indices[a:b].tolist(), map(exact, rows.data[a:b].tolist()), strict=True))
            for a, b in spans
        )

    def exact_answer(self, point: Sequence[Fraction]) -> Sequence[Fraction]:
        """Return y / y_0 without its first entry, the x of a point of a homogenised system."""
        return [coordinate / point[0] for coordinate in point[1:]]

    def exact_pencil(self) -> ExactPencil | None:
        """Return the system in whole numbers, unless it is too large, or of rows alone."""
        operator, cone = self._innermost()
        # Weights on a pattern are no matrices
        part_of_matrix = any(not part.complete for part, _ in matrices_of(cone.blocks))
        other = cone.of_rows or part_of_matrix or cone.size > _MOST_SCORES
        scores = None if other else self.exact_scores()
        if scores is None:
            return None
        pencil = ExactPencil.of_scores(
            cone, scores, operator.dimension, homogenised=self.homogenised
        )
        return replace(pencil, closed=not self.closed_rows)

    def _on_boundary(self, weights: FloatArray) -> InfeasibilityProof | None:
        """Prove infeasibility by exact weights on the boundary of K*, near the given ones."""
        pencil = self.exact_pencil()
        if pencil is None or not np.isfinite(weights).all():
            return None
        from perceptron_lab.systems.face_weights import weights_near

        _, cone = self._innermost()
        exact = weights_near(pencil, guess_of(cone, weights))
        if exact is None:
            return None
        return InfeasibilityProof(flat_weights(cone, exact), 0.0, RATIONAL)

    def seek_contradiction(
        self, weights: FloatArray, point: FloatArray
    ) -> InfeasibilityProof | None:
        """Prove that exact weights with A w = 0 exist, of cones near these; None if not found.

        Of rows the search runs until the time is up or all rows have been examined; a computed
        ``point`` determines their order.
        """
        operator, _ = self._innermost()
        if not isinstance(operator, Matrix) or not self.cone.of_rows:
            return self._on_boundary(self.weights_to_origin(weights))
        scores = operator.scores(self.operator.compact(point))
        weights_found = search_exact_weights(operator, self.weights_to_origin(weights), scores)
        return None if weights_found is None else InfeasibilityProof(weights_found, 0.0, RATIONAL)

    def prove_irrational(self, weights: FloatArray) -> tuple[InfeasibilityProof | None, str]:
        """Prove infeasibility by irrational weights, near the given ones; or return a remark."""
        pencil = self.exact_pencil()
        if pencil is None or not np.isfinite(weights).all():
            return None, ""
        from perceptron_lab.systems.algebraic_weights import AlgebraicWeights, algebraic_weights

        _, cone = self._innermost()
        exact = algebraic_weights(pencil, guess_of(cone, self.weights_to_origin(weights)))
        if isinstance(exact, AlgebraicWeights):
            remark = (
                f"these weights are irrational, in Q(a), {exact}; whether rational ones exist is "
                "not decided"
            )
            return InfeasibilityProof(flat_of(cone, exact.weights), 0.0, ALGEBRAIC, remark), ""
        if exact is None:
            return None, ""
        digits = Decimal(exact.numerator) / Decimal(exact.denominator)
        return None, (
            "weights with A w = 0 were computed on the boundary of the dual cone, and as far as "
            f"60 digits tell they are irrational: an entry of their range is near {digits}"
        )

    def answer(self, result: Result) -> Result:
        """Return a result of this view in the variables of the original data."""
        return result

    @property
    def provenance(self) -> str:
        """The data that proofs are about: ``exact``, or how those given are enclosed."""
        return self._innermost()[0].provenance

    def facts(self, margin: float | None = None) -> Facts:
        """Return the facts for bounds; ``margin`` is a known (lower bound of the) margin."""
        operator, cone = self._innermost()
        multiple = self.multiple if self.origin is None else self.origin.multiple
        norm = norm_bound(operator, cone, "atoms") / multiple
        shortest = None
        if operator.free_bias:  # (2.67): at least margin / norm of the rows (x_i, 1)
            margin = None if margin is None else margin / norm
            margin = margin / norm if margin is not None and self.unit_rows else margin
        if cone.of_rows and isinstance(operator, Matrix | Gram):
            shortest = float(operator.row_norms().min()) / multiple or None
        unit = raw = margin
        if margin is not None and self.unit_rows and operator.free_bias:
            raw = margin  # the rows (x_i, 1) have norms of 1 and more
        elif margin is not None and self.unit_rows:
            assert isinstance(operator, Matrix | Gram)
            raw = margin * float(operator.row_norms().min()) / multiple
        elif margin is not None:
            unit = margin / norm
        return Facts(
            dimension=min(self.operator.dimension, self.operator.unknowns),
            rank=cone.rank,
            margin=margin,
            unit_margin=unit,
            raw_margin=raw,
            norm=norm,
            shortest=shortest,
            unit_rows=self.unit_rows,
            spectral=cached_bound(self.operator, self.cone, "euclidean"),
            largest_entry=cached_bound(self.operator, self.cone, "entries"),
        )

    def spectral_norm(self) -> float:
        """Return an upper bound of norm(A)_2 for the cuts of this view (trace norm)."""
        return norm_bound(self.operator, self.cone, "euclidean")

    def largest_entry(self) -> float:
        """Return max |a_ij| of the rows of this view, which are in memory."""
        return norm_bound(self.operator, self.cone, "entries")

    def atom_norm(self) -> float:
        """Return an upper bound of norm(A(atom)) for the cuts of this view."""
        return 1.0 if self.unit_rows else norm_bound(self.operator, self.cone, "atoms")


def central_weights(system: CountedSystem) -> FloatArray:
    """Return w in Delta(K), a multiple of e on each block, with small norm(A w).

    margin <= norm(A w) for every w in Delta(K). With b_k = e_k / rank_k, the barycentre of block k,
    w = sum_k theta_k b_k starts at the barycentre e / rank of the cone and goes to

        w <- (1 - t) w + t b_k,    k = argmin <b_k, A*(A w)>,

    where t in [0, 1] makes norm(A w) least (von Neumann's algorithm on the points A b_k). A single
    block, all rows among them, keeps its barycentre. Nothing is counted: no algorithm asks for it.

    Parameters
    ----------
    system
        Its own cuts are combined, as this view has them.
    """
    operator, cone = system.operator, system.cone
    weights = barycentre(cone)
    if len(cone.blocks) == 1:
        return weights
    centres, image = [(barycentre(part), at) for part, at in cone.blocks], operator.combine(weights)
    for _ in range(STEPS):
        scores, centre = operator.scores(image), np.zeros(cone.size)
        lowest = int(np.argmin([centre @ scores[at] for centre, at in centres]))
        centre[centres[lowest][1]] = centres[lowest][0]
        towards = operator.combine(centre) - image
        gain, square = -operator.inner(image, towards), operator.inner(towards, towards)
        if not 0.0 < gain < np.inf or not 0.0 < square < np.inf:
            break
        step = min(gain / square, 1.0)
        weights = (1.0 - step) * weights + step * centre
        image += step * towards
    return weights
