"""The only loop: clock, budget, goal, trace, and the proof of every claim."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab import registry
from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import Algorithm, State
from perceptron_lab.certificates.feasibility import PointProof
from perceptron_lab.claims import Claim, FeasiblePoint, MarginAbove, MarginBelow
from perceptron_lab.errors import InputError, NumericalError
from perceptron_lab.facts import Facts
from perceptron_lab.goals import Budget, Goal, MarginRatio, MarginUpper
from perceptron_lab.problems import as_system
from perceptron_lab.results import FloatArray, Result, Status, Trace
from perceptron_lab.system import ConicSystem


def solve(
    problem: Any,
    algorithm: Any = "rescaled-perceptron",
    *,
    oracle: Any = None,
    goal: Goal | Mapping[str, float] = "decide",
    budget: Budget | None = None,
    seed: int = 0,
    start: npt.ArrayLike | None = None,
    facts: Facts | None = None,
) -> Result:
    """Find y with A*y strictly inside K, or bound the margin; prove the answer on the data.

    Parameters
    ----------
    problem
        Rows, ``(X, y)``, a :class:`ConicSystem` or the path of an SDPA file; see
        :func:`perceptron_lab.problems.as_system`.
    algorithm
        A name of ``plab list algorithms``, or an algorithm's record with its parameters.
    oracle
        A name of ``plab list oracles``, a record, or a list of them (one per kind of cone); None
        takes each cone's default.
    goal
        ``"decide"``, ``"budget"``, ``{"margin_upper": eps}`` or ``{"margin_ratio": r}``.
    budget
        Updates and seconds at most (default 1e6 and 300).
    seed
        Of all randomness of the algorithm and its oracles, 0 or more.
    start
        Where the point starts, shape ``(dimension,)``; None leaves it to the algorithm.
    facts
        What is known of the system, for the bound; None takes the system's own facts.

    Returns
    -------
    Result
        Only what is proved on the original data, in double precision with bounds of all rounding
        errors, is called proved. Data are taken to be the doubles stored.

    Raises
    ------
    InputError, DataError, ConfigError
        If the problem or a name makes no sense.
    """
    began = time.perf_counter()
    streams = np.random.SeedSequence(seed).spawn(2)
    system = as_system(problem).started(_oracles(oracle), np.random.default_rng(streams[0]))
    record = registry.load("algorithm", algorithm)() if isinstance(algorithm, str) else algorithm
    run = _Run(system, record, _goal(goal), budget or Budget())
    with np.errstate(over="ignore", invalid="ignore"):  # checked where it matters: no NaN is proved
        run.begin(np.random.default_rng(streams[1]), start)
        return run.result(run.status(), facts, began)


def _oracles(oracle: Any) -> dict[str, Any]:
    """Return oracle records by the kind of cone that they separate."""
    if oracle is None:
        return {}
    several = isinstance(oracle, Iterable) and not isinstance(oracle, str)
    given = list(oracle) if several else [oracle]
    records = [registry.load("oracle", o)() if isinstance(o, str) else o for o in given]
    kinds = {record.kind: record for record in records}
    if len(kinds) < len(records):
        raise InputError("two oracles for one kind of cone; give at most one per kind")
    return kinds


def _goal(goal: Goal | Mapping[str, float]) -> Goal:
    if isinstance(goal, Mapping):
        if list(goal) == ["margin_upper"]:
            return MarginUpper(goal["margin_upper"])
        if list(goal) == ["margin_ratio"]:
            return MarginRatio(goal["margin_ratio"])
        raise InputError(f"goal {dict(goal)}; give margin_upper or margin_ratio alone")
    if isinstance(goal, str) and goal not in ("decide", "budget"):
        raise InputError(f"goal {goal!r}; give decide, budget, margin_upper or margin_ratio")
    return goal


SHIFTS = tuple(10.0**k for k in range(-15, -5))
"""Interior shifts that may mend a boundary answer, relative to the point's length."""

LARGEST_CAUTION = 1e-7
"""A claim that is repeated unchanged up to this caution of the system ends a run."""


@dataclass
class _Run:
    """One run; its methods decide when it ends and what may be called proved."""

    system: ConicSystem
    algorithm: Algorithm[Any]
    goal: Goal
    budget: Budget
    trace: Trace = field(default_factory=Trace)
    seconds: float = 0.0
    chunk: int = 1
    claims_rejected: int = 0
    last: Claim | None = None
    answer: FloatArray | None = None
    proof: PointProof | None = None
    upper: float | None = None
    message: str = ""
    certificate: dict[str, Any] = field(default_factory=dict)

    def begin(self, rng: np.random.Generator, start: npt.ArrayLike | None) -> None:
        """Start the algorithm, at a given point if there is one, and record the first state."""
        clock = time.perf_counter()
        self.state: State = self.algorithm.start(self.system, rng)
        self.seconds = time.perf_counter() - clock
        if start is not None:
            point = np.array(start, dtype=float)
            if point.shape != (self.system.dimension,) or not np.isfinite(point).all():
                raise InputError(
                    f"start has shape {point.shape}; give {self.system.dimension} finite numbers"
                )
            self.state.point[:] = point
        self.record()

    def status(self) -> Status:
        """Advance until something is proved, given up or spent."""
        while True:
            limit = self.limit()
            if limit is not None:
                return limit
            try:
                claim = self.advance()
            except NumericalError as error:
                self.message = str(error)
                return Status.NUMERICAL_ERROR
            status = self.judge(claim) if claim is not None else self.reached()
            if status is not None:
                return status

    def limit(self) -> Status | None:
        """Return which budget is spent, if one is."""
        if self.state.updates >= self.budget.updates:
            self.message = f"the budget of {self.budget.updates} updates is spent"
            return Status.UPDATE_LIMIT
        if self.seconds >= self.budget.seconds:
            self.message = f"the budget of {self.budget.seconds:g} seconds is spent"
            return Status.TIME_LIMIT
        return None

    def advance(self) -> Claim | None:
        """Advance to the next record at most, about 5 to 50 ms at a time."""
        state, phase = self.state, self.state.phase
        due = 1 << state.updates.bit_length()
        most = min(self.chunk, due - state.updates, self.budget.updates - state.updates)
        clock = time.perf_counter()
        self.state, claim = advance(self.algorithm, self.system, state, most)
        elapsed = time.perf_counter() - clock
        self.seconds += elapsed
        if elapsed < 0.005:
            self.chunk *= 2
        elif elapsed > 0.05:
            self.chunk = max(1, self.chunk // 2)
        if self.state.updates == due or self.state.phase != phase:
            self.record()
        return claim

    def record(self) -> None:
        """Append the state to the trace."""
        counters, state, trace = self.system.counters, self.state, self.trace
        trace.updates.append(state.updates)
        trace.iterations.append(state.iterations)
        trace.queries.append(counters.queries)
        trace.products.append(counters.products)
        trace.seconds.append(self.seconds)
        trace.phase.append(state.phase)
        trace.margin.append(self.system.margin(state.point))

    def judge(self, claim: Claim) -> Status | None:
        """Prove a claim; return the status it leads to, or None if the run goes on."""
        if self.last is not None and _same(claim, self.last):
            if self.proof is not None and self.proof.feasible:
                return Status.FEASIBLE
            if self.system.caution >= LARGEST_CAUTION:
                self.message = f"{self.message}; the algorithm repeats its claim"
                return Status.UNVERIFIED
        self.last = claim
        if isinstance(claim, MarginBelow):
            status = self.judge_weights(claim)
        else:
            status = self.judge_point(claim)
        if status is None:
            self.claims_rejected += 1
            self.system = self.system.stricter()
        elif self.goal != "decide" and status == Status.FEASIBLE:
            return self.reached()
        return status

    def judge_point(self, claim: FeasiblePoint | MarginAbove) -> Status | None:
        """Prove a claimed point, moved inside by a multiple of a known interior point if needed."""
        self.answer, self.proof = claim.point, self.system.prove_point(claim.point)
        if self.proof.feasible:
            self.message = "the point is proved strictly feasible"
            return Status.FEASIBLE
        if isinstance(claim, MarginAbove):
            if self.proof.margin_lower >= claim.bound - 1e-9 * abs(claim.bound):
                self.message = f"relaxed answer: a margin of {claim.bound:g} or more is proved"
                return Status.MARGIN_BOUNDED
        elif self.mended(claim.point):
            return Status.FEASIBLE
        self.message = f"no proof of the claimed point (margin >= {self.proof.margin_lower:.3g})"
        return None

    def mended(self, point: FloatArray) -> bool:
        """Try point + delta * interior for growing delta."""
        interior = self.system.interior
        if interior is None:
            return False
        unit = float(np.linalg.norm(point) / np.linalg.norm(interior))
        for shift in SHIFTS:
            moved = point + shift * unit * interior
            proof = self.system.prove_point(moved)
            if proof.feasible:
                self.answer, self.proof = moved, proof
                self.certificate["interior_shift"] = shift * unit
                self.message = (
                    "boundary answer, proved strictly feasible after an interior shift of "
                    f"{shift * unit:.1e}"
                )
                return True
        return False

    def judge_weights(self, claim: MarginBelow) -> Status | None:
        """Prove claimed weights."""
        self.state.weights = claim.weights
        self.upper = self.system.prove_weights(claim.weights)
        if self.upper == 0.0:
            self.message = "the weights prove that no point is strictly feasible"
            return Status.INFEASIBLE
        if self.upper is not None and self.upper <= claim.bound:
            self.message = f"a margin of at most {self.upper:.3g} is proved"
            return Status.MARGIN_BOUNDED
        shown = "nothing" if self.upper is None else f"only a margin of at most {self.upper:.3g}"
        self.message = f"margin <= {claim.bound:g} claimed, {shown} proved"
        return None

    def reached(self) -> Status | None:
        """Return the status of a goal on the bracket, once it is proved at a record."""
        goal, weights = self.goal, self.state.weights
        if isinstance(goal, str) or weights is None or self.trace.updates[-1] != self.state.updates:
            return None
        self.upper = self.system.prove_weights(weights)
        if self.upper is None:
            return None
        if isinstance(goal, MarginUpper):
            done = self.upper <= goal.margin_upper
        else:
            self.proof = self.system.prove_point(self.state.point)
            done = self.proof.margin_lower >= goal.margin_ratio * self.upper
        if not done:
            return None
        self.message = f"the goal {goal} is proved"
        feasible = self.proof is not None and self.proof.feasible
        return Status.FEASIBLE if feasible else Status.MARGIN_BOUNDED

    def result(self, status: Status, facts: Facts | None, began: float) -> Result:
        """Prove the bracket of the last state and put everything together."""
        state, counters = self.state, self.system.counters
        if self.trace.updates[-1] != state.updates:
            self.record()
        answered = self.proof is not None and self.proof.feasible and self.answer is not None
        point = self.answer if answered and self.answer is not None else state.point
        proof = (
            self.proof if answered and self.proof is not None else self.system.prove_point(point)
        )
        if proof.feasible and status in _OPEN:
            status, self.message = Status.FEASIBLE, f"{self.message}; the last point is feasible"
        if self.upper is None and state.weights is not None:
            self.upper = self.system.prove_weights(state.weights)
        lower = proof.margin_lower if np.isfinite(proof.margin_lower) else None
        known = facts.margin if facts is not None and facts.margin else lower
        self.certificate |= {
            "method": proof.method,
            "exact_rows": proof.exact_rows,
            "claims_rejected": self.claims_rejected,
        }
        return Result(
            status=status,
            proved=status in _PROVED,
            point=np.array(point),
            weights=None if state.weights is None else self.system.weights_to_origin(state.weights),
            margin_lower=lower,
            margin_upper=self.upper,
            updates=state.updates,
            queries=counters.queries,
            iterations=state.iterations,
            products=counters.products,
            seconds=self.seconds,
            total_seconds=time.perf_counter() - began,
            trace=self.trace,
            certificate=self.certificate,
            bound=self.algorithm.bound(
                self.system.facts(known if known is not None and known > 0 else None)
            ),
            message=self.message,
        )


_PROVED = {Status.FEASIBLE, Status.INFEASIBLE, Status.MARGIN_BOUNDED}
_OPEN = {Status.UPDATE_LIMIT, Status.TIME_LIMIT, Status.NUMERICAL_ERROR, Status.UNVERIFIED}


def _same(left: Claim, right: Claim) -> bool:
    """Whether two claims are one, unchanged."""
    if isinstance(left, MarginBelow) or isinstance(right, MarginBelow):
        return (
            isinstance(left, MarginBelow)
            and isinstance(right, MarginBelow)
            and np.array_equal(left.weights, right.weights)
        )
    return type(left) is type(right) and np.array_equal(left.point, right.point)
