"""Subspaces that meet a product of cones in a known way, and their orthogonal twins.

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
from typing import Literal

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from perceptron_lab.cones.base import Cone, Frame
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray

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
        Of g, before a multiple of x is taken off it.
    """

    inside: FloatArray
    across: FloatArray


def centre(rng: Generator, cone: Cone, delta: float, large: float) -> Elements:
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


def margin(rng: Generator, cone: Cone, rho: float) -> Elements:
    """Return x of norm 1 and w for a margin of exactly rho, 0 < rho < rank^-1/2.

    Half of the eigenvalues of x in each block, rounded down, are rho; the others are greater.
    """
    low = _lower_half(rng, cone)
    above = np.where(low, 0.0, rng.uniform(0.5, 1.5, cone.rank))
    # |rho e + s above|^2 = 1
    square, mixed, rest = above @ above, rho * above.sum(), cone.rank * rho * rho - 1.0
    scale = (-mixed + math.sqrt(mixed * mixed - square * rest)) / square
    weights = np.where(low, rng.uniform(0.5, 1.5, cone.rank), 0.0)
    return Elements(rho + scale * above, weights / weights.sum())


def boundary(rng: Generator, cone: Cone, elements: Elements) -> Elements:
    """Return x without the lower half of its eigenvalues, and w positive exactly on that half."""
    low = _lower_half_of(elements.inside, cone)
    weights = np.where(low, rng.uniform(0.5, 1.5, cone.rank), 0.0)
    return Elements(np.where(low, 0.0, elements.inside), weights)


def basis(
    rng: Generator, cone: Cone, frame: Frame, elements: Elements, dimension: int, *, twin: bool
) -> FloatArray:
    """Return an orthonormal basis of L, or of its twin, as columns of scores.

    The first column is x / norm(x), of the twin g / norm(g), as accurate in small blocks as in
    large ones. Shape ``(cone.size, dimension)``, 1 <= dimension < size.
    """
    root = np.sqrt(cone.multiplicity)
    known = [cone.assemble(one, frame) / root for one in (elements.inside, elements.across)]
    first, second = (one / np.linalg.norm(one) for one in known)
    second -= (first @ second) * first  # of the margin; else 0 but for rounding
    second /= np.linalg.norm(second)
    others = rng.standard_normal((cone.size, dimension - 1))
    columns = np.linalg.qr(np.column_stack([first, second, others]))[0]
    columns = np.delete(columns, 0 if twin else 1, axis=1)
    columns[:, 0] = second if twin else first
    return np.asarray(columns / root[:, None])


def _ranks(cone: Cone) -> npt.NDArray[np.int64]:
    """Return the number of eigenvalues of each block, rows being blocks of their own."""
    ranks: list[int] = []
    for part, _ in cone.blocks:
        ranks += [1] * part.rank if isinstance(part, Orthant) else [part.rank]
    return np.array(ranks)


def _lower_half(rng: Generator, cone: Cone) -> Bools:
    """Choose half of the eigenvalues of each part, rounded down."""
    ranks = [part.rank for part, _ in cone.blocks]
    return np.concatenate([rng.permutation(rank) < rank // 2 for rank in ranks])


def _lower_half_of(eigenvalues: FloatArray, cone: Cone) -> Bools:
    """Return which eigenvalues are in the lower half of their part."""
    places = np.cumsum([part.rank for part, _ in cone.blocks])[:-1]
    parts = np.split(eigenvalues, places)
    return np.concatenate([np.argsort(np.argsort(part)) < len(part) // 2 for part in parts])
