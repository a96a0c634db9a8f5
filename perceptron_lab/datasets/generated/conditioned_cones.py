"""Generated conic systems of a controlled condition: feasible, infeasible and ill-posed ones.

A subspace L contains a known element x and is orthogonal to a known g, otherwise random. What g is
decides how L meets the cone K, in the trace inner product <., .>, with det the product of all
eigenvalues, r their number and tr their sum:

- centre, g = x^-1 - (r / tr x) e for x inside K: x is the analytic centre of {z in L : tr z =
  tr x}, the point of largest determinant. It determines the condition measure of L,
  max {det z : z in L inside K, tr z = r} = (r / tr x)^r det x.
- margin, g = w - <w, x> x for x inside K, norm(x) = 1 and w in the base of K, positive exactly
  where the eigenvalues of x are the least, rho: every z in L has lowest(z) <= <w, z> =
  rho <x, z>, so that rho is the largest value of lowest(z) / norm(z), attained at x.
- boundary, g = w for x and w in K, x + w inside K, <x, w> = 0: neither L, which contains x, nor
  its orthogonal complement, which contains w, meets the interior of K.

The twin of L contains g and is orthogonal to x; it is distributed as the orthogonal complement of
another such L, so that x, as weights, shows that no element of it lies inside K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from pydantic import Field, model_validator

from perceptron_lab.cones.base import Cone, Frame
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.dataset import Defaults, check_instance_name, defaulted_with
from perceptron_lab.datasets.generated.conic_sets import ProductOfCones
from perceptron_lab.datasets.generated.generator import plain
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem

Known = Literal["centre", "margin"]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Elements:
    """The known elements, as eigenvalues in one frame, shape ``(cone.rank,)``.

    Parameters
    ----------
    inside
        Of x: positive; on the boundary 0 where ``across`` is positive.
    across
        Of g, before a multiple of x is subtracted.
    """

    inside: FloatArray
    across: FloatArray


def centre_elements(rng: Generator, cone: Cone, delta: float, large: float) -> Elements:
    """Return x and g of an analytic centre near the boundary, far from the middle of K.

    Each block has a size t, uniform in (0, 1) for a part ``large`` of the blocks and delta times
    that for the others, the largest 1. Of its eigenvalues half, rounded down, are t delta u, u
    uniform in (0, 1), and the others t (2 - delta u): so a second-order block has the length
    t (1 - delta u) and the height t. Rows are blocks with the eigenvalue t. 0 < delta <= 1.
    """
    ranks = _ranks(cone)
    sizes = rng.uniform(size=len(ranks))
    few = max(1, round(large * len(ranks)))
    sizes[rng.permutation(len(ranks))[few:]] *= delta
    sizes /= sizes.max()
    low = _lower_half(rng, cone) & np.repeat(ranks > 1, ranks)
    depth = delta * np.repeat(rng.uniform(size=len(ranks)), ranks)
    shape = np.where(low, depth, np.where(np.repeat(ranks > 1, ranks), 2.0 - depth, 1.0))
    inside = np.repeat(sizes, ranks) * shape
    return Elements(inside, 1.0 / inside - cone.rank / inside.sum())


def margin_elements(rng: Generator, cone: Cone, rho: float) -> Elements:
    """Return x of norm 1 and w for a margin of exactly rho, 0 < rho < rank^-1/2.

    Half of the eigenvalues of x in each block, rounded down, are rho; the others are greater.
    """
    low = _lower_half(rng, cone)
    above = np.where(low, 0.0, rng.uniform(0.5, 1.5, cone.rank))
    # |rho e + s above|^2 = 1
    square, mixed, rest = above @ above, rho * above.sum(), cone.rank * rho * rho - 1.0
    # The positive root of |rho e + s above|^2 = 1, as the constant term is negative.
    scale = (-mixed + math.sqrt(mixed * mixed - square * rest)) / square
    weights = np.where(low, rng.uniform(0.5, 1.5, cone.rank), 0.0)
    return Elements(rho + scale * above, weights / weights.sum())


def boundary_elements(rng: Generator, cone: Cone, elements: Elements) -> Elements:
    """Return x without the lower half of its eigenvalues, and w positive exactly on that half."""
    low = _lower_half_of(elements.inside, cone)
    weights = np.where(low, rng.uniform(0.5, 1.5, cone.rank), 0.0)
    return Elements(np.where(low, 0.0, elements.inside), weights)


def subspace_basis(
    rng: Generator, cone: Cone, frame: Frame, elements: Elements, dimension: int, *, twin: bool
) -> FloatArray:
    """Return an orthonormal basis of L, or of its twin, as columns of scores.

    The first column is x / norm(x), of the twin g / norm(g), as accurate in small blocks as in
    large ones. Shape ``(cone.size, dimension)``, 1 <= dimension < size.
    """
    root = np.sqrt(cone.multiplicity)
    columns_of_elements = [
        cone.assemble(element, frame) / root for element in (elements.inside, elements.across)
    ]
    first, second = (column / np.linalg.norm(column) for column in columns_of_elements)
    # In the margin family g contains a multiple of x; elsewhere the product is a rounding error.
    second -= (first @ second) * first
    second /= np.linalg.norm(second)
    random_columns = rng.standard_normal((cone.size, dimension - 1))
    columns = np.linalg.qr(np.column_stack([first, second, random_columns]))[0]
    columns = np.delete(columns, 0 if twin else 1, axis=1)
    # QR returns this column with a sign and an absolute error: small blocks would lose their
    # digits.
    columns[:, 0] = second if twin else first
    return np.asarray(columns / root[:, None])


def _ranks(cone: Cone) -> npt.NDArray[np.int64]:
    """Return the number of eigenvalues of each block, each row being one block."""
    ranks: list[int] = []
    for part, _ in cone.blocks:
        ranks += [1] * part.rank if isinstance(part, Orthant) else [part.rank]
    return np.array(ranks)


def _lower_half(rng: Generator, cone: Cone) -> Bools:
    """Return a random choice of half of the eigenvalues of each part, rounded down, as a mask."""
    ranks = [part.rank for part, _ in cone.blocks]
    return np.concatenate([rng.permutation(rank) < rank // 2 for rank in ranks])


def _lower_half_of(eigenvalues: FloatArray, cone: Cone) -> Bools:
    """Return the mask of the eigenvalues in the lower half of their part."""
    ends = np.cumsum([part.rank for part, _ in cone.blocks])[:-1]
    parts = np.split(eigenvalues, ends)
    return np.concatenate([np.argsort(np.argsort(part)) < len(part) // 2 for part in parts])


_DEFAULTS: Defaults = {
    "orthant": {"rows": 100},
    "second-order": {"blocks": 20, "block_size": 5},
    "semidefinite": {"blocks": 2, "order": 10},
    "mixed": {"rows": 20, "blocks": 2, "block_size": 5, "order": 10},
}


@dataclass(frozen=True)
class ConditionedCone:
    """The data of a conic system, with the solutions known by construction.

    Parameters
    ----------
    cone, data
        K, and the matrix of A*, with orthonormal columns, shape ``(cone.size, dimension)``.
    point
        A unit point with A*point in K, inside it unless the system is ill-posed; None where the
        system is infeasible.
    weights
        w in the base of K: with norm(A w) equal to the margin, where that is known; with A w = 0,
        inside K if the system is infeasible, on its boundary if ill-posed; else None.
    """

    cone: Cone
    data: FloatArray
    point: FloatArray | None
    weights: FloatArray | None


@parameter_record
class ConditionedCones(ProductOfCones):
    """Subspaces that meet products of cones at a controlled condition; one instance per entry.

    Find y with A*y strictly inside K, where the columns of A* are an orthonormal basis, in the
    trace inner product, of a random subspace L that contains a known x of K. The instance's name
    holds all its parameters, as in ``second-order-centre-50-20x5-0.3-0.001-feasible`` (family,
    known, dimension, blocks x block_size, large, delta, side); name and seed determine it. Sides
    of the same parameters and seed share x. A parameter that the family does not have is refused.

    The known point is the first unit vector, so that even at the smallest delta rounding of the
    data leaves it feasible; ``rotated`` hides it, and an instance whose margin rounding then hides
    as well is refused.

    Twins are infeasible as rounded, too: at weights next to x Dikin's test succeeds down to
    delta = 1e-8, in more digits than doubles have (docs/notes/infeasibility.md). Weights that prove
    it are hard to find there; `auto` follows their central path with as many digits.

    Parameters
    ----------
    family
        ``orthant`` (rows as given, not of norm 1), ``second-order``, ``semidefinite``, or ``mixed``
        (rows, then second-order cones, then matrices).
    known
        ``centre`` (default): x is the analytic centre of L inside K, with block sizes and gaps of
        order delta; ``margin``: the margin, the largest lowest eigenvalue of A*y over unit y, is
        exactly delta.
    side
        ``feasible`` (default); ``infeasible``: the twin, whose columns are orthogonal to x, so that
        A x = 0; ``ill-posed``: x and w on the boundary of K with A w = 0, so that L meets K at its
        boundary only, and so does its orthogonal complement (but for rounding).
    dimension
        Number of unknowns, 2 or more, below the coordinates of K; half of these by default.
    rows
        Number of rows, 2 or more (default 100; 20 of mixed).
    blocks
        Number of second-order cones, or of matrices, or of each of both (default 20; 2 where there
        are matrices).
    block_size
        Coordinates of a second-order cone, 2 or more (default 5).
    order
        Of each matrix, 2 to 300 (default 10); all entries are in use.
    delta
        The condition: 0 < delta <= 1; of ``margin`` below 1 / sqrt(rank of K) (default 0.001).
    large
        Of ``centre``, the part of the blocks whose size is not of order delta, 0 to 1 (default
        0.3); one at least.
    rotated
        Whether y is rotated at random (default false).

    References
    ----------
    J. Pena and N. Soheili, Computational performance of a projection and rescaling algorithm,
    Optimization Methods and Software 36 (2021), for problems of a controlled condition measure.
    """

    family: Literal["orthant", "second-order", "semidefinite", "mixed"]
    known: Known = "centre"
    side: Literal["feasible", "infeasible", "ill-posed"] = "feasible"
    rows: Annotated[int, Field(ge=2)] | None = None
    blocks: Annotated[int, Field(ge=1, le=100_000)] | None = None
    block_size: Annotated[int, Field(ge=2)] | None = None
    order: Annotated[int, Field(ge=2, le=300)] | None = None
    dimension: Annotated[int, Field(ge=2)] | None = None
    delta: Annotated[float, Field(gt=0, le=1)] = 1e-3
    large: Annotated[float, Field(ge=0, le=1)] | None = None
    rotated: bool = False

    _of_the_family = defaulted_with("family", _DEFAULTS, "rows", "blocks", "block_size", "order")

    _of_centres = defaulted_with("known", {"centre": {"large": 0.3}, "margin": {}}, "large")

    @model_validator(mode="after")
    def _check_feasible_size(self) -> Self:
        unknowns = self._unknowns
        self.check_entries(unknowns)
        if unknowns >= self.size:
            raise ValueError(
                f"dimension {unknowns} for cones of {self.size} coordinates in all; allowed are "
                f"dimensions below {self.size}"
            )
        if self.known == "margin" and self.delta**2 * (rank := self.cone.rank) >= 1.0:
            raise ValueError(
                f"margin {self.delta} for cones of rank {rank}; allowed: below "
                f"{1.0 / math.sqrt(rank):.3g}"
            )
        try:
            check_instance_name(self.name)
        except ValueError as error:
            raise ValueError(f"{error}; give delta and large with fewer digits") from None
        return self

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        return f"{self._stream_name}-{self.side}{'-rotated' if self.rotated else ''}"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        generated = self.generate(seed)
        system = ConicSystem(Matrix(generated.data), generated.cone)
        point = generated.point if self.side == "feasible" else None
        return self.stated(system, generated.data, point=point)

    def generate(self, seed: int) -> ConditionedCone:
        """Return the data, with the solutions known by construction."""
        with self.random(seed, 32 * self.size * self._unknowns, self._stream_name) as rng:
            cone = self.cone
            frame = cone.spectrum(rng.standard_normal(cone.size) / np.sqrt(cone.multiplicity))[1]
            elements = self._elements(rng, cone)
            twin = self.side == "infeasible"
            data = subspace_basis(rng, cone, frame, elements, self._unknowns, twin=twin)
            # Rotated last: the draws before it are those of the unrotated instance.
            turn = _rotation(rng, self._unknowns) if self.rotated else np.eye(self._unknowns)
            point = None if twin else turn[0]
            weights = elements.inside if twin else elements.across
            stated = self.side != "feasible" or self.known == "margin"
            element = cone.assemble(weights / weights.sum(), frame) if stated else None
            return ConditionedCone(cone, data @ turn if self.rotated else data, point, element)

    def _elements(self, rng: Generator, cone: Cone) -> Elements:
        if self.known == "margin":
            elements = margin_elements(rng, cone, self.delta)
        else:
            elements = centre_elements(rng, cone, self.delta, self.large or 0.0)
        return boundary_elements(rng, cone, elements) if self.side == "ill-posed" else elements

    @property
    def _unknowns(self) -> int:
        return self.dimension or self.size // 2

    @property
    def _stream_name(self) -> str:
        """The name without the side, which determines the random stream of x."""
        large = [] if self.large is None else [plain(self.large)]
        return "-".join([self.named(self.known, str(self._unknowns)), *large, plain(self.delta)])


def _rotation(rng: Generator, dimension: int) -> FloatArray:
    """Return a random orthogonal matrix."""
    return np.asarray(np.linalg.qr(rng.standard_normal((dimension, dimension)))[0])
