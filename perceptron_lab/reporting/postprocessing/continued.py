"""The cells of algorithms from solvers' answers, beside those of either alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from perceptron_lab.core import registry
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.semidefinite_programs import Sdplib
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.experiments.configuration.components import Component
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence, Method
from perceptron_lab.reporting.needs import Outline
from perceptron_lab.reporting.papers.thesis.rescaling.conditioned import conditioned_problems
from perceptron_lab.reporting.summary import Summary, summaries

CONTINUED: Final = "postprocessed"
_NUMBERS: Final = range(1, 7)
BEFORE: Final = tuple(f"measure.{UNPROVED}start_dimacs_{number}" for number in _NUMBERS)
AFTER: Final = tuple(f"measure.{UNPROVED}dimacs_{number}" for number in _NUMBERS)
"""The columns of the six DIMACS errors of the solver's answer, and of the last one."""
EITHER: Final = "either"
"""The side of systems of which none is known by construction: a proof of any decides them."""
_FEASIBLE, _INFEASIBLE = Status.FEASIBLE.value, Status.INFEASIBLE.value
_ANSWERS = {
    "feasible": {_FEASIBLE},
    "infeasible": {_INFEASIBLE},
    "ill-posed": {status.value for status in Status},
    EITHER: {_FEASIBLE, _INFEASIBLE},
}
# Both algorithms of a pair have the pair's own epsilon unless their parameters say otherwise
_SHARED = "epsilon"


@dataclass(frozen=True)
class Kind:
    """What a problem is set out by.

    Parameters
    ----------
    family, side
        Of conditioned-cones; of programs of a collection its name, and ``EITHER``.
    delta
        The condition; None of programs.
    """

    family: str
    side: str
    delta: float | None


@dataclass(frozen=True)
class Continued:
    """The cells of one problem by one algorithm from one solver's answers.

    Parameters
    ----------
    problem
        What it is set out by.
    first, second
        What the solver and the algorithm are called.
    entry, solver, own
        The cells of the pair; of the solver alone and of the algorithm from its own start, empty
        where they were not run.
    """

    problem: Kind
    first: str
    second: str
    entry: Summary
    solver: Summary
    own: Summary

    def decided(self, entry: Summary) -> bool:
        """Whether every cell has proved what is true by construction, of programs either side."""
        allowed = _ANSWERS[self.problem.side]
        return bool(entry.seeds) and entry.answered and set(entry.runs["status"]) <= allowed


def continued_labels(outline: Outline) -> dict[str, Method]:
    """Return label -> method of what goes on from a solver's answer; conditions must be known."""
    conditioned_problems(outline)
    found = {
        label: method
        for label, method in outline.methods().items()
        if method.algorithm == CONTINUED
    }
    if not found:
        raise DataError(
            "no label goes on from a solver's answer; give {name: postprocessed, parameters: "
            "{first: scs-direct, algorithm: auto}}"
        )
    return found


def kinds(outline: Outline) -> dict[str, Kind]:
    """Return what each problem is set out by, of the datasets conditioned-cones and sdplib."""
    found = {}
    for problem in outline.problems():
        record = outline.dataset(problem)
        if isinstance(record, ConditionedCones):
            found[problem] = Kind(record.family, record.side, record.delta)
        elif isinstance(record, Sdplib):
            found[problem] = Kind("sdplib", EITHER, None)
    return found


def continued(evidence: Evidence) -> list[Continued]:
    """Return every problem that has a kind by every pair of a solver and an algorithm run on it."""
    pairs, problems = continued_labels(evidence), kinds(evidence)
    methods = evidence.methods()
    frame = with_errors(evidence.frame[evidence.frame["problem"].isin(list(problems))])
    entries = {(entry.problem, entry.label): entry for entry in summaries(frame)}

    def cells(problem: str, label: str) -> Summary:
        return entries.get((problem, label), Summary(problem, label, frame.iloc[:0]))

    found = []
    for label, method in pairs.items():
        given = method.parameters
        first = alone(methods, given["first"], given.get("first_parameters"))
        second = alone(methods, given["algorithm"], given.get("parameters"))
        for problem, record in problems.items():
            entry = cells(problem, label)
            if entry.seeds:
                solver, own = cells(problem, first), cells(problem, second)
                found.append(Continued(record, first, second, entry, solver, own))
    return found


def alone(methods: Mapping[str, Method], name: str, parameters: Mapping[str, Any] | None) -> str:
    """Return the label of an algorithm with these parameters; its name if none was run."""
    record = registry.load("algorithm", name)(**(parameters or {}))
    wanted = _compared(Component("algorithm", name, record).parameters)
    for label, method in methods.items():
        if method.algorithm == name and _compared(method.parameters) == wanted:
            return label
    return name


def _compared(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parameters.items() if key != _SHARED}


def with_errors(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the largest errors, in the absolute, before and after.

    ``before`` and ``after`` are the largest of all six, ``apart`` and ``apart after`` of the first
    four: by how much the answer violates the conditions of the program and of its dual.
    """
    found = frame.copy()
    for names, largest, apart in (
        (BEFORE, "before", "apart"),
        (AFTER, "after", "apart after"),
    ):
        missing = [name for name in names if name not in frame]
        errors = pd.DataFrame(
            {
                name: pd.Series(dtype=float) if name in missing else reals(frame[name]).abs()
                for name in names
            },
            index=frame.index,
        )
        found[largest] = errors.max(axis=1, skipna=False)
        found[apart] = errors[list(names[:4])].max(axis=1, skipna=False)
    return found
