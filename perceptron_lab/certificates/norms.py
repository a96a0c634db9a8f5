"""Upper bounds of the norms of the data, from the data alone.

``atoms``: max norm(A(atom)), for entropy smoothing and Mirror-Prox. ``euclidean``: the norm of A
from the trace norm of weights, for Euclidean smoothing. In isometric coordinates, weights divided
by sqrt(multiplicity), both are statements about sqrt(multiplicity) A*. ``entries``: max |a_ij| of
rows in memory, for sampled columns.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.by_cone import by_block
from perceptron_lab.certificates.spectral_norm import (
    EXACT_UP_TO,
    SLACK,
    largest_eigenvalue,
    spectral_norm_above,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Operator, blocks
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import RescaledMap
from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.sparse_arrays import largest_entry, scaled_rows

# Powers of two up to which data are used as they are: their squares, and sums, are in range
MODERATE = 250

Kind: TypeAlias = Literal["atoms", "euclidean", "entries"]

_bounds: WeakKeyDictionary[Operator, dict[tuple[str, str], float]] = WeakKeyDictionary()


def norm_bound(operator: Operator, cone: Cone, kind: Kind) -> float:
    """Return a positive upper bound of a norm of A, computed once per operator.

    It is 1 where A = 0, so that steps that it divides stay defined, and infinite beyond the range
    of doubles. For data rescaled by a map H it is norm(H) times that of the data.

    Inequality (C31) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    operator, cone
        The data, with or without scale, and the cone of its scores.
    kind
        ``atoms``, ``euclidean`` or ``entries``.
    """
    if isinstance(operator, RescaledMap):  # its map changes, so that nothing is kept
        return spectral_norm_above(operator.map) * norm_bound(operator.base, cone, kind)
    bounds = _bounds.setdefault(operator, {})
    key = _key(cone, kind)
    if key not in bounds:
        exponent, moderate = _in_range(operator)
        if kind == "euclidean":
            bound = _euclidean(moderate, cone)
        elif kind == "entries":
            bound = largest_entry(_rows(moderate))
        elif isinstance(moderate, Classes):
            bound = moderate.longest()
        elif cone.of_rows and isinstance(moderate, Matrix | Gram):
            bound = float(moderate.row_norms().max())
        else:
            parts = by_block(cone, _rows(moderate))
            bound = max(proofs.atom_norm(data) for proofs, data, _ in parts)
        bounds[key] = float(np.ldexp(bound, exponent)) or 1.0
    return bounds[key]


def _in_range(operator: Operator) -> tuple[int, Operator]:
    """Return k and the operator times 2^-k, so that squares neither overflow nor vanish."""
    if not isinstance(operator, Matrix) or isinstance(operator.stored, RowSource):
        return 0, operator
    data = operator.stored
    exponent = math.frexp(largest_entry(data))[1]
    if operator.scale is not None or abs(exponent) < MODERATE:
        return 0, operator
    factor = math.ldexp(1.0, -exponent)
    return exponent, Matrix(data * factor)


def cached_bound(operator: Operator, cone: Cone, kind: Kind) -> float | None:
    """Return a bound that :func:`norm_bound` has already computed, or None."""
    return _bounds.get(operator, {}).get(_key(cone, kind))


def _key(cone: Cone, kind: str) -> tuple[str, str]:
    """Return the kinds and sizes of the blocks, which with the operator determine a bound."""
    return kind, " ".join(f"{type(part).__name__}{part.size}" for part, _ in cone.blocks)


def _euclidean(operator: Operator, cone: Cone) -> float:
    if isinstance(operator, Gram):
        # of the (scaled) kernel matrix; signs do not change its eigenvalues
        scale = np.ones(operator.size) if operator.scale is None else operator.scale
        matrix = operator.kernel * np.outer(scale, scale)
        rough = float(np.abs(matrix).sum(axis=1).max())
        if operator.size > EXACT_UP_TO:
            return math.sqrt(rough)
        return math.sqrt(min(rough, largest_eigenvalue(matrix) * SLACK))
    if isinstance(operator, Matrix) and isinstance(operator.stored, RowSource):
        # rows that are read a few at a time: one pass if they are short
        frobenius = float(np.linalg.norm(operator.row_norms())) * SLACK
        if operator.dimension > EXACT_UP_TO:
            return frobenius
        product = np.zeros((operator.dimension, operator.dimension))
        for at, rows in blocks(operator.stored):
            check_time()
            scaled = rows if operator.scale is None else rows * operator.scale[at, None]
            product += scaled.T @ scaled
        return min(frobenius, math.sqrt(max(largest_eigenvalue(product), 0.0)) * SLACK)
    check_time()
    return spectral_norm_above(scaled_rows(_rows(operator), np.sqrt(cone.multiplicity)))


def _rows(operator: Operator) -> FloatArray | sp.csr_array:
    if not isinstance(operator, Matrix):
        raise TypeError(f"no norm bound is known for the operator {type(operator).__name__}")
    return operator.scaled()
