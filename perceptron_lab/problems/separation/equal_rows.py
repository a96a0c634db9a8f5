"""Equal rows, merged: a pair and classes for the distinct rows give those for all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.separation.coefficients import Coefficient
from perceptron_lab.problems.separation.integer_rows import LARGEST_DENSE, IntegerRows
from perceptron_lab.problems.separation.null_spaces import NullSpace
from perceptron_lab.problems.separation.pairs import WEIGHT_BITS, ComplementaryPair

_LARGEST: Final = 2**WEIGHT_BITS
_MOSTLY_ZEROS: Final = 0.1  # Largest part of entries other than 0 in sparse rows


@dataclass(frozen=True)
class MergedRows:
    """The distinct rows of A, in the order of their first occurrences.

    Parameters
    ----------
    rows
        The distinct rows.
    first
        The first occurrence of each of them, ascending.
    positions
        The distinct row that each row of A is, shape ``(m,)``.
    """

    rows: IntegerRows
    first: IntArray
    positions: IntArray

    def pair(self, pair: ComplementaryPair) -> ComplementaryPair:
        """Return the pair for all rows: equal ones share the weight of their distinct row."""
        if len(self.first) == len(self.positions):
            return pair
        overlaps = np.zeros(len(self.first), dtype=bool)
        overlaps[pair.overlap] = True
        overlap = np.flatnonzero(overlaps[self.positions])
        weights, basis = self._shared_weights(pair)
        return replace(
            pair,
            separated=np.flatnonzero(~overlaps[self.positions]),
            overlap=overlap,
            weights=weights[overlap],
            basis=basis,
            span=NullSpace(self.first[pair.span.rows], pair.span.nulls),
        )

    def _shared_weights(self, pair: ComplementaryPair) -> tuple[IntArray, dict[int, Fraction]]:
        """Return integer weights of all rows, and the fractions: each first row has the rest."""
        counts = np.bincount(self.positions)
        of_others, of_first = (np.zeros(len(counts), dtype=np.int64) for _ in range(2))
        of_others[pair.overlap] = pair.weights // counts[pair.overlap]
        basis: dict[int, Fraction] = {}
        integral = pair.overlap[pair.weights > 0]
        totals = dict(zip(pair.overlap.tolist(), pair.weights.tolist(), strict=True))
        small = [(k, Fraction(totals[k])) for k in integral[of_others[integral] == 0].tolist()]
        of_first[pair.overlap] = pair.weights - (counts[pair.overlap] - 1) * of_others[pair.overlap]
        for k, total in [*small, *pair.basis.items()]:
            count = int(counts[k])
            share = total // count
            of_first[k] = 0
            if count > 1 and 1 <= share <= _LARGEST:
                of_others[k] = share
                basis[int(self.first[k])] = total - (count - 1) * share
            else:
                of_others[k] = 0
                same = np.flatnonzero(self.positions == k) if count > 1 else self.first[k : k + 1]
                basis |= dict.fromkeys(same.tolist(), total / count)
        weights = of_others[self.positions]
        weights[self.first] = of_first
        return weights, basis

    def coefficient(self, coefficient: Coefficient) -> Coefficient:
        """Return the class of a coefficient with its proof by rows of A."""
        rows = self.first[list(coefficient.combination)].tolist()
        multipliers = coefficient.combination.values()
        return replace(coefficient, combination=dict(zip(rows, multipliers, strict=True)))


def merged(rows: IntegerRows) -> MergedRows:
    """Return the distinct rows; rows count as different ones if two of them share a hash."""
    every = np.arange(rows.count)
    _, first, positions = np.unique(_hashes(rows.doubles), return_index=True, return_inverse=True)
    if len(first) == rows.count or not _equal(rows, first[positions]):
        return MergedRows(_in_best_form(rows), every, every)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    first = first[order]
    exact = None if rows.exact is None else rows.exact[first]
    distinct = replace(rows, doubles=rows.doubles[first], exact=exact)
    return MergedRows(_in_best_form(distinct), first, ranks[positions])


def _in_best_form(rows: IntegerRows) -> IntegerRows:
    """Return rows sparse if they are large and mostly zeros, and dense otherwise."""
    count = rows.doubles.nnz if rows.sparse else np.count_nonzero(rows.doubles)
    size = rows.count * rows.width
    sparse = rows.exact is None and size > LARGEST_DENSE and count < _MOSTLY_ZEROS * size
    if sparse == rows.sparse:
        return rows
    return replace(rows, doubles=sp.csr_array(rows.doubles) if sparse else dense(rows.doubles))


def _hashes(table: FloatArray | sp.csr_array) -> Any:
    """Return 64 bits for each row; zeros have no share in them."""
    width = (table.shape[1],)
    factors: Any = 2 * np.random.default_rng(0).integers(2**63, size=width, dtype=np.uint64) + 1
    if sp.issparse(table):
        shares = np.append(_mixed(table.data) * factors[table.indices], np.uint64(0))
        sums = np.add.reduceat(shares, table.indptr[:-1])
        return np.where(np.diff(table.indptr) > 0, sums, np.uint64(0))
    total = np.zeros(len(table), dtype=np.uint64)
    for column, factor in zip(np.asarray(table).T, factors, strict=True):
        total += _mixed(column) * factor
    return total


def _mixed(numbers: FloatArray) -> Any:
    """Return the bits of doubles, the high ones also in low places; -0 is 0."""
    bits = (numbers + 0.0).view(np.uint64)
    return bits ^ (bits >> np.uint64(52))


def _equal(rows: IntegerRows, other: IntArray) -> bool:
    """Return whether each row equals another one, exactly."""
    differ: Any = rows.doubles != rows.doubles[other]
    if differ.sum():
        return False
    return rows.exact is None or bool((rows.exact == rows.exact[other]).all())
