"""The values of kernels in exact arithmetic, apart from the package's."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from tests.conformance.rational_judge import product


def true_value(kernel: Kernel, left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """The kernel of fractions; exp to 60 digits."""
    gamma = Fraction(1, len(left))
    if isinstance(kernel, Linear):
        return product(left, right)
    assert isinstance(kernel, Polynomial | Rbf)
    if kernel.gamma is not None:
        gamma = Fraction(kernel.gamma)
    if isinstance(kernel, Polynomial):
        return (gamma * product(left, right) + Fraction(kernel.coef0)) ** kernel.degree
    squares = [(a - b) ** 2 for a, b in zip(left, right, strict=True)]
    power = -gamma * sum(squares, Fraction())
    if power < -1000:  # below 1e-434: not to be told from 0
        return Fraction()
    with decimal.localcontext(prec=60):
        return Fraction((Decimal(power.numerator) / Decimal(power.denominator)).exp())
