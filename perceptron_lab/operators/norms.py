"""Upper bounds of the norms of cuts, from the data alone."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.operators.matrix import Matrix


def norm_bound(operator: Matrix, cone: Cone) -> float:
    """Return an upper bound of norm(A(atom)) over the atoms of the cone, data as given.

    Rows: the largest norm. Else, with the off-diagonal entries of a block weighted by sqrt 2 the
    atoms have norm 1, so that the spectral norm of A bounds it; that of a matrix M is at most
    norm(M)_F and sqrt(norm(M)_1 norm(M)_inf), and with M = (c, B) at most
    sqrt(norm(c)^2 + norm(B)^2).
    """
    if isinstance(cone, Orthant):
        return float(operator.row_norms().max())
    identity = cone.identity
    root = sp.diags_array(np.where(identity > 0, 1.0, math.sqrt(2.0)))
    weighted = sp.csc_array(root @ operator.data)
    split = math.hypot(_spectral_bound(weighted[:, [0]]), _spectral_bound(weighted[:, 1:]))
    return min(_spectral_bound(weighted), split) * (1.0 + 1e-12)


def _spectral_bound(matrix: sp.csc_array) -> float:
    if not matrix.nnz:
        return 0.0
    size = abs(matrix)
    frobenius = math.sqrt(float((matrix.data**2).sum()))
    return min(frobenius, math.sqrt(float(size.sum(axis=0).max()) * float(size.sum(axis=1).max())))
