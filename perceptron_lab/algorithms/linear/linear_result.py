"""Results of runs on linear systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_lab.algorithms.linear.deciding import LinearDecision, decide
from perceptron_lab.algorithms.linear.exact_answers import (
    absorbed,
    best_bounds,
    farkas_alternative,
    unscaled_weights,
)
from perceptron_lab.algorithms.linear.floating_rows import double_matrix
from perceptron_lab.algorithms.linear.highs import (
    CONTRADICTION,
    INFINITE,
    HighsAnswer,
    HighsProgram,
    run_highs,
)
from perceptron_lab.algorithms.linear.proofs import (
    PROOF,
    LinearProof,
    Weights,
    at_most,
    contradiction,
    tight_at,
)
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError, NumericalError, counted
from perceptron_lab.core.findings import Finding
from perceptron_lab.core.outward_rounding import bracket_text
from perceptron_lab.core.results import PROVED, Bound, FloatArray, Result, Status, Trace
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.core.time_limit import TimeIsUp, clock_seconds, time_is_up, time_limit
from perceptron_lab.numerics.exact_doubles import to_double, to_doubles
from perceptron_lab.numerics.exact_texts import exact_text
from perceptron_lab.systems.linear_system import LinearSystem

if TYPE_CHECKING:
    from perceptron_lab.algorithms.base import AnyAlgorithm
    from perceptron_lab.algorithms.external.exact_programs import ExactProgram

# Names that a message holds at most; the certificate has all
MOST_NAMES = 12
NOT_MINIMAL = " (the set may not be minimal)"
"""The remark on a contradiction of which no condition is proved to be necessary."""
NO_BOUND = Bound(None, "none", "no theorem on margins is about a closed set")
_FEASIBLE = Finding(claimed_feasible=True)
_INFEASIBLE = Finding(claimed_feasible=False)


@dataclass(frozen=True, repr=False)
class LinearResult(Result):
    """The result of a run on a linear system, with exact numbers in ``certificate["linear"]``.

    ``point`` is x in doubles, each rounded once, to the largest finite double beyond 1.8e308 (zeros
    where none is proved). ``weights`` are those of the conditions as given in doubles: as they are,
    or a positive multiple of them where doubles would not hold them (see :func:`.to_doubles`). A
    closed set has no margin: ``violation`` takes its place.
    """

    @property
    def exact(self) -> LinearProof:
        """The exact numbers: point, weights, partition."""
        return LinearProof.of_json(self.certificate[PROOF])

    @property
    def x(self) -> tuple[Fraction, ...] | None:
        """The exact rational point; None where no point is proved."""
        return self.exact.point

    @property
    def violation(self) -> tuple[float, float | None]:
        """The proved bracket of the least violation, min over x of the largest of a condition."""
        return self.exact.violation

    def __str__(self) -> str:
        lines = [f"{self.status}{' (proved)' if self.proved else ''}: {self.message}"]
        if self.status not in (Status.FEASIBLE, Status.UNBOUNDED):
            lines.append(f"  least violation in {bracket_text(*self.violation)}")
        pivots, steps = counted(self.updates, "exact pivot"), counted(self.iterations, "step")
        lines.append(f"  {pivots}, {steps} of HiGHS, {self.seconds:.3g} s")
        return "\n".join(lines + self._conflict())

    def __repr__(self) -> str:
        """Return the outcome in a line."""
        proved = " proved" if self.proved else ""
        return f"<LinearResult {self.status}{proved}: {self.message}>"


def solve_linear(
    system: LinearSystem,
    *,
    pivots: int,
    seconds: float,
    stop: Callable[[], str | None] | None = None,
    method: Callable[[], LinearDecision] | None = None,
) -> LinearResult:
    """Return the result on a linear system.

    Parameters
    ----------
    system
        The system.
    pivots, seconds
        The budget.
    stop
        Asked again and again: a text ends the run.
    method
        Another way to a decision; by default :func:`.decide`.
    """
    began = clock_seconds()
    with time_limit(seconds, stop):
        decision = decide(system, pivots, stop) if method is None else method()
    spent = clock_seconds() - began
    return LinearResult(
        status=decision.status,
        proved=decision.status in PROVED,
        point=decision.point,
        weights=_weights(system, decision.proof),
        margin_lower=None,
        margin_upper=None,
        updates=decision.pivots,
        queries=0,
        iterations=decision.iterations,
        products=0.0,
        seconds=spent,
        proof_seconds=0.0,
        total_seconds=spent,
        trace=_trace(decision, spent),
        certificate=certificate_of(system, decision),
        bound=NO_BOUND,
        message=message(system, decision),
        finding=decision.finding,
        goal="decide",
        goal_reached=decision.status in PROVED,
    )


def certificate_of(system: LinearSystem, decision: LinearDecision) -> dict[str, Any]:
    """Return the exact numbers, and by name the weights and what is always tight."""
    names = [row.name for row in system.conditions]
    proof, tight = decision.proof, decision.proof.tight if decision.proof.complete else ()
    return {
        "method": decision.method,
        "data": "exact",
        PROOF: proof.as_json(),
        "contradiction": {names[k]: exact_text(proof.weights[k]) for k in sorted(proof.weights)},
        "always_tight": [names[k] for k in tight],
    }


def _weights(system: LinearSystem, proof: LinearProof) -> FloatArray | None:
    if not proof.weights:
        return None
    return to_doubles([proof.weights.get(k, 0) for k in range(len(system.conditions))], scaled=True)


def _trace(decision: LinearDecision, seconds: float) -> Trace:
    """Return the only record of a run: its end."""
    nothing = float("nan")
    return Trace(
        [decision.pivots], [decision.iterations], [0], [0.0], [seconds], [""], [nothing], [nothing]
    )


def message(system: LinearSystem, decision: LinearDecision) -> str:
    """Return the answer in a sentence, with the names of what contradicts each other."""
    count = len(system.conditions)
    if decision.status is Status.INFEASIBLE:
        return f"{contradiction_text(system, decision.proof)} ({decision.method})"
    if decision.status is not Status.FEASIBLE:
        return decision.method
    tight = len(decision.proof.tight)
    text = f"an exact point satisfies {counted(count, 'condition')}"
    if decision.proof.complete and tight:
        which = counted(tight, "inequality", "inequalities")
        text += f"; {which} {'is' if tight == 1 else 'are'} tight at every point, the others strict"
    elif decision.proof.complete:
        text += "; no inequality has to be tight"
    return f"{text} ({decision.method})"


def contradiction_text(system: LinearSystem, proof: LinearProof) -> str:
    """Return which conditions contradict each other, in words; all of them if they are few."""
    rows = [system.conditions[k] for k in sorted(proof.weights)]
    names = [row.name for row in rows]
    listed = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    if len(names) == 1:
        return f"one condition contradicts itself: {listed}"
    bounds = sum(row.bound for row in rows)
    counts = [(len(rows) - bounds, "row"), (bounds, "bound")]
    text = " and ".join(counted(number, word) for number, word in counts if number)
    least = ", none of which can be left out" if proof.irreducible else NOT_MINIMAL
    return f"{text} contradict each other{least}: {listed}"


def drive_linear(
    system: LinearSystem, algorithm: AnyAlgorithm, options: RunOptions
) -> LinearResult:
    """Run an algorithm on a linear system; options that mean nothing here are refused."""
    goal, budget, stop = options.goal, options.budget, options.stop
    name = registry.name_of("algorithm", algorithm)
    if name not in RUNS:
        raise InputError(
            f"{name} seeks strict solutions, and these conditions are not strict; choose "
            f"{', '.join(RUNS)}, or solve system.strict() where there are no equations"
        )
    if goal != "decide":
        raise InputError(f"goal {goal} on a closed set, which has no margin; leave the goal out")
    meaningless = {
        "oracle": bool(options.oracles),
        "start": options.start is not None,
        "record_at": bool(options.trace.record_at),
    }
    for argument in (name for name, is_set in meaningless.items() if is_set):
        raise InputError(f"{argument} on linear conditions, which take none; leave it out")
    method = METHODS.get(name)
    pivots = budget.updates if method is None else 0
    way = None if method is None else partial(method, system, algorithm)
    return solve_linear(system, pivots=pivots, seconds=budget.seconds, stop=stop, method=way)


def asked_highs(system: LinearSystem, algorithm: AnyAlgorithm) -> LinearDecision:
    """Return HiGHS's answer, proved only if it is exact as it stands.

    FEASIBLE: its point, as the doubles that it is, satisfies every condition. INFEASIBLE: its dual
    ray, what bounds absorb of its residual aside, is an exact contradiction. UNVERIFIED: neither.
    NUMERICAL_ERROR: HiGHS gives no answer. TIME_LIMIT: the time is up.
    """
    if algorithm != type(algorithm)():
        raise InputError("highs takes no parameters on linear conditions; leave them out")
    bounds = best_bounds(system)
    bounding = {k for _, k in bounds.values()}
    rows = [k for k, row in enumerate(system.conditions) if k not in bounding]
    try:
        solved = _solved(system, rows)
        decision = _checked(system, rows, solved)
    except TimeIsUp:
        decision = _without_answer(
            system, Status.TIME_LIMIT, "no answer of HiGHS within the budget"
        )
    else:
        decision.iterations = solved.iterations
    return decision


def _checked(system: LinearSystem, rows: list[int], solved: HighsAnswer) -> LinearDecision:
    """Return the decision that an answer proves, as it stands."""
    if solved.optimal:
        return _of_point(system, tuple(map(Fraction, solved.values.tolist())), "HiGHS")
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
    selected = [system.conditions[k] for k in rows]
    matrix = double_matrix([(row, row.scale) for row in selected], width)
    right = np.array([to_double(row.right, row.scale) for row in selected], dtype=float)
    equation = np.array([row.equation for row in selected], dtype=bool)
    above_rows = np.where(equation, right, INFINITE)
    program = HighsProgram(np.zeros(width), (lower, upper), matrix, (right, above_rows))
    return run_highs(program)


def _of_point(system: LinearSystem, exact: tuple[Fraction, ...], solver: str) -> LinearDecision:
    values, claim = to_doubles(exact), f"{solver} calls it feasible"
    largest = system.violation(exact)
    if largest:
        size = to_double(largest, rounding="up")
        words = f"{claim}; its point violates a condition by {size:.2g}"
        proof = LinearProof(violation=at_most(largest))
        return LinearDecision(Status.UNVERIFIED, proof, words, values, finding=_FEASIBLE)
    tight = tuple(tight_at(system, exact))
    proof = LinearProof(point=exact, tight=tight, violation=(0.0, 0.0))
    return LinearDecision(Status.FEASIBLE, proof, claim, values)


def _infeasible(
    system: LinearSystem, weights: Weights | None, solver: str, fault: str
) -> LinearDecision:
    """Return the decision of a claim that there is no point; without weights it has a fault."""
    claim, origin = f"{solver} calls it infeasible", np.zeros(len(system.variables))
    if weights:
        return LinearDecision(Status.INFEASIBLE, LinearProof(weights=weights), claim, origin)
    words = f"{claim}; {fault}"
    return LinearDecision(Status.UNVERIFIED, LinearProof(), words, origin, finding=_INFEASIBLE)


def _of_ray(system: LinearSystem, rows: list[int], ray: FloatArray | None) -> LinearDecision:
    if ray is None:
        return _infeasible(system, None, "HiGHS", "without a ray that would prove it")
    weights = None
    # The sign of HiGHS's ray is not relied on
    for sign in (1, -1):
        guess = [Fraction()] * len(system.conditions)
        for k, weight in zip(rows, ray.tolist(), strict=True):
            row = system.conditions[k]
            share = sign * Fraction(weight) / row.scale
            guess[k] = share if row.equation else max(share, Fraction())
        weights = weights or absorbed(system, guess)
    return _infeasible(system, weights, "HiGHS", "its ray is not exact")


def asked_program(system: LinearSystem, program: ExactProgram) -> LinearDecision:
    """Return the answer of a program that computes in rational numbers, checked as HiGHS's is.

    A program that does not state the weights of a contradiction is asked for a point of Farkas'
    alternative.
    """
    try:
        reply = program.reply_to(system)
        if reply.point is not None:
            return _of_point(system, reply.point, reply.name)
    except (NumericalError, TimeIsUp) as error:
        status = Status.TIME_LIMIT if time_is_up() else Status.NUMERICAL_ERROR
        words = str(error) or f"no answer of {program.command} within the budget"
        return _without_answer(system, status, words)
    integers, fault = reply.weights, "its weights do not prove it"
    try:
        if not integers:
            alternative = farkas_alternative(system, range(system.constraints))
            integers = dict(enumerate(program.reply_to(alternative).point or ()))
    except (NumericalError, TimeIsUp) as error:
        fault = str(error) or "no weights that prove it within the budget"
    weights = unscaled_weights(system, integers)
    proved = contradiction(system, weights) is not None
    return _infeasible(system, weights if proved else None, reply.name, fault)


METHODS: Mapping[str, Callable[[LinearSystem, Any], LinearDecision]] = {
    "highs": asked_highs,
    "qsopt-ex": asked_program,
    "soplex": asked_program,
}
"""Solvers for linear programs, whose answers are checked as they stand."""
RUNS = ("auto", *METHODS)
"""The algorithms that answer questions about closed sets."""
