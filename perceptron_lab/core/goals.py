"""When a run ends: its goal and its budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Positive, Proportion, parameter_record


@parameter_record
class Budget:
    """The limits of one run; every limit is echoed in the results.

    Parameters
    ----------
    updates
        Updates (iterations, for methods that are not mistake-driven) at most; 0 or more.
    seconds
        Seconds of the algorithm at most, loading excluded; 0 or more. Records and proofs under way
        come on top, up to an eighth of it or a quarter of a second; what they take beyond counts as
        spent. With the proofs at the end a run takes no longer than this, 20 % and a second: it is
        asked for the time about ten times a second, and a call of LAPACK that would take longer
        than what is left is not begun.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> rows = [[1.0, 0.0], [-1.0, 1e-9]]
    >>> solve(rows, "perceptron", budget=Budget(updates=1000)).status.value
    'UPDATE_LIMIT'
    """

    updates: Annotated[int, Field(ge=0)] = 1_000_000
    seconds: Annotated[float, Field(ge=0)] = 300.0


class NumberGoal:
    """A goal of one number, shown as ``name=number``."""

    def __str__(self) -> str:
        return ", ".join(f"{name}={number!r}" for name, number in vars(self).items())


@parameter_record
class MarginUpper(NumberGoal):
    """End as soon as the margin is proved to be at most ``margin_upper``, or as ``decide`` does."""

    margin_upper: Positive


@parameter_record
class MarginRatio(NumberGoal):
    """End as soon as margin_lower >= margin_ratio * margin_upper > 0 is proved, or no point is."""

    margin_ratio: Proportion


@parameter_record
class Width(NumberGoal):
    """End as soon as an interval around the optimum of relative width ``width`` is proved.

    The goal of optimisers alone: (optimum_upper - optimum_lower) / max(1, |optimum_upper|) is
    ``width`` at most. It takes the place of the optimiser's own parameter ``width``.
    """

    width: Positive


# `decide` ends with the first proof, `budget` runs on after it (for curves)
Goal = Literal["decide", "budget"] | MarginUpper | MarginRatio | Width

_WORDS: dict[str, Goal] = {"decide": "decide", "budget": "budget"}
GOAL_RECORDS: dict[str, type[MarginUpper | MarginRatio | Width]] = {
    "margin_upper": MarginUpper,
    "margin_ratio": MarginRatio,
    "width": Width,
}
"""Name -> the goals of one number."""


def goal_of(goal: Goal | str | Mapping[str, float]) -> Goal:
    """Return a goal as its record: of a word, a mapping, or a text such as ``margin_ratio=0.99``.

    Raises
    ------
    InputError
        If it is none, or its number is not in range.
    """
    if isinstance(goal, NumberGoal):
        return goal
    if isinstance(goal, str) and goal in _WORDS:
        return _WORDS[goal]
    number: float | str
    if isinstance(goal, Mapping):
        name, number = next(iter(goal.items())) if len(goal) == 1 else ("", "")
    else:
        name, _, number = str(goal).partition("=")
    if name not in GOAL_RECORDS:
        printed = dict(goal) if isinstance(goal, Mapping) else goal
        raise InputError(
            f"goal {printed!r}; give decide, budget, margin_upper, margin_ratio or width alone"
        )
    try:
        return GOAL_RECORDS[name](float(number))
    except (TypeError, ValueError):  # a ValidationError is one
        raise InputError(
            f"goal {name} {number!r}; give a number above 0 (a margin_ratio: below 1)"
        ) from None
