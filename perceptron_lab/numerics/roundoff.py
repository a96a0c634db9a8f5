"""The unit roundoff, gamma_k, sums rounded upward, and the mode of arithmetic that proofs need."""

from __future__ import annotations

import math

from perceptron_lab.core.errors import ArithmeticModeError

UNIT_ROUNDOFF = 2.0**-53
SMALLEST = 2.0**-1074
# Variables, not literals: products of literals are folded when this module is compiled.
_LEAST_NORMAL, _TINY, _HALF, _ONE = 2.0**-1022, 2.0**-60, 0.5, 1.0


def require_ieee_mode() -> None:
    """Refuse to prove anything where rounding is not to nearest or underflow is not gradual."""
    # Libraries built with fast-math set the processor to flush subnormal results to zero when they
    # are loaded, for the whole thread; others leave a directed rounding behind. Python's own
    # operations and compiled kernels run in the mode of the thread that calls them.
    if _LEAST_NORMAL * _HALF == 0.0 or SMALLEST * _ONE == 0.0:
        raise ArithmeticModeError(
            "subnormal numbers are flushed to zero in this thread, so nothing can be proved: a "
            "library built with -ffast-math has set that mode; import it elsewhere or later"
        )
    if _ONE + _TINY != _ONE or _ONE - _TINY != _ONE or -_ONE - _TINY != -_ONE:
        raise ArithmeticModeError(
            "this thread does not round to nearest, so nothing can be proved: some library has "
            "changed the rounding mode (fesetround) and not set it back"
        )


def gamma(terms: int) -> float:
    """Return an upper bound of gamma_k = k u / (1 - k u)."""
    return above(terms * UNIT_ROUNDOFF / (1.0 - terms * UNIT_ROUNDOFF), 2)


def above(value: float, terms: int) -> float:
    """Return an upper bound of a non-negative sum or norm computed from ``terms`` terms.

    Inequality (C1) of docs/notes/how-to-distrust-us.md.
    """
    return math.nextafter(value * (1.0 + 2.0 * (terms + 2) * UNIT_ROUNDOFF), math.inf)
