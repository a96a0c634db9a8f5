"""Systems of numbers of every kind with the truth about them, as fractions: for the exact judge.

Integers up to 2^70, fractions, decimals in text and in memory, lengths from 1e-140 to 1e140,
kernels, second-order blocks and programs; and what is no system at all. Many are feasible or not by
less than the rounding of their numbers to doubles.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from perceptron_lab import ConicSystem
from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.problem_files import read_system
from tests.certificates.kernel_values import true_value
from tests.cones.oracles.exact import Kind, kind, plus_identity
from tests.conformance.rational_judge import (
    NOTHING,
    Row,
    has_solution,
    product,
    rationals,
    root,
    rows_reach,
    sign_of_difference,
    weights_reach,
)

TINY = Fraction(1, 10**40)
"""Roots are known to 60 digits: what differs by less than this part is not told apart."""


class Truth(NamedTuple):
    """What is true of a system.

    Parameters
    ----------
    feasible
        Whether some point is inside; None where only claims about points are judged.
    inside
        Whether a point is.
    reaches
        Whether the margin of a point is at least a number.
    bounded
        Whether weights prove that no margin is above a number; None: they are not judged.
    planted
        A lower bound of the largest margin, or None.
    """

    feasible: bool | None
    inside: Callable[[FloatArray], bool]
    reaches: Callable[[FloatArray, float], bool]
    bounded: Callable[[FloatArray, float], bool] | None = None
    planted: Fraction | None = None


class Drawn(NamedTuple):
    """A system as the package makes it, and the truth."""

    system: ConicSystem
    truth: Truth


def of_rows(rows: list[list[Fraction]]) -> Truth:
    return Truth(
        has_solution(rows),
        lambda point: all(product(row, rationals(point)) > 0 for row in rows),
        lambda point, bound: rows_reach(rows, rationals(point), bound),
        lambda weights, bound: weights_reach(rows, rationals(weights), bound),
    )


# --- rows ----------------------------------------------------------------------------------------


def nearly_opposite_rows(rng: np.random.Generator, size: int) -> list[list[int]]:
    """Rows of integers and near multiples of them with the other sign: off by at most 1."""
    dimension = int(rng.integers(2, 4))
    half = [
        [int(rng.integers(-(2**20), 2**20)) * size // 2**20 or 1 for _ in range(dimension)]
        for _ in range(int(rng.integers(1, 3)))
    ]
    opposite = [[-entry + int(rng.integers(-1, 2)) for entry in row] for row in half]
    return [row if any(row) else [1] * dimension for row in half + opposite]


def constraint_text(rows: list[list[Any]], rng: np.random.Generator) -> Any:
    """The rows in some container that holds them."""
    small = all(abs(entry) < 2**63 for row in rows for entry in row)
    holders: list[Callable[[Any], Any]] = [
        lambda data: data,
        lambda data: np.array(data, dtype=object),
        lambda data: pd.DataFrame([[str(e) for e in row] for row in data]).map(int),
        lambda data: [[Fraction(entry) for entry in row] for row in data],
        lambda data: [[Decimal(entry) for entry in row] for row in data],
    ]
    if small:
        holders += [np.array, lambda data: sp.csr_array(np.array(data)), pd.DataFrame]
    return holders[int(rng.integers(len(holders)))](rows)


def integers(rng: np.random.Generator, folder: Path) -> Drawn:
    rows = nearly_opposite_rows(rng, 2 ** int(rng.integers(2, 71)))
    exact = [[Fraction(entry) for entry in row] for row in rows]
    return Drawn(ConicSystem.from_rows(constraint_text(rows, rng)), of_rows(exact))


def decimal_rows(rng: np.random.Generator) -> list[list[str]]:
    """Near-opposite rows of decimals: of few digits each, or of up to 20."""
    indices = int(rng.integers(0, 20))
    rows = nearly_opposite_rows(rng, 10 ** int(rng.integers(1, max(3, indices) + 1)))
    return [[str(Decimal(entry).scaleb(-indices)) for entry in row] for row in rows]


def decimals(rng: np.random.Generator, folder: Path) -> Drawn:
    """In a text, in a file of svmlight's format, or in memory."""
    words = decimal_rows(rng)
    exact = [[Fraction(Decimal(word)) for word in row] for row in words]
    if rng.random() < 0.2:
        table = [[Decimal(word) for word in row] for row in words]
        return Drawn(ConicSystem.from_rows(table), of_rows(exact))
    path = folder / "rows.csv"
    if rng.random() < 0.5:
        path.write_text("\n".join(",".join(row) for row in words))
        return Drawn(read_system(path), of_rows(exact))
    labels = [1, -1, *rng.choice([-1, 1], len(words) - 2).tolist()]
    if rng.random() < 0.5:
        lines = [",".join([*row, str(label)]) for row, label in zip(words, labels, strict=True)]
        path.write_text("\n".join(lines))
        system = read_system(path, "last")
    else:
        path = folder / "rows.svm"
        entries = [" ".join(f"{k + 1}:{word}" for k, word in enumerate(row)) for row in words]
        path.write_text("\n".join(f"{s} {row}" for s, row in zip(labels, entries, strict=True)))
        system = read_system(path)
    return Drawn(system, of_rows(lifted(exact, labels)))


def lifted(examples: list[list[Fraction]], labels: list[int]) -> list[list[Fraction]]:
    """s_i (x_i, 1)."""
    pairs = zip(examples, labels, strict=True)
    return [[label * entry for entry in [*row, Fraction(1)]] for row, label in pairs]


def fractions(rng: np.random.Generator, folder: Path) -> Drawn:
    """Of denominators with a small multiple, or none."""
    rows = nearly_opposite_rows(rng, 2 ** int(rng.integers(2, 20)))
    primes = [3, 7, 11] if rng.random() < 0.5 else [2**31 - 1, 2**61 - 1, 10007]
    exact = [[Fraction(entry, int(rng.choice(primes))) for entry in row] for row in rows]
    exact += [[-2 * entry for entry in exact[0]]] if rng.random() < 0.3 else []
    labels = [1, -1] * (len(exact) // 2) + [1] * (len(exact) % 2)
    if rng.random() < 0.4:
        return Drawn(ConicSystem.from_labelled(exact, labels), of_rows(lifted(exact, labels)))
    return Drawn(ConicSystem.from_rows(exact), of_rows(exact))


def extreme(rng: np.random.Generator, folder: Path) -> Drawn:
    """Doubles, and extended precision, of lengths 1e-140 to 1e140."""
    dimension = int(rng.integers(2, 4))
    rows = rng.standard_normal((int(rng.integers(1, 4)), dimension))
    rows = np.vstack([rows, -rows * (1.0 + 2.0**-52 * rng.integers(-2, 3, rows.shape))])
    rows *= 10.0 ** rng.integers(-140, 141, (len(rows), 1))
    if rng.random() < 0.5:
        return Drawn(ConicSystem.from_rows(rows), of_rows([rationals(row) for row in rows]))
    long = np.array(rows, dtype=np.longdouble) * (1 + np.longdouble(2) ** -60)
    exact = [[Fraction(*entry.as_integer_ratio()) for entry in row] for row in long]
    return Drawn(ConicSystem.from_rows(long), of_rows(exact))


# --- kernels -------------------------------------------------------------------------------------


def of_kernel(signed: list[list[Fraction]], feasible: bool | None) -> Truth:
    """S c > 0 of the signed matrix of a kernel; roots of sums that cancel are told by 40 digits."""

    def square(c: Row) -> Fraction:
        return max(product(c, [product(row, c) for row in signed]), NOTHING)

    def reaches(point: FloatArray, bound: float) -> bool:
        c = rationals(point)
        length = square(c)
        return all(
            sign_of_difference(product(row, c), bound, length * row[i]) >= 0
            for i, row in enumerate(signed)
        )

    def bounded(weights: FloatArray, bound: float) -> bool:
        w = rationals(weights)
        roots = (root(row[i], upward=False) for i, row in enumerate(signed))
        mass = sum((a * b for a, b in zip(w, roots, strict=True)), NOTHING)
        return (Fraction(bound) * mass) ** 2 + TINY * mass * mass >= square(w)

    return Truth(
        feasible,
        lambda point: all(product(row, rationals(point)) > 0 for row in signed),
        reaches,
        bounded,
    )


def kernels(rng: np.random.Generator, folder: Path) -> Drawn:
    selected: list[Kernel] = [
        Linear(),
        Polynomial(degree=2),
        Polynomial(degree=3, gamma=0.7),
        Rbf(),
    ]
    kernel = selected[int(rng.integers(len(selected)))]
    shape = int(rng.integers(2, 6)), int(rng.integers(1, 3))
    examples = np.asarray(rng.integers(1, 30, shape) / 10.0)
    exact = [rationals(row) for row in examples]
    table: Any = examples
    if rng.random() < 0.3:
        table = [[Decimal(str(entry)) for entry in row] for row in examples.tolist()]
        exact = [[Fraction(entry) for entry in row] for row in table]
    labels = [1, -1, *rng.choice([-1, 1], len(exact) - 2).tolist()]
    signed = [
        [s * t * true_value(kernel, x, z) for t, z in zip(labels, exact, strict=True)]
        for s, x in zip(labels, exact, strict=True)
    ]
    feasible = None if isinstance(kernel, Rbf) else has_solution(signed)
    return Drawn(ConicSystem.from_kernel(kernel, table, labels), of_kernel(signed, feasible))


# --- cones ---------------------------------------------------------------------------------------


def second_order(rng: np.random.Generator, folder: Path) -> Drawn:
    """Integers up to 2^60: feasible by the least integer, or infeasible by weights of integers."""
    size, dimension = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    most = 2 ** int(rng.integers(3, 60))
    data = [[int(rng.integers(-most, most)) for _ in range(dimension)] for _ in range(size)]
    z = [int(side) for side in rng.choice([-1, 1], dimension)]
    feasible = bool(rng.random() < 0.5)
    if feasible:
        parts = [sum(a * y for a, y in zip(row, z, strict=True)) for row in data]
        needed = int(root(Fraction(sum(u * u for u in parts[:-1])), upward=False)) + 1
        data[-1][0] += (needed - parts[-1]) * z[0]
    else:  # w = (0, .., side, .., 0, 1) on the boundary: t = -side u
        at, side = int(rng.integers(size - 1)), int(rng.choice([-1, 1]))
        data[-1] = [-side * entry for entry in data[at]]
    exact = [[Fraction(entry) for entry in row] for row in data]

    def excess(point: Row) -> tuple[Fraction, Fraction]:
        """t and u'u."""
        *parts, top = (product(row, point) for row in exact)
        return top, sum((u * u for u in parts), NOTHING)

    def inside(point: FloatArray) -> bool:
        top, square = excess(rationals(point))
        return top > 0 and top * top > square

    def reaches(point: FloatArray, bound: float) -> bool:
        y = rationals(point)
        top, square = excess(y)
        limit = Fraction(bound) * root(product(y, y), upward=bound < 0)
        return top - root(square, upward=False) - limit >= -TINY * (abs(top) + abs(limit))

    planted = None
    if feasible:
        top, square = excess([Fraction(y) for y in z])
        planted = (top - root(square, upward=True)) / root(Fraction(dimension), upward=True)
    system = ConicSystem.second_order(constraint_text(data, rng), [size])
    return Drawn(system, Truth(feasible, inside, reaches, None, planted))


def program(rng: np.random.Generator, folder: Path) -> Drawn:
    """A program of decimals in text, of order 2 or 3: feasible at x = (1, .., 1), or not at all."""
    order, variables = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    unit = Fraction(1, 10 ** int(rng.integers(0, 18)))
    matrices = [symmetric(rng, order, unit) for _ in range(variables + 1)]
    feasible = bool(rng.random() < 0.5)
    for i in range(order):
        if feasible:  # by diagonal dominance, of one unit
            row = [sum(m[i][j] for m in matrices[1:]) - matrices[0][i][j] for j in range(order)]
            off_diagonal = sum((abs(a) for j, a in enumerate(row) if j != i), NOTHING)
            matrices[1][i][i] += max(off_diagonal + unit - row[i], NOTHING)
    if not feasible:  # <F_i, v v'> = 0 and <F_0, v v'> >= 0 for v = (1, .., 1)
        for number, matrix in enumerate(matrices):
            total = sum((sum(row, NOTHING) for row in matrix), NOTHING)
            if number or total < 0:
                matrix[0][0] -= total
    if not any(any(row) for matrix in matrices for row in matrix):
        matrices[0][0][0] = unit
    path = folder / "program.dat-s"
    path.write_text(as_sdpa(matrices))

    def at(y: Row) -> list[list[Fraction]]:
        signs = [-1] + [1] * variables
        return [
            [
                sum((s * a * m[i][j] for s, a, m in zip(signs, y, matrices, strict=True)), NOTHING)
                for j in range(order)
            ]
            for i in range(order)
        ]

    def reaches(point: FloatArray, bound: float) -> bool:
        y = rationals(point)
        level = Fraction(bound) * root(product(y, y), upward=bound < 0) - TINY
        kind_ = kind(plus_identity(at(y), -level))
        return y[0] >= level and kind_ is not Kind.INDEFINITE

    def inside(point: FloatArray) -> bool:
        y = rationals(point)
        return y[0] > 0 and kind(at(y)) is Kind.DEFINITE

    return Drawn(read_system(path), Truth(feasible, inside, reaches))


def symmetric(rng: np.random.Generator, order: int, unit: Fraction) -> list[list[Fraction]]:
    entries = rng.integers(-40, 41, (order, order))
    return [[unit * int(entries[min(i, j), max(i, j)]) for j in range(order)] for i in range(order)]


def as_sdpa(matrices: list[list[list[Fraction]]]) -> str:
    order = len(matrices[0])
    head = f"{len(matrices) - 1}\n1\n{order}\n{' '.join(['1'] * (len(matrices) - 1))}\n"
    return head + "".join(
        f"{number} 1 {i + 1} {j + 1} {printed(matrix[i][j])}\n"
        for number, matrix in enumerate(matrices)
        for i in range(order)
        for j in range(i, order)
    )


def printed(value: Fraction) -> str:
    """A decimal fraction in full."""
    return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


# --- no systems ----------------------------------------------------------------------------------


def invalid(rng: np.random.Generator, folder: Path) -> Any:
    """What is no system: a callable that must end in an error of the input."""
    dense = rng.integers(1, 5, (4, 3)).astype(float)
    matrix = [sp.csr_array, sp.csc_array, sp.coo_array][int(rng.integers(3))](dense)
    case = int(rng.integers(7))
    beyond = int(rng.choice([-1, -(2**40), 3, 99, 10**9, 2**33]))
    if case == 0 and matrix.format == "coo":
        matrix.coords = (matrix.coords[0], np.full(matrix.nnz, beyond + (beyond > 0)))
    elif case == 0:
        matrix.indices = matrix.indices.astype(np.int64)
        matrix.indices[int(rng.integers(matrix.nnz))] = beyond + (beyond > 0)
    elif case == 1:
        matrix.data[int(rng.integers(matrix.nnz))] = rng.choice([np.nan, np.inf])
    elif case == 2:
        matrix = [[10**400, 1], [1, Fraction(1, 10**400)]]
    elif case == 3:
        matrix = np.ma.array(dense, mask=dense == dense[0, 0])
    elif case == 4:
        return lambda: ConicSystem.from_labelled(
            dense, np.ma.array([1, 0, 1, 0], mask=[1, 0, 0, 0])
        )
    elif case == 5:
        path = folder / "rows.csv"
        path.write_text(str(rng.choice(["1,1e-400\n2,3", "1,nan\n2,3", "1,1e400\n2,3", "1,x\n2"])))
        return lambda: read_system(path)
    else:
        path = folder / "rows.npz"
        parts = {"indices": np.array([0, beyond + (beyond > 0)]), "indptr": np.array([0, 1, 2])}
        np.savez(path, data=np.ones(2), shape=np.array([2, 2]), format=np.array(b"csr"), **parts)
        return lambda: read_system(path)
    return lambda: ConicSystem.from_rows(matrix)


KINDS: dict[str, Callable[[np.random.Generator, Path], Drawn]] = {
    "integers": integers,
    "decimals": decimals,
    "fractions": fractions,
    "extreme": extreme,
    "kernels": kernels,
    "second-order": second_order,
    "program": program,
}
