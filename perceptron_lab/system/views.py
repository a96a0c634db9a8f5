"""The same system in other coordinates: whole matrices, whitened data."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.operators.base import Operator
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.operators.whitening import Whitening


def completed(operator: Operator, cone: Cone, *, required: bool) -> tuple[Operator, Cone]:
    """Return the data and the cone with all entries of the matrix blocks, 0 off the pattern."""
    whole, places = cone.completed(required=required)
    if whole is cone:
        return operator, cone
    assert isinstance(operator, Matrix)
    entries = (np.ones(len(places)), (places, np.arange(len(places))))
    spread = sp.csr_array(entries, shape=(whole.size, len(places)))
    data = sp.csr_array(spread @ sp.csr_array(operator.data))
    return Matrix(data, roundings=operator.roundings), whole


def whitened(operator: Operator, cone: Cone, tolerance: float) -> Whitening:
    """Return the data in coordinates in which A A* = I; rows of an orthant then have norm 1."""
    assert isinstance(operator, Matrix)
    return Whitening(operator, cone.multiplicity, unit=cone.of_rows, tolerance=tolerance)
