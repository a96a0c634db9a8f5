"""The feasible set of a cvxpy problem: linear conditions, or blocks of our cones, homogenised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import cvxpy
import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.solution import Solution

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray, Result, Status
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.numerics.input_checks import refuse_not_finite
from perceptron_lab.systems.conditions import Condition, condition
from perceptron_lab.systems.conflicts import (
    MOST_FILTERED,
    MOST_SCORES,
    entries_of_conflict,
    irreducible,
)
from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.elimination import EliminatedSystem, eliminated
from perceptron_lab.systems.linear_system import LinearSystem
from perceptron_lab.systems.system import System

# cvxpy's names of cones -> those of messages
OTHERS = {
    "ExpCone": "the exponential cone",
    "PowCone3D": "the power cone",
    "PowConeND": "the power cone",
}

LONGEST_LABEL = 60
"""Characters of a constraint's text up to which it names its rows."""


class ConicForm:
    """A cvxpy problem's constraints in conic form, and the map back to its variables.

    Parameters
    ----------
    problem
        A ``cvxpy.Problem``; see :meth:`.ConicSystem.from_cvxpy`.
    """

    def __init__(self, problem: object) -> None:
        if not isinstance(problem, cvxpy.Problem):
            raise InputError(f"received {type(problem).__name__}; give a cvxpy.Problem")
        self.problem = problem
        self._program, self._steps = _canonical(problem)
        self.blocks = list(_blocks(self._program))
        kinds = {block.kind for block in self.blocks}
        for kind in sorted(kinds - {"Zero", "NonNeg", "SOC", "PSD"}):
            raise InputError(
                f"a constraint of the problem is on {OTHERS.get(kind, kind)}; the cones here are "
                "rows, second-order cones and positive semidefinite matrices"
            )
        # Equations come last in a linear system, and are separate from the scores of a conic one
        self._linear = kinds <= {"Zero", "NonNeg"}
        equations = [block for block in self.blocks if block.kind == "Zero"]
        rows = [block for block in self.blocks if block.kind != "Zero"]
        self._scored = rows + equations if self._linear else rows

    def system(self) -> System:
        """Return the feasible set as a system."""
        names = _names(self._program)
        if self._linear:
            rows = self._names_of_rows()
            conditions = [
                row._replace(name=rows.get(i, row.name), upper=None)
                for i, row in enumerate(conditions_of(self.blocks))
            ]
            conditions.sort(key=lambda row: row.equation)
            return LinearSystem.of_conditions(conditions, names)
        return conic_system(self.blocks, names)

    def _names_of_rows(self) -> dict[int, str]:
        """Return row -> label of the constraint that it is of, and its entry there.

        Duals that are the numbers of the rows show where cvxpy takes them. Rows that it has added
        have no name.
        """
        numbers, first = dict[int, FloatArray](), 1
        for block in self.blocks:
            rows = np.arange(first, first := first + len(block.constant), dtype=float)
            numbers[block.constraint.id] = rows.reshape(block.constraint.shape, order="F")
        inverted = self._inverted(np.zeros(int(self._program.x.size)), numbers).dual_vars
        names, taken_names = dict[int, str](), set[str]()
        for position, constraint in enumerate(self.problem.constraints, start=1):
            label = _short_label(constraint, position)
            entries = np.abs(np.asarray(inverted.get(constraint.id, ()), dtype=float))
            for index, number in np.ndenumerate(entries):
                entry = ",".join(map(str, index))
                name = f"{label} [{entry}]" if entries.size > 1 else label
                name = f"{name} ({position})" if name in taken_names else name
                taken_names.add(name)
                names[int(number) - 1] = name
        return names

    def completed(self, result: Result, run: Callable[[System], Result]) -> Result:
        """Return a result with the variables' values, or with the conflicting constraints.

        The variables of the problem are given their values, or None where no point is proved.

        Parameters
        ----------
        result
            On :meth:`system`.
        run
            Solves another system: proofs may have weights on constraints that are not needed.
        """
        values, inverted = dict[str, FloatArray](), dict[int, Any]()
        if result.status is Status.FEASIBLE:
            inverted = self._inverted(_doubles(result), {}).primal_vars
        for variable in self.problem.variables():
            variable.save_value(inverted.get(variable.id))
            if variable.id in inverted:
                name = variable.name()
                key = name if name not in values else f"{name} ({variable.id})"
                values[key] = np.asarray(inverted[variable.id])
        result = replace(result, values=values)
        if result.status is not Status.INFEASIBLE or result.weights is None:
            return result
        conflict, entries = self._touched(result.weights), dict[str, Any]()
        # Linear weights are those of a vertex: none can be left out
        small = len(conflict) <= MOST_FILTERED and len(result.weights) <= MOST_SCORES
        if not self._linear and conflict and small:
            conflict, unproved = irreducible(conflict, lambda rest: _decided(rest, run))
            form = ConicForm(cvxpy.Problem(cvxpy.Minimize(0), conflict))
            scored = [] if form._linear else form._scored
            names, system = [n for block in scored for n in form._owners(block)], form.system()
            part = entries_of_conflict(map(_label, unproved), system, run(system), names)
            entries = {"conflict": part}
        return replace(
            result,
            conflict=tuple(map(_label, conflict)),
            certificate=result.certificate | entries,
        )

    def _owners(self, block: Block) -> list[str]:
        """Return the label of the constraint that a block is of, for each of its cones."""
        ones = {block.constraint.id: np.ones(block.constraint.shape)}
        duals = self._inverted(np.zeros(int(self._program.x.size)), ones).dual_vars
        owners = [_label(c) for c in self.problem.constraints if c.id in duals]
        return [*owners, "auxiliary"][:1] * len(list(_parts(block)))

    def _touched(self, weights: FloatArray) -> list[Any]:
        """Return the constraints with a nonzero weight, and the equations.

        Equations that are eliminated have no weights, nor have those that contradict one another.
        """
        if self._linear:
            width = [len(block.constant) for block in self._scored]
        else:
            width = [sum(part.cone.size for part in _parts(block)) for block in self._scored]
        ends = np.cumsum([0 if self._linear else 1, *width])  # the first of a cone's scores is t
        blocks = [block for block in self.blocks if block not in self._scored]
        if ends[-1] == len(weights):
            spans = zip(self._scored, ends[:-1], ends[1:], strict=True)
            blocks += [block for block, first, last in spans if weights[first:last].any()]
        touched = {block.constraint.id: np.ones(block.constraint.shape) for block in blocks}
        duals = self._inverted(np.zeros(int(self._program.x.size)), touched).dual_vars
        return [constraint for constraint in self.problem.constraints if constraint.id in duals]

    def _inverted(self, x: FloatArray, duals: Mapping[int, FloatArray]) -> Any:
        """Return the solution of the original problem from one of the conic form."""
        solution = Solution(cvxpy.OPTIMAL, 0.0, {self._program.x.id: x}, dict(duals), {})
        for reduction, inverse in reversed(self._steps):
            solution = reduction.invert(solution, inverse)
        return solution


def _decided(constraints: list[Any], run: Callable[[System], Result]) -> tuple[Status, list[Any]]:
    """Return the status of some constraints, and those with weights."""
    form = ConicForm(cvxpy.Problem(cvxpy.Minimize(0), constraints))
    answer = run(form.system())
    weights = answer.weights
    return answer.status, constraints if weights is None else form._touched(weights)


def _doubles(result: Result) -> FloatArray:
    """Return x in doubles, from an exact x or from a point (t, x)."""
    exact = getattr(result, "x", None)
    if exact is not None:
        return to_doubles(exact)
    x: FloatArray = result.point[1:] / result.point[0]
    return x


def _label(constraint: object) -> str:
    """Return a constraint's label, or its text in releases of cvxpy without labels."""
    labelled = getattr(constraint, "format_labeled", None)
    return " ".join(str(constraint if labelled is None else labelled()).split())


def _short_label(constraint: Any, position: int) -> str:
    """Return a constraint's label, its text if that is short, or its position."""
    label = getattr(constraint, "label", None) or " ".join(str(constraint).split())
    return str(label) if len(label) <= LONGEST_LABEL else f"constraint {position}"


def system_of_problem(problem: object) -> System:
    """Return the feasible set of a cvxpy problem; see :meth:`.ConicSystem.from_cvxpy`."""
    return ConicForm(problem).system()


def _canonical(problem: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """Return the conic form without a solver's scaling, and its reduction steps."""
    integral = [variable for variable in problem.variables() if variable.attributes["integer"]]
    integral += [variable for variable in problem.variables() if variable.attributes["boolean"]]
    if integral:
        raise InputError(
            f"the variable {integral[0].name()} takes whole numbers; relax it to reals"
        )
    unset = [parameter.name() for parameter in problem.parameters() if parameter.value is None]
    if unset:
        raise InputError(f"the parameter {unset[0]} has no value; set it")
    if not problem.constraints and not any(variable.domain for variable in problem.variables()):
        raise InputError("the problem has no constraints; every point is feasible")
    program, steps = cvxpy.Problem(cvxpy.Minimize(0), problem.constraints), []
    try:
        _, chain, _ = program.get_problem_data(cvxpy.CLARABEL)
        for reduction in chain.reductions[:-1]:
            # Releases from 1.8 on write matrices as triangles with entries times sqrt(2), rounded
            if type(reduction).__name__ != "ExactCone2Cone":
                program, inverse = reduction.apply(program)
                steps.append((reduction, inverse))
    except (cvxpy.error.DCPError, cvxpy.error.SolverError, ValueError) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputError(f"cvxpy does not bring the problem into conic form: {reason}") from None
    return program, steps


def _blocks(program: Any) -> Iterator[Block]:
    _, _, matrix, constant, *_ = program.apply_parameters()
    rows, start = sp.csr_array(matrix), 0
    refuse_not_finite(rows)
    if not np.isfinite(constant).all():
        raise InputError("the problem's constraints hold NaN or infinity; replace them")
    for constraint in program.constraints:
        span = slice(start, start := start + int(constraint.size))
        part = np.asarray(constant[span], dtype=float)
        yield Block(type(constraint).__name__, constraint, sp.csr_array(rows[span]), part)


def _names(program: Any) -> list[str]:
    """Return names of the columns, matrix variables column by column."""
    names = [f"x_{j + 1}" for j in range(int(program.x.size))]
    for identity, first in program.var_id_to_col.items():
        variable = program.id_to_var[identity]
        name, shape = variable.name(), variable.shape
        for entry in range(int(variable.size)):
            index = ",".join(
                str(coordinate) for coordinate in np.unravel_index(entry, shape, order="F")
            )
            names[first + entry] = f"{name}[{index}]" if shape else name
    return names


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of matrix @ x + constant, which lie in a cone of this kind (cvxpy's name)."""

    kind: str
    constraint: Any
    matrix: sp.csr_array
    constant: FloatArray


class Part(NamedTuple):
    """Scores of one cone as means of two rows (constant, matrix), usually equal ones."""

    rows: sp.csr_array
    mirrored: sp.csr_array
    cone: Cone

    @property
    def different(self) -> bool:
        """Whether some score is the mean of two different rows."""
        return self.rows is not self.mirrored and bool(abs(self.rows - self.mirrored).max() > 0.0)


def conic_system(blocks: Sequence[Block], names: Sequence[str]) -> System:
    """Return t > 0 and matrix @ x + constant t inside each cone, (t, x) being the point.

    Equations are solved first. If they contradict each other, they are the system.
    """
    width = blocks[0].matrix.shape[1] + 1
    # t > 0, the homogenising coordinate, as the first row
    first = sp.csr_array(([1.0], ([0], [0])), shape=(1, width))
    parts = [Part(first, first, Orthant(1))]
    parts += [part for block in blocks if block.kind != "Zero" for part in _parts(block)]
    cone = Product([part.cone for part in parts])
    equations = conditions_of([block for block in blocks if block.kind == "Zero"])
    if not equations:
        means = [
            (part.rows + part.mirrored) / 2.0 if part.different else part.rows for part in parts
        ]
        # A mean of two different doubles may be rounded, and proofs allow for it
        rounded = any(part.different for part in parts)
        operator = Matrix(sp.csr_array(sp.vstack(means)), roundings=int(rounded))
        return ConicSystem(operator, cone, homogenised=True, closed_rows=True)
    elimination = eliminated(equations, width - 1)
    if elimination is None:
        return LinearSystem.of_conditions(equations, names)
    rows = [row for part in parts for row in _means(part)]
    return EliminatedSystem.of_conditions(equations, rows, cone, elimination, names)


def conditions_of(blocks: Sequence[Block]) -> list[Condition]:
    """Return matrix @ x + constant >= 0 or = 0 with the exact values of the doubles."""
    conditions = list[Condition]()
    for block in blocks:
        equation = block.kind == "Zero"
        for columns, numbers, value in _entries(block.matrix, block.constant):
            name = f"{'equation' if equation else 'row'} {len(conditions) + 1}"
            right = -Fraction(value)
            conditions.append(condition((columns, numbers), right, name, equation=equation))
    return conditions


def _entries(
    matrix: sp.csr_array, constant: FloatArray
) -> Iterator[tuple[tuple[int, ...], tuple[float, ...], float]]:
    """Yield columns and values of the nonzero entries of each row, and its constant."""
    for i, value in enumerate(constant.tolist()):
        span = slice(matrix.indptr[i], matrix.indptr[i + 1])
        pairs = zip(matrix.indices[span].tolist(), matrix.data[span].tolist(), strict=True)
        entries = {j: number for j, number in pairs if number}
        yield tuple(entries), tuple(entries.values()), value


def _means(part: Part) -> Iterator[Condition]:
    """Yield the mean scores as exact conditions on x."""
    for i in range(part.rows.shape[0]):
        sums = dict[int, Fraction]()
        for rows in (part.rows, part.mirrored):
            span = slice(rows.indptr[i], rows.indptr[i + 1])
            pairs = zip(rows.indices[span].tolist(), rows.data[span].tolist(), strict=True)
            for j, number in pairs:
                sums[j] = sums.get(j, Fraction()) + Fraction(number) / 2
        constant = sums.pop(0, Fraction())
        nonzero = {j - 1: number for j, number in sums.items() if number}
        yield condition((tuple(nonzero), tuple(nonzero.values())), -constant, f"score {i + 1}")


def _parts(block: Block) -> Iterator[Part]:
    rows = sp.csr_array(sp.hstack([sp.csr_array(block.constant[:, None]), block.matrix]))
    if block.kind == "NonNeg":
        yield Part(rows, rows, Orthant(rows.shape[0]))
    elif block.kind == "SOC":
        for order in _cones(block):
            ordered = sp.csr_array(rows[order])
            yield Part(ordered, ordered, _second_order(order))
    else:
        # cvxpy writes all entries; the cone is about the symmetric part (M + M') / 2
        yield _semidefinite(rows, int(block.constraint.args[0].shape[0]))


def _second_order(order: IntArray) -> Cone:
    return Orthant(1) if len(order) == 1 else SecondOrder(len(order))


def _cones(block: Block) -> list[IntArray]:
    """Return the rows of each second-order cone of a constraint, u first and t last.

    cvxpy has all t before all u, which are columns, or rows where the axis is 1.
    """
    constraint = block.constraint
    count = int(np.prod(constraint.args[0].shape, dtype=int))
    positions = np.arange(len(block.constant) - count).reshape(constraint.args[1].shape, order="F")
    columns = (
        positions.reshape(-1, count, order="F")
        if constraint.axis == 0
        else positions.T.reshape(-1, count)
    )
    return [np.append(count + columns[:, k], k) for k in range(count)]


def _semidefinite(rows: sp.csr_array, order: int) -> Part:
    """Return the upper entries of (M + M') / 2.

    cvxpy's matrix M is symmetric, or its symmetric part is meant.
    """
    above = np.triu_indices(order)
    upper = sp.csr_array(rows[above[0] + order * above[1]])
    lower = sp.csr_array(rows[above[1] + order * above[0]])
    return Part(upper, lower, Semidefinite(order, *above))
