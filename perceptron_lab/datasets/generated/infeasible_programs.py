r"""Conic programs whose answers are known by construction, most of them without a point.

*Liu and Pataki.* A_i . X = b_i, X positive semidefinite, has no solution if, in block rows of
orders r_1, r_2 and the rest, and with b_1 = 0 > b_2,

    A_1 = [I 0 0; 0 0 0; 0 0 0],    A_2 = [B_11 B_12 B_13; B_12' I 0; B_13' 0 0],

for A_1 . X = 0 makes the first block row of X zero, and then A_2 . X is the trace of its second
block, which is not negative. All else is random. It is infeasible weakly if moreover A_i . Y = 0
for all i and Y the identity of the last block, and A_i . X = b_i for some X whose first two blocks
are 0: X + t Y has the least eigenvalue -O(1 / t). A clean instance is this one; a messy one has
other rows, by a unimodular matrix of integers, and is transformed by a congruence by another one.
The unknowns here are the coordinates of X in a reduced basis of integers of all differences of two
solutions of the equations.

*Lyapunov inequalities.* P - I and -(A'P + PA) - I positive definite for an integer matrix A of
known eigenvalues: feasible if and only if the real parts of these are negative.

*Stabilisability.* X - I and -(AX + XA' + BY + Y'B') - I positive definite, where v'A = a v' and
v'B = 0 for an integer vector v: infeasible if a >= 0.

*Sums of squares.* Q positive definite with sum_{i+j=k} Q_ij = c_k, the Gram matrices of a
polynomial of one variable: infeasible if the leading coefficient is negative.

*Second-order cones.* Each column of the data is orthogonal to (u, 1), u = (3/5, 4/5, 0, ..), on the
boundary of the cone; with the constant it has a negative product.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from pydantic import Field, model_validator

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.datasets.generated.generator import GeneratedDataset
from perceptron_lab.datasets.problem import Problem, sha256_of_arrays
from perceptron_lab.systems import ConicSystem

Integers = npt.NDArray[np.int64]
# Multiplies the equations in a lattice: vectors that break one are longer than those of a kernel
_FACTOR = 2**40


@parameter_record
class InfeasibleSdp(GeneratedDataset):
    """Conic programs of known answers; one instance per entry. All data are small integers.

    The metric ``known_infeasible`` is 1 where no point exists and 0 where a strictly feasible one
    does; ``known_weak`` is 1 where the program is weakly infeasible and 0 where it is strongly so,
    and is missing where that is not known.

    Parameters
    ----------
    family
        ``liu-pataki``: A_i . X = b_i; ``lyapunov``; ``control``, stabilisability; ``gram``, sums of
        squares; or ``second-order``.
    kind
        ``infeasible`` (default); ``weak``: weakly infeasible, of ``liu-pataki`` only; ``feasible``,
        of the other families.
    order
        Order n of the matrices X, P, Q, coordinates of the second-order cone, 3 to 30 (default 10).
    equations
        m, of ``liu-pataki`` only, 3 to n (n + 1) / 2 - 1 (default 10).
    ranks
        r_1 and r_2, of ``liu-pataki`` only, at least 1 each, with a sum below n (default 2 and 2).
    messy
        Whether rows are combined and the matrices transformed (default false; ``liu-pataki`` only).

    References
    ----------
    M. Liu and G. Pataki, Exact duals and short certificates of infeasibility and weak infeasibility
    in conic linear programming, Mathematical Programming 167 (2018) 435-480.
    """

    family: Literal["liu-pataki", "lyapunov", "control", "gram", "second-order"]
    kind: Literal["infeasible", "weak", "feasible"] = "infeasible"
    order: Annotated[int, Field(ge=3, le=30)] = 10
    equations: Annotated[int, Field(ge=3)] = 10
    ranks: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] = (2, 2)
    messy: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        reference_family = self.family == "liu-pataki"
        if self.kind == ("feasible" if reference_family else "weak"):
            raise ValueError(f"kind {self.kind} of the family {self.family}; choose another one")
        if self.messy and not reference_family:
            raise ValueError(f"messy of the family {self.family}; leave it out")
        if not reference_family:
            return self
        if sum(self.ranks) >= self.order or self.equations >= self.order * (self.order + 1) // 2:
            raise ValueError(
                f"ranks {self.ranks[0]}, {self.ranks[1]} and {self.equations} equations for order "
                f"{self.order}; allowed: a sum of ranks below it, and fewer than n (n + 1) / 2"
            )
        return self

    @property
    def name(self) -> str:
        """The instance's name: family, kind and sizes."""
        if self.family != "liu-pataki":
            return f"{self.family}-{self.kind}-{self.order}"
        look = "messy" if self.messy else "clean"
        ranks = f"{self.ranks[0]}-{self.ranks[1]}"
        return f"{self.family}-{self.kind}-{look}-{self.order}-{self.equations}-{ranks}"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        with self.random(seed, 8 * self.order**4) as rng:
            matrices = getattr(self, f"_{self.family.replace('-', '_')}")(rng)
        system = _system(matrices, second_order=self.family == "second-order")
        answer = {"known_infeasible": float(self.kind != "feasible")}
        strong = self.kind == "infeasible" and self.family in ("gram", "second-order")
        if self.kind == "weak" or strong:
            answer["known_weak"] = float(self.kind == "weak")
        digest = sha256_of_arrays(*(matrix for block in matrices for matrix in block))
        return Problem(self.name, system, digest, system.facts(), measure=lambda _: answer)

    def equations_of(self, rng: Generator) -> tuple[list[Integers], Integers, Integers]:
        """Return the A_i, b, and an X with A_i . X = b_i for all i, of ``liu-pataki``."""
        n, (first, second) = self.order, self.ranks
        last = first + second
        point = symmetric(rng, n)
        matrices = [symmetric(rng, n) for _ in range(self.equations)]
        matrices[0][:] = np.diag(np.arange(n) < first)
        matrices[1][first:, first:] = np.diag(np.arange(first, n) < last)
        matrices[1][0, -1] = matrices[1][-1, 0] = 1
        if self.kind == "weak":
            point[:last, :last] = 0
            for matrix in matrices:  # its last block has the trace 0
                matrix[-1, -1] -= np.trace(matrix[last:, last:])
            point[0, -1] = point[-1, 0] = 0
            excess = int((matrices[1] * point).sum()) // 2 + 1
            point[0, -1] = point[-1, 0] = -excess  # A_2 . X = -2
        else:
            point[0, 0] -= np.trace(point[:first, :first])
            point[first, first] -= int((matrices[1] * point).sum()) + 1  # A_2 . X = -1
        if self.messy:
            rows, turn = unimodular(rng, self.equations)[0], unimodular(rng, n)
            combined = np.tensordot(rows, np.array(matrices), 1)
            matrices = [turn[0].T @ matrix @ turn[0] for matrix in combined]
            point = turn[1] @ point @ turn[1].T
        right = np.array([int((matrix * point).sum()) for matrix in matrices])
        return matrices, right, point

    def _liu_pataki(self, rng: Generator) -> list[list[Integers]]:
        matrices, _, point = self.equations_of(rng)
        return [[-point, *_kernel(matrices)]]

    def _lyapunov(self, rng: Generator) -> list[list[Integers]]:
        matrix, _ = _with_eigenvalues(rng, self._eigenvalues(rng))
        eye, units = np.eye(self.order, dtype=np.int64), _units(self.order)
        return [[eye, *units], [eye, *(-(matrix.T @ unit + unit @ matrix) for unit in units)]]

    def _eigenvalues(self, rng: Generator) -> Integers:
        """Return negative integers; the first one is positive if there is to be no solution."""
        eigenvalues = -rng.integers(1, 4, self.order)
        eigenvalues[0] *= -1 if self.kind == "infeasible" else 1
        return eigenvalues

    def _control(self, rng: Generator) -> list[list[Integers]]:
        matrix, left = _with_eigenvalues(rng, self._eigenvalues(rng))
        n, none = self.order, np.zeros((self.order, self.order), dtype=np.int64)
        # v' = e_1' S^-1 is a left eigenvector; columns of S but the first are orthogonal to it
        control = left[:, 1:] @ rng.integers(-1, 2, n - 1)
        inputs = [np.outer(control, row) for row in np.eye(n, dtype=np.int64)]
        eye, units = np.eye(n, dtype=np.int64), _units(n)
        closed = [matrix @ unit + unit @ matrix.T for unit in units]
        closed += [product + product.T for product in inputs]
        return [[eye, *units, *[none] * n], [eye, *(-change for change in closed)]]

    def _gram(self, rng: Generator) -> list[list[Integers]]:
        n = self.order
        constant = symmetric(rng, n, 1 if self.kind == "feasible" else 2)
        if self.kind == "feasible":  # it is definite by its diagonal
            constant += 2 * n * np.eye(n, dtype=np.int64)
        else:
            constant[-1, -1] = -1
        free = []
        for total in range(2 * n - 1):
            pairs = [(i, total - i) for i in range(n) if i <= total - i < n]
            for first, second in pairwise(pairs):
                change = np.zeros((n, n), dtype=np.int64)
                change[first] = change[first[::-1]] = 1
                for position in (second, second[::-1]):
                    change[position] -= 1
                free.append(change)
        return [[-constant, *free]]

    def _second_order(self, rng: Generator) -> list[list[Integers]]:
        columns = rng.integers(-3, 4, (self.order, self.order // 2))
        columns[:2] *= 5
        columns[-1] = -(3 * columns[0] + 4 * columns[1]) // 5
        inside = np.zeros(self.order, dtype=np.int64)
        inside[-1] = 1 if self.kind == "feasible" else -1
        constant = columns @ rng.integers(-2, 3, self.order // 2) - inside
        return [[constant, *columns.T]]


def symmetric(rng: Generator, order: int, largest: int = 2) -> Integers:
    """Return a random symmetric matrix with integers of at most ``largest`` in magnitude."""
    upper = np.triu(rng.integers(-largest, largest + 1, (order, order)))
    return np.asarray(upper + np.triu(upper, 1).T)


def unimodular(rng: Generator, order: int) -> tuple[Integers, Integers]:
    """Return a random matrix of integers whose inverse is one, and its inverse."""
    eye = np.eye(order, dtype=np.int64)
    matrix, inverse = eye.copy(), eye.copy()
    for _ in range(2 * order):
        # Row i plus or minus row j; the inverse subtracts column i from column j
        i, j = rng.choice(order, 2, replace=False)
        sign = int(rng.choice([-1, 1]))
        matrix[i] += sign * matrix[j]
        inverse[:, j] -= sign * inverse[:, i]
    return matrix, inverse


def _with_eigenvalues(rng: Generator, eigenvalues: Integers) -> tuple[Integers, Integers]:
    """Return A = S T S^-1, T lower triangular, and S; e_1' S^-1 is a left eigenvector."""
    transform, inverse = unimodular(rng, len(eigenvalues))
    triangular = np.tril(rng.integers(-1, 2, (len(eigenvalues),) * 2), -1) + np.diag(eigenvalues)
    return transform @ triangular @ inverse, transform


def _units(order: int) -> list[Integers]:
    """Return the basis e_i e_j' + e_j e_i' (or e_i e_i') of the symmetric matrices."""
    eye = np.eye(order, dtype=np.int64)
    pairs = zip(*np.triu_indices(order), strict=True)
    return [np.maximum(np.outer(eye[i], eye[j]), np.outer(eye[j], eye[i])) for i, j in pairs]


def _kernel(matrices: list[Integers]) -> list[Integers]:
    """Return a reduced basis of the symmetric integer matrices X with A_i . X = 0 for all i."""
    from flint import fmpz_mat  # imported here: only generated instances need it

    units = _units(len(matrices[0]))
    products = [[_FACTOR * int((a * unit).sum()) for a in matrices] for unit in units]
    eye = np.eye(len(units), dtype=np.int64).tolist()
    reduced: Any = fmpz_mat([e + p for e, p in zip(eye, products, strict=True)]).lll()
    rows = [[int(x) for x in row] for row in reduced.table()]
    solutions = [row[: len(units)] for row in rows if not any(row[len(units) :])]
    return [np.tensordot(np.array(row), np.array(units), 1) for row in solutions]


def _system(blocks: list[list[Integers]], *, second_order: bool) -> ConicSystem:
    """Return x_0 > 0 and sum_k x_k F_k - x_0 F_0 inside the cone, F_0 first in each block."""
    from perceptron_lab.cones.operators.matrix import Matrix
    from perceptron_lab.cones.orthant import Orthant
    from perceptron_lab.cones.product import Product
    from perceptron_lab.cones.second_order import SecondOrder
    from perceptron_lab.systems.pencil import SdpaData, homogenised

    unknowns = len(blocks[0]) - 1
    if second_order:
        scores = np.array(blocks[0], dtype=float).T * np.append(-1.0, np.ones(unknowns))
        data = np.vstack([np.eye(1, unknowns + 1), scores])
        cone = Product([Orthant(1), SecondOrder(len(scores))])
        return ConicSystem(Matrix(data), cone, homogenised=True)
    table = np.array(
        [
            (number, block, i, j, matrix[i, j])
            for block, matrices in enumerate(blocks)
            for number, matrix in enumerate(matrices)
            for i, j in zip(*np.nonzero(np.triu(matrix)), strict=True)
        ]
    )
    orders, values = [len(block[0]) for block in blocks], table[:, 4].astype(float)
    return homogenised(SdpaData.from_entries(np.zeros(unknowns), orders, table[:, :4], values))
