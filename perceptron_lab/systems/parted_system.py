"""Systems of rows in parts: an algorithm runs on few rows, and passes prove its answers on all.

A round runs the algorithm on a working set of rows in memory. Weights of these rows prove the same
of all rows, by weights of 0 on the others: that no point is feasible, or a bound of the margin. A
point is evaluated on all rows in one pass, which proves it or returns the rows of least margin, and
these join the working set. No vector of one number per row is ever formed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from perceptron_lab.cones.operators.dask_rows import parts_of_dask
from perceptron_lab.cones.operators.row_parts import RowParts, is_dask
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError, InputError, RowError, counted
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.goals import Budget, Goal, MarginRatio
from perceptron_lab.core.proved_outcome import ProvedOutcome
from perceptron_lab.core.results import PROVED, FloatArray, IntArray, Result, Status, Trace
from perceptron_lab.core.run_options import Oracle, RunOptions
from perceptron_lab.core.time_limit import ALLOWANCE, SHARE, TimeIsUp, clock_seconds, time_limit
from perceptron_lab.numerics.class_labels import signs_of
from perceptron_lab.numerics.doubles import Doubles
from perceptron_lab.systems.conic_system import ConicSystem, Problem, system_of
from perceptron_lab.systems.constructors import Margin
from perceptron_lab.systems.passes import At, Evaluation, changed_blocks, without_rows
from perceptron_lab.systems.system import Loop, System

# Rows of the first working set, and rows that may join in a round, in units of the dimension, as
# long as they have no more than so many entries
FIRST, GROWTH, ENTRIES = 200, 50, 2**19
# Algorithms whose points are moved towards the largest margin of the working set, and the ratio
CENTRED, RATIO = frozenset({"auto", "minimum-norm-point"}), 0.9
# The status, and the reason, where a limit of the caller ended a pass
LATE = Status.TIME_LIMIT, "no time was left for a pass over the rows"
# Rows up to which a result has a weight for each
MOST_WEIGHTS = 2**24


@dataclass(frozen=True)
class PartedSystem(System):
    """The system a_i'y > 0 of rows a_i in parts.

    Parameters
    ----------
    rows
        The parts.
    unit
        Whether margins belong to the rows divided by their norms.
    """

    rows: RowParts
    unit: bool = True

    @property
    def margin(self) -> Margin:
        """The name of the margin."""
        return "unit" if self.unit else "directional"

    @property
    def constraints(self) -> int:
        """Number of rows."""
        return self.rows.shape[0]

    @property
    def unknowns(self) -> int:
        """Number of columns."""
        return self.rows.shape[1]

    @property
    def oracles(self) -> Mapping[str, Oracle]:
        """The oracles of rows."""
        return Orthant(1).oracles

    def facts(self, margin: float | None = None) -> Facts:
        """Return the size, and a known lower bound of the margin."""
        return Facts(self.unknowns, self.constraints, margin, unit_rows=self.unit)

    def conic(self) -> ConicSystem:
        """Return the system of all rows, which this process reads in blocks."""
        return ConicSystem.from_rows(self.rows, margin=self.margin)

    def driven(self, algorithm: Any, options: RunOptions, loop: Loop) -> Result:
        """Run an algorithm on working sets, and prove its answers on all rows.

        The time limit also ends a pass, which then proves nothing. For the goal ``budget``, which
        no answer ends, the algorithm runs on all rows, and the limit is checked between its steps.
        """
        if options.goal == "budget":
            return loop(self.conic(), algorithm, options)
        return _Search(self, algorithm, options, loop).result()


def system_of_data(problem: Problem, margin: Margin | None = None) -> System:
    """Return the system of a problem, as :func:`.system_of`; in parts where its rows are."""
    pair: Any = problem if isinstance(problem, tuple) and len(problem) == 2 else (problem, None)
    data, labels = pair
    if not is_dask(data) and (margin == "geometric" or not isinstance(data, RowParts)):
        return system_of(problem, margin)
    if margin not in (None, "unit", "directional"):
        raise InputError(f"margin {margin!r} of rows in parts; give 'unit' or 'directional'")
    if is_dask(data):
        rows = parts_of_dask(data, labels)
    else:
        rows = data if labels is None else data.signed(signs_of(labels, data.shape[0]))
    return PartedSystem(rows, unit=margin != "directional")


@dataclass
class _Search:
    """The rounds of a run.

    ``working`` are the rows of the working set, ``indices`` their global numbers. ``upper`` is the
    least proved bound of the margin, and ``weights`` prove it with the rows ``support``.
    """

    system: PartedSystem
    algorithm: Any
    options: RunOptions
    loop: Loop
    began: float = field(default_factory=clock_seconds)
    passes: int = 0
    totals: dict[str, float] = field(default_factory=dict)
    pass_seconds: float = 0.0
    first: Evaluation | None = None
    best: tuple[Evaluation, FloatArray] | None = None
    upper: float | None = None
    support: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        size = self._size(FIRST, 8 * ENTRIES)
        self.indices: IntArray = np.arange(min(self.system.constraints, size))
        self.working, self.roundings = np.empty((0, self.system.unknowns)), 0

    def _begin(self) -> bool:
        """Read the first working set; return whether the time limit leaves time for it."""
        with self._reading():
            self.working = np.asarray(self.system.rows[self.indices], dtype=np.float64)
        self.roundings = self.system.rows.roundings
        return len(self.working) > 0

    def _size(self, multiple: int, entries: int) -> int:
        """Return a number of rows, as many as unknowns or more."""
        unknowns = self.system.unknowns
        return max(unknowns, min(multiple * unknowns, entries // unknowns))

    @property
    def lower(self) -> float | None:
        """The largest proved lower bound of the margin."""
        return None if self.best is None else self.best[0].margin_lower

    def result(self) -> Result:
        """Run rounds until the goal is reached, a limit is, or no row joins."""
        if not self._begin():
            return self._finished(self._nothing_run(), *(self._limit() or LATE))
        while True:
            run = self._centred(self._run(self._inner_goal))
            # A point that the working set has not separated is none of all rows
            evaluation, limit = self._pass(run.point), self._limit()
            if run.status is not Status.FEASIBLE:
                ended = limit if limit and limit[0] is run.status else (run.status, run.message)
                return self._finished(run, *ended)
            if evaluation is None:
                return self._finished(run, *(limit or LATE))
            if evaluation.feasible and self._reached(Status.FEASIBLE):
                return self._finished(run, Status.FEASIBLE, "the point is proved strictly feasible")
            new = ~np.isin(evaluation.indices, self.indices)
            if limit or not new.any():
                no_row = Status.UNVERIFIED, "no row joins the working set"
                return self._finished(run, *(limit or no_row))
            self.indices = np.concatenate([self.indices, evaluation.indices[new]])
            self.working = np.concatenate([self.working, evaluation.rows[new]])

    def _centred(self, run: Result) -> Result:
        """Return a run for a larger margin of the working set: its point separates more rows.

        It takes no longer than a pass, or a second.
        """
        name = registry.name_of("algorithm", self.algorithm)
        if self.options.goal != "decide" or run.status is not Status.FEASIBLE:
            return run
        if name not in CENTRED or self._limit() is not None:
            return run
        longest = max(1.0, self.pass_seconds / max(1, self.passes))
        wider = self._run(MarginRatio(RATIO), longest)
        return wider if wider.status is Status.FEASIBLE else run

    def _run(self, goal: Goal, most: float = math.inf) -> Result:
        """Run the algorithm on the working set with what is left of the budget."""
        budget, start = self.options.budget, self.options.start if not self.passes else None
        left = min(most, max(0.0, budget.seconds - (clock_seconds() - self.began)))
        updates = max(0, budget.updates - int(self.totals.get("updates", 0)))
        options = replace(self.options, goal=goal, budget=Budget(updates, left), start=start)
        working = Doubles(self.working, self.roundings)
        try:
            rows = ConicSystem.from_rows(working, margin=self.system.margin)
        except RowError as error:
            row = int(self.indices[error.row])
            raise self.system.rows.named_row(RowError(row, error.fault)) from None
        run = self.loop(rows, self.algorithm, options)
        for name in ("updates", "queries", "iterations", "products", "seconds", "proof_seconds"):
            self.totals[name] = self.totals.get(name, 0) + getattr(run, name)
        if run.margin_upper is not None and (self.upper is None or run.margin_upper < self.upper):
            self.upper, self.weights, self.support = run.margin_upper, run.weights, self.indices
        return run

    @property
    def _inner_goal(self) -> Goal:
        """The goal on the working set: a ratio halfway between the one asked for and 1."""
        match self.options.goal:
            case MarginRatio(margin_ratio=ratio):
                return MarginRatio((1.0 + ratio) / 2.0)
        return self.options.goal

    def _pass(self, point: FloatArray) -> Evaluation | None:
        """Evaluate a point on all rows; None if the time limit ends that."""
        began, at = clock_seconds(), At(point, self._size(GROWTH, ENTRIES), self.system.unit)
        evaluation: Evaluation | None = None
        with self._reading():
            evaluation = self.system.rows.reduce(at, at.combine)
        if evaluation is None:
            return None
        self._refuse_changed(evaluation)
        # Rows of a pass that rounded some are taken as rounded, which widens the proofs
        self.roundings = max(self.roundings, evaluation.roundings)
        self.passes += 1
        self.pass_seconds += clock_seconds() - began
        if evaluation.feasible and (self.lower is None or evaluation.margin_lower > self.lower):
            self.best = evaluation, point
        return evaluation

    def _refuse_changed(self, evaluation: Evaluation) -> None:
        if self.first is None:
            self.first = without_rows(evaluation)
        changed = changed_blocks(self.first, evaluation)
        if changed:
            part, block = changed[0]
            name = self.system.rows.part_name(part)
            raise DataError(
                f"{name}: the rows of block {block} changed between two passes "
                f"({counted(len(changed), 'block')} in all); run again on data that nothing "
                f"writes to. Of the rows as first read: {self._bracket}"
            )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Add the bracket that is proved before to errors, and end at the time limit of proofs."""
        budget, spent = self.options.budget.seconds, clock_seconds() - self.began
        left = max(0.0, ALLOWANCE + (1.0 + SHARE) * budget - spent)
        stop = self.options.stop
        try:
            with (
                suppress(TimeIsUp),
                time_limit(left, None if stop is None else lambda: stop() is not None),
            ):
                yield
        except DataError as error:
            raise DataError(f"{error}; {self._bracket}") from error

    @property
    def _bracket(self) -> str:
        """What is proved so far, in words."""
        lower, upper = self.lower, self.upper
        if lower is None and upper is None:
            return "no bound of the margin was proved before"
        return (
            f"a margin between {lower if lower is not None else -math.inf:.6g} and "
            f"{upper if upper is not None else math.inf:.6g} was proved before"
        )

    def _reached(self, status: Status) -> bool:
        return ProvedOutcome(status, self.lower, self.upper).reaches(self.options.goal)

    def _limit(self) -> tuple[Status, str] | None:
        """Return the status of a budget that is spent, and the reason."""
        budget = self.options.budget
        if self.totals.get("updates", 0) >= budget.updates:
            return Status.UPDATE_LIMIT, f"the budget of {budget.updates} updates is spent"
        if clock_seconds() - self.began >= budget.seconds:
            return Status.TIME_LIMIT, f"the budget of {budget.seconds:g} seconds is spent"
        end = None if self.options.stop is None else self.options.stop()
        return None if end is None else (Status.TIME_LIMIT, end)

    def _finished(self, run: Result, status: Status, reason: str) -> Result:
        """Return the result of all rounds, from that of the last one."""
        point, exact = run.point, 0
        if self.best is not None:
            point, exact = self.best[1], self.best[0].exact_rows
            status = status if status is Status.INFEASIBLE else Status.FEASIBLE
        carrying = np.flatnonzero(self.weights) if self.weights is not None else self.support[:0]
        certificate = run.certificate | {
            "exact_rows": exact,
            "passes": self.passes,
            "working_rows": len(self.indices),
            "weights": {
                "rows": self.support[carrying].tolist(),
                "values": [] if self.weights is None else self.weights[carrying].tolist(),
            },
        }
        rounds = f"{counted(self.passes, 'pass', 'passes')} over the rows"
        totals: dict[str, Any] = dict(self.totals)
        totals["products"] = totals.get("products", 0) + self.passes
        totals["seconds"] = totals.get("seconds", 0.0) + self.pass_seconds
        return replace(
            run,
            status=status,
            proved=status in PROVED,
            point=point,
            weights=self._all_weights(carrying),
            margin_lower=self.lower,
            margin_upper=self.upper,
            **totals,
            total_seconds=clock_seconds() - self.began,
            certificate=certificate,
            message=f"{reason}; {rounds}",
            goal=self.options.goal,
            goal_reached=self._reached(status),
        )

    def _nothing_run(self) -> Result:
        """Return the result of a limit that left no time to run."""
        point, bound = np.zeros(self.system.unknowns), self.algorithm.bound(self.system.facts())
        proofs, counts, seconds = (None, None, None), (0, 0, 0), (0.0, 0.0, 0.0, 0.0)
        fields: Any = (point, *proofs, *counts, *seconds, Trace(), {}, bound, "")
        return Result(Status.TIME_LIMIT, False, *fields)

    def _all_weights(self, carrying: IntArray) -> FloatArray | None:
        """Return a weight for each row, if these are not too many."""
        if self.weights is None or self.system.constraints > MOST_WEIGHTS:
            return None
        weights = np.zeros(self.system.constraints)
        weights[self.support[carrying]] = self.weights[carrying]
        return weights
