"""HiGHS's own answer to a linear system, taken at its word and then checked as it is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

from perceptron_lab.linear.deciding import Decision
from perceptron_lab.linear.exact_answers import absorbed, best_bounds
from perceptron_lab.linear.floating_rows import INFINITE, loaded
from perceptron_lab.linear.proofs import LinearProof, at_most, tight_at
from perceptron_lab.linear.words import FEASIBLE, INFEASIBLE
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.results import FloatArray, Status
from perceptron_lab.system.conditions import over_common
from perceptron_lab.system.linear_system import LinearSystem


def asked_highs(system: LinearSystem, seconds: float) -> Decision:
    """Return HiGHS's answer, proved only if it is exact as it stands.

    FEASIBLE: its point, as the doubles that it is, satisfies every condition. INFEASIBLE: its dual
    ray, what bounds absorb of its residual aside, is an exact contradiction. UNVERIFIED: neither.
    NUMERICAL_ERROR: HiGHS gives no answer.
    """
    bounds = best_bounds(system)
    known = {k for _, k in bounds.values()}
    rows = [k for k, one in enumerate(system.conditions) if k not in known]
    solver = _loaded(system, rows, seconds)
    solver.run()
    status, iterations = solver.getModelStatus(), int(solver.getInfo().simplex_iteration_count)
    if status == highspy.HighsModelStatus.kOptimal:
        found = _of_point(system, np.array(solver.getSolution().col_value, dtype=float))
    elif status == highspy.HighsModelStatus.kInfeasible:
        found = _of_ray(system, rows, solver)
    else:
        words = f"HiGHS gives no answer: {solver.modelStatusToString(status)}"
        origin = np.zeros(len(system.variables))
        found = Decision(Status.NUMERICAL_ERROR, LinearProof(), words, origin)
    found.iterations = max(iterations, 0)
    return found


def _loaded(system: LinearSystem, rows: list[int], seconds: float) -> Any:
    """Return HiGHS with the conditions as given, the best bounds as those of its columns."""
    width = len(system.variables)
    lower, upper = np.full(width, -INFINITE), np.full(width, INFINITE)
    for (j, is_lower), (bound, _) in best_bounds(system).items():
        (lower if is_lower else upper)[j] = to_double(bound if is_lower else -bound)
    chosen = [system.conditions[k] for k in rows]
    values = [to_double(number, one.scale) for one in chosen for number in one.coefficients]
    columns = [j for one in chosen for j in one.columns]
    ends = np.cumsum([0, *(len(one.columns) for one in chosen)])
    matrix = sp.csr_array((np.array(values, dtype=float), columns, ends), shape=(len(rows), width))
    right = np.array([to_double(one.right, one.scale) for one in chosen], dtype=float)
    equation = np.array([one.equation for one in chosen], dtype=bool)
    above_rows = np.where(equation, right, INFINITE)
    return loaded(np.zeros(width), (lower, upper), matrix, (right, above_rows), seconds)


def _of_point(system: LinearSystem, values: FloatArray) -> Decision:
    exact = tuple(Fraction(value) for value in values.tolist())
    largest = system.violation(exact)
    if largest:
        size = to_double(largest, rounding="up")
        words = f"{FEASIBLE}; its point violates a condition by {size:.2g}"
        proof = LinearProof(violation=at_most(largest))
        return Decision(Status.UNVERIFIED, proof, words, values)
    tight = tuple(tight_at(system, *over_common(exact)))
    proof = LinearProof(point=exact, tight=tight, violation=(0.0, 0.0))
    return Decision(Status.FEASIBLE, proof, FEASIBLE, values)


def _of_ray(system: LinearSystem, rows: list[int], solver: Any) -> Decision:
    origin = np.zeros(len(system.variables))
    _, there, ray = solver.getDualRay()
    for sign in (1, -1) if there else ():
        guess = [Fraction()] * len(system.conditions)
        for k, weight in zip(rows, ray, strict=True):
            one = system.conditions[k]
            share = sign * Fraction(weight) / one.scale
            guess[k] = share if one.equation else max(share, Fraction())
        weights = absorbed(system, guess)
        if weights is not None:
            return Decision(Status.INFEASIBLE, LinearProof(weights=weights), INFEASIBLE, origin)
    words = "its ray is not exact" if there else "without a ray that would prove it"
    return Decision(Status.UNVERIFIED, LinearProof(), f"{INFEASIBLE}; {words}", origin)
