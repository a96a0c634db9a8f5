"""What a pass computes of a block: bounds that hold, in every layout, and a checksum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.certificates.rounding import exact_dot, product_with_radius
from perceptron_lab.certificates.rows.sweep import Sweep, swept
from perceptron_lab.core.results import FloatArray

RNG = np.random.default_rng(2)
ROWS, POINT = RNG.standard_normal((500, 6)), RNG.standard_normal(6)


def layouts(rows: FloatArray) -> list[FloatArray]:
    """The same rows in C and Fortran order, with gaps, out of place by a byte, and read-only."""
    gaps = np.zeros((1000, 12))
    gaps[::2, ::2] = rows
    shifted = np.zeros(rows.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(rows.shape)
    shifted[...] = rows
    turned = np.zeros(rows.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(rows.shape[::-1]).T
    turned[...] = rows
    fixed = rows.copy()
    fixed.flags.writeable = False
    return [rows, np.asfortranarray(rows), gaps[::2, ::2], shifted, turned, fixed, fixed.T.copy().T]


def same(one: Sweep, other: Sweep) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_sweep_does_not_depend_on_the_layout() -> None:
    for rows in layouts(ROWS):
        assert same(swept(rows, POINT), swept(ROWS, POINT))
    assert swept(ROWS[:, ::-1], POINT).checksum != swept(ROWS, POINT).checksum


@pytest.mark.parametrize("roundings", [0, 1])
def test_scores_have_the_bound_of_other_products(roundings: int) -> None:
    rows = ROWS.copy()
    rows[:, -1] = -(rows[:, :-1] @ POINT[:-1]) / POINT[-1]
    sweep = swept(rows, POINT, roundings)
    scores, radius = product_with_radius(rows, POINT, roundings)
    assert sweep.radius == pytest.approx(radius, rel=1e-12, abs=0.0)
    assert (np.abs(sweep.scores - scores) <= sweep.radius + radius).all()
    for row, score, error in zip(rows, sweep.scores, sweep.radius, strict=True):
        assert abs(exact_dot(row, POINT) - Fraction(float(score))) <= Fraction(float(error))
    assert sweep.norms == pytest.approx(np.linalg.norm(rows, axis=1), rel=1e-15)


def test_rows_that_are_not_finite_have_norms_that_are_not() -> None:
    rows = np.ones((70, 2))
    rows[3, 0], rows[5, 1], rows[7] = np.nan, -np.inf, 1e200
    finite = np.isfinite(swept(rows, np.ones(2)).norms)
    assert np.flatnonzero(~finite).tolist() == [3, 5, 7]


def test_checksums_are_those_of_all_processes() -> None:
    """Blocks may be read by several of them; the keys of the hashes have to be the same."""
    assert swept(np.arange(12.0).reshape(4, 3), np.ones(3)).checksum == 3091413515
