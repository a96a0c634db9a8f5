"""The feasible set of a cvxpy problem: linear conditions, or blocks of our cones, homogenised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy
import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.numerics.input_checks import refuse_not_finite
from perceptron_lab.systems.cvxpy_blocks import Block, conditions_of, conic_system
from perceptron_lab.systems.linear_system import LinearSystem
from perceptron_lab.systems.system import System

# cvxpy's names of cones -> those of messages
OTHERS = {
    "ExpCone": "the exponential cone",
    "PowCone3D": "the power cone",
    "PowConeND": "the power cone",
}


def system_of_problem(problem: Any) -> System:
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
        found = conditions_of(blocks)
        found.sort(key=lambda one: one.equation)
        return LinearSystem.of_conditions(found, _names(program))
    return conic_system(blocks, _names(program))


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
