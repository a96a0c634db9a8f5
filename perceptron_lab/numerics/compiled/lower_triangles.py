"""Products with, and updates of, symmetric matrices of which the lower triangle is stored."""

from __future__ import annotations

from perceptron_lab.numerics.compiled.kernel import REORDER, Matrix, Vector, kernel


@kernel(fastmath=REORDER)
def symmetric_product(lower: Matrix, vector: Vector, out: Vector) -> float:
    """Write Qa, of which the lower triangle is stored, and return a'Qa."""
    n = vector.shape[0]
    out[:] = 0.0
    # Four rows at a time: each entry of the vectors is read and written a quarter as often.
    whole = n - n % 4
    for i in range(0, whole, 4):
        a, b, c, d = lower[i], lower[i + 1], lower[i + 2], lower[i + 3]
        u, v, w, z = vector[i], vector[i + 1], vector[i + 2], vector[i + 3]
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            at = vector[j]
            first += a[j] * at
            second += b[j] * at
            third += c[j] * at
            fourth += d[j] * at
            out[j] += a[j] * u + b[j] * v + c[j] * w + d[j] * z
        out[i] += first + a[i] * u + b[i] * v + c[i] * w + d[i] * z
        out[i + 1] += second + b[i] * u + b[i + 1] * v + c[i + 1] * w + d[i + 1] * z
        out[i + 2] += third + c[i] * u + c[i + 1] * v + c[i + 2] * w + d[i + 2] * z
        out[i + 3] += fourth + d[i] * u + d[i + 1] * v + d[i + 2] * w + d[i + 3] * z
    for i in range(whole, n):
        a, u, first = lower[i], vector[i], 0.0
        for j in range(i):
            first += a[j] * vector[j]
            out[j] += a[j] * u
        out[i] += first + a[i] * u
    square = 0.0
    for i in range(n):
        square += vector[i] * out[i]
    return square


@kernel(fastmath=REORDER)
def symmetric_update(lower: Matrix, vector: Vector, amount: float) -> None:
    """Apply Q <- Q - amount v v' to the lower triangle."""
    for i in range(vector.shape[0]):
        scale = amount * vector[i]
        row = lower[i]
        for j in range(i + 1):
            row[j] -= scale * vector[j]
