"""The columns of ``runs.csv``, each declared once: its name, its type, and where it comes from."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from perceptron_lab.experiments.configuration.components import Component
    from perceptron_lab.goals import Goal
    from perceptron_lab.results import Result, Status, Trace


@dataclass(frozen=True)
class Run:
    """One run of an algorithm or learner on a problem, from which its row is made.

    Parameters
    ----------
    problem, label
        As tables call the problem and the algorithm.
    constraints, dimension
        The rank of the problem's cone, and its unknowns.
    algorithm
        The algorithm or learner.
    oracles
        The oracles that were asked, with their parameters.
    seed
        The source of randomness.
    status, message
        How it ended.
    goal
        What was to be proved; None for a learner.
    result
        None if the run ended without one.
    partial
        The trace of a run without a result, as far as it is known.
    measures
        The problem's own figures of the last point.
    problem_parameters
        Those of the dataset, without those that choose instances.
    cell, environment
        Identifiers of the run, and of machine and software; empty outside of experiments.
    """

    problem: str
    label: str
    constraints: int
    dimension: int
    algorithm: Component
    oracles: Sequence[str]
    seed: int
    status: Status
    message: str
    goal: Goal | None = None
    result: Result | None = None
    partial: Trace | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    problem_parameters: Mapping[str, Any] = field(default_factory=dict)
    cell: str = ""
    environment: str = ""


class Kind(StrEnum):
    """The type of a column's values."""

    TEXT = "text"
    COUNT = "count"
    REAL = "real"
    CLOCK = "clock"
    """Seconds, which differ from run to run on one machine."""
    TRUTH = "truth"


@dataclass(frozen=True)
class Column:
    """A column of runs.csv.

    Parameters
    ----------
    name
        In the first line of the file.
    kind
        The type of its values.
    value
        Its value for a run; None for an empty field.
    """

    name: str
    kind: Kind
    value: Callable[[Run], Any]


def _of_result(name: str, kind: Kind, missing: Any = None) -> Column:
    def value(run: Run) -> Any:
        return missing if run.result is None else getattr(run.result, name)

    return Column(name, kind, value)


def _counted(name: str, kind: Kind) -> Column:
    """Return a cost, which is known of an unfinished run as well: that of its last record."""

    def value(run: Run) -> Any:
        if run.result is not None:
            return getattr(run.result, name)
        return getattr(run.partial, name)[-1] if run.partial else None

    return Column(name, kind, value)


def _goal_reached(run: Run) -> bool | None:
    if run.result is not None:
        return run.result.goal_reached
    return None if run.goal is None else False


def _bound(run: Run) -> float | None:
    bound = None if run.result is None else run.result.bound.value
    return None if bound is None or math.isinf(bound) else bound


_DECLARED: Final = (
    Column("cell", Kind.TEXT, attrgetter("cell")),
    Column("problem", Kind.TEXT, attrgetter("problem")),
    Column("constraints", Kind.COUNT, attrgetter("constraints")),
    Column("dimension", Kind.COUNT, attrgetter("dimension")),
    Column("algorithm", Kind.TEXT, attrgetter("algorithm.name")),
    Column("label", Kind.TEXT, attrgetter("label")),
    Column("oracle", Kind.TEXT, lambda run: " + ".join(run.oracles)),
    Column("parameters", Kind.TEXT, lambda run: json.dumps(run.algorithm.parameters)),
    Column("seed", Kind.COUNT, attrgetter("seed")),
    Column("status", Kind.TEXT, lambda run: run.status.value),
    _of_result("proved", Kind.TRUTH, missing=False),
    Column("goal", Kind.TEXT, lambda run: None if run.goal is None else str(run.goal)),
    Column("goal_reached", Kind.TRUTH, _goal_reached),
    _of_result("margin_lower", Kind.REAL),
    _of_result("margin_upper", Kind.REAL),
    _counted("updates", Kind.COUNT),
    _counted("queries", Kind.COUNT),
    _counted("iterations", Kind.COUNT),
    _counted("products", Kind.REAL),
    _counted("seconds", Kind.CLOCK),
    _of_result("proof_seconds", Kind.CLOCK),
    _of_result("total_seconds", Kind.CLOCK),
    Column("bound", Kind.REAL, _bound),
    Column("message", Kind.TEXT, attrgetter("message")),
    Column("environment", Kind.TEXT, attrgetter("environment")),
    # The digest of the numeric code is known to the store alone.
    Column("core", Kind.TEXT, lambda run: None),
)


COLUMNS: Final = {column.name: column for column in _DECLARED}
"""The columns of every runs.csv by name, in their order; those of :data:`PREFIXES` follow."""

CLOCKS: Final = tuple(column.name for column in _DECLARED if column.kind is Kind.CLOCK)
"""The columns that differ from run to run on one machine."""

PARAMETERS: Final = ("problem.", "algorithm.")
"""The prefixes of parameters of datasets and of algorithms: columns of the runs that have them."""
PREFIXES: Final = (*PARAMETERS, "measure.")
"""Those of all further columns, in their order."""


def ordered(names: Iterable[str]) -> list[str]:
    """Return names of columns in the order of runs.csv; further columns sorted by prefix, name."""
    known = set(names)
    return [
        *(name for name in COLUMNS if name in known),
        *sorted(known - COLUMNS.keys(), key=lambda n: ([not n.startswith(p) for p in PREFIXES], n)),
    ]
