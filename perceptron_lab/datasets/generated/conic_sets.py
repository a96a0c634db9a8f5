"""Generated conic systems with a known margin, and infeasible ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from pydantic import Field, ValidationInfo, field_validator, model_validator

from perceptron_lab.cones.base import Cone, Frame
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.dataset import Defaults, defaulted_with, value_or_default
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem

# Numbers in a generated matrix: 160 megabytes
MOST_ENTRIES = 20_000_000

_SHARED = {"dimension": 20, "margin": 0.01}
_DEFAULTS: Defaults = {
    "second-order": _SHARED | {"blocks": 10, "block_size": 5},
    "semidefinite": _SHARED | {"blocks": 2, "order": 10},
    "mixed": _SHARED | {"rows": 20, "blocks": 2, "block_size": 5, "order": 10},
}


@dataclass(frozen=True)
class ConicSet:
    """The data of a conic system, with the solutions known by construction.

    Parameters
    ----------
    cone, data
        K, over all blocks, and the matrix of A*, shape ``(cone.size, dimension)``.
    weights
        w in the base of K with norm(A w) equal to the margin; 0 where the system is infeasible.
    point
        The unit point that attains the margin; None where the system is infeasible.
    """

    cone: Cone
    data: FloatArray
    weights: FloatArray
    point: FloatArray | None


class ProductOfCones(GeneratedDataset):
    """A product of rows, second-order cones and matrices, given by its parameters."""

    family: str
    rows: int | None
    blocks: int | None
    block_size: int | None
    order: int | None

    @property
    def cone(self) -> Cone:
        """The product K."""
        blocks = range(self.blocks or 0)
        parts: list[Cone] = [Orthant(self.rows)] if self.rows else []
        if self.block_size:
            parts += [SecondOrder(self.block_size) for _ in blocks]
        if self.order:
            entries = np.triu_indices(self.order)
            parts += [Semidefinite(self.order, *entries) for _ in blocks]
        return parts[0] if len(parts) == 1 else Product(parts)

    @property
    def size(self) -> int:
        """The number of coordinates of all cones."""
        order = self.order or 0
        block = (self.block_size or 0) + order * (order + 1) // 2
        return (self.rows or 0) + (self.blocks or 0) * block

    def named(self, *first: str) -> str:
        """Return an instance's name from the family, further words and the sizes of the cones."""
        blocks = [f"{self.blocks}x{size}" for size in (self.block_size, self.order) if size]
        rows = [] if self.rows is None else [str(self.rows)]
        return "-".join([self.family, *first, *rows, *blocks])

    def check_entries(self, dimension: int) -> None:
        """Raise a ValueError if the data have too many entries."""
        if dimension * self.size > MOST_ENTRIES:
            raise ValueError(
                f"dimension {dimension} for cones of {self.size} coordinates in all makes "
                f"{dimension * self.size} numbers; allowed: {MOST_ENTRIES}"
            )


@parameter_record
class ConicSets(ProductOfCones):
    """Generated systems of second-order, semidefinite and mixed cones; one instance per entry.

    Find y with A*y strictly inside the product K of the cones. The instance's name holds all its
    parameters, as in ``second-order-20-10x5-0.01`` (dimension, blocks x block_size, margin) or
    ``mixed-20-20-2x5-2x10-infeasible`` (dimension, rows, second-order cones, matrices); name and
    seed determine it. Sweeps are written with ``grid:``. A parameter that the family does not have
    is refused.

    Feasible systems have exactly the margin given: A*z = S at a random unit z, where half of the
    eigenvalues of S in each block are ``margin`` and the others larger, and A w = margin z for a
    w in the base of K whose eigenvalues are positive exactly on that half. In other directions the
    data are normal, so that a typical cut A(atom) has norm 1. Infeasible systems have A w = 0 for
    a w inside K (eigenvalues in ratios of at most 3).

    Parameters
    ----------
    family
        ``second-order``, ``semidefinite``, or ``mixed`` (rows, then second-order cones, then
        matrices).
    dimension
        Number of unknowns, 2 or more (default 20).
    rows
        Of mixed, number of rows (default 20).
    blocks
        Number of second-order cones, or of matrices, or of each of both (default 10; 2 where there
        are matrices).
    block_size
        Coordinates of a second-order cone, 2 or more (default 5).
    order
        Of each matrix, 2 to 300 (default 10); all entries are in use.
    infeasible
        Whether the system is infeasible (default false).
    margin
        Of a feasible system, 1e-8 to 0.9 (default 0.01).
    """

    family: Literal["second-order", "semidefinite", "mixed"]
    infeasible: bool = False
    rows: Count | None = None
    blocks: Annotated[int, Field(ge=1, le=100_000)] | None = None
    block_size: Annotated[int, Field(ge=2)] | None = None
    order: Annotated[int, Field(ge=2, le=300)] | None = None
    dimension: Annotated[int, Field(ge=2)] | None = None
    margin: Annotated[float, Field(ge=1e-8, le=0.9)] | None = None

    _of_the_family = defaulted_with(
        "family", _DEFAULTS, "dimension", "rows", "blocks", "block_size", "order"
    )

    @field_validator("margin")
    @classmethod
    def _unless_infeasible(cls, value: float | None, info: ValidationInfo) -> object:
        if not info.data.get("infeasible"):
            return value_or_default(value, info, "family", _DEFAULTS)
        if value is not None:
            raise ValueError("an infeasible system has no margin; delete margin, or infeasible")
        return None

    @model_validator(mode="after")
    def _check_dimension(self) -> Self:
        dimension = self.dimension or 0
        self.check_entries(dimension)
        if self.infeasible and dimension >= self.size:
            raise ValueError(
                f"dimension {dimension} for cones of {self.size} coordinates in all; an infeasible "
                f"system spans the space: allowed are dimensions below {self.size}"
            )
        return self

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        end = "infeasible" if self.margin is None else plain(self.margin)
        return f"{self.named(str(self.dimension))}-{end}"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        generated = self.generate(seed)
        system = ConicSystem(Matrix(generated.data), generated.cone)
        return self.stated(system, generated.data, point=generated.point)

    def generate(self, seed: int) -> ConicSet:
        """Return the data, with the solutions known by construction."""
        dimension = self.dimension or 0
        with self.random(seed, 8 * self.size * dimension) as rng:
            if self.margin is None:
                return infeasible(rng, self.cone, dimension)
            return planted(rng, self.cone, dimension, self.margin)


def planted(rng: Generator, cone: Cone, dimension: int, margin: float) -> ConicSet:
    """Return a system of margin exactly rho.

    With z a random unit vector, S in K and w in its base,

        A*y = B*(y - (z'y) z) + (z'y) S,   B w = 0,   <S, w> = rho,   S >= rho e.

    Then z has margin rho; and A w = rho z, so that no unit y has more: min over the base of
    <v, A*y> <= <w, A*y> = rho z'y <= rho. S and w share a frame. Half of the eigenvalues of S in
    each block (one at least) are rho, and w is positive there alone; the others are rho + abs(N),
    N normal with variance 1/dimension, as large as a typical score of a unit point.
    There are 2 unknowns or more, and rho > 0.
    """
    frame = cone.spectrum(_normal(rng, cone, 1)[:, 0])[1]
    ranks = [part.rank for part, _ in cone.blocks]
    tight = np.concatenate([rng.permutation(rank) < max(1, rank // 2) for rank in ranks])
    # As large as typical scores of a unit point, so that the planted direction is not conspicuous.
    above = np.abs(rng.standard_normal(cone.rank)) / math.sqrt(dimension)
    interior = cone.assemble(margin + np.where(tight, 0.0, above), frame) / cone.multiplicity
    weights = _weights(rng, cone, frame, tight)
    # The order of the draws is fixed: another one would change the data of a name and seed
    centre = rng.standard_normal(dimension)
    centre /= np.linalg.norm(centre)
    data = _data_with_null_weights(rng, cone, dimension, weights)
    # A* is changed along the centre only: A*z = S there, and A w = rho z by the choice of w.
    data += np.outer(interior - data @ centre, centre)
    return ConicSet(cone, data, weights, centre)


def infeasible(rng: Generator, cone: Cone, dimension: int) -> ConicSet:
    """Return a system with A w = 0 for a w in the interior of K; arguments as :func:`planted`.

    Its data span the space, so that 0 lies inside A(base), and rounding cannot make it feasible.
    """
    frame = cone.spectrum(_normal(rng, cone, 1)[:, 0])[1]
    weights = _weights(rng, cone, frame, np.full(cone.rank, True))
    return ConicSet(cone, _data_with_null_weights(rng, cone, dimension, weights), weights, None)


def _normal(rng: Generator, cone: Cone, count: int) -> FloatArray:
    """Return normal elements as columns of scores, isotropic in the trace inner product."""
    entries = rng.standard_normal((cone.size, count))
    return np.asarray(entries / np.sqrt(cone.multiplicity)[:, None])


def _data_with_null_weights(
    rng: Generator, cone: Cone, dimension: int, weights: FloatArray
) -> FloatArray:
    """Return normal data with A weights = 0; cuts have norm 1 in the mean square."""
    data = _normal(rng, cone, dimension) / math.sqrt(dimension)
    # As <weights, e> = 1, a multiple of e removes each column's product with the weights.
    return np.asarray(data - np.outer(cone.identity, weights @ data))


def _weights(
    rng: Generator, cone: Cone, frame: Frame, positive: npt.NDArray[np.bool_]
) -> FloatArray:
    """Return a point of the base, positive eigenvalues as in the mask, with ratios up to 3."""
    eigenvalues = np.where(positive, rng.uniform(0.5, 1.5, cone.rank), 0.0)
    return cone.assemble(eigenvalues / eigenvalues.sum(), frame)
