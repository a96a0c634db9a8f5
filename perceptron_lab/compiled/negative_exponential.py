"""exp(x) for x <= 0, in a form that compilers vectorise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perceptron_lab.compiled.kernel import before_kernels, kernel

# Fused multiply-add only: in another order the reduction below would lose its point
_EXACT = frozenset({"contract", "nsz"})


def exponential(x: Any) -> Any:
    """Return exp(x) for x <= 0, in the precision of x; in compiled code without a call.

    x = k ln 2 + r with abs(r) <= ln 2 / 2, ln 2 as the sum of a short constant and a rest, so that
    k times the first is exact; exp(r) is its Taylor polynomial (degree 7 in single, 13 in double
    precision), 2^k is written into the exponent. The relative error is below 2e-7 and 5e-16. Below
    -87.3 and -708 the result is 0: denormal numbers are slow. NaN stays NaN.
    """
    return np.exp(x)


@kernel("float32(float32)", fastmath=_EXACT)
def _single(x: Any) -> Any:
    low = np.float32(-87.3)
    bounded = x if x > low else low
    k = np.floor(bounded * np.float32(1.4426950408889634) + np.float32(0.5))
    r = bounded - k * np.float32(0.693359375)
    r = r - k * np.float32(-2.12194440e-4)
    value = np.float32(1 / 5040)
    value = value * r + np.float32(1 / 720)
    value = value * r + np.float32(1 / 120)
    value = value * r + np.float32(1 / 24)
    value = value * r + np.float32(1 / 6)
    value = value * r + np.float32(1 / 2)
    value = value * r + np.float32(1)
    value = value * r + np.float32(1)
    value *= np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)
    return value if x > low else (np.float32(0) if x <= low else x)


@kernel("float64(float64)", fastmath=_EXACT)
def _double(x: Any) -> Any:
    low = -708.0
    bounded = x if x > low else low
    k = np.floor(bounded * 1.4426950408889634 + 0.5)
    r = bounded - k * 6.93147180369123816490e-01
    r = r - k * 1.90821492927058770002e-10
    value = 1 / 6227020800
    value = value * r + 1 / 479001600
    value = value * r + 1 / 39916800
    value = value * r + 1 / 3628800
    value = value * r + 1 / 362880
    value = value * r + 1 / 40320
    value = value * r + 1 / 5040
    value = value * r + 1 / 720
    value = value * r + 1 / 120
    value = value * r + 1 / 24
    value = value * r + 1 / 6
    value = value * r + 1 / 2
    value = value * r + 1
    value = value * r + 1
    value *= np.int64((np.int64(k) + 1023) << 52).view(np.float64)
    return value if x > low else (0.0 if x <= low else x)


@before_kernels
def _known_to_numba() -> None:
    from numba import types
    from numba.extending import overload

    @overload(exponential)
    def compiled(x: Any) -> Callable[[Any], Any]:
        def single(x: Any) -> Any:
            return _single(x)

        def double(x: Any) -> Any:
            return _double(x)

        return single if x == types.float32 else double
