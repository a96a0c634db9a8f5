"""What is printed of a proved bound is proved as well."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.core.outward_rounding import bracket_text, text_above, text_below


def doubles(seed: int, count: int) -> list[float]:
    """Doubles of all sizes and both signs, the decimals among them that are ends of intervals."""
    rng = np.random.default_rng(seed)
    wide = rng.standard_normal(count) * 10.0 ** rng.uniform(-300, 300, count)
    approximate = rng.integers(-999, 1000, count) / 1000.0
    return [
        *wide.tolist(),
        *approximate.tolist(),
        *np.nextafter(approximate, np.inf).tolist(),
        0.0,
        5e-324,
    ]


@pytest.mark.parametrize("digits", [1, 3, 6, 10])
def test_texts_lie_on_their_side_of_the_bound_and_within_a_digit_of_it(digits: int) -> None:
    for bound in doubles(digits, 500):
        below, above = Fraction(text_below(bound, digits)), Fraction(text_above(bound, digits))
        assert below <= Fraction(bound) <= above
        assert above - below <= Fraction(10) ** (1 - digits) * abs(Fraction(bound))


def test_infinite_bounds_and_missing_ones_have_texts() -> None:
    assert bracket_text(-math.inf, 1.7e308) == "[-inf, 1.7e+308]"
    assert bracket_text(None, 0.12345678) == "[?, 0.123457]"
    assert bracket_text(0.12345678, None, 2) == "[0.12, ?]"
    assert math.isinf(float(text_above(1.797e308, 3)))
