"""A program as a sequence of feasibility problems, each below the objective of the last point."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

from pydantic import model_validator

from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Status
from perceptron_lab.problems.optima.levels import ObjectiveRow
from perceptron_lab.problems.optima.optimiser import Optimiser, method_of
from perceptron_lab.problems.optima.search import Search


@parameter_record
class ObjectiveSequence(Optimiser):
    """The thesis's sequence: every new feasible point sets the next level of the objective.

    First the program without its objective; then, with x_k the last point, the homogenised problem
    with c'x <= c'x_k (Proposition 6.2), until (c'x_k - c'x_k+1) / |c'x_k| < ``relative``. Levels
    decrease. The stop proves nothing: a method that only just gets below each level ends at once,
    wherever it is. So the optimum is bounded from below as well, by an exactly feasible point of
    the other side made of the cuts of the last level: the message says how far away it may be.

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
        whose updates have the length of their cuts.

    References
    ----------
    `Kharechko2009`, Proposition 6.2 and section 6.7.
    """

    method: str = "rescaled-perceptron"
    options: dict[str, Any] = field(default_factory=dict)
    relative: Positive = 0.05
    row: ObjectiveRow = "printed"

    @model_validator(mode="after")
    def _made(self) -> Self:
        method_of(self.method, self.options)
        return self

    def minimise(self, search: Search) -> str:
        """Lower the level to the objective of each new point."""
        algorithm, before = method_of(self.method, self.options), None
        ended = ""
        while not ended:
            found = search.feasibility(algorithm, before, row=self.row)
            if found.status is not Status.FEASIBLE or found.objective is None:
                ended = search.spent() or f"level {len(search.levels) - 1} ended {found.status}"
            elif before is not None and before - found.objective < self.relative * abs(before):
                ended = f"the last two objectives differ by less than {self.relative:g} of one"
            else:
                before, ended = found.objective, search.spent() or ""
        search.improve_lower()
        return f"{ended}, which proves nothing of the optimum"
