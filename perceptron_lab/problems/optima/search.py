"""The state of a minimisation: the proved bounds of the optimum, and their cost so far."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import numpy as np

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget, Width
from perceptron_lab.core.results import FloatArray, Result, Status, Trace
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.core.time_limit import TimeIsUp, clock_seconds, last_proofs, time_is_up
from perceptron_lab.problems.optima.bound_verification import DUAL, LEVEL, prove_level
from perceptron_lab.problems.optima.cutting_planes import (
    Cuts,
    Directions,
    central_dual,
    relaxed_dual,
)
from perceptron_lab.problems.optima.levels import (
    CutRecordingSystem,
    ObjectiveRow,
    at_level,
    objective_of,
    unit_exponent,
)
from perceptron_lab.problems.optima.lower_bounds import DualProblem
from perceptron_lab.problems.optima.upper_bounds import Refutation, repaired_point
from perceptron_lab.solving.driver import drive
from perceptron_lab.systems import ConicSystem

CUTS_PER_VARIABLE = 4
"""Directions of cuts that are stored for lower bounds, per variable."""


@dataclass(frozen=True)
class Level:
    """The result of one feasibility problem of a sequence.

    Parameters
    ----------
    level
        Upper limit of the objective; None for the program without its objective.
    status
        FEASIBLE, INFEASIBLE (the level is proved not to be above the optimum), or a limit.
    objective
        Proved upper bound of the objective at the point; None without a feasible point.
    updates, queries, seconds
        Cost of this level.
    """

    level: float | None
    status: Status
    objective: float | None
    updates: int
    queries: int
    seconds: float


@dataclass
class Search:
    """A minimisation in progress.

    Parameters
    ----------
    system
        A homogenised system with an objective.
    options
        The budget covers all levels together; the goal is a width, or the optimiser chooses it.
    """

    system: ConicSystem
    options: RunOptions = field(default_factory=RunOptions)
    upper: float | None = None
    lower: float | None = None
    point: FloatArray | None = None
    proof: dict[str, FloatArray] = field(default_factory=dict)
    inner: tuple[FloatArray, float] | None = None
    infeasible: Result | Refutation | None = None
    levels: list[Level] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    updates: int = 0
    queries: int = 0
    iterations: int = 0
    products: float = 0.0
    seconds: float = 0.0
    proof_seconds: float = 0.0
    answers: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        objective_of(self.system)
        self._cuts: dict[int, list[FloatArray]] = {}
        self.record("start")

    @cached_property
    def dual(self) -> DualProblem | None:
        """The dual problem; None where it is too large for lower bounds."""
        try:
            return DualProblem.of(self.system)
        except InputError as error:
            self.without_lower = str(error)
            return None

    without_lower: str = ""
    without_upper: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    unproved: Status | None = None

    @property
    def width(self) -> float:
        """(upper - lower) / max(1, |upper|) of the proved bounds; infinity without them."""
        if self.upper is None or self.lower is None:
            return math.inf
        return relative(self.upper, self.lower)

    def target_width(self, width: float) -> float:
        """Return the required width: that of the goal, or else the optimiser's parameter."""
        goal = self.options.goal
        return goal.width if isinstance(goal, Width) else width

    def exhausted_limit(self) -> str | None:
        """Return a sentence on the limit that is reached, or None."""
        budget, stop = self.options.budget, self.options.stop
        if self.updates >= budget.updates:
            return f"the budget of {budget.updates} updates is spent"
        end = None if stop is None else stop()
        if end is None and (self.seconds >= budget.seconds or time_is_up()):
            return f"the budget of {budget.seconds:g} seconds is spent"
        return end

    def feasibility(
        self,
        algorithm: AnyAlgorithm,
        level: float | None,
        *,
        row: ObjectiveRow = "printed",
        updates: int | None = None,
        central: bool = False,
    ) -> Level:
        """Run an algorithm on the program with its objective below a level, and store its proofs.

        A point that is proved feasible counts for the upper bound, also where it is not below the
        level. It starts at A e / rank if ``central``, otherwise at its own start.
        """
        system = CutRecordingSystem.recording(self.system)
        if level is not None:
            system = at_level(self.system, level, row)
        left = self.options.budget.updates - self.updates
        budget = Budget(
            left if updates is None else min(updates, left),
            max(0.0, self.options.budget.seconds - self.seconds),
        )
        start = system.combine(barycentre(system.cone)) if central else None
        options = replace(self.options, goal="decide", budget=budget, watch=None, start=start)
        result = drive(system, algorithm, options)
        self.updates += result.updates
        self.queries += result.queries
        self.iterations += result.iterations
        self.products += result.products
        self.seconds += result.seconds
        self.proof_seconds += result.proof_seconds
        self.answers.update(result.certificate.get("answers", {}))
        self._store_cut_directions(system, 1 if level is None else 2)
        if level is not None and result.status is Status.INFEASIBLE:
            self._use_level_as_bound(level, row, result)
        upper = self.improve_upper(result.point)
        if level is None and result.status is Status.INFEASIBLE:
            self.infeasible = result
        status = result.status
        if status is Status.FEASIBLE and (
            upper is None or (level is not None and not upper < level)
        ):
            status = Status.UNVERIFIED
        entry = Level(level, status, upper, result.updates, result.queries, result.seconds)
        self.levels.append(entry)
        self.record(f"level {len(self.levels) - 1}", entry)
        return entry

    def _use_level_as_bound(self, level: float, row: ObjectiveRow, result: Result) -> None:
        """Adopt a level without a strictly feasible point as a lower bound of the optimum.

        Exact weights with A w = 0 are proved to exist. The program has a strictly feasible point,
        so that every feasible one is the limit of such.
        """
        weights = result.weights
        if weights is None or self.upper is None or (self.lower or -math.inf) >= level:
            return
        shifted = weights.copy()
        if row == "printed":  # kept for the row of norm in [1, 2)
            shifted[1] *= 2.0 ** (-unit_exponent(self.system, level))
        if prove_level(self.system, level, shifted):
            self.proof, self.lower = {LEVEL: shifted}, level

    def _store_cut_directions(self, system: CutRecordingSystem, skipped: int) -> None:
        """Store the last directions of cuts by block; ``skipped`` blocks precede those of F."""
        most = CUTS_PER_VARIABLE * (self.system.unknowns - 1)
        starts = {span.start: k for k, (_, span) in enumerate(system.cone.blocks[skipped:])}
        for start, direction in list(system.cut_directions)[-most:]:
            block = self._cuts.setdefault(starts[start], [])
            block.append(direction)
            # Old cuts are far from the optimum, and the linear program of the bound grows with
            # them.
            del block[: max(0, len(block) - most)]

    @property
    def cuts(self) -> Directions:
        """The stored directions of cuts, by block."""
        return {block: np.array(directions) for block, directions in self._cuts.items()}

    def improve_upper(self, point: FloatArray) -> float | None:
        """Verify a point (x_0, x); return its objective, and store it if it is the least so far."""
        clock, improved = clock_seconds(), None
        with last_proofs(), suppress(TimeIsUp):
            improved = repaired_point(self.system, point)
        self.proof_seconds += clock_seconds() - clock
        if improved is None:
            return None
        self.update_upper(*improved)
        return improved[1]

    def update_upper(self, point: FloatArray, objective: float) -> None:
        """Store a verified point and its objective, if that is the least so far."""
        if self.upper is None or objective < self.upper:
            self.point, self.upper = point, objective

    def update_lower(self, proof: dict[str, FloatArray], bound: float) -> None:
        """Store a proved lower bound and the arrays of its proof, if it is the best so far."""
        if self.lower is None or bound > self.lower:
            self.proof, self.lower = proof, bound

    def improve_lower(self, cuts: Directions | None = None) -> float | None:
        """Prove a lower bound from cuts (default: the stored ones); store it if it is the best."""
        dual = self.dual
        if dual is None:
            return None
        clock = clock_seconds()
        with last_proofs(), suppress(TimeIsUp):
            self._prove_lower(dual, Cuts.of(dual, self.cuts if cuts is None else cuts))
        self.proof_seconds += clock_seconds() - clock
        return self.lower

    def _prove_lower(self, dual: DualProblem, rows: Cuts) -> None:
        weights = relaxed_dual(rows)
        if dual.inner is None and self.inner is None:
            central = central_dual(rows)
            self.inner = None if central is None else dual.interior(central)
        inner = dual.inner or self.inner
        # The interior point itself bounds the optimum, if only weakly: some bound is better than
        # none.
        candidates = [weights, inner[0] if inner is not None and self.lower is None else None]
        for candidate in candidates:
            repaired = None if candidate is None else dual.repaired(candidate, inner)
            if repaired is not None:
                self.update_lower({DUAL: repaired[0]}, repaired[1])

    def record(self, phase: str, level: Level | None = None) -> None:
        """Append the present state to the trace, with the level, its objective and the bounds."""
        trace = self.trace
        trace.updates.append(self.updates)
        trace.iterations.append(self.iterations)
        trace.queries.append(self.queries)
        trace.products.append(self.products)
        trace.seconds.append(self.seconds)
        trace.phase.append(phase)
        trace.margin.append(math.nan)
        trace.upper.append(math.nan)
        measured = {
            "level": None if level is None else level.level,
            "objective": None if level is None else level.objective,
            "optimum_lower": self.lower,
            "optimum_upper": self.upper,
        }
        for name, value in measured.items():
            trace.measures.setdefault(name, []).append(math.nan if value is None else value)
        if self.options.watch is not None:
            self.options.watch(trace)

    def levels_as_json(self) -> list[dict[str, object]]:
        """Return the levels as JSON values."""
        return [asdict(level) | {"status": level.status.value} for level in self.levels]


def relative(upper: float, lower: float) -> float:
    """Return (upper - lower) / max(1, |upper|)."""
    return (upper - lower) / max(1.0, abs(upper))
