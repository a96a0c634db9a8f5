"""Every exact number has a double, on the side that is asked for."""

from __future__ import annotations

import math
import random
import sys
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpz

from perceptron_lab.numerics.exact_doubles import to_double, to_doubles

LARGEST, TINY = sys.float_info.max, 5e-324


def numbers(seed: int, count: int) -> list[Fraction]:
    """Fractions of all sizes, those beyond doubles on both ends among them."""
    rng = random.Random(seed)

    def whole() -> int:
        return rng.getrandbits(rng.randint(1, 2300))

    return [rng.choice((-1, 1)) * Fraction(whole(), 1 + whole()) for _ in range(count)]


@pytest.mark.parametrize("seed", range(3))
def test_rounding_down_and_up_encloses_and_the_nearest_is_one_of_both(seed: int) -> None:
    for exact in numbers(seed, 2000):
        below, above = (to_double(exact, rounding=side) for side in ("down", "up"))
        assert below <= exact <= above
        assert above in (below, math.nextafter(below, math.inf))
        nearest = to_double(exact)
        assert nearest in (below, above)
        off = [abs(Fraction(value) - exact) for value in (below, above) if math.isfinite(value)]
        assert abs(Fraction(nearest) - exact) == min(off)


def test_beyond_all_doubles_the_nearest_is_finite_and_bounds_hold() -> None:
    assert to_double(10**5000) == LARGEST
    assert to_double(-(10**5000)) == -LARGEST
    assert to_double(10**5000, rounding="down") == LARGEST
    assert to_double(10**5000, rounding="up") == math.inf
    assert to_double(-(10**5000), rounding="down") == -math.inf
    assert to_double(-(10**5000), rounding="up") == -LARGEST


def test_below_all_doubles_the_nearest_is_zero_and_bounds_hold() -> None:
    small = Fraction(1, 10**5000)
    assert to_double(small) == to_double(small, rounding="down") == 0.0
    assert to_double(small, rounding="up") == TINY
    assert to_double(-small, rounding="down") == -TINY
    assert to_double(-small, rounding="up") == 0.0
    assert to_double(Fraction(3 * 2**1074 + 1, 2**2149), rounding="up") == 2 * TINY


@pytest.mark.parametrize("number", [7, np.int64(7), Fraction(7), fmpz(7), fmpq(7), fmpq(21, 3)])
def test_every_type_of_exact_number_is_read(number: object) -> None:
    assert to_double(number) == 7.0
    assert to_double(number, 2) == 3.5
    assert to_doubles([number]).tolist() == to_doubles([number], scaled=True).tolist() == [7.0]


def test_vectors_within_the_range_of_doubles_remain_as_they_are() -> None:
    vector = [Fraction(1, 3), -(10**300), 0, Fraction(7, 10**300)]
    expected = [float(value) for value in vector]
    assert to_doubles(vector).tolist() == expected
    assert to_doubles(vector, scaled=True).tolist() == expected
    assert to_doubles([], scaled=True).tolist() == []
    assert to_doubles([0, 0], scaled=True).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("power", [-5000, -1100, 1025, 1100, 5000])
def test_scaled_vectors_are_a_common_multiple_of_a_power_of_two(power: int) -> None:
    size = Fraction(2) ** power
    vector = [5 * size, -3 * size, size / 2**40, Fraction(0)]
    values = to_doubles(vector, scaled=True)
    assert np.isfinite(values).all()
    assert 0.5 <= np.abs(values).max() <= 2.0
    multiple = Fraction(float(values[0])) / vector[0]
    assert multiple > 0
    assert [Fraction(value) for value in values.tolist()] == [multiple * value for value in vector]
    mantissa = multiple.numerator * multiple.denominator
    assert mantissa & (mantissa - 1) == 0


def test_scaling_keeps_the_sign_of_what_is_below_all_doubles() -> None:
    values = to_doubles([10**5000, -1, 0, 1], scaled=True)
    assert values[1:].tolist() == [-TINY, 0.0, TINY]


def test_vectors_are_not_scaled_where_they_are_bounds() -> None:
    assert to_doubles([10**5000, -(10**5000), 1]).tolist() == [LARGEST, -LARGEST, 1.0]
