"""HiGHS's own answer to a linear system, taken at its word and then checked as it is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.deciding import LinearDecision
from perceptron_lab.algorithms.linear.exact_answers import absorbed, best_bounds
from perceptron_lab.algorithms.linear.floating_rows import (
    CONTRADICTION,
    INFINITE,
    HighsAnswer,
    HighsProgram,
    run_highs,
)
from perceptron_lab.algorithms.linear.proofs import LinearProof, at_most, tight_at
from perceptron_lab.core.findings import Finding
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.linear_system import LinearSystem

_FEASIBLE = Finding(claimed_feasible=True)
_INFEASIBLE = Finding(claimed_feasible=False)


def asked_highs(system: LinearSystem) -> LinearDecision:
    """Return HiGHS's answer, proved only if it is exact as it stands.

    FEASIBLE: its point, as the doubles that it is, satisfies every condition. INFEASIBLE: its dual
    ray, what bounds absorb of its residual aside, is an exact contradiction. UNVERIFIED: neither.
    NUMERICAL_ERROR: HiGHS gives no answer. TIME_LIMIT: the time is up.
    """
    bounds = best_bounds(system)
    known = {k for _, k in bounds.values()}
    rows = [k for k, one in enumerate(system.conditions) if k not in known]
    try:
        solved = _solved(system, rows)
        found = _checked(system, rows, solved)
    except TimeIsUp:
        found = _without_answer(system, Status.TIME_LIMIT, "no answer of HiGHS within the budget")
    else:
        found.iterations = solved.iterations
    return found


def _checked(system: LinearSystem, rows: list[int], solved: HighsAnswer) -> LinearDecision:
    """Return the decision that an answer proves, as it stands."""
    if solved.optimal:
        return _of_point(system, solved.values)
    if solved.status == CONTRADICTION:
        return _of_ray(system, rows, solved.ray)
    words = f"HiGHS gives no answer: {solved.status}"
    return _without_answer(system, Status.NUMERICAL_ERROR, words)


def _without_answer(system: LinearSystem, status: Status, words: str) -> LinearDecision:
    return LinearDecision(status, LinearProof(), words, np.zeros(len(system.variables)))


def _solved(system: LinearSystem, rows: list[int]) -> HighsAnswer:
    """Return HiGHS's answer to the conditions as given, the best bounds as those of its columns."""
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
    program = HighsProgram(np.zeros(width), (lower, upper), matrix, (right, above_rows))
    return run_highs(program)


def _of_point(system: LinearSystem, values: FloatArray) -> LinearDecision:
    exact = tuple(Fraction(value) for value in values.tolist())
    largest = system.violation(exact)
    if largest:
        size = to_double(largest, rounding="up")
        words = f"its point violates a condition by {size:.2g}"
        proof = LinearProof(violation=at_most(largest))
        return _unproved(_FEASIBLE, words, proof, values)
    tight = tuple(tight_at(system, *over_common(exact)))
    proof = LinearProof(point=exact, tight=tight, violation=(0.0, 0.0))
    return LinearDecision(Status.FEASIBLE, proof, _FEASIBLE.sentence, values)


def _unproved(finding: Finding, why: str, proof: LinearProof, point: FloatArray) -> LinearDecision:
    words = f"{finding.sentence}; {why}"
    return LinearDecision(Status.UNVERIFIED, proof, words, point, finding=finding)


def _of_ray(system: LinearSystem, rows: list[int], ray: FloatArray | None) -> LinearDecision:
    origin = np.zeros(len(system.variables))
    if ray is None:
        why = "without a ray that would prove it"
        return _unproved(_INFEASIBLE, why, LinearProof(), origin)
    for sign in (1, -1):
        guess = [Fraction()] * len(system.conditions)
        for k, weight in zip(rows, ray.tolist(), strict=True):
            one = system.conditions[k]
            share = sign * Fraction(weight) / one.scale
            guess[k] = share if one.equation else max(share, Fraction())
        weights = absorbed(system, guess)
        if weights is not None:
            proof = LinearProof(weights=weights)
            return LinearDecision(Status.INFEASIBLE, proof, _INFEASIBLE.sentence, origin)
    return _unproved(_INFEASIBLE, "its ray is not exact", LinearProof(), origin)
