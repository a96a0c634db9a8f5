"""The cells of resisting problems: mistakes, the number forced, and the bounds of theorems."""

from __future__ import annotations

from dataclasses import dataclass

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.generated.resisting import Resisting
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline
from perceptron_lab.reporting.summary import Summary, summaries

MEASURED = ("mistakes", "rounds", "forced", "final_margin")
"""Columns ``measure.NAME`` of the runs."""


def resisting_problems(outline: Outline) -> dict[str, Resisting]:
    """Return the problems of the dataset resisting; without any there is nothing to be held."""
    found = {problem: outline.dataset(problem) for problem in outline.problems()}
    mine = {problem: one for problem, one in found.items() if isinstance(one, Resisting)}
    if not mine:
        raise DataError(
            "no problem resists, and it shows mistakes beside the number that is forced; give one "
            "of {dataset: resisting}"
        )
    return mine


@dataclass(frozen=True)
class Held:
    """The cells of one resisting problem and label, all of them or none ended with a proof.

    Parameters
    ----------
    entry
        The cells; columns ``mistakes``, ``rounds``, ``forced`` and ``final_margin`` among them.
    dimension, margin
        n and rho.
    """

    entry: Summary
    dimension: int
    margin: float

    @property
    def in_rounds(self) -> bool:
        """Whether the algorithm was run again with each row."""
        return bool(self.entry.median("rounds"))

    @property
    def ratio(self) -> float | None:
        """The least mistakes over the number forced; None unless every cell has found a point."""
        if not self.entry.feasible:
            return None
        return float((self.entry.runs["mistakes"] / self.entry.runs["forced"]).min())


def held(evidence: Evidence) -> list[Held]:
    """Return every resisting problem by every label that was run on it, and not refused."""
    problems = resisting_problems(evidence)
    frame = evidence.frame[evidence.frame["problem"].isin(list(problems))].copy()
    for name in MEASURED:
        column = f"measure.{name}"
        frame[name] = reals(frame[column]) if column in frame else float("nan")
    return [
        Held(entry, problems[entry.problem].dimension, problems[entry.problem].margin)
        for entry in summaries(frame)
        if entry.median("mistakes") is not None
    ]
