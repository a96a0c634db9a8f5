"""The cells of problems of a controlled condition: by family of cones, by side, and by delta."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline
from perceptron_lab.reporting.summary import Summary, summaries

SIDES = ("feasible", "infeasible", "ill-posed")
_ANSWERS = {"feasible": Status.FEASIBLE, "infeasible": Status.INFEASIBLE}
# projection-rescaling tells it in its message; the phases of others are called "perceptron 3"
_TOLD = re.compile(r"rescaled (\d+) and (\d+) times")
_PHASE = re.compile(r"[a-z]+ (\d+)")


def conditioned_problems(outline: Outline) -> dict[str, ConditionedCones]:
    """Return the problems of the dataset conditioned-cones; without any there is no condition."""
    found = {problem: outline.dataset(problem) for problem in outline.problems()}
    mine = {problem: one for problem, one in found.items() if isinstance(one, ConditionedCones)}
    if not mine:
        raise DataError(
            "no problem has a controlled condition, by which cells are set out; give one of "
            "{dataset: conditioned-cones}"
        )
    return mine


@dataclass(frozen=True)
class Conditioned:
    """The cells of one conditioned problem and label.

    Parameters
    ----------
    entry
        The cells.
    problem
        The record that the problem was generated from.
    """

    entry: Summary
    problem: ConditionedCones

    @property
    def decided(self) -> bool:
        """Whether every cell has proved what is true by construction.

        An ill-posed system, whose two sides are apart by roundings only, is decided by any proof:
        of a bracket of its margin, or of what the doubles happen to be.
        """
        if not self.entry.answered:
            return False
        answer = _ANSWERS.get(self.problem.side)
        return answer is None or set(self.entry.runs["status"]) == {answer}


def conditioned(evidence: Evidence) -> list[Conditioned]:
    """Return every conditioned problem by every label that was run on it."""
    problems = conditioned_problems(evidence)
    frame = evidence.frame[evidence.frame["problem"].isin(list(problems))]
    found = [Conditioned(entry, problems[entry.problem]) for entry in summaries(frame)]
    return [one for one in found if one.entry.seeds]


def rescalings_of(evidence: Evidence, entry: Summary) -> list[int]:
    """Return how often each cell has rescaled, on both sides where there are two; or nothing."""
    found = []
    for cell, message in zip(entry.runs["cell"], entry.runs["message"], strict=True):
        told = _TOLD.search(str(message))
        trace = None if told else evidence.trace(str(cell))
        phase = _PHASE.fullmatch(trace.phase[-1]) if trace else None
        if told:
            found.append(int(told[1]) + int(told[2]))
        elif phase:
            found.append(int(phase[1]) - 1)
    return found
