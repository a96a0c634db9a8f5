"""A conic system as it is proved: margins, bounds and facts, about the original data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.feasibility import prove_point
from perceptron_lab.certificates.infeasibility import RATIONAL, InfeasibilityProof, prove_infeasible
from perceptron_lab.certificates.margin import prove_weights
from perceptron_lab.certificates.norms import known_bound, norm_bound
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray, Result
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF
from perceptron_lab.systems.asked import AskedSystem
from perceptron_lab.systems.exact_weights import exact_weights, sought_weights

# Steps that balance the blocks of central weights, at most; two blocks take one
STEPS = 20


@dataclass(frozen=True)
class ProvedSystem(AskedSystem):
    """A system whose answers are proved on ``origin``, the innermost data.

    The parameters are those of :class:`~perceptron_lab.systems.asked.AskedSystem`.
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
        """Whether the margin that this view has is the one that is proved.

        Not where classes are seen as unit rows (x, 1): the geometric margin of their answers is
        proved, and a bound of one says nothing of the other.
        """
        return self.operator.free_bias or not self._innermost()[0].free_bias

    def margin(self, point: FloatArray) -> float:
        """Return the computed (not proved) margin of a point; -inf if it is 0 or not finite.

        Of classes the geometric one, whatever this view has. Counts nothing.
        """
        operator, _ = self._innermost()
        if not isinstance(operator, Classes):
            return super().margin(point)
        length = operator.length(point)
        return float(operator.scores(point).min()) / length if length > 0.0 else -math.inf

    def upper(self, weights: FloatArray) -> float:
        """Return the computed (not proved) bound of the margin by weights, or NaN.

        It is norm(A w) / <e, w> of the cuts as this view has them; of classes half the distance of
        the two points of their hulls. Counts nothing.
        """
        operator, _ = self._innermost()
        if not isinstance(operator, Classes):
            return super().upper(weights)
        return operator.half_distance(self.weights_to_origin(weights))

    @property
    def resolution(self) -> float:
        """An upper bound of the margin below which nothing can be proved in double precision.

        0 for rows and matrices. With inner products alone, norm(A w)^2 = w'Sw is known to about
        2 (m + 2) u only, and to the errors of the kernel's values or what was added to its
        diagonal; its root to the root of that.
        """
        system = self if self.origin is None else self.origin
        if not isinstance(system.operator, Gram):
            return 0.0
        matrix = system.operator.matrix
        rounding = 2.0 * (self.cone.size + 2) * UNIT_ROUNDOFF
        return 2.0 * math.sqrt(rounding + matrix.spread + matrix.raised)

    def worth(self, epsilon: float) -> float:
        """Return the largest norm(A w) that is worth a claim: epsilon, or the run's own target."""
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
        """Prove an upper bound of the margin on the original data; None if nothing is proved."""
        operator, cone = self._innermost()
        return prove_weights(
            operator, cone, self.weights_to_origin(weights), unit_rows=self.unit_rows
        )

    def prove_infeasible(
        self, weights: FloatArray, *, quick: bool = False
    ) -> InfeasibilityProof | None:
        """Prove that exact weights with A w = 0 exist near these; None where that fails.

        ``quick`` leaves out what takes more than about a second in rational numbers.
        """
        operator, cone = self._innermost()
        exactly = partial(exact_weights, quick=quick)
        return prove_infeasible(operator, cone, self.weights_to_origin(weights), exactly)

    def seek_contradiction(
        self, weights: FloatArray, point: FloatArray
    ) -> InfeasibilityProof | None:
        """Prove that rows have exact weights with A w = 0, near these or not; None if not found.

        It goes on until the time is up, or all rows have been looked at; a computed ``point`` says
        which come first.
        """
        operator, _ = self._innermost()
        if not isinstance(operator, Matrix) or not self.cone.of_rows:
            return None
        scores = operator.scores(self.operator.compact(point))
        found = sought_weights(operator, self.weights_to_origin(weights), scores)
        return None if found is None else InfeasibilityProof(found, 0.0, RATIONAL)

    def answer(self, result: Result) -> Result:
        """Return the result of a run in the variables as given: where these are the view's, it."""
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
        if isinstance(operator, Classes):  # (2.67): at least margin / norm of the rows (x_i, 1)
            margin = None if margin is None else margin / norm
            margin = margin / norm if margin is not None and self.unit_rows else margin
        if cone.of_rows and isinstance(operator, Matrix | Gram):
            shortest = float(operator.row_norms().min()) / multiple or None
        unit = raw = margin
        if margin is not None and self.unit_rows and isinstance(operator, Classes):
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
            spectral=known_bound(self.operator, self.cone, "euclidean"),
        )

    def spectral_norm(self) -> float:
        """Return an upper bound of norm(A)_2 of the cuts as this view has them (trace norm)."""
        return norm_bound(self.operator, self.cone, "euclidean")

    def atom_norm(self) -> float:
        """Return an upper bound of norm(A(atom)) of the cuts as this view has them."""
        return 1.0 if self.unit_rows else norm_bound(self.operator, self.cone, "atoms")


def central_weights(system: AskedSystem) -> FloatArray:
    """Return w in Delta(K), a multiple of e on each block, with a small norm(A w).

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
        lowest = int(np.argmin([own @ scores[at] for own, at in centres]))
        centre[centres[lowest][1]] = centres[lowest][0]
        towards = operator.combine(centre) - image
        gain, square = -operator.inner(image, towards), operator.inner(towards, towards)
        if not 0.0 < gain < np.inf or not 0.0 < square < np.inf:
            break
        step = min(gain / square, 1.0)
        weights = (1.0 - step) * weights + step * centre
        image += step * towards
    return weights
