"""Minimisation as a sequence of feasibility problems with the objective below a level.

Either each level is the objective of the last point (the thesis), or levels bisect the interval
between proved bounds of the optimum.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, Self

from pydantic import model_validator

from perceptron_lab.cones.base import Oracles
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import Status
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.problems.optima.levels import ObjectiveRow
from perceptron_lab.problems.optima.optimiser import Optimiser, method_of
from perceptron_lab.problems.optima.search import Search, relative
from perceptron_lab.systems import ConicSystem


@parameter_record
class _ByMethod(Optimiser):
    """An optimiser that solves each level by a registered algorithm."""

    method: str
    options: dict[str, Any] = field(default_factory=dict)

    @model_validator(mode="after")
    def _check_method(self) -> Self:
        method_of(self.method, self.options)
        return self

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled functions of the algorithm that solves each level."""
        return method_of(self.method, self.options).compiled(system, oracles)


@parameter_record
class ObjectiveSequence(_ByMethod):
    """The thesis's sequence: every new feasible point sets the next level of the objective.

    First the program without its objective; then, with x_k the last point, the homogenised problem
    with c'x <= c'x_k (Proposition 6.2), until (c'x_k - c'x_k+1) / |c'x_k| < ``relative``. Levels
    decrease. The stop proves nothing: a method that only just gets below each level ends at once,
    wherever it is. So the optimum is bounded from below as well, by an exactly feasible point of
    the dual problem made of the cuts of the last level: the message says how far away it may be.

    Parameters
    ----------
    method
        A name of ``plab list algorithms``: what solves each level.
    options
        Its parameters, those left out having their defaults.
    relative
        The relative distance of consecutive objectives below which the sequence ends, > 0. The
        thesis has 0.05 (default); read as a distance of objectives.
    row
        The objective row ``printed``, as in the proposition (default), or ``unit``: multiplied by
        the power of two that brings its norm into [1, 2). It matters for ``tau-perceptron`` alone,
        and as a phase of ``rescaled-perceptron``: its updates have the length of their cuts.
    start
        Where each level starts: at the method's ``own`` start (default), or at the ``barycentre``
        A e / rank, the first point of von Neumann's algorithm, for methods that take a start.

    References
    ----------
    `Kharechko2009`, Proposition 6.2 and section 6.7.
    """

    method: str = "rescaled-perceptron"
    relative: Positive = 0.05
    row: ObjectiveRow = "printed"
    start: Literal["own", "barycentre"] = "own"

    @model_validator(mode="after")
    def _check_start(self) -> Self:
        if self.start != "own" and not method_of(self.method, self.options).takes_start:
            raise ValueError(f"start: {self.method} takes no start; leave start out")
        return self

    def minimise(self, search: Search) -> str:
        """Solve level after level, each at the objective of the last point."""
        algorithm, before = method_of(self.method, self.options), None
        ended = ""
        while not ended:
            central = self.start == "barycentre"
            answer = search.feasibility(algorithm, before, row=self.row, central=central)
            if answer.status is not Status.FEASIBLE or answer.objective is None:
                ended = (
                    search.exhausted_limit()
                    or f"level {len(search.levels) - 1} ended {answer.status}"
                )
            elif before is not None and before - answer.objective < self.relative * abs(before):
                ended = f"the last two objectives differ by less than {self.relative:g} of one"
            else:
                before, ended = answer.objective, search.exhausted_limit() or ""
        search.improve_lower()
        return f"{ended}; this stopping rule gives no bound of the optimum"


# First relative step below the upper bound while no lower bound is known; doubled after each level
_FIRST_STEP = 0.25
# The search ends as unbounded when the objective grows to this multiple of the first one
_FAR = 1e8


@parameter_record
class ObjectiveBisection(_ByMethod):
    """Levels half-way between a proved upper and a proved lower bound of the optimum.

    The upper bound is the objective of a point that is proved feasible. The lower bound comes from
    an *exactly* feasible dual X: the cuts of the levels, combined by a linear program
    and corrected (:class:`.DualProblem`). Weights of the method with norm(A w) <= eps alone would
    prove no level infeasible. A level that is neither reached nor proved to be out of reach is
    undecided, and counts as half a step: the next one is half-way from it to the upper bound, and
    the proved lower bound stays.

    The search ends when the interval between the bounds, or between undecided levels, has the
    relative width ``width``.

    Parameters
    ----------
    method
        A name of ``plab list algorithms``: what solves each level.
    options
        Its parameters, those left out having their defaults.
    width
        The wanted (upper - lower) / max(1, |upper|) of the proved bounds, > 0 (default 0.01).
    updates
        Updates at each level, at most (default 10000).
    row
        As for ``objective-sequence``, but ``unit`` by default.

    References
    ----------
    `Kharechko2009`, Proposition 6.2.
    """

    method: str = "ellipsoid"
    width: Positive = 0.01
    updates: Count = 10_000
    row: ObjectiveRow = "unit"

    def minimise(self, search: Search) -> str:
        """Halve the interval, level by level."""
        algorithm = method_of(self.method, self.options)
        search.feasibility(algorithm, None)
        search.improve_lower()
        width = search.target_width(self.width)
        step, below, first = _FIRST_STEP, search.lower, abs(search.upper or 0.0)
        while search.upper is not None:
            if search.width <= width:
                return f"the relative width {width:g} is reached"
            ended = search.exhausted_limit()
            if ended is not None:
                return ended
            if below is not None and relative(search.upper, below) <= width / 2.0:
                return "the remaining levels are undecided; raise updates"
            if below is None and abs(search.upper) > _FAR * max(1.0, first):
                return "the objective decreases without a lower bound; the program may be unbounded"
            level = search.upper - step * max(1.0, abs(search.upper))
            if below is not None:
                level = (search.upper + below) / 2.0
            answer = search.feasibility(algorithm, level, row=self.row, updates=self.updates)
            if answer.status is Status.FEASIBLE:
                step *= 2.0
                continue
            search.improve_lower()
            # Decided or not, the next level is above this one.
            below = level if search.lower is None else max(level, search.lower)
        return (
            search.exhausted_limit() or f"no feasible point was found ({search.levels[0].status})"
        )
