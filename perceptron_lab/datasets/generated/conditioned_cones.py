"""Generated conic systems of a controlled condition: feasible, infeasible and ill-posed ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.random import Generator
from pydantic import Field, model_validator

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.dataset import check_instance_name, chosen_with
from perceptron_lab.datasets.generated import subspaces
from perceptron_lab.datasets.generated.conic_sets import ProductOfCones
from perceptron_lab.datasets.generated.generator import plain
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem

_DEFAULTS: dict[str, dict[str, Any]] = {
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
    known: subspaces.Known = "centre"
    side: Literal["feasible", "infeasible", "ill-posed"] = "feasible"
    rows: Annotated[int, Field(ge=2)] | None = None
    blocks: Annotated[int, Field(ge=1, le=100_000)] | None = None
    block_size: Annotated[int, Field(ge=2)] | None = None
    order: Annotated[int, Field(ge=2, le=300)] | None = None
    dimension: Annotated[int, Field(ge=2)] | None = None
    delta: Annotated[float, Field(gt=0, le=1)] = 1e-3
    large: Annotated[float, Field(ge=0, le=1)] | None = None
    rotated: bool = False

    _of_the_family = chosen_with("family", _DEFAULTS, "rows", "blocks", "block_size", "order")

    _of_centres = chosen_with("known", {"centre": {"large": 0.3}, "margin": {}}, "large")

    @model_validator(mode="after")
    def _possible(self) -> Self:
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
        """The instance's name, which holds its parameters."""
        return f"{self._stream}-{self.side}{'-rotated' if self.rotated else ''}"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        made = self.generate(seed)
        system = ConicSystem(Matrix(made.data), made.cone)
        point = made.point if self.side == "feasible" else None
        return self.stated(system, made.data, point=point)

    def generate(self, seed: int) -> ConditionedCone:
        """Return the data, with the solutions known by construction."""
        with self.random(seed, 32 * self.size * self._unknowns, self._stream) as rng:
            cone = self.cone
            frame = cone.spectrum(rng.standard_normal(cone.size) / np.sqrt(cone.multiplicity))[1]
            found = self._elements(rng, cone)
            twin = self.side == "infeasible"
            data = subspaces.basis(rng, cone, frame, found, self._unknowns, twin=twin)
            turn = _rotation(rng, self._unknowns) if self.rotated else np.eye(self._unknowns)
            point = None if twin else turn[0]
            weights = found.inside if twin else found.across
            known = self.side != "feasible" or self.known == "margin"
            element = cone.assemble(weights / weights.sum(), frame) if known else None
            return ConditionedCone(cone, data @ turn if self.rotated else data, point, element)

    def _elements(self, rng: Generator, cone: Cone) -> subspaces.Elements:
        if self.known == "margin":
            made = subspaces.margin(rng, cone, self.delta)
        else:
            made = subspaces.centre(rng, cone, self.delta, self.large or 0.0)
        return subspaces.boundary(rng, cone, made) if self.side == "ill-posed" else made

    @property
    def _unknowns(self) -> int:
        return self.dimension or self.size // 2

    @property
    def _stream(self) -> str:
        """The name without the side: what x is drawn from."""
        large = [] if self.large is None else [plain(self.large)]
        return "-".join([self.named(self.known, str(self._unknowns)), *large, plain(self.delta)])


def _rotation(rng: Generator, dimension: int) -> FloatArray:
    """Return a random orthogonal matrix."""
    return np.asarray(np.linalg.qr(rng.standard_normal((dimension, dimension)))[0])
