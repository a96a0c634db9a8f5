"""Dikin's test where B = A T is ill-conditioned: with an orthogonal factor of B.

q = r'(B B')^-1 r stays the same if B and r are multiplied from the left by an invertible M. In
B B' half of the digits are lost; with B' = Q R by Householder's reflections and M = R'^-1, M B is
Q' but for rounding errors of the size of the condition number times u, so that

    q = |M r|^2 / lambda_min(M B B'M'),   lambda_min >= 1 - norm(M B B'M' - I),

is bounded up to condition numbers of about 1e12. M is any matrix: nothing has to be known of how
near it is to R'^-1.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.contract import Automorphism
from perceptron_lab.certificates.rounding import norm_above
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.roundoff import SMALLEST, above, gamma, require_ieee_mode

# Floating-point steps towards A w = 0 at most
STEPS = 24
# Below this pivot of R, of unknowns scaled to norm 1, the normal equations lose too many digits
LOST = 1e-3
# And below this part they do not even tell a q of 2 from one below 1
BLURRED = 1e-5


@np.errstate(divide="ignore")
def may_help(product: FloatArray, residual: FloatArray) -> bool:
    """Return whether B B' is ill-conditioned, and q not clearly too large by Cholesky's factor.

    ``product`` and ``residual`` are B B' and r = B e, computed. Unknowns are scaled to a diagonal
    of ones, which changes neither q nor the digits that are lost.
    """
    if not np.isfinite(product).all():
        return False
    scales = 1.0 / np.sqrt(product.diagonal())
    try:  # Cholesky's pivots of B B' are those of R, but for rounding
        factor = np.linalg.cholesky(product * scales * scales[:, None])
    except np.linalg.LinAlgError:
        return True
    least = factor.diagonal().min()
    if not least >= BLURRED:
        return True
    image = scipy.linalg.solve_triangular(factor, scales * residual, lower=True, check_finite=False)
    return bool(least < LOST and image @ image < 2.0)


def stepped(blocks: list[Automorphism]) -> list[Automorphism] | None:
    """Take one step towards A w = 0 in floating point; None if it leaves Dikin's ellipsoid."""
    square = math.inf
    for _ in range(STEPS):
        factor = _factor(blocks)
        if factor is None:
            return None
        residual = np.sum([block.image[0] @ block.unit for block in blocks], axis=0)
        image = scipy.linalg.solve_triangular(factor, residual, trans="T", check_finite=False)
        before, square = square, float(image @ image)
        if not square < min(1.0, before):
            # rounding errors are reached, or there is nothing near
            return blocks if before < 1.0 else None
        multipliers = scipy.linalg.solve_triangular(factor, image, check_finite=False)
        shifted = [block.at_step(-(block.image[0].T @ multipliers)) for block in blocks]
        inside = [block for block in shifted if block is not None]
        if len(inside) < len(shifted):
            return None
        blocks = inside
        if square < 1e-20:
            break
    return blocks


def ratio(blocks: list[Automorphism]) -> float | None:
    """Return an upper bound of q; None where M B B'M' cannot be proved positive definite.

    Inequality (C22) of docs/notes/how-to-distrust-us.md.
    """
    require_ieee_mode()
    factor = _factor(blocks)
    if factor is None:
        return None
    size = len(factor)
    inverse = scipy.linalg.solve_triangular(factor, np.eye(size), trans="T", check_finite=False)
    if not np.isfinite(inverse).all():
        return None
    length, error, rank, terms = 0.0, 0.0, 0, 0
    product, image = np.zeros((size, size)), np.zeros(size)
    for block in blocks:
        columns, column_error = block.image
        assert isinstance(columns, np.ndarray)
        check_time(6.0 * size * columns.size)
        transformed = inverse @ columns
        product += transformed @ transformed.T
        image += transformed @ block.unit
        # |fl(M B) - M B| <= gamma |M||B| + norm(M) norm(error of B)
        block_error = gamma(size + 2) * above(norm_above(np.abs(inverse) @ np.abs(columns)), size)
        block_error = (
            above(block_error + above(norm_above(inverse) * column_error, 2), 2)
            + transformed.size * SMALLEST
        )
        length, error = math.hypot(length, norm_above(transformed)), math.hypot(error, block_error)
        rank, terms = rank + block.rank, terms + columns.shape[1] + 1
    length, error = above(length, terms), above(error, terms)
    column_error = gamma(terms + 3) * length * length + 2.0 * error * length + error * error
    column_error += terms * product.size * SMALLEST
    lowest = 1.0 - above(norm_above(product - np.eye(size)) + column_error, 8)
    if not lowest > 0.0:
        return None
    missing = (gamma(terms + 3) * length + error) * math.sqrt(rank) + terms * SMALLEST
    longest = norm_above(image) + above(missing, 4)
    return above(longest * longest / math.nextafter(lowest, -math.inf), 4)


def _factor(blocks: list[Automorphism]) -> FloatArray | None:
    """Return the triangular factor R, or None if it is singular or not finite."""
    unknowns = blocks[0].image[0].shape[0]
    check_time(2.0 * unknowns**2 * sum(len(block.unit) for block in blocks))
    stacked = np.concatenate([block.image[0].T for block in blocks])
    if stacked.shape[0] < stacked.shape[1] or not np.isfinite(stacked).all():
        return None
    factor = np.asarray(np.linalg.qr(stacked, mode="r"))
    return factor if _pivots(factor).min() > 0.0 else None


def _pivots(factor: FloatArray) -> FloatArray:
    return np.abs(factor.diagonal())
