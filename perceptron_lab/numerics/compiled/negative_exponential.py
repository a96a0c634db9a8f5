"""exp(x) for x <= 0, in a form that compilers vectorise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from perceptron_lab.numerics.compiled.kernel import before_kernels


def exponential(x: Any) -> Any:
    """Return exp(x) for x <= 0, in the precision of x; in compiled code without a call.

    x = k ln 2 + r with abs(r) <= ln 2 / 2, ln 2 as the sum of a short constant and a rest, so that
    k times the first is exact; exp(r) is its Taylor polynomial (degree 7 in single, 13 in double
    precision), 2^k is written into the exponent. The relative error is below 2e-7 and 5e-16. Below
    -87.3 and -708 the result is 0: denormal numbers are slow. NaN stays NaN.
    """
    return np.exp(x)


@before_kernels
def _known_to_numba() -> None:
    from numba import types
    from numba.extending import overload

    # Fused multiply-add only: in another order the reduction would lose its point
    @overload(exponential, jit_options={"fastmath": {"contract", "nsz"}})
    def compiled(x: Any) -> Callable[[Any], Any]:
        real: Any = np.float32 if x == types.float32 else np.float64
        whole: Any
        if real is np.float32:
            whole, digits, lowest, degree = np.int32, 23, -87.3, 7
            first, second = 0.693359375, -2.12194440e-4
        else:
            whole, digits, lowest, degree = np.int64, 52, -708.0, 13
            first, second = 6.93147180369123816490e-01, 1.90821492927058770002e-10
        low, inverse, half = real(lowest), real(1.4426950408889634), real(0.5)
        high, rest, zero = real(first), real(second), real(0.0)
        bias, shift = whole(127 if real is np.float32 else 1023), whole(digits)
        taylor = tuple(real(1 / math.factorial(k)) for k in range(degree, -1, -1))

        def power(x: Any) -> Any:
            bounded = x if x > low else low
            k = np.floor(bounded * inverse + half)
            r = bounded - k * high
            r = r - k * rest
            value = taylor[0]
            for coefficient in taylor[1:]:
                value = value * r + coefficient
            value *= whole((whole(k) + bias) << shift).view(real)
            return value if x > low else (zero if x <= low else x)

        return power
