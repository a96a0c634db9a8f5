"""The contract of an optimiser, and the result of a run."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import Algorithm, AnyAlgorithm
from perceptron_lab.cones.base import Oracles
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Width
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.proved_outcome import ProvedOutcome
from perceptron_lab.core.results import Result, Status
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.core.time_limit import TimeIsUp, clock_seconds, time_limit
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.problems.optima.bound_verification import DUAL, NO_BOUND
from perceptron_lab.problems.optima.levels import objective_of
from perceptron_lab.problems.optima.search import Search
from perceptron_lab.systems import ConicSystem, System


class Optimiser(ABC):
    """A frozen record of parameters that minimises the objective of a semidefinite program.

    It runs algorithms, or a specialised search, on the program. Only the :class:`.Search` proves
    bounds of the optimum, on the original data.

    Attributes
    ----------
    uses_oracle
        Whether its algorithms query an oracle, which users can choose.
    """

    uses_oracle: ClassVar[bool] = True

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled functions that it calls, except those of the proofs of points."""
        return ()

    @abstractmethod
    def minimise(self, search: Search) -> str:
        """Improve the bounds of a search until it converges or a limit ends it; return why."""


def minimise(
    system: System,
    optimiser: Optimiser,
    options: RunOptions | None = None,
    *,
    earlier: Result | None = None,
) -> Result:
    """Minimise the objective of a semidefinite program, with proved bounds of the optimum.

    Parameters
    ----------
    system
        A homogenised system with an objective, as :func:`.read_system` makes it of an SDPA file.
    optimiser
        A record of ``plab list optimisers``.
    options
        The budget is that of the whole run. The goal is a width, in place of the optimiser's own,
        or ``decide``, which leaves it to that.
    earlier
        A result of the same program, whose lower bound the search starts with.

    Returns
    -------
    Result
        ``point`` is (x_0, x), x / x_0 feasible with an objective of at most ``optimum_upper``;
        ``proof["dual"]`` proves ``optimum_lower``. FEASIBLE: there is such a point. INFEASIBLE: the
        program is proved to have no strictly feasible one.

    Raises
    ------
    InputError
        If the system has no objective, the optimiser does not apply to it, or the goal is of
        another kind.

    Examples
    --------
    >>> from perceptron_lab.datasets.generated.maxcut import generate
    >>> from perceptron_lab.systems.pencil import homogenised
    >>> from perceptron_lab.problems.optima.objective_levels import ObjectiveBisection
    >>> program = homogenised(generate("random-8-12", seed=5))
    >>> found = minimise(program, ObjectiveBisection(method="ellipsoid", width=0.05))
    >>> found.status.value, found.optimum_width < 0.05
    ('FEASIBLE', True)
    """
    options = options or RunOptions()
    goal = None if options.goal == "decide" else options.goal
    if not isinstance(goal, Width | None):
        raise InputError(f"goal {goal}: an optimiser needs {{'width': 1e-8}} or no goal")
    began = clock_seconds()
    seconds, stop = options.budget.seconds, options.stop
    objective_of(system)
    search = Search(ConicSystem.of(system), options)
    if earlier is not None and earlier.optimum_lower is not None and DUAL in earlier.proof:
        search.update_lower(dict(earlier.proof), earlier.optimum_lower)
    try:
        with time_limit(seconds, stop):
            ending = optimiser.minimise(search)
    except TimeIsUp:
        end = None if stop is None else stop()
        ending = end or f"the budget of {seconds:g} seconds is spent"
    search.record("end")
    status, message = _status_and_message(search, ending)
    point = search.point
    if point is None:
        point = np.zeros(system.unknowns) if search.infeasible is None else search.infeasible.point
    bounds = {"optimum_lower": search.lower, "optimum_upper": search.upper}
    proved = ProvedOutcome(
        status, None, None, width=search.width if math.isfinite(search.width) else None
    )
    reached = None if goal is None else proved.reaches(goal)
    if goal is not None and not reached:
        message = f"{message}; {proved.missed(goal)}"
    figures = {name: value for name, value in bounds.items() if value is not None}
    figures |= search.figures
    return Result(
        status=status,
        proved=status in (Status.FEASIBLE, Status.INFEASIBLE),
        point=point,
        weights=None if search.infeasible is None else search.infeasible.weights,
        margin_lower=None,
        margin_upper=None,
        updates=search.updates,
        queries=search.queries,
        iterations=search.iterations,
        products=search.products,
        seconds=search.seconds,
        proof_seconds=search.proof_seconds,
        total_seconds=clock_seconds() - began,
        trace=search.trace,
        certificate={
            "levels": search.levels_as_json(),
            "data": search.system.provenance,
            "figures": figures,
            **({"answers": dict(search.answers)} if search.answers else {}),
        },
        bound=NO_BOUND,
        message=message,
        goal=goal,
        goal_reached=reached,
        proof=search.proof,
        optimum_lower=search.lower,
        optimum_upper=search.upper,
    )


def _status_and_message(search: Search, ending: str) -> tuple[Status, str]:
    """Return the status and the message of a run."""
    if search.infeasible is not None:
        text = f"no point is strictly feasible: {search.infeasible.message}"
        if search.lower is not None:
            text += f"; the infimum is proved to be at least {text_below(search.lower, 10)}"
        return Status.INFEASIBLE, text
    lower, upper = search.lower, search.upper
    text = "no bound of the optimum was proved"
    if lower is not None and upper is not None:
        text = f"the optimum is proved to lie in [{text_below(lower, 10)}, {text_above(upper, 10)}]"
    elif upper is not None:
        reason = search.without_lower or "no exactly feasible dual point was found"
        text = f"the optimum is proved to be at most {text_above(upper, 10)}; {reason}"
    elif lower is not None:
        text = f"the optimum is proved to be at least {text_below(lower, 10)}"
    if upper is None and search.without_upper:
        text += f"; {search.without_upper}"
    spent = search.updates >= search.options.budget.updates
    missed = search.unproved or (Status.UPDATE_LIMIT if spent else Status.TIME_LIMIT)
    return (Status.FEASIBLE if upper is not None else missed), f"{text}; {ending}"


def method_of(name: str, options: dict[str, object]) -> AnyAlgorithm:
    """Return a registered algorithm with the given parameters, or raise a ValueError."""
    if name not in registry.names("algorithm"):
        raise ValueError(f"{name!r} is not an algorithm; see `plab list algorithms`")
    record = registry.load("algorithm", name)(**options)
    assert isinstance(record, Algorithm)
    return record
