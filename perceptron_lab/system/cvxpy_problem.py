"""The feasible set of a cvxpy problem: linear conditions, or blocks of our cones, homogenised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy
import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.errors import InputError, counted
from perceptron_lab.inputs import refuse_not_finite
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray, IntArray
from perceptron_lab.system.conditions import Condition, condition
from perceptron_lab.system.conic_system import ConicSystem
from perceptron_lab.system.linear_system import LinearSystem

# cvxpy's names of cones -> those of messages
OTHERS = {
    "ExpCone": "the exponential cone",
    "PowCone3D": "the power cone",
    "PowConeND": "the power cone",
}


@dataclass(frozen=True)
class Block:
    """Some rows of matrix @ x + constant, which lie in a cone of this kind (cvxpy's name)."""

    kind: str
    constraint: Any
    matrix: sp.csr_array
    constant: FloatArray


def system_of_problem(problem: Any) -> ConicSystem:
    """Return the feasible set of a cvxpy problem; see :meth:`.ConicSystem.from_cvxpy`."""
    if not isinstance(problem, cvxpy.Problem):
        raise InputError(f"received {type(problem).__name__}; give a cvxpy.Problem")
    program = _canonical(problem)
    blocks = list(_blocks(program))
    kinds = {block.kind for block in blocks}
    for kind in sorted(kinds - {"Zero", "NonNeg", "SOC", "PSD"}):
        raise InputError(
            f"a constraint of the problem is on {OTHERS.get(kind, kind)}; the cones here are "
            "rows, second-order cones and positive semidefinite matrices"
        )
    if kinds <= {"Zero", "NonNeg"}:
        return _linear(blocks, _names(program))
    equations = sum(len(block.constant) for block in blocks if block.kind == "Zero")
    if equations:
        raise InputError(
            f"{counted(equations, 'equation')} beside conic constraints leave no strict interior; "
            "eliminate variables by them first"
        )
    return _conic(blocks)


def _canonical(problem: Any) -> Any:
    """Return cvxpy's conic form of the constraints, before a solver's own scaling."""
    given = [one for one in problem.variables() if one.attributes["integer"]]
    given += [one for one in problem.variables() if one.attributes["boolean"]]
    if given:
        raise InputError(f"the variable {given[0].name()} takes whole numbers; relax it to reals")
    unset = [one.name() for one in problem.parameters() if one.value is None]
    if unset:
        raise InputError(f"the parameter {unset[0]} has no value; set it")
    if not problem.constraints and not any(one.domain for one in problem.variables()):
        raise InputError("the problem has no constraints; every point is feasible")
    program = cvxpy.Problem(cvxpy.Minimize(0), problem.constraints)
    try:
        _, chain, _ = program.get_problem_data(cvxpy.CLARABEL)
        for reduction in chain.reductions[:-1]:
            # Releases from 1.8 on write matrices as triangles with entries times sqrt(2), rounded
            if type(reduction).__name__ != "ExactCone2Cone":
                program, _ = reduction.apply(program)
    except (cvxpy.error.DCPError, cvxpy.error.SolverError, ValueError) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputError(f"cvxpy does not bring the problem into conic form: {reason}") from None
    return program


def _blocks(program: Any) -> Iterator[Block]:
    _, _, matrix, constant, *_ = program.apply_parameters()
    rows, start = sp.csr_array(matrix), 0
    refuse_not_finite(rows)
    if not np.isfinite(constant).all():
        raise InputError("the problem's constraints hold NaN or infinity; replace them")
    for one in program.constraints:
        span = slice(start, start := start + int(one.size))
        part = np.asarray(constant[span], dtype=float)
        yield Block(type(one).__name__, one, sp.csr_array(rows[span]), part)


def _names(program: Any) -> list[str]:
    """Return names of the columns: of variables, matrices column by column."""
    names = [f"x_{j + 1}" for j in range(int(program.x.size))]
    for identity, first in program.var_id_to_col.items():
        variable = program.id_to_var[identity]
        name, shape = variable.name(), variable.shape
        for place in range(int(variable.size)):
            index = ",".join(str(one) for one in np.unravel_index(place, shape, order="F"))
            names[first + place] = f"{name}[{index}]" if shape else name
    return names


def _linear(blocks: Sequence[Block], names: Sequence[str]) -> LinearSystem:
    """Return matrix @ x + constant >= 0, or = 0, the doubles as they are."""
    conditions = list[Condition]()
    for block in blocks:
        matrix, equation = block.matrix, block.kind == "Zero"
        for i, value in enumerate(block.constant.tolist()):
            places = slice(matrix.indptr[i], matrix.indptr[i + 1])
            pairs = zip(matrix.indices[places].tolist(), matrix.data[places].tolist(), strict=True)
            entries = {j: Fraction(number) for j, number in pairs if number}
            name = f"{'equation' if equation else 'row'} {len(conditions) + 1}"
            listed = tuple(entries), tuple(entries.values())
            conditions.append(condition(listed, -Fraction(value), name, equation=equation))
    conditions.sort(key=lambda one: one.equation)
    return LinearSystem.of_conditions(conditions, names)


def _conic(blocks: Sequence[Block]) -> ConicSystem:
    """Return t > 0 and matrix @ x + constant t inside each cone, (t, x) being the point."""
    width = blocks[0].matrix.shape[1] + 1
    first = sp.csr_array(([1.0], ([0], [0])), shape=(1, width))
    parts: list[sp.csr_array] = [first]
    cones: list[Cone] = [Orthant(1)]
    rounded = False
    for block in blocks:
        rows = sp.csr_array(sp.hstack([sp.csr_array(block.constant[:, None]), block.matrix]))
        if block.kind == "NonNeg":
            parts.append(rows)
            cones.append(Orthant(rows.shape[0]))
        elif block.kind == "SOC":
            for order in _cones(block):
                parts.append(sp.csr_array(rows[order]))
                cones.append(_second_order(order))
        else:
            upper, cone, halves = _semidefinite(rows, int(block.constraint.args[0].shape[0]))
            rounded = rounded or halves
            parts.append(upper)
            cones.append(cone)
    operator = Matrix(sp.csr_array(sp.vstack(parts)), roundings=int(rounded))
    return ConicSystem(operator, Product(cones), homogenised=True)


def _second_order(order: IntArray) -> Cone:
    return Orthant(1) if len(order) == 1 else SecondOrder(len(order))


def _cones(block: Block) -> list[IntArray]:
    """Return the rows of each second-order cone of a constraint, u first and t last.

    cvxpy has all t before all u, which are columns, or rows where the axis is 1.
    """
    one = block.constraint
    count = int(np.prod(one.args[0].shape, dtype=int))
    places = np.arange(len(block.constant) - count).reshape(one.args[1].shape, order="F")
    columns = places.reshape(-1, count, order="F") if one.axis == 0 else places.T.reshape(-1, count)
    return [np.append(count + columns[:, k], k) for k in range(count)]


def _semidefinite(rows: sp.csr_array, order: int) -> tuple[sp.csr_array, Semidefinite, bool]:
    """Return the upper entries of (M + M') / 2, their cone, and whether sums were rounded.

    cvxpy's matrix M is symmetric, or its symmetric part is meant.
    """
    above = np.triu_indices(order)
    upper = sp.csr_array(rows[above[0] + order * above[1]])
    lower = sp.csr_array(rows[above[1] + order * above[0]])
    different = bool(abs(upper - lower).max() > 0.0)
    mean = sp.csr_array((upper + lower) / 2.0) if different else upper
    return mean, Semidefinite(order, *above), different
