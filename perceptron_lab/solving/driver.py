"""The main loop of a run: clock, budget, goal and trace; a verifier verifies every claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import AnyAlgorithm, State
from perceptron_lab.algorithms.interior_point.interior_point import InteriorPoint
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core import registry
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.findings import Finding
from perceptron_lab.core.goals import Budget, Goal, MarginRatio, MarginUpper, Width
from perceptron_lab.core.results import PROVED, Bound, FloatArray, Result, Status
from perceptron_lab.core.run_options import Oracle, RunOptions, Stop
from perceptron_lab.core.time_limit import (
    TimeIsUp,
    clock_seconds,
    last_proofs,
    time_is_up,
    time_limit,
)
from perceptron_lab.solving.failures import describe, ends_run, log, numerical, sentence
from perceptron_lab.solving.infeasibility import NO_STRICT, Better, classified
from perceptron_lab.solving.recording import Recorder
from perceptron_lab.solving.verifier import Verifier
from perceptron_lab.systems import ConicSystem, CutStatistics, System

# Records and proofs take this part of the budget of seconds, or so many, on top of the steps; what
# they take beyond counts as spent. Those at the end have the allowance of the time limit.
SHARE, FREE = 8.0, 0.25
# Updates of more seconds are made one at a time: the next may take ten thousand times as long
LONG = 0.0001
LONGEST = 2**40  # Updates that are asked of an algorithm at a time, at most
_TOLD = ("l1_margin", "hull_radius", "centre_norm")  # Facts that a system does not know of itself

_ADVICE = {
    Status.UNVERIFIED: "try another algorithm, or the goal margin_upper=1e-6, for a bound",
    Status.NUMERICAL_ERROR: "try another algorithm, or scale rows and columns to similar norms",
}
"""What to try next, by status."""


def drive(system: System, algorithm: AnyAlgorithm, options: RunOptions | None = None) -> Result:
    """Run an algorithm on a system, with the options of :func:`.solving.solve`."""
    options = options or RunOptions()
    if isinstance(options.goal, Width):
        name = registry.name_of("algorithm", algorithm)
        raise InputError(
            f"goal {options.goal} is one of optimisers, and {name} is an algorithm for "
            "feasibility; choose low-rank or another of `plab list optimisers`"
        )
    began = clock_seconds()

    def left() -> float:
        return max(0.0, options.budget.seconds - (clock_seconds() - began))

    result = _by_implied_equalities(system, algorithm, options, left)
    if result is None:
        result = system.driven(algorithm, options, _driven)
        if result.status not in (Status.FEASIBLE, Status.INFEASIBLE):
            result = (
                _by_implied_equalities(system, algorithm, options, left, exactly=True) or result
            )
    decided = result.status is Status.INFEASIBLE and options.goal == "decide"
    if not (decided and isinstance(system, ConicSystem) and system.homogenised):
        return result
    return result if system.cone.of_rows else with_kind(system, algorithm, options, result, left)


def _by_implied_equalities(
    system: System,
    algorithm: AnyAlgorithm,
    options: RunOptions,
    left: Callable[[], float],
    *,
    exactly: bool = False,
) -> Result | None:
    """Return the answer with equations in place of rows that imply them, or None."""
    plain = options.goal == "decide" and options.start is None and options.observe is None
    if not (isinstance(system, ConicSystem) and algorithm.eliminates_implied and plain):
        return None
    if not system.closed_rows or system.cone.of_rows:
        return None
    # Its exact arithmetic takes a while to load
    from perceptron_lab.solving import implied_equalities as equalities

    with time_limit(left(), _stopping(options.stop)), suppress(TimeIsUp):
        implied = equalities.implied_equalities(system, exactly=exactly)
        reduced = None if implied is None else equalities.reduced_system(system, implied)
        if implied is None or reduced is None:
            return None
        limits = replace(options, budget=Budget(options.budget.updates, left()))
        return equalities.lifted(system, implied, _driven(reduced, algorithm, limits))
    return None


def with_kind(
    system: ConicSystem,
    algorithm: AnyAlgorithm,
    options: RunOptions,
    result: Result,
    left: Callable[[], float],
    better: Better | None = None,
) -> Result:
    """Return a result with what is proved of a conic system that has no strict point.

    ``left`` are the remaining seconds; see :func:`.classified`.
    """
    began = clock_seconds()

    def run(face: ConicSystem) -> Result:
        limits = RunOptions(budget=Budget(options.budget.updates, left()), stop=options.stop)
        # Its weights have the largest rank; others may follow where they prove nothing
        first = _driven(face, InteriorPoint(), limits)
        decided = first.status in (Status.FEASIBLE, Status.INFEASIBLE)
        return first if decided else _driven(face, algorithm, limits)

    with time_limit(left(), _stopping(options.stop)):
        try:
            entries = classified(system, result, run, better)
        except (TimeIsUp, np.linalg.LinAlgError):
            entries = {"infeasibility": NO_STRICT}
    finding = Finding(infeasibility=entries["infeasibility"])
    message = "; ".join(filter(None, [result.message, finding.sentence]))
    more = clock_seconds() - began
    return replace(
        result,
        certificate=result.certificate | entries,
        finding=result.finding | finding,
        message=message,
        proof_seconds=result.proof_seconds + more,
        total_seconds=result.total_seconds + more,
    )


def _driven(system: ConicSystem, algorithm: AnyAlgorithm, options: RunOptions) -> Result:
    """Run an algorithm on a conic system."""
    began = clock_seconds()
    if options.seed < 0:
        raise InputError(f"seed {options.seed}; give 0 or more")
    streams = np.random.SeedSequence(options.seed).spawn(2)
    goal, seconds = options.goal, options.budget.seconds
    with time_limit(seconds + _allowance(seconds)):
        view, late = _view(algorithm, replace(system, deciding=goal == "decide"), options)
        by_kind = _by_kind(options.oracles, view, algorithm)
        started = _aimed(view.started(by_kind, np.random.default_rng(streams[0])), goal)
        cuts = CutStatistics(started.cone) if options.trace.trace_cuts else None
        started.counters.observe_cut = None if cuts is None else cuts.see
        recorder = Recorder(seconds / SHARE, options, cuts)
        run = _Run(Verifier(started, goal), algorithm, options, recorder, late=late)
        with np.errstate(over="ignore", invalid="ignore"):  # checked: no NaN is proved
            run.begin(np.random.default_rng(streams[1]))
            return run.result(run.status(), began)


def _aimed(system: ConicSystem, goal: Goal) -> ConicSystem:
    """Return the system with the bound or ratio whose proof ends the run."""
    match goal:
        case MarginUpper(margin_upper=bound):
            return replace(system, target=bound)
        case MarginRatio(margin_ratio=ratio):
            return replace(system, ratio=ratio)
    return system


def _allowance(seconds: float) -> float:
    """Return the seconds that proofs and records may take in addition to the steps."""
    return max(FREE, seconds / SHARE)


def _stopping(stop: Stop | None) -> Callable[[], bool] | None:
    """Return the user's function ``stop`` in the form that a time limit calls."""
    return None if stop is None else lambda: stop() is not None


def _view(
    algorithm: AnyAlgorithm, system: ConicSystem, options: RunOptions
) -> tuple[ConicSystem, TimeIsUp | None]:
    """Return the system in the algorithm's form, or as formed if the budget is too small."""
    try:
        with time_limit(options.budget.seconds, _stopping(options.stop)):
            return algorithm.view(system), None
    except TimeIsUp as error:
        return system.formed(), error


def _by_kind(
    oracles: Sequence[Oracle], system: ConicSystem, algorithm: AnyAlgorithm
) -> dict[str, Oracle]:
    """Return oracles by the kind of cone that they separate."""
    if oracles and not algorithm.uses_oracle:
        raise InputError(
            f"{registry.name_of('algorithm', algorithm)} looks at all constraints itself and asks "
            "no oracle; leave the oracle out"
        )
    kinds = {oracle.kind: oracle for oracle in oracles}
    if len(kinds) < len(oracles):
        raise InputError("two oracles for one kind of cone; give at most one per kind")
    for kind in kinds.keys() - system.cone.oracles.keys():
        raise InputError(
            f"an oracle for {kind} blocks, of which the system has none; give one for "
            f"{' or '.join(system.cone.oracles) or 'no'} blocks"
        )
    return kinds


@dataclass
class _Run:
    """One run of an algorithm: it steps, records and verifies until an answer or a limit."""

    verifier: Verifier
    algorithm: AnyAlgorithm
    options: RunOptions
    recorder: Recorder
    seconds: float = 0.0
    proof_seconds: float = 0.0
    chunk: int = 1
    idle: int = 0
    spent: bool = False
    stopped: bool = False
    examined: int = 0
    length: float | None = None  # The norm of the start, if one was given
    first: Claim | None = None  # That a start is feasible
    late: TimeIsUp | None = None  # What the time limit has ended

    @property
    def budget(self) -> Budget:
        """The limits of the run."""
        return self.options.budget

    def begin(self, rng: np.random.Generator) -> None:
        """Start the algorithm, at the given point if there is one, and record its first state."""
        system = self.verifier.system
        self.failure: Exception | None = None
        self.state = State(np.zeros(system.dimension))
        clock = clock_seconds()
        start = self.options.start
        start_point = None if start is None else self.start_point(start)
        try:
            if self.late is None:
                self.state = self._started(rng, start_point)
        except TimeIsUp as error:
            self.late = error
        except Exception as error:
            if not numerical(error):
                raise
            self.failure = error
        # Without an algorithm's state the barycentre still has a point whose margin can be proved
        if self.late is not None:
            self.state = State(system.operator.combine(barycentre(system.cone)))
        self.seconds = clock_seconds() - clock
        if start_point is not None:
            self.length = system.norm(start_point)
            scores = system.operator.scores(start_point)
            inside = system.inside(system.cone.lowest(scores), scores)
            # For the goal ``decide`` a feasible start is the answer, and needs no update
            self.first = (
                FeasiblePoint(start_point) if inside and self.verifier.goal == "decide" else None
            )
        self.record()

    def _started(self, rng: np.random.Generator, start_point: FloatArray | None) -> State:
        algorithm, system = self.algorithm, self.verifier.system
        with self.limited():
            state: State = (
                algorithm.start(system, rng)
                if start_point is None
                else algorithm.start_at(system, rng, start_point)
            )
        return state

    def limited(self) -> AbstractContextManager[None]:
        """Limit the steps by the remaining budget; a reason to stop ends them as well."""
        left = max(0.0, self.budget.seconds - self.seconds - self.beyond)
        return time_limit(left, _stopping(self.options.stop))

    def start_point(self, start: npt.ArrayLike) -> FloatArray:
        """Return a starting point in the system's coordinates; refuse an invalid one."""
        system = self.verifier.system
        if not self.algorithm.takes_start:
            raise InputError(f"{self.name} has its own starting point; leave start out")
        unknowns = system.operator.unknowns
        try:
            start_point = np.array(start, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"start {start!r}; give {unknowns} finite numbers") from None
        if start_point.shape != (unknowns,):
            raise InputError(f"start has shape {start_point.shape}; give {unknowns} finite numbers")
        if not np.isfinite(start_point).all():
            entry = int(np.flatnonzero(~np.isfinite(start_point))[0])
            raise InputError(
                f"start[{entry}] is {start_point[entry]}; give {unknowns} finite numbers, or "
                "leave start out"
            )
        point = system.operator.expand(start_point)
        if not system.norm(point) > 0.0:
            raise InputError("start is 0, which is no direction; leave it out, or give another")
        return np.asarray(point, dtype=float)

    def status(self) -> Status:
        """Advance until a claim is proved, the algorithm gives up, or a limit is reached."""
        if self.first is not None and self.failure is None:  # without an update
            status = self.settled(self.first)
            if status is not None:
                return status
        while True:
            if self.failure is not None:
                self.verifier.say(describe(self.failure, self.name, self.verifier.certificate))
                return Status.NUMERICAL_ERROR
            limit = self.limit()
            if limit is not None:
                return limit
            claim = self.advance()
            status = None if claim is None else self.settled(claim)
            # A record under way may reach the goal although the last claim has not
            if status is None or not self.ends(status):
                status = self.reached()
            if status is not None:
                return status

    def ends(self, status: Status) -> bool:
        """Return whether a proved claim ends the run: by its goal, or as the final claim."""
        verifier = self.verifier
        if verifier.repeated or status is Status.UNVERIFIED or verifier.goal == "decide":
            return True
        return verifier.proved(status).reaches(verifier.goal)

    def settled(self, claim: Claim) -> Status | None:
        """Let the verifier prove a claim."""
        clock = clock_seconds()
        # Proofs have their own share of time: a late claim is not lost to the budget of the steps
        with time_limit(math.inf, _stopping(self.options.stop)):
            status = self.verifier.settle(claim, self.state)
        self.proof_seconds += clock_seconds() - clock
        return status

    def limit(self) -> Status | None:
        """Return the status of the budget that is spent, or None."""
        budget, status = self.budget, Status.TIME_LIMIT
        if self.state.updates >= budget.updates:
            status, reason = Status.UPDATE_LIMIT, f"the budget of {budget.updates} updates is spent"
        # Only the excess of proofs and records counts: their share does not shorten the run
        elif self.seconds + self.beyond >= budget.seconds:
            beside = f", {self.beyond:.3g} of them on proofs and records" if self.beyond else ""
            reason = f"the budget of {budget.seconds:g} seconds is spent{beside}"
        else:
            stop = self.options.stop
            end = None if stop is None else stop()
            if end is not None:
                self.verifier.say(end)
                self.stopped = True
                return status
            if self.late is None and not time_is_up():
                return None
            why = f": {self.late}" if str(self.late or "") else ""
            reason = f"the budget of {budget.seconds:g} seconds does not suffice{why}"
        self.spent = True
        self.verifier.say(f"{reason}{self.idleness}")
        return status

    @property
    def beyond(self) -> float:
        """The seconds by which records and proofs exceed their share."""
        spent = self.recorder.seconds + self.proof_seconds
        return max(0.0, spent - _allowance(self.budget.seconds))

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return registry.name_of("algorithm", self.algorithm)

    @property
    def idleness(self) -> str:
        """The message about an algorithm without progress, or an empty string."""
        if not self.idle:
            return ""
        return (
            f"; the last {self.idle} steps, since update {self.state.updates}, made no update, no "
            "claim and no new phase"
        )

    def advance(self) -> Claim | None:
        """Advance to the next record at most, in pieces of about 5 to 50 ms."""
        state, phase, updates = self.state, self.state.phase, self.state.updates
        ahead = [at for at in self.options.trace.record_at if at > state.updates]
        # The next power of two, see ``Trace``
        due = min([1 << state.updates.bit_length(), *ahead])
        most = min(self.chunk, due - state.updates, self.budget.updates - state.updates)
        clock = clock_seconds()
        claim = self._stepped(most)
        elapsed = clock_seconds() - clock
        self.seconds += elapsed
        progressed = (self.state.updates, self.state.phase) != (updates, phase)
        self.idle = 0 if progressed or claim is not None else self.idle + 1
        # One update is long already: read the clock after each
        if elapsed > LONG * (self.state.updates - updates) > 0.0:
            self.chunk = 1
        elif elapsed < 0.005:
            self.chunk = min(2 * self.chunk, LONGEST)
        elif elapsed > 0.05:
            self.chunk = max(1, self.chunk // 2)
        if self.state.updates == due or self.state.phase != phase:
            self.record(last=False)
        return claim

    def _stepped(self, most: int) -> Claim | None:
        """Make steps; store an exception for the end of the run."""
        before = self.state.updates
        try:
            with self.limited():
                self.state, claim = advance(self.algorithm, self.verifier.system, self.state, most)
        except TimeIsUp as error:
            self.late = error
            return None
        except Exception as error:
            if not ends_run(error, updates=before):
                raise
            self.failure = error
            return None
        return claim

    def record(self, *, last: bool = True) -> None:
        """Append the state to the trace; skip costly records, except the last."""
        if last or self.recorder.affordable(self.seconds):
            self.recorder.record(self.verifier.system, self.state, self.seconds)

    def reached(self) -> Status | None:
        """Return the status of a goal, once it is proved at a record; each is examined once."""
        trace = self.recorder.trace
        if trace.updates[-1] != self.state.updates or len(trace) == self.examined:
            return None
        self.examined = len(trace)
        clock = clock_seconds()
        with time_limit(math.inf, _stopping(self.options.stop)):
            status = self.verifier.reached(self.state, (trace.margin[-1], trace.upper[-1]))
        self.proof_seconds += clock_seconds() - clock
        return status

    def result(self, status: Status, began: float) -> Result:
        """Prove the bracket of the last state and return the result."""
        state, verifier, system = self.state, self.verifier, self.verifier.system
        clock = clock_seconds()
        with last_proofs(stopped=self.stopped):
            if self.recorder.trace.updates[-1] != state.updates:
                self.record()
            clock = clock_seconds()
            status, proof, point = verifier.close(status, state)
        self.proof_seconds += clock_seconds() - clock
        cone_notes = system.cone.notes
        notes = [*state.notes, *cone_notes] if cone_notes else state.notes
        if notes:
            verifier.certificate["notes"] = notes
        if system.cone.answers:
            verifier.certificate["answers"] = dict(system.cone.answers)
        weights = verifier.weights
        if weights is None and state.weights is not None:
            weights = system.weights_to_origin(state.weights)
        if state.figures:
            verifier.certificate["figures"] = state.figures
        lower = proof.margin_lower if np.isfinite(proof.margin_lower) else None
        reached = verifier.conclude(status, spent=self.spent)
        with last_proofs(stopped=self.stopped):
            bound = self._bound(system, lower)
        unsaid = f"ended without a reason given ({status})"
        advice = _ADVICE.get(status, "")
        result = Result(
            status=status,
            proved=status in PROVED,
            point=system.operator.compact(point).copy(),
            weights=weights,
            margin_lower=lower,
            margin_upper=verifier.upper,
            updates=state.updates,
            queries=system.counters.queries,
            iterations=state.iterations,
            products=system.counters.products,
            seconds=self.seconds,
            proof_seconds=self.proof_seconds,
            total_seconds=clock_seconds() - began,
            trace=self.recorder.trace,
            certificate=verifier.certificate,
            bound=bound,
            message="; ".join(
                filter(None, [verifier.message or unsaid, state.closing_remark, advice])
            ),
            finding=verifier.finding | state.finding,
            goal=verifier.goal,
            goal_reached=reached,
        )
        return system.answer(result)

    def _bound(self, system: ConicSystem, lower: float | None) -> Bound:
        """Return the update bound for the final facts, or that for weights if no margin is known.

        ``lower`` is the proved lower bound of the margin.
        """
        facts, algorithm = self.options.facts, self.algorithm
        margin = facts.margin if facts is not None and facts.margin else lower
        try:
            final_facts = system.facts(margin if margin is not None and margin > 0 else None)
            if facts is not None:
                final_facts = replace(final_facts, **{name: getattr(facts, name) for name in _TOLD})
            if self.length is not None:
                return algorithm.bound_from(final_facts, self.length)
            if final_facts.margin is not None:
                return algorithm.bound(final_facts)
            return algorithm.certificate_bound(final_facts, system.target or algorithm.epsilon)
        except Exception as error:
            if not ends_run(error):
                raise
            log(error, f"{registry.name_of('algorithm', algorithm)} failed to say its bound")
            return Bound(None, "", f"its evaluation failed: {sentence(error)}")
