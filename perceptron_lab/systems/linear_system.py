"""Systems of linear inequalities, equations and bounds, with exact data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.registry import loaded
from perceptron_lab.core.results import FloatArray, Result
from perceptron_lab.core.run_options import Oracle, RunOptions
from perceptron_lab.core.time_limit import in_time
from perceptron_lab.numerics.exact_doubles import quotients, to_double
from perceptron_lab.numerics.input_checks import ArrayOrSparse
from perceptron_lab.systems.certified import CertifiedSystem
from perceptron_lab.systems.conditions import (
    Condition,
    LinearObjective,
    MixedEntries,
    bound_conditions,
    condition,
    exact_bounds,
    exact_matrix,
    exact_vector,
    point_numerators,
)
from perceptron_lab.systems.system import Loop, System

Equalities = tuple[ArrayOrSparse, npt.ArrayLike]


@dataclass(frozen=True, repr=False)
class LinearSystem(System):
    """The set of all x with a_k'x >= b_k, or a_k'x = b_k, for each of its conditions.

    The set is closed. The question about it is answered on ``conditions``, exactly; numbers may be
    beyond the range of doubles. Its interior is that of a conic system, :meth:`strict`.

    Parameters
    ----------
    conditions
        Inequalities, equations, lower and upper bounds, in this order.
    variables
        Names of the variables.
    exact_objective
        Of a linear program, for :func:`.optimum`; None for the question of a point alone.
    """

    conditions: tuple[Condition, ...]
    variables: tuple[str, ...]
    exact_objective: LinearObjective | None = None

    @classmethod
    def of_conditions(
        cls, conditions: Sequence[Condition], variables: Sequence[str]
    ) -> LinearSystem:
        """Return the system of conditions on variables."""
        if not variables:
            raise InputError(
                "the linear system has no variables; give a matrix with a column per variable"
            )
        return cls(tuple(conditions), tuple(variables))

    def __repr__(self) -> str:
        """Return the size in a line; exact numbers may have thousands of digits."""
        variables = counted(self.unknowns, "variable")
        return f"<LinearSystem: {counted(self.constraints, 'condition')} on {variables}>"

    @property
    def constraints(self) -> int:
        """Number of conditions."""
        return len(self.conditions)

    @property
    def unknowns(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def oracles(self) -> Mapping[str, Oracle]:
        """The oracles of rows, for the system of :meth:`strict`."""
        return Orthant(1).oracles

    def driven(self, algorithm: Any, options: RunOptions, loop: Loop) -> Result:
        """Decide the system exactly, or by a solver for linear programs."""
        # By name: what decides exactly is in a later layer, and takes a quarter of a second to load
        drive = loaded("perceptron_lab.algorithms.linear.linear_result:drive_linear")
        result: Result = drive(self, algorithm, options)
        return result

    def violation(self, point: Sequence[Fraction]) -> Fraction:
        """Return the largest violation at x of an original condition, exactly, or TimeIsUp."""
        numerators, denominator = point_numerators(point)
        violations = (row.violation(numerators, denominator) for row in in_time(self.conditions))
        return max(filter(None, violations), default=Fraction())

    def facts(self, margin: float | None = None) -> Facts:
        """Return the size only: no theorem on margins applies to a closed set."""
        return Facts(dimension=len(self.variables), rank=len(self.conditions))

    def strict(self) -> CertifiedSystem:
        """Return the conic system of t > 0, a_k'x > b_k t, on which every algorithm runs.

        A point (t, x) of it has x / t strictly inside.

        Raises
        ------
        InputError
            If there are equations: then none is. If a number is not 0 and no double is near to it.
        """
        if any(row.equation for row in self.conditions):
            raise InputError("a system with equations has no strict interior; solve it as it is")
        for line in self.conditions:
            if not all(_near_a_double(number, line.scale) for number in _numbers(line)):
                raise InputError(
                    f"{line.name} has a number beyond 1.8e308 or below 2.2e-308, outside the range "
                    "of doubles; rescale, or solve the system as it is"
                )
        rows = Matrix(_homogenised(self.conditions, len(self.variables)), roundings=1)
        # By name, as a conic system can be made of linear conditions
        conic = loaded("perceptron_lab.systems.conic_system:ConicSystem")
        strict: CertifiedSystem = conic(rows, Orthant(rows.size), homogenised=True)
        return strict


def linear_system(
    matrix: ArrayOrSparse,
    right: npt.ArrayLike,
    equalities: Equalities | None = None,
    lower: npt.ArrayLike | None = None,
    upper: npt.ArrayLike | None = None,
) -> LinearSystem:
    """Return {x : A x >= b, C x = d, lower <= x <= upper}; see :meth:`.ConicSystem.from_linear`."""
    rows, width = exact_matrix(matrix, "A")
    limits = exact_vector(right, len(rows), "b")
    equations, values = list[MixedEntries](), list[Fraction]()
    if equalities is not None:
        if not isinstance(equalities, tuple | list) or len(equalities) != 2:
            raise InputError("equalities take two parts; give (C, d)")
        equations, other = exact_matrix(equalities[0], "C")
        values = exact_vector(equalities[1], len(equations), "d")
        if equations and rows and other != width:
            raise InputError(f"A has {width} columns, C has {other}; give one per variable")
        width = width or other
    if not width:
        raise InputError("A has no columns; give a column for each variable")
    names = [f"x_{j + 1}" for j in range(width)]
    conditions = [
        condition(row, limit, f"row {i + 1}")
        for i, (row, limit) in enumerate(zip(rows, limits, strict=True))
    ]
    conditions += [
        condition(row, value, f"equation {i + 1}", equation=True)
        for i, (row, value) in enumerate(zip(equations, values, strict=True))
    ]
    below = exact_bounds(lower, width, "lower", -np.inf)
    above = exact_bounds(upper, width, "upper", np.inf)
    return LinearSystem.of_conditions([*conditions, *bound_conditions(below, above, names)], names)


def _numbers(row: Condition) -> tuple[int, ...]:
    """Return -b and the nonzero entries of a, times the scale."""
    return (-row.right, *row.coefficients)


def _near_a_double(number: int, scale: int) -> bool:
    """Return whether a double differs from a number by a relative 2^-53 at most."""
    exact = Fraction(number, scale)
    return abs(Fraction(to_double(exact)) - exact) * 2**53 <= abs(exact)


def _homogenised(conditions: Sequence[Condition], width: int) -> sp.csr_array:
    """Return the rows (1, 0), (-b_k, a_k) and, for equations, (b_k, -a_k), as nearest doubles."""
    values: list[float] = [1.0]
    columns, ends = [0], [0, 1]
    for row in conditions:
        doubles = quotients(_numbers(row), row.scale)
        for sign in (1.0, -1.0)[: 1 + row.equation]:
            values += [sign * number + 0.0 for number in doubles]  # no negative zeros
            columns += [0, *(j + 1 for j in row.columns)]
            ends.append(len(values))
    data: FloatArray = np.array(values)
    shape = (len(ends) - 1, width + 1)
    rows = sp.csr_array((data, np.array(columns), np.array(ends)), shape=shape)
    rows.eliminate_zeros()
    return rows
