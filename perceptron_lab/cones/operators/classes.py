"""Two classes of examples as an operator: the rows s_i (x_i, 1) are not stored."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.base import (
    FEW,
    Data,
    Operator,
    combined,
    row_norms,
    rows_at,
    times,
)
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import LabelledRows, RowSource
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray


class Classes(Operator):
    """scores(w, b) = s_i (w'x_i + b); margins are measured by norm(w) alone: b is free.

    The largest of min_i s_i (w'x_i + b) / norm(w) is half the distance of the classes' hulls, the
    geometric margin. The products with the last w are cached: another b, or the same point
    again, needs no pass over the examples.

    Parameters
    ----------
    examples
        x_i as rows, shape ``(m, features)``, with the column of the labels if that is one of
        theirs: an array in double or single precision, a CSR array, or a source. Never copied.
    signs
        s_i = +1 or -1, both of them, shape ``(m,)``.
    omitted
        The column of the labels, which is no feature, or None.
    roundings
        Roundings of the examples, 0 or 1; a source has this number as an attribute.
    """

    free_bias: ClassVar[bool] = True

    def __init__(
        self, examples: Data, signs: FloatArray, *, omitted: int | None = None, roundings: int = 0
    ) -> None:
        self.examples, self.signs, self.omitted = examples, signs, omitted
        self.size = int(examples.shape[0])
        self.dimension = int(examples.shape[1]) + 1 - (omitted is not None)
        self.positive = signs > 0.0
        self._roundings = roundings
        self._last_products: tuple[FloatArray, FloatArray] | None = None
        self._norms: FloatArray | None = None

    @property
    def roundings(self) -> int:
        """Number of roundings between the original data and the stored ones: 0 or 1."""
        source = self.examples.roundings if isinstance(self.examples, RowSource) else 0
        return max(self._roundings, source)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return s_i (w'x_i + b)."""
        direction = point[:-1]
        # Compared by value, as callers may change a point in place.
        if self._last_products is None or not np.array_equal(direction, self._last_products[0]):
            self._last_products = direction.copy(), times(self.examples, self.spread(direction))
        return np.asarray((self._last_products[1] + point[-1]) * self.signs)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return sum_i w_i s_i (x_i, 1); if few weights are nonzero, only their rows are read."""
        signed = weights * self.signs
        support = np.flatnonzero(weights)
        if FEW * len(support) <= self.size:
            return np.append(signed[support] @ self.examples_at(support), signed[support].sum())
        total = combined(signed, self.examples)
        features = total if self.omitted is None else np.delete(total, self.omitted)
        return np.append(features, signed.sum())

    def normal(self, atom: Atom) -> FloatArray:
        """Return the combination of the rows in the atom's span."""
        span, values = atom.span, atom.values
        return np.asarray(values @ self.rows(np.arange(span.start, span.stop)))

    def length(self, point: FloatArray) -> float:
        """Return norm(w), by which margins are measured."""
        return float(np.linalg.norm(point[:-1]))

    def half_distance(self, weights: FloatArray) -> float:
        """Return half the distance of the two hull points with these weights, or NaN."""
        support = np.flatnonzero(weights)
        masses_of_rows, first = weights[support], self.positive[support]
        masses = float(masses_of_rows[first].sum()), float(masses_of_rows[~first].sum())
        if not min(masses) > 0.0:
            return math.nan
        shares = masses_of_rows * self.signs[support] / np.where(first, *masses)
        return 0.5 * float(np.linalg.norm(shares @ self.examples_at(support)))

    def examples_at(self, indices: IntArray) -> FloatArray:
        """Return examples as dense doubles without the column of the labels."""
        rows = rows_at(self.examples, indices)
        return rows if self.omitted is None else np.delete(rows, self.omitted, axis=1)

    def features(self) -> FloatArray | sp.csr_array:
        """Return all examples in memory, without the column of the labels.

        Raises
        ------
        InputError
            If they are read from a source.
        """
        if isinstance(self.examples, RowSource):
            raise InputError(
                "the examples are read in blocks, but this algorithm needs all of them in memory; "
                "choose auto or minimum-norm-point, or pass the examples as an array"
            )
        if self.omitted is None:
            return self.examples
        if isinstance(self.examples, np.ndarray):
            return np.delete(self.examples, self.omitted, axis=1)
        return sp.csr_array(self.examples[:, np.arange(self.dimension) != self.omitted])

    def formed(self) -> Matrix:
        """Return the rows s_i (x_i, 1) over their norms, in memory unless they are on disk."""
        examples, signs = self.examples, self.signs
        if isinstance(examples, RowSource):
            source = LabelledRows(examples, signs, affine=True, omitted=self.omitted)
            return Matrix(source, 1.0 / source.norms)
        rows: FloatArray | sp.csr_array
        if isinstance(examples, np.ndarray):
            rows = self.rows(np.arange(len(signs)))
        else:
            ones = sp.csr_array(np.ones((len(signs), 1)))
            rows = sp.csr_array(sp.diags_array(signs) @ sp.hstack([examples, ones]))
        return Matrix(rows, 1.0 / row_norms(rows), self.roundings)

    def rows(self, indices: IntArray) -> FloatArray:
        """Return some of the rows s_i (x_i, 1), dense, shape ``(len(indices), dimension)``."""
        examples = self.examples_at(indices)
        lifted = np.column_stack([examples, np.ones(len(examples))])
        return np.asarray(lifted * self.signs[indices, None])

    def spread(self, direction: FloatArray) -> FloatArray:
        """Return w with a 0 in the column of the labels."""
        return direction if self.omitted is None else np.insert(direction, self.omitted, 0.0)

    def example_norms(self) -> FloatArray:
        """Return upper bounds of norm(x_i), exact without a column of labels, ``(m,)``; cached."""
        if self._norms is None:
            self._norms = row_norms(self.examples)
        return self._norms

    def longest(self) -> float:
        """Return a computed upper bound of the norms of the rows s_i (x_i, 1)."""
        return float(np.hypot(self.example_norms().max(), 1.0))
