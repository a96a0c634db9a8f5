"""The same system in other coordinates: whole matrices, whitened data."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import LabelledRows, RowSource
from perceptron_lab.cones.operators.whitening import Whitening
from perceptron_lab.core.results import FloatArray


def formed(classes: Classes) -> Matrix:
    """Return the rows s_i (x_i, 1) divided by their norms, in memory unless they are on disk."""
    examples, signs = classes.examples, classes.signs
    if isinstance(examples, RowSource):
        source = LabelledRows(examples, signs, affine=True, omitted=classes.omitted)
        return Matrix(source, 1.0 / source.norms)
    rows: FloatArray | sp.csr_array
    if isinstance(examples, np.ndarray):
        rows = classes.rows(np.arange(len(signs)))
    else:
        ones = sp.csr_array(np.ones((len(signs), 1)))
        rows = sp.csr_array(sp.diags_array(signs) @ sp.hstack([examples, ones]))
    found = Matrix(rows, roundings=classes.roundings)
    return Matrix(rows, 1.0 / found.row_norms(), classes.roundings)


def completed(
    operator: Operator, cone: Cone, *, required: bool, sparing: bool
) -> tuple[Operator, Cone]:
    """Return the data and the cone with all entries of the matrix blocks, 0 off the pattern."""
    whole, places = cone.completed(required=required, sparing=sparing)
    if whole.size == cone.size:
        return operator, whole
    assert isinstance(operator, Matrix)
    entries = (np.ones(len(places)), (places, np.arange(len(places))))
    spread = sp.csr_array(entries, shape=(whole.size, len(places)))
    data = sp.csr_array(spread @ sp.csr_array(operator.data))
    return Matrix(data, roundings=operator.roundings), whole


def whitened(operator: Operator, cone: Cone, tolerance: float) -> Whitening:
    """Return the data in coordinates in which A A* = I; rows of an orthant then have norm 1."""
    assert isinstance(operator, Matrix)
    return Whitening(operator, cone.multiplicity, unit=cone.of_rows, tolerance=tolerance)
