"""Whether this thread computes as every bound assumes: to nearest, with gradual underflow.

Libraries built with fast-math set the processor to flush subnormal results to zero when they are
loaded, for the whole thread; others leave a directed rounding behind. Python's own operations and
compiled kernels run in the mode of the thread that calls them, so it is that thread that is tested.
"""

from __future__ import annotations

from perceptron_lab.errors import ArithmeticModeError

# Variables, not literals: products of literals are folded when this module is compiled.
_LEAST_NORMAL = 2.0**-1022
_SUBNORMAL = 2.0**-1074
_HALF = 0.5
_ONE = 1.0
_TINY = 2.0**-60


def require_ieee_mode() -> None:
    """Refuse to prove anything where rounding is not to nearest or underflow is not gradual."""
    if _LEAST_NORMAL * _HALF == 0.0 or _SUBNORMAL * _ONE == 0.0:
        raise ArithmeticModeError(
            "subnormal numbers are flushed to zero in this thread, so nothing can be proved: a "
            "library built with -ffast-math has set that mode; import it elsewhere or later"
        )
    if _ONE + _TINY != _ONE or _ONE - _TINY != _ONE or -_ONE - _TINY != -_ONE:
        raise ArithmeticModeError(
            "this thread does not round to nearest, so nothing can be proved: some library has "
            "changed the rounding mode (fesetround) and not set it back"
        )
