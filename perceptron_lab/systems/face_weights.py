"""Exact weights on a face of the dual cone, near computed ones.

The ranges of the computed weights have bases V = [I; K] (:mod:`.face_bases`). The entries of K are
rounded to simple rationals, or refined by Newton's method (:mod:`.range_newton`); then A w = 0 are
linear equations in S, which are solved exactly near the computed S (:mod:`.face_equations`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems.exact_pencil import ExactPencil, Weights
from perceptron_lab.systems.face_bases import Basis, bases_of, by_lattice, long_entries, rounded
from perceptron_lab.systems.face_equations import solved
from perceptron_lab.systems.range_newton import RangeNewton

# Parts of the largest eigenvalue of all blocks below which eigenvalues are taken to vanish
CUTS = (1e-11, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
# Errors of the entries of a computed K
ERRORS = (1e-9, 1e-6, 1e-4)
# Parts of a unit vector outside a range count so often in its length
SCALES = (1e5, 1e8, 1e11)
# Products of scores and unknowns at most
MOST_PRODUCTS = 3_000_000


def weights_near(pencil: ExactPencil, guess: Sequence[FloatArray]) -> Weights | None:
    """Return exact weights w with A w = 0 that prove something, near computed ones; or None.

    Parameters
    ----------
    pencil
        The data.
    guess
        Of each block, in the dual cone up to errors: a symmetric matrix, or a vector.
    """
    if not any(block.any() for block in guess):
        return None
    factors = pencil.factors
    scaled = [block / float(factor) for block, factor in zip(guess, factors, strict=True)]
    weights = _near_balanced(pencil.balanced, scaled)
    if weights is None or pencil.balanced is pencil:
        return weights
    return [
        [(d * f, v) if kind != "second-order" else (d, tuple(f * x for x in v)) for d, v in terms]
        for (kind, _), terms, f in zip(pencil.blocks, weights, factors, strict=True)
    ]


def _near_balanced(pencil: ExactPencil, guess: Sequence[FloatArray]) -> Weights | None:
    """Return exact weights near computed ones, of blocks of similar size."""
    examined = set[tuple[int, ...]]()
    for cut in CUTS:
        bases = bases_of(pencil, guess, cut)
        ranks = tuple(len(basis.pivots) for basis in bases)
        if ranks in examined or not any(ranks) or _too_large(pencil, bases):
            continue
        examined.add(ranks)
        for error in ERRORS:
            weights = solved(pencil, [rounded(basis, error) for basis in bases])
            if weights is not None:
                return weights
        refinements = [
            RangeNewton(pencil).refined(bases) or [],
            *(by_lattice(bases, scale) or [] for scale in SCALES),
        ]
        for refined in refinements:
            # Exact arithmetic with long entries takes seconds and proves nothing
            weights = solved(pencil, refined) if refined and not long_entries(refined) else None
            if weights is not None:
                return weights
    return None


def refined_bases(pencil: ExactPencil, guess: Sequence[FloatArray]) -> Iterator[list[Basis]]:
    """Yield bases to many digits whose K the equations determine and that are no short fractions.

    Newton's method has converged to them: A w = 0 has a solution of some ranks there, and as far as
    its digits tell no rational one.
    """
    for cut in CUTS[:-1]:
        bases = bases_of(pencil, guess, cut)
        if any(basis.pivots for basis in bases) and not _too_large(pencil, bases):
            newton = RangeNewton(pencil)
            refined = (newton.refined(bases) or []) if newton.determines(bases) else []
            if long_entries(refined):
                yield refined


def _too_large(pencil: ExactPencil, bases: Sequence[Basis]) -> bool:
    unknowns: int = sum(basis.core.size for basis in bases)
    return len(pencil.rows) * unknowns > MOST_PRODUCTS
