"""Variables eliminated by linear equations, in rational numbers.

A conic system with linear equations: variables are eliminated, and proofs use all of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from flint import fmpz_mat
from scipy.sparse.csgraph import connected_components

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.margin import prove_point
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant, row_indices
from perceptron_lab.cones.product import Product
from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.core.results import FloatArray, Result, Status
from perceptron_lab.numerics.exact_doubles import to_double, to_doubles
from perceptron_lab.numerics.exact_texts import exact_text, read_exact
from perceptron_lab.systems.conditions import Condition, condition, over_common
from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.exact_solutions import MOST_ENTRIES, Equation, basis

# Operations on bits that the solution of a square system may take, about: half a minute
MOST_WORK = 4e10


class Dependent(NamedTuple):
    """x_j = (constant + sum_f entries_f x_f) / denominator, in whole numbers, f free."""

    entries: Mapping[int, int]
    constant: int
    denominator: int


@dataclass(frozen=True)
class Elimination:
    """All solutions x of consistent equations C x = d: x = x0 + N z.

    z are variables themselves, the ``free`` ones: N has the identity in their rows, and so
    independent columns. They are as many as the solutions have dimensions: C N = 0 is checked
    exactly, and the others are as many as there are independent equations.

    Parameters
    ----------
    free
        The columns of z, ascending.
    dependent
        Column of any other variable -> its value.
    """

    free: tuple[int, ...] = ()
    dependent: Mapping[int, Dependent] = field(default_factory=dict)

    def lifted(self, scale: Fraction, values: Sequence[Fraction]) -> list[Fraction]:
        """Return t x0 + N z, exactly, for t = ``scale`` and z = ``values``.

        For t = 1 it is a solution x, and for t > 0 it is t times one.
        """
        solution = dict(zip(self.free, values, strict=True))
        for j, (entries, constant, denominator) in self.dependent.items():
            total = sum((a * solution[f] for f, a in entries.items()), constant * scale)
            solution[j] = total / denominator
        return [solution[j] for j in range(len(solution))]

    def substituted(self, row: Condition) -> Condition:
        """Return a'x - b as a condition on z, with columns counted over the free variables."""
        eliminated_columns = [j for j in row.columns if j in self.dependent]
        # Over a common denominator all numbers stay integers
        common = math.lcm(*(self.dependent[j].denominator for j in eliminated_columns))
        position = {f: k for k, f in enumerate(self.free)}
        right, sums = row.right * common, dict[int, int]()
        for j, number in zip(row.columns, row.coefficients, strict=True):
            if j in position:
                sums[position[j]] = sums.get(position[j], 0) + number * common
                continue
            entries, constant, denominator = self.dependent[j]
            factor = number * (common // denominator)
            right -= factor * constant
            for f, entry in entries.items():
                sums[position[f]] = sums.get(position[f], 0) + factor * entry
        nonzero = {k: number for k, number in sorted(sums.items()) if number}
        # Without a common divisor the integers stay short in later eliminations
        divisor = math.gcd(right, row.scale * common, *nonzero.values())
        return row._replace(
            columns=tuple(nonzero),
            coefficients=tuple(number // divisor for number in nonzero.values()),
            right=right // divisor,
            scale=row.scale * common // divisor,
        )


def eliminated(equations: Sequence[Condition], width: int) -> Elimination | None:
    """Return all solutions of linear equations, or None if these are inconsistent.

    Equations that share no variable are solved apart. Solved for are variables that a QR
    factorisation with pivots, in doubles, takes first: that keeps N small.

    Parameters
    ----------
    equations
        C x = d.
    width
        The number of variables.

    Raises
    ------
    InputError
        If the exact solution would take too long.
    """
    dependent: dict[int, Dependent] = {}
    for component in _components(equations, width):
        dependent |= _solved(component)
    free = tuple(j for j in range(width) if j not in dependent)
    elimination = Elimination(free, dependent)
    for equation in equations:
        # Verified on each equation: the floating-point pivot order cannot cause a wrong answer
        left = elimination.substituted(equation)
        if left.columns:
            raise InputError(
                f"{equation.name} is not solved exactly; divide its numbers, or reorder"
            )
        # 0 = right is inconsistent
        if left.right:
            return None
    return elimination


def _components(equations: Sequence[Condition], width: int) -> Iterator[list[Condition]]:
    """Yield groups of equations that share variables."""
    pairs = [(i, j) for i, equation in enumerate(equations) for j in equation.columns]
    if not pairs:
        return
    rows, columns = np.array(pairs).T
    links = sp.coo_array(
        (np.ones(len(pairs)), (rows, len(equations) + columns)),
        shape=(len(equations) + width,) * 2,
    )
    _, labels = connected_components(links, directed=False)
    groups: dict[int, list[Condition]] = {}
    # The labels of equations come first, those of variables are left over
    for member, label in zip(equations, labels.tolist(), strict=False):
        if member.columns:
            groups.setdefault(label, []).append(member)
    yield from groups.values()


def _solved(equations: Sequence[Condition]) -> dict[int, Dependent]:
    """Return the dependent variables of one group of equations."""
    columns = sorted({j for equation in equations for j in equation.columns})
    if len(equations) * len(columns) > MOST_ENTRIES:
        raise _too_large(equations, columns)
    exact = [
        Equation(dict(zip(equation.columns, equation.coefficients, strict=True)), equation.right)
        for equation in equations
    ]
    chosen_basis = basis(exact, _by_pivots(equations, columns))
    if chosen_basis is None:
        raise _too_large(equations, columns)
    rows, pivots = chosen_basis
    if not pivots:
        return {}
    solved = set(pivots)
    free = [j for j in columns if j not in solved]
    independent = [exact[i] for i in rows]
    bits = sum(sum(map(abs, equation.entries.values())).bit_length() for equation in independent)
    # The bits of the solution are bounded by those of the rows' sums
    if len(pivots) ** 2 * (len(columns) + 1.0) * bits > MOST_WORK:
        raise _too_large(equations, columns)
    square = fmpz_mat([[equation.entries.get(j, 0) for j in pivots] for equation in independent])
    sides = fmpz_mat(
        [[equation.right, *(-equation.entries.get(j, 0) for j in free)] for equation in independent]
    )
    answer: Any = square.solve(sides)
    numerators, denominator = answer.numer_denom()
    below, values = int(denominator), numerators.tolist()
    dependent = {}
    for j, (constant, *entries) in zip(pivots, values, strict=True):
        numbers = {f: int(entry) for f, entry in zip(free, entries, strict=True) if int(entry)}
        divisor = math.gcd(below, int(constant), *numbers.values())
        shared = {f: number // divisor for f, number in numbers.items()}
        dependent[j] = Dependent(shared, int(constant) // divisor, below // divisor)
    return dependent


def _by_pivots(equations: Sequence[Condition], columns: Sequence[int]) -> list[int]:
    """Return the columns in the order of a QR factorisation with column pivoting."""
    position = {j: k for k, j in enumerate(columns)}
    table = np.zeros((len(equations), len(columns)))
    for i, equation in enumerate(equations):
        # Rows of length about 1: the pivots then measure independence, not scale
        largest = max(map(abs, equation.coefficients))
        for j, number in zip(equation.columns, equation.coefficients, strict=True):
            table[i, position[j]] = number / largest
    _, order = scipy.linalg.qr(table, mode="r", pivoting=True)
    return [columns[k] for k in order.tolist()]


def _too_large(equations: Sequence[Condition], columns: Sequence[int]) -> InputError:
    return InputError(
        f"{counted(len(equations), 'equation')} that link {counted(len(columns), 'variable')} "
        "would take more than a minute to be solved exactly; eliminate variables by some of them "
        "first, or give them sparser or in fewer digits"
    )


# Exact numbers of a certificate
EXACT_POINT = "x"
# Proofs about a point in addition to those of the system that algorithms see
AS_GIVEN = "in the variables as given the same of exact scores, and all equations"
# Doubles below this one have fewer digits
LEAST_NORMAL = 2.0**-1022
LARGEST = int(sys.float_info.max)


@dataclass(frozen=True, repr=False)
class EliminatedResult(Result):
    """The result of a run with equations; ``point`` is (t, x), each number rounded once.

    One beyond 1.8e308 becomes the largest double there; ``x`` is exact.
    """

    @property
    def x(self) -> tuple[Fraction, ...] | None:
        """The exact rational x that satisfies equations and cones, or None."""
        printed = self.certificate.get(EXACT_POINT)
        return None if printed is None else tuple(read_exact(coordinate) for coordinate in printed)


@dataclass(frozen=True, repr=False)
class EliminatedSystem(ConicSystem):
    """All x with C x = d and M x + c strictly inside K, in the free variables.

    By an exact rational solution x = x0 + N z of the equations the question is whether
    M (x0 + N z) + c lies strictly inside K for some z; a point is (t, z), t > 0, homogenised. The
    algorithms have the doubles nearest to this system, and proofs enclose the rational one:

    - FEASIBLE: z / t are doubles over a double, and so rational; the x that they stand for is
      computed in rational numbers, satisfies the equations as given, and M x + c, exact but for one
      rounding, is proved once more to lie inside K: nothing of the elimination has to be believed.
    - INFEASIBLE: w in K* with N'M'w = 0 and (M x0 + c)'w <= 0. N spans all solutions of C x = 0, so
      M'w = C'v for some v: w and v are weights of Farkas' lemma for the system as given.

    Where equations and cones meet only on the boundary of K no x is strictly inside: the answer is
    INFEASIBLE, unless all weights that prove it have a high algebraic degree. Margins, bounds and a
    ``start`` are those in the coordinates (t, z).

    Parameters
    ----------
    equations
        C x = d.
    rows
        M x + c >= 0, one for each score.
    original_cone
        K, the scores in the same order: views may have others.
    elimination
        x0 and N.
    variables
        The names of x.
    """

    equations: tuple[Condition, ...] = ()
    rows: tuple[Condition, ...] = ()
    original_cone: Cone = field(default_factory=lambda: Orthant(1))
    elimination: Elimination = field(default_factory=Elimination)
    variables: tuple[str, ...] = ()

    @classmethod
    def of_conditions(
        cls,
        equations: Sequence[Condition],
        rows: Sequence[Condition],
        cone: Cone,
        elimination: Elimination,
        variables: Sequence[str],
    ) -> EliminatedSystem:
        """Return the system of eliminated equations and the rows of a cone."""
        reduced = [elimination.substituted(row) for row in rows]
        matrix, rounded = _in_doubles(reduced, 1 + len(elimination.free))
        return cls(
            Matrix(matrix, roundings=int(rounded)),
            cone,
            homogenised=True,
            closed_rows=True,
            equations=tuple(equations),
            rows=tuple(rows),
            original_cone=cone,
            elimination=elimination,
            variables=tuple(variables),
        )

    def __repr__(self) -> str:
        """Return the size in a line; exact numbers may have thousands of digits."""
        equations, rows = counted(len(self.equations), "equation"), counted(len(self.rows), "row")
        return f"<EliminatedSystem: {equations}, {rows} of a cone>"

    def exact_answer(self, point: Sequence[Fraction]) -> Sequence[Fraction]:
        """Return x = x0 + N z / t of an exact point (t, z)."""
        return self.elimination.lifted(Fraction(1), super().exact_answer(point))

    def exact_scores(self) -> Iterator[Mapping[int, Fraction]]:
        """Return the exact coefficients of M (x0 + N z) + c t, in t and z."""
        for row in map(self.elimination.substituted, self.rows):
            numbers = (-row.right, *row.coefficients)
            columns = (0, *(k + 1 for k in row.columns))
            yield {
                j: Fraction(number, row.scale) for j, number in zip(columns, numbers, strict=True)
            }

    def lifted(self, point: FloatArray) -> list[Fraction]:
        """Return (t, t x0 + N z) of a point (t, z), exactly."""
        scale, *values = [Fraction(number) for number in point.tolist()]
        return [scale, *self.elimination.lifted(scale, values)]

    def exact(self, point: FloatArray) -> tuple[Fraction, ...]:
        """Return x = x0 + N z / t of a point (t, z), t > 0, exactly."""
        scale, *values = self.lifted(point)
        return tuple(value / scale for value in values)

    def coordinates_of(self, point: FloatArray) -> FloatArray:
        """Return (t, z) of a point (t, x): variables z are among x."""
        complete = len(point) == 1 + len(self.variables)
        return point[[0, *(1 + f for f in self.elimination.free)]] if complete else point

    def prove_exact(self, x: Sequence[Fraction]) -> PointProof:
        """Verify a rational x: the equations exactly, then that M x + c lies inside K.

        Scores are rounded once, which the proof encloses.
        """
        numerators, denominator = over_common(x)
        if any(equation.violation(numerators, denominator) for equation in self.equations):
            return PointProof(False, -math.inf, 0, "an equation is violated")
        scores = [row.slack(numerators, denominator) for row in self.rows]
        size = max(map(abs, scores))
        if not size:
            return PointProof(False, -math.inf, 0, "all scores are zero")
        doubles = to_doubles(score / size for score in scores)
        if any(
            score and abs(double) < LEAST_NORMAL
            for score, double in zip(scores, doubles, strict=True)
        ):
            return PointProof(False, -math.inf, 0, "the scores span more than doubles do")
        column = Matrix(doubles[:, None], roundings=1)
        return prove_point(column, self.original_cone, np.ones(1))

    def prove_point(self, point: FloatArray) -> PointProof:
        """Prove the margin of a point (t, z), and that its x satisfies the equations."""
        proof = super().prove_point(point)
        if not proof.feasible:
            return proof
        again = self.prove_exact(self.exact(self.operator.compact(point)))
        if not again.feasible:
            return again
        return replace(proof, method=f"{proof.method}; {AS_GIVEN}")

    def answer(self, result: Result) -> Result:
        """Return a result in the original variables: (t, x) in doubles, x exactly."""
        values = {field.name: getattr(result, field.name) for field in fields(result)}
        if np.isfinite(result.point).all():
            lifted = self.lifted(result.point)
            values["point"] = to_doubles(lifted)
        else:
            values["point"] = np.full(1 + len(self.variables), np.nan)
        exact: dict[str, Any] = {"equations": len(self.equations)}
        if result.status is Status.FEASIBLE:
            exact[EXACT_POINT] = [exact_text(coordinate) for coordinate in self.exact(result.point)]
            count = counted(len(self.equations), "equation")
            values["message"] = f"{result.message}; its x satisfies {count} exactly"
        values["certificate"] = {**result.certificate, **exact}
        return EliminatedResult(**values)


def with_equations(system: ConicSystem, implied: Sequence[int]) -> EliminatedSystem | None:
    """Return a homogenised system with equations in place of some of its rows.

    None if its exact numbers are unknown, the equations contradict each other, or rows have to be
    positive.

    Parameters
    ----------
    system
        Perhaps with equations already.
    implied
        The rows, by their numbers among the scores.
    """
    allowed = row_indices(system.cone.blocks)[1:] if system.closed_rows else ()
    if not set(implied) <= set(allowed):
        return None
    equations = tuple[Condition, ...]()
    if isinstance(system, EliminatedSystem):
        rows, equations, variables = list(system.rows), system.equations, system.variables
    else:
        variables = tuple(f"x_{j}" for j in range(1, system.dimension))
        rows = as_conditions(system)
    if not rows:
        return None
    equations += tuple(rows[i]._replace(equation=True) for i in implied)
    elimination = eliminated(equations, len(variables))
    if elimination is None:
        return None
    replaced = set(implied)
    parts = [
        Orthant(left) if part.of_rows else part
        for part, span in system.cone.blocks
        if (left := part.size - sum(span.start <= i < span.stop for i in replaced))
    ]
    other_rows = [row for i, row in enumerate(rows) if i not in replaced]
    return EliminatedSystem.of_conditions(
        equations, other_rows, Product(parts), elimination, variables
    )


def as_conditions(system: ConicSystem) -> list[Condition]:
    """Return the scores of a homogenised system as conditions on x; none if they are unknown."""
    conditions = []
    for number, scores in enumerate(system.exact_scores() or (), start=1):
        entries = {j - 1: value for j, value in scores.items() if j and value}
        right = -scores.get(0, Fraction())
        listed = (tuple(entries), tuple(entries.values()))
        conditions.append(condition(listed, right, f"score {number}"))
    return conditions


def _in_doubles(rows: Sequence[Condition], width: int) -> tuple[sp.csr_array, bool]:
    """Return the rows (-b, a) as doubles, and whether one was rounded."""
    values, columns, ends, rounded = list[float](), list[int](), [0], False
    for row in rows:
        columns_of_row = (0, *(k + 1 for k in row.columns))
        for column, number in zip(columns_of_row, (-row.right, *row.coefficients), strict=True):
            if number:
                double = _nearest(number, row.scale, row.name)
                rounded = rounded or Fraction(double) * row.scale != number
                values.append(double)
                columns.append(column)
        ends.append(len(values))
    shape = (len(rows), width)
    matrix = sp.csr_array((np.array(values), np.array(columns), np.array(ends)), shape=shape)
    return matrix, rounded


def _nearest(number: int, scale: int, name: str) -> float:
    """Return the double nearest to number / scale; refuse numbers outside the normal range."""
    double = to_double(number, scale)
    if not abs(double) >= LEAST_NORMAL or abs(number) > scale * LARGEST:
        raise InputError(
            f"{name} has a number beyond the range of doubles once variables are eliminated; "
            "scale the variables"
        )
    return double
