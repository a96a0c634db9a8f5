"""The conic rescaled perceptron of Belloni, Freund and Vempala (2009), and deep separation.

Deep separation finds the deepest cut among all those of norm 1.

For a closed convex cone F with the dual cone F*, the least <s, x> over s in F* with norm(s) <= 1 is
-dist(x, F), attained at s = (p - x) / norm(p - x), p the point of F nearest to x. So the deepest
unit cut of a block is found by projection onto the block's own feasible points: in closed form for
a row, and by one root for a second-order block. For a matrix block this is a semidefinite program
itself: an eigenvector v of the least eigenvalue has the least <vv', A*x>, but not the least one
over norm(A(vv')), which may be arbitrarily small compared with the norms of other cuts. There the
nearest point is enclosed until the depth is proved to be above the slack, or not to be
(:class:`.MatrixCone`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal

import numpy as np

from perceptron_lab.algorithms.base import BOUNDED_ON_ALL, Systems
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import RelaxedPerceptron, RelaxedState
from perceptron_lab.algorithms.rescaling.deep_matrix_cuts import Deep, MatrixCone
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import (
    RescaledPerceptron,
)
from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import RescaledRows
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.systems import ConicSystem, Cut

_BISECTIONS = 60
_FAR = 1e12  # Beyond the pole by this factor a root counts as none: the nearest point is 0, nearly


class EllipsoidalCones:
    """The cones {x : norm(U x) <= g'x} that second-order blocks define, with projections.

    With Q = g g' - U'U a cone is {x : x'Q x >= 0, g'x >= 0}. The nearest point p to an x outside is
    0, or (I - mu Q) p = x for a mu >= 0 with p'Q p = 0: in the eigenvectors of Q, at most one
    eigenvalue theta_+ of which is positive, sum theta_i x_i^2 / (1 - mu theta_i)^2 = 0. The sum
    rises to infinity on (0, 1 / theta_+), and beyond falls from infinity; the root with g'p >= 0 is
    that of the nearest point. Without a positive eigenvalue the cone has no point inside. All this
    is within the span of the block's rows, beyond which points stay as they are; blocks are padded
    with zeros to one size, and roots of all of them are found side by side.

    Parameters
    ----------
    blocks
        The rows of U, and g below them, each of shape ``(size, n)``.
    """

    def __init__(self, blocks: Sequence[FloatArray]) -> None:
        self.blocks = list(blocks)
        count, dimension = len(self.blocks), self.blocks[0].shape[1]
        rank = max(min(block.shape) for block in self.blocks)
        # Eigenvectors of Q in the span of the block, their eigenvalues, and g in them
        self._vectors = np.zeros((count, rank, dimension))
        self._values, self._axes = np.zeros((count, rank)), np.zeros((count, rank))
        for i, block in enumerate(self.blocks):
            check_time(20.0 * block.size * min(block.shape))
            # Directions in which the block vanishes do not affect it: work in their complement
            sizes, right = np.linalg.svd(block, full_matrices=False)[1:]
            span = right[sizes > 1e-13 * sizes[0]]
            within = block @ span.T
            quadratic = np.outer(within[-1], within[-1]) - within[:-1].T @ within[:-1]
            # In its eigenvectors the cone is sum theta_i x_i^2 >= 0 on one side, and diagonal
            values, vectors = np.linalg.eigh(quadratic)
            self._values[i, : len(values)] = values
            self._vectors[i, : len(values)] = vectors.T @ span
            self._axes[i, : len(values)] = vectors.T @ within[-1]

    def outside(self, point: FloatArray) -> IntArray:
        """Return the mask of the cones that do not contain a point."""
        scores = [block @ point for block in self.blocks]
        beyond = [np.linalg.norm(block_scores[:-1]) > block_scores[-1] for block_scores in scores]
        return np.flatnonzero(beyond)

    def residuals(self, point: FloatArray, cones: IntArray) -> FloatArray:
        """Return p - x for the projections p of x onto cones without x, shape ``(len, n)``."""
        vectors, values = self._vectors[cones], self._values[cones]
        # The projection is p_i = x_i / (1 - mu theta_i) with the multiplier mu of the boundary
        parts, top = vectors @ point, values.max(axis=1)
        projected = np.zeros_like(parts)
        ahead = np.where(top > 0.0, 1.0 / np.where(top > 0.0, top, 1.0), 0.0)
        for low, high in ((np.zeros(len(cones)), ahead), (ahead, ahead * _FAR)):
            multipliers = _roots(values, parts, low, high, rising=high is ahead)
            nearest = parts / (1.0 - multipliers[:, None] * values)
            sums = _sums(values, parts, low), _sums(values, parts, high)
            there = (sums[0] <= 0.0) if high is ahead else (sums[1] <= 0.0)
            # Of the two nappes of the quadratic the one with g'p >= 0 is the cone
            there &= (top > 0.0) & ((self._axes[cones] * nearest).sum(axis=1) >= 0.0)
            projected[there] = nearest[there]
        return np.asarray(((projected - parts)[:, None, :] @ vectors)[:, 0])


def _sums(values: FloatArray, parts: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Return sum theta_i x_i^2 / (1 - mu theta_i)^2; infinity at the pole."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = parts / (1.0 - multipliers[:, None] * values)
        return np.asarray(np.where(np.isfinite(ratios), values * ratios**2, np.inf).sum(axis=1))


def _roots(
    values: FloatArray, parts: FloatArray, low: FloatArray, high: FloatArray, *, rising: bool
) -> FloatArray:
    """Return the sign changes of the sums, by bisection on the side away from the pole."""
    low, high = low.copy(), high.copy()
    for _ in range(_BISECTIONS):
        # The interval beyond the pole spans many powers of ten: bisect its logarithm
        middle = 0.5 * (low + high) if rising else np.sqrt(low * high)
        above = (_sums(values, parts, middle) > 0.0) == rising
        high, low = np.where(above, middle, high), np.where(above, low, middle)
    return low if rising else high


class DeepSeparation:
    """The deepest unit cuts of all blocks of a system in the current rescaled space."""

    def __init__(self, system: ConicSystem) -> None:
        rows: list[FloatArray] = [np.zeros((0, system.dimension))]
        cones: list[FloatArray] = []
        self._matrices: list[MatrixCone] = []
        for block, span in system.cone.blocks:
            normals = _normals(system, span)
            if isinstance(block, Semidefinite):
                self._matrices.append(MatrixCone(block, normals))
            elif isinstance(block, SecondOrder):
                cones.append(normals)
            else:
                lengths = np.linalg.norm(normals, axis=1, keepdims=True)
                rows.append(normals / np.where(lengths > 0.0, lengths, 1.0))
        self._rows = np.vstack(rows)
        self._cones = EllipsoidalCones(cones) if cones else None

    def deepest(self, point: FloatArray, slack: float = 0.0) -> Deep | None:
        """Return the deepest unit cut if it is deeper than the slack, else None.

        Of matrix blocks, which are asked where no other block has one, it is any cut so deep.
        """
        cuts = [self._of_rows(point), self._of_cones(point)]
        deepest = max(cuts, key=lambda cut: cut.depth)
        if deepest.depth > slack:
            return deepest
        decided = (matrices.decide(point, slack).cut for matrices in self._matrices)
        return next((cut for cut in decided if cut is not None), None)

    def _of_rows(self, point: FloatArray) -> Deep:
        if not len(self._rows):
            return Deep(point, 0.0)
        scores = self._rows @ point
        least = int(scores.argmin())
        return Deep(self._rows[least], -float(scores[least]))

    def _of_cones(self, point: FloatArray) -> Deep:
        if self._cones is None:
            return Deep(point, 0.0)
        outside = self._cones.outside(point)
        if not len(outside):
            return Deep(point, 0.0)
        residuals = self._cones.residuals(point, outside)
        depths = np.linalg.norm(residuals, axis=1)
        deepest = int(depths.argmax())
        depth = float(depths[deepest])
        return Deep(residuals[deepest] / (depth or 1.0), depth)


def _normals(system: ConicSystem, block_span: slice) -> FloatArray:
    """Return the images A(e_j) of a block's coordinates, shape ``(size, n)``."""
    unit = np.ones(1)
    spans = (slice(j, j + 1) for j in range(block_span.start, block_span.stop))
    return np.array([system.operator.normal(Atom(span, unit)) for span in spans])


@dataclass(kw_only=True)
class DeepState(RelaxedState):
    """The state of a relaxed phase, with the separation oracle of its rescaled space."""

    oracle: DeepSeparation | None = None


@parameter_record
class DeeplyRelaxedPerceptron(RelaxedPerceptron):
    """The relaxed perceptron on unit cuts: x with <s, x> >= -sigma norm(x) for all unit s in F*."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> DeepState:
        """Return the first random point; rows are unit cuts already and need no oracle."""
        plain = super().start(system, rng)
        fields_of_state = {field.name: getattr(plain, field.name) for field in fields(plain)}
        unit = system.unit_rows and isinstance(system.operator, Matrix | RescaledRows)
        return DeepState(**fields_of_state, oracle=None if unit else DeepSeparation(system))

    def violated(self, system: ConicSystem, state: RelaxedState, slack: float) -> Cut | None:
        """Return the deepest unit cut, if it is deeper than the slack."""
        assert isinstance(state, DeepState)
        if state.oracle is None:
            return super().violated(system, state, slack)
        system.counters.queries += 1
        cut = state.oracle.deepest(state.point, slack)
        if cut is None:
            return None
        return Cut(cut.normal, Atom(slice(0, 0), np.zeros(0)), 1.0)


@parameter_record
class ConicRescaledPerceptron(RescaledPerceptron):
    """The rescaled perceptron with deep separation: Algorithm 4, with its theorem, on cones.

    As :class:`.RescaledPerceptron`, but for phase 2, in the space as H has rescaled it: from a
    random unit x, while some cut s of norm 1 in F* has <s, x> < -sigma norm(x), subtract <s, x> s.
    F* is the dual of the feasible cone F of the rescaled data; all its unit elements count, not
    only images of atoms, whose norms differ. The deepest is found by projection onto F, block by
    block (:class:`.DeepSeparation`); so x, once accepted, has a'x >= -sigma for all unit cuts a, as
    Lemma 4.3 needs of unit rows, and Theorem 4.4 holds on every cone with such an oracle: with
    probability 1 - exp(-n^beta), O(n^beta ln(1/rho)) rescalings suffice.

    On matrix blocks the nearest points are semidefinite programs, solved until the depth is proved
    to be above sigma, or not to be: one question there is as hard as a solution of the block alone.

    Parameters
    ----------
    preset
        ``belloni-freund-vempala`` (default): rho = 1/(4 n), sigma = 1/(32 n), so that a perceptron
        phase has 16 n^2 updates; ``thesis`` and ``practical`` as in Algorithm 6, the last one
        without a theorem.
    c, d, gamma, beta, kappa, nu, phase, tau
        As of :class:`.RescaledPerceptron`.

    References
    ----------
    A. Belloni, R. M. Freund and S. Vempala, An efficient rescaled perceptron algorithm for conic
    systems, Mathematics of Operations Research 34 (2009); `Kharechko2009`, Lemma 4.3, Theorem 4.4.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "K (1 / rho^2 + (1 + 2 ln(1 / theta) / sigma^2) / eta)",
        "Theorem 4.4",
        "Kharechko2009",
        note="in expectation, for K rescalings and the constants of the preset",
    )

    preset: Literal["belloni-freund-vempala", "thesis", "practical"] = "belloni-freund-vempala"  # type: ignore[assignment]

    def relaxed(self, dimension: int) -> DeeplyRelaxedPerceptron:
        """Return the relaxed perceptron of phase 2."""
        constants = self.constants(dimension)
        return DeeplyRelaxedPerceptron(sigma=constants.sigma, theta=constants.theta)

    def bound(self, facts: Facts) -> Bound:
        """Return Theorem 4.4 for the margin of the unit cuts, whatever the cone."""
        return super().bound(replace(facts, unit_rows=True))

    def without_theorem(self, dimension: int, unit_rows: bool) -> str:
        """Return why Theorem 4.4 does not apply after a rescaling, or an empty string."""
        return super().without_theorem(dimension, True)
