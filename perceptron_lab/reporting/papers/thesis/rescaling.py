"""Algorithms on cones of a controlled condition: by family of cones, by side, and by delta."""

from __future__ import annotations

import re
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.reporting.evidence import Evidence, findings
from perceptron_lab.reporting.needs import Outline, needs, problems_of
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import upper_bound
from perceptron_lab.reporting.summary import Summary, grouped, median_of, summaries

SIDES = ("feasible", "infeasible", "ill-posed")
_ANSWERS = {"feasible": Status.FEASIBLE, "infeasible": Status.INFEASIBLE}
# The phases of algorithms without such a finding are called "perceptron 3"
_PHASE = re.compile(r"[a-z]+ (\d+)")


def conditioned_problems(outline: Outline) -> dict[str, ConditionedCones]:
    """Return the problems of the dataset conditioned-cones; without any there is no condition."""
    mine = problems_of(outline, ConditionedCones)
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
    for cell, finding in zip(entry.runs["cell"], findings(entry.runs), strict=True):
        trace = None if finding.rescalings else evidence.trace(str(cell))
        phase = _PHASE.fullmatch(trace.phase[-1]) if trace else None
        if finding.rescalings:
            found.append(sum(finding.rescalings))
        elif phase:
            found.append(int(phase[1]) - 1)
    return found


_NOTE = (
    "Decided: problems all cells of which have proved what is true by construction, a strictly "
    "feasible point or that there is none; of ill-posed ones a bracket of the margin, or what the "
    "rounded data happen to be. Down to: the least delta for which it and all larger ones are "
    "decided. Seconds, updates and rescalings (on both sides together): medians over the problems "
    "that are decided. Width: of the bracket of the margin that is proved, the largest over all "
    "cells of an ill-posed side."
)


@needs(conditioned_problems)
def rescaling_table(evidence: Evidence) -> Table:
    """Algorithms by family of cones and by side: up to which condition they decide, and how fast.

    Columns: ``family``, ``side``, ``label``, ``problems``, ``decided``, ``down to`` (delta);
    ``seconds``, ``updates`` and ``rescalings``, medians over what is decided; ``width``, the
    largest proved width of the bracket of the margin, of ill-posed sides.
    """
    groups = _groups(conditioned(evidence))
    kept = [[one for one in group if one.decided] for group in groups]
    columns = [
        texts("family", [group[0].problem.family for group in groups]),
        texts("side", [group[0].problem.side for group in groups]),
        texts("label", [group[0].entry.label for group in groups]),
        counts("problems", [len(group) for group in groups]),
        counts("decided", [len(group) for group in kept]),
        numbers("down to", [_down_to(group) for group in groups]),
        seconds("seconds", [_typical(group, "seconds") for group in kept]),
        counts("updates", [_typical(group, "updates") for group in kept]),
        counts("rescalings", [_rescalings(evidence, group) for group in kept]),
        numbers("width", [_width(group) for group in groups], upper_bound),
    ]
    return Table("rescaling", columns, keys=3, notes=[_NOTE], long=True)


def _groups(found: list[Conditioned]) -> list[list[Conditioned]]:
    """Return the problems of each family, side and label, by decreasing delta."""
    groups = grouped(
        found, lambda one: (one.problem.family, SIDES.index(one.problem.side), one.entry.label)
    )
    families = list(dict.fromkeys(family for family, _, _ in groups))
    order = sorted(groups, key=lambda key: (families.index(key[0]), key[1]))
    return [sorted(groups[key], key=lambda one: -one.problem.delta) for key in order]


def _down_to(group: list[Conditioned]) -> float | None:
    """Return the least delta of the problems up to the first one that is not decided."""
    found = None
    for one in group:
        if not one.decided:
            break
        found = one.problem.delta
    return found


def _typical(group: list[Conditioned], column: str) -> float | None:
    return median_of(one.entry.median(column) for one in group)


def _rescalings(evidence: Evidence, group: list[Conditioned]) -> float | None:
    return median_of(count for one in group for count in rescalings_of(evidence, one.entry))


def _width(group: list[Conditioned]) -> float | None:
    """Return the largest width of a proved bracket; None of other sides, or without a bracket."""
    if group[0].problem.side != "ill-posed":
        return None
    runs = [one.entry.runs for one in group]
    widths = [float((one["margin_upper"] - one["margin_lower"]).max(skipna=False)) for one in runs]
    largest = max(widths)
    return largest if all(width == width for width in widths) else None


MOST_FAMILIES = 4
"""The most families of cones that are drawn, a row of panels each."""


@needs(conditioned_problems)
def rescaling_figure(evidence: Evidence) -> Figure:
    """Seconds against 1 / delta on log axes: a row of panels per family, a column per side.

    A line with markers per label: medians over the seeds, from quartile to quartile; a cross where
    not every cell has proved what is true by construction. Of more than four families the first
    four are drawn, and the figure says so.
    """
    found = conditioned(evidence)
    families = list(dict.fromkeys(one.problem.family for one in found))
    sides = [side for side in SIDES if any(one.problem.side == side for one in found)]
    drawn = families[:MOST_FAMILIES]
    known = drawing.looks(list(dict.fromkeys(one.entry.label for one in found)))
    figure = drawing.canvas(max(4.6, 2.5 * len(sides)), 1.1 + 1.9 * len(drawn))
    panels = figure.subplots(len(drawn), len(sides), squeeze=False, sharex=True, sharey=True)
    for row, family in enumerate(drawn):
        for column, side in enumerate(sides):
            axes = panels[row][column]
            mine = [o for o in found if (o.problem.family, o.problem.side) == (family, side)]
            _draw(axes, sorted(mine, key=lambda one: -one.problem.delta), known)
            axes.set_title(f"{family}, {side}", loc="left")
    for axes in panels[-1]:
        axes.set_xlabel(r"1 / $\delta$")
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
    for axes in panels[:, 0]:
        axes.set_ylabel("seconds")
    drawing.legend_above(figure, drawing.handles(known, all(one.decided for one in found)))
    drawing.name_left_out(figure, drawn, families, "families")
    return figure


def _draw(axes: Axes, mine: list[Conditioned], known: dict[str, Look]) -> None:
    """Draw the lines of one family and side, by decreasing delta."""
    decided = {id(one.entry): one.decided for one in mine}

    def proved(entry: Summary) -> bool:
        return decided[id(entry)]

    entries = [(1.0 / one.problem.delta, one.entry) for one in mine]
    drawing.draw_medians(axes, known, entries, "seconds", proved)
