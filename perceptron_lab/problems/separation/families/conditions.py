"""Conditions on directions d, as combinations of the rows x_i of observations, per family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import IntArray

MOST_NUMBERS: Final = 50_000_000
"""Largest number of entries of the conditions of a family that compares pairs."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Conditions:
    """N conditions A d >= 0 or A d = 0 with A = [C_1 X, ..., C_K X, T].

    Parameters
    ----------
    blocks
        C_k, integer coefficients of the observations, N x m each.
    first, second
        The observations that each condition is about, shape ``(N,)``; ``second`` is the other
        observation of a comparison of two, else ``first``.
    equalities
        Which conditions are equations, shape ``(N,)``.
    thresholds
        T, integers, N x q.
    """

    blocks: tuple[sp.csr_array, ...]
    first: IntArray
    second: IntArray
    equalities: Mask
    thresholds: IntArray

    @classmethod
    def of(
        cls,
        coefficients: list[IntArray],
        first: IntArray,
        count: int,
        equalities: Mask | None = None,
        thresholds: IntArray | None = None,
    ) -> Conditions:
        """Return conditions on one observation each, with its coefficient in each block."""
        rows = np.arange(len(first))
        shape = (len(first), count)
        return cls(
            tuple(sp.csr_array((c.astype(float), (rows, first)), shape) for c in coefficients),
            first,
            first,
            np.zeros(len(first), dtype=bool) if equalities is None else equalities,
            np.zeros((len(first), 0), dtype=np.int64) if thresholds is None else thresholds,
        )


def signed(signs: IntArray) -> Conditions:
    """Return x_i'd >= 0 where the sign is 1, x_i'd <= 0 where it is -1, and x_i'd = 0 where 0."""
    every, equal = np.arange(len(signs)), signs == 0
    return Conditions.of([np.where(equal, 1, signs)], every, len(signs), equal)


def multinomial(codes: IntArray, classes: int, width: int) -> Conditions:
    """Return x_i'(d_y - d_j) >= 0 for each row and each class j other than its own, d_0 = 0."""
    first, actual, other = _pairs_of_classes(codes, classes, width * (classes - 1))
    signs = [(actual == k).astype(np.int64) - (other == k) for k in range(1, classes)]
    return Conditions.of(signs, first, len(codes))


def ordinal(codes: IntArray, classes: int, width: int) -> Conditions:
    """Return t_(y+1) - x_i'd >= 0 and x_i'd - t_y >= 0, where these thresholds exist."""
    require_few(2 * len(codes), width + classes - 1, "merge categories or equal rows (weights=)")
    below, above = np.flatnonzero(codes < classes - 1), np.flatnonzero(codes > 0)
    first = np.concatenate([below, above])
    signs = np.repeat([-1, 1], [len(below), len(above)])
    thresholds = np.zeros((len(first), classes - 1), dtype=np.int64)
    thresholds[np.arange(len(first)), np.concatenate([codes[below], codes[above] - 1])] = -signs
    return Conditions.of([signs], first, len(codes), thresholds=thresholds)


def adjacent(codes: IntArray, classes: int, width: int) -> Conditions:
    """Return (y - j) x_i'd - sum_(l <= y) t_l + sum_(l <= j) t_l >= 0 for each category j != y."""
    first, actual, other = _pairs_of_classes(codes, classes, width + classes - 1)
    steps = np.arange(classes - 1)
    thresholds = (steps < other[:, None]).astype(np.int64) - (steps < actual[:, None])
    return Conditions.of([actual - other], first, len(codes), thresholds=thresholds)


def _pairs_of_classes(
    codes: IntArray, classes: int, width: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return row, own class and other class of all comparisons of classes."""
    require_few(len(codes) * (classes - 1), width, "merge classes or equal rows (weights=)")
    first, actual = np.repeat(np.arange(len(codes)), classes - 1), np.repeat(codes, classes - 1)
    other = np.tile(np.arange(classes - 1), len(codes))
    return first, actual, other + (other >= actual)


def differences(first: IntArray, second: IntArray, equal: Mask, count: int) -> Conditions:
    """Return x_i'd - x_j'd >= 0, or = 0, for pairs of observations."""
    rows, ones = np.arange(len(first)), np.ones(len(first))
    shape = (len(first), count)
    block = sp.csr_array((ones, (rows, first)), shape) - sp.csr_array((ones, (rows, second)), shape)
    none = np.zeros((len(first), 0), dtype=np.int64)
    return Conditions((sp.csr_array(block),), first, second, equal, none)


def require_few(count: int, width: int, remedy: str) -> None:
    """Raise an InputError for more conditions than :data:`MOST_NUMBERS` allows."""
    if count * width > MOST_NUMBERS:
        raise InputError(
            f"the model compares {count} pairs of {width} numbers, and {MOST_NUMBERS} numbers are "
            f"allowed; {remedy}"
        )
