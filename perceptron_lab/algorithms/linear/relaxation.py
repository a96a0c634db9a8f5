"""The smallest change of right-hand sides that gives a linear system a point, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from perceptron_lab.algorithms.linear.exact_optimum import ExactOptimum, minimised
from perceptron_lab.algorithms.linear.refinement import elastic
from perceptron_lab.core.errors import InputError, did_you_mean
from perceptron_lab.core.results import Status
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.numerics.exact_texts import exact_text, shown_text
from perceptron_lab.systems.linear_system import LinearSystem


@dataclass(frozen=True)
class Relaxation:
    """Changes of right-hand sides after which all conditions have a point together.

    Parameters
    ----------
    system
        The conditions.
    weights
        Condition that may change -> the cost of a unit of change, > 0.
    changes
        Condition -> change of its right-hand side as stated, without zeros; None where no changes
        are known. An equation may change both ways.
    lower, upper
        Proved bounds of the smallest weighted sum of the sizes of changes; that of ``changes`` is
        ``upper``. None where nothing is proved.
    point
        x, which satisfies the changed conditions.
    """

    system: LinearSystem
    weights: Mapping[int, Fraction]
    changes: Mapping[int, Fraction] | None
    lower: Fraction | None
    upper: Fraction | None
    point: tuple[Fraction, ...] | None

    @property
    def proved(self) -> bool:
        """Whether no smaller change suffices."""
        return self.lower is not None and self.lower == self.upper

    def sentences(self) -> list[str]:
        """Return the changes in words."""
        bounds = [k for k, row in enumerate(self.system.conditions) if row.bound]
        equal = set(self.weights.values()) <= {Fraction(1)}
        cost = "weight 1 each" if equal else "weights as given"
        scope = f"rows, {cost}" + ("; bounds stay" if bounds else "")
        if any(k in self.weights for k in bounds):
            scope = f"rows and bounds, {cost}"
        if self.changes is None:
            return [f"no changes of right-hand sides are known that leave a point ({scope})"]
        size = "smallest" if self.proved else "not proved smallest"
        total = f"total change of right-hand sides: {shown_text(self.upper or Fraction())}"
        return [
            f"{size} {total} ({scope})",
            *(f"  {self._verb(k, change)}" for k, change in self.changes.items()),
        ]

    def _verb(self, k: int, change: Fraction) -> str:
        row = self.system.conditions[k]
        verb = "raise" if change > 0 else "lower"
        if row.upper is None and not row.equation:
            verb = "relax"
        noun = (
            ""
            if verb == "relax" or row.bound or row.name.startswith(("row ", "equation "))
            else "row "
        )
        return f"{verb} {noun}{row.name} by {shown_text(abs(change))}"

    def as_json(self) -> dict[str, Any]:
        """Return the changes by name, exact numbers as texts."""
        names = [row.name for row in self.system.conditions]
        ends = {"lower": self.lower, "upper": self.upper}
        changes = None
        if self.changes is not None:
            changes = {names[k]: exact_text(change) for k, change in self.changes.items()}
        return {
            "proved": self.proved,
            **{side: None if end is None else exact_text(end) for side, end in ends.items()},
            "changes": changes,
            "weights": {names[k]: exact_text(weight) for k, weight in self.weights.items()},
        }


def relaxation(
    system: LinearSystem,
    weights: Mapping[str, Fraction | int] | None = None,
    pivots: int = 1_000_000,
) -> Relaxation:
    """Return the smallest total change of right-hand sides that leaves a point, exactly.

    min sum_k v_k (u_k + t_k) subject to a_k'x + u_k >= b_k for inequalities that may change,
    c_l'x + u_l - t_l = d_l for such equations, u, t >= 0, and the other conditions as they are.

    Parameters
    ----------
    system
        The conditions.
    weights
        Name of a condition -> v > 0; conditions that are not named do not change. By default rows
        have weight 1 and bounds do not change; bounds have weight 1 too where otherwise no change
        suffices.
    pivots
        Exact pivots at most. The time is that of the time limit.

    Raises
    ------
    InputError
        If a name is unknown, or a weight is not > 0.

    Examples
    --------
    >>> from perceptron_lab.systems.linear_system import linear_system
    >>> system = linear_system([[1, 1], [-1, 0]], [5, 0], lower=0, upper=2)
    >>> for sentence in relaxation(system).sentences():
    ...     print(sentence)
    smallest total change of right-hand sides: 3 (rows, weight 1 each; bounds stay)
      lower row 1 by 3
    """
    # Named weights are taken literally: what they do not name stays
    if weights is not None:
        return _relaxed(system, _by_name(system, weights), pivots)[0]
    rows = {k: Fraction(1) for k, row in enumerate(system.conditions) if not row.bound}
    relaxed, status = _relaxed(system, rows, pivots)
    if status is not Status.INFEASIBLE:
        return relaxed
    # The bounds contradict each other: no change of rows helps
    return _relaxed(system, dict.fromkeys(range(len(system.conditions)), Fraction(1)), pivots)[0]


def _by_name(system: LinearSystem, weights: Mapping[str, Fraction | int]) -> dict[int, Fraction]:
    names = {row.name for row in system.conditions}
    for name, weight in weights.items():
        if name not in names:
            raise InputError(f"no condition is called {name!r}{did_you_mean(name, names)}")
        if weight <= 0:
            raise InputError(f"the weight of {name} is {weight}; give a number > 0")
    conditions = enumerate(system.conditions)
    return {k: Fraction(weights[row.name]) for k, row in conditions if row.name in weights}


def _relaxed(
    system: LinearSystem, weights: Mapping[int, Fraction], pivots: int
) -> tuple[Relaxation, Status]:
    """Return the relaxation by some conditions, and the status of its program."""
    width = len(system.variables)
    program, changing = elastic(system, {k: system.conditions[k].scale for k in weights})
    costs = {width + i: weights[k] for i, (k, _) in enumerate(changing)}
    optimum = ExactOptimum(Status.TIME_LIMIT)
    with suppress(TimeIsUp):
        optimum = minimised(program, costs, pivots)
    point, changes = None, None
    if optimum.point is not None:
        point, changes = optimum.point[:width], _changes(system, changing, optimum)
    ends = optimum.lower, optimum.upper
    return Relaxation(system, weights, changes, *ends, point), optimum.status


def _changes(
    system: LinearSystem, changing: list[tuple[int, int]], optimum: ExactOptimum
) -> dict[int, Fraction]:
    """Return the changes of right-hand sides as stated, of the conditions that do change."""
    assert optimum.point is not None
    changes: dict[int, Fraction] = {}
    sizes = optimum.point[len(system.variables) :]
    for (k, sign), size in zip(changing, sizes, strict=True):
        # Conditions given as <= are kept as their negatives
        upwards = sign if system.conditions[k].upper else -sign
        changes[k] = changes.get(k, Fraction()) + upwards * size
    return {k: change for k, change in changes.items() if change}
