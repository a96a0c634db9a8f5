"""A conic system with proofs of its margins, bounds and facts on the original data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
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
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import row_indices
from perceptron_lab.cones.semidefinite import matrices_of
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray, IntArray, Result
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF
from perceptron_lab.systems.counted import CountedSystem
from perceptron_lab.systems.exact_pencil import ExactPencil, flat_of, flat_weights, guess_of
from perceptron_lab.systems.exact_row_weights import exact_weights, search_exact_weights

# Scores of a system of cones that is written in whole numbers
_MOST_SCORES = 200_000
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
