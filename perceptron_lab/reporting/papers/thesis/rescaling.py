"""Rescaling: cones of a controlled condition, and systems that a resisting oracle chooses.

The runs on cones are compared by family, side and delta, those against the resisting oracle with
the forced mistakes and the bounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.core.errors import DataError, counted
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.datasets.generated.streams import Resisting
from perceptron_lab.reporting.evidence import Evidence, findings
from perceptron_lab.reporting.needs import Outline, needs, problems_of
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import GREY, Look, Style, looks_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import Summary, grouped, median_of, summaries, with_measures

SIDES = ("feasible", "infeasible", "ill-posed")
_ANSWERS = {"feasible": Status.FEASIBLE, "infeasible": Status.INFEASIBLE}
# The phases of algorithms without such a finding are called "perceptron 3"
_PHASE = re.compile(r"[a-z]+ (\d+)")


def conditioned_problems(outline: Outline) -> dict[str, ConditionedCones]:
    """Return the problems of the dataset conditioned-cones; raise an error if there are none."""
    problems = problems_of(outline, ConditionedCones)
    if not problems:
        raise DataError("no problem has a known condition delta; add {dataset: conditioned-cones}")
    return problems


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
    pairs = [Conditioned(entry, problems[entry.problem]) for entry in summaries(frame)]
    return [pair for pair in pairs if pair.entry.seeds]


def rescalings_of(evidence: Evidence, entry: Summary) -> list[int]:
    """Return how often each cell has rescaled, on both sides where there are two; or nothing."""
    counts = []
    for cell, finding in zip(entry.runs["cell"], findings(entry.runs), strict=True):
        # Algorithms without this finding count their rescalings in the names of their phases
        trace = None if finding.rescalings else evidence.trace(str(cell))
        phase = _PHASE.fullmatch(trace.phase[-1]) if trace else None
        if finding.rescalings:
            counts.append(sum(finding.rescalings))
        elif phase:
            counts.append(int(phase[1]) - 1)
    return counts


_NOTE = (
    "Decided: number of problems for which every cell proves what is true by construction, a "
    "strictly feasible point or that none exists; for ill-posed problems bounds of the margin, "
    "or the answer for the rounded data. Down to: the smallest delta such that the problem and "
    "all problems with a larger delta are decided. Seconds, updates, rescalings (of the primal "
    "and the dual problem together): medians over the decided problems. Width: largest width of "
    "the verified bounds of the margin over all cells of an ill-posed side."
)


@needs(conditioned_problems)
def rescaling_table(evidence: Evidence) -> Table:
    """Algorithms by family of cones and by side: up to which condition they decide, and how fast.

    Columns: ``family``, ``side``, ``label``, ``problems``, ``decided``, ``down to`` (delta);
    ``seconds``, ``updates`` and ``rescalings``, medians over what is decided; ``width``, the
    largest proved width of the bracket of the margin, of ill-posed sides.
    """
    groups = _groups(conditioned(evidence))
    decided = [[pair for pair in group if pair.decided] for group in groups]
    columns = [
        texts("family", [group[0].problem.family for group in groups]),
        texts("side", [group[0].problem.side for group in groups]),
        texts("label", [group[0].entry.label for group in groups]),
        counts("problems", [len(group) for group in groups]),
        counts("decided", [len(group) for group in decided]),
        numbers("down to", [_down_to(group) for group in groups]),
        seconds("seconds", [_typical(group, "seconds") for group in decided]),
        counts("updates", [_typical(group, "updates") for group in decided]),
        counts("rescalings", [_rescalings(evidence, group) for group in decided]),
        numbers("width", [_width(group) for group in groups], upper_bound),
    ]
    return Table("rescaling", columns, keys=3, notes=[_NOTE], long=True)


def _groups(pairs: list[Conditioned]) -> list[list[Conditioned]]:
    """Return the problems of each family, side and label, by decreasing delta."""
    groups = grouped(
        pairs, lambda pair: (pair.problem.family, SIDES.index(pair.problem.side), pair.entry.label)
    )
    families = list(dict.fromkeys(family for family, _, _ in groups))
    order = sorted(groups, key=lambda key: (families.index(key[0]), key[1]))
    return [sorted(groups[key], key=lambda pair: -pair.problem.delta) for key in order]


def _down_to(group: list[Conditioned]) -> float | None:
    """Return the least delta of the problems up to the first one that is not decided."""
    least = None
    for pair in group:
        # A smaller delta that happens to be decided says nothing about the condition up to which it
        # works
        if not pair.decided:
            break
        least = pair.problem.delta
    return least


def _typical(group: list[Conditioned], column: str) -> float | None:
    return median_of(pair.entry.median(column) for pair in group)


def _rescalings(evidence: Evidence, group: list[Conditioned]) -> float | None:
    return median_of(count for pair in group for count in rescalings_of(evidence, pair.entry))


def _width(group: list[Conditioned]) -> float | None:
    """Return the largest width of a proved bracket; None of other sides, or without a bracket."""
    if group[0].problem.side != "ill-posed":
        return None
    runs = [pair.entry.runs for pair in group]
    widths = [
        # A cell without a bracket has no width, and the largest is then not known
        float((runs_of_pair["margin_upper"] - runs_of_pair["margin_lower"]).max(skipna=False))
        for runs_of_pair in runs
    ]
    largest = max(widths)
    return largest if all(width == width for width in widths) else None


MOST_FAMILIES = 4
"""The most families of cones that are drawn, a row of panels each."""


@needs(conditioned_problems)
def rescaling_figure(evidence: Evidence) -> Figure:
    """Seconds against 1 / delta on log axes: a row of panels per family, a column per side.

    A line with markers per label: medians over the seeds, from quartile to quartile; a cross where
    not every cell has proved what is true by construction. Of more than four families the first
    four are drawn, as the figure states.
    """
    pairs = conditioned(evidence)
    families = list(dict.fromkeys(pair.problem.family for pair in pairs))
    sides = [side for side in SIDES if any(pair.problem.side == side for pair in pairs)]
    drawn = families[:MOST_FAMILIES]
    looks = looks_of(evidence, dict.fromkeys(pair.entry.label for pair in pairs))
    figure = drawing.canvas(max(4.6, 2.5 * len(sides)), 1.1 + 1.9 * len(drawn))
    panels = figure.subplots(len(drawn), len(sides), squeeze=False, sharex=True, sharey=True)
    for row, family in enumerate(drawn):
        for column, side in enumerate(sides):
            axes = panels[row][column]
            panel_pairs = [o for o in pairs if (o.problem.family, o.problem.side) == (family, side)]
            _draw(axes, sorted(panel_pairs, key=lambda pair: -pair.problem.delta), looks)
            axes.set_title(f"{family}, {side}", loc="left")
    for axes in panels[-1]:
        axes.set_xlabel(r"1 / condition $\delta$")
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
    for axes in panels[:, 0]:
        axes.set_ylabel(drawing.SECONDS)
    names = drawing.spelt_out(evidence.algorithms())
    decided = all(pair.decided for pair in pairs)
    drawing.legend_above(figure, drawing.handles(looks, decided, names=names))
    drawing.name_left_out(figure, drawn, families, "families")
    return figure


def _draw(axes: Axes, pairs: list[Conditioned], looks: dict[str, Look]) -> None:
    """Draw the lines of one family and side, by decreasing delta."""
    decided = {id(pair.entry): pair.decided for pair in pairs}

    def proved(entry: Summary) -> bool:
        return decided[id(entry)]

    entries = [(1.0 / pair.problem.delta, pair.entry) for pair in pairs]
    drawing.draw_medians(axes, looks, entries, "seconds", proved)


MEASURED = ("mistakes", "rounds", "forced", "final_margin")
"""Columns ``measure.NAME`` of the runs."""


def resisting_problems(outline: Outline) -> dict[str, Resisting]:
    """Return the problems of the dataset resisting; raise an error if there are none."""
    problems = problems_of(outline, Resisting)
    if not problems:
        raise DataError(
            "no problem has a resisting oracle, for which the number of forced mistakes is "
            "known; add {dataset: resisting}"
        )
    return problems


@dataclass(frozen=True)
class ResistingRuns:
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
        # The least, as a lower bound holds for every run or is refuted
        return float((self.entry.runs["mistakes"] / self.entry.runs["forced"]).min())


def resisting_runs(evidence: Evidence) -> list[ResistingRuns]:
    """Return every resisting problem by every label that was run on it, and not refused."""
    problems = resisting_problems(evidence)
    frame = with_measures(evidence.frame[evidence.frame["problem"].isin(list(problems))], MEASURED)
    return [
        ResistingRuns(entry, problems[entry.problem].dimension, problems[entry.problem].margin)
        for entry in summaries(frame)
        # Refused algorithms have asked for nothing
        if entry.median("mistakes") is not None
    ]


_NOTE_OF_QUERIES = (
    "Forced: a lower bound of the mistakes of every algorithm before a point is accepted "
    "(docs/notes/resisting-oracle.md), on unit rows whose margin is at least the final margin. "
    "Mistakes: medians over the seeds; where the budget ended the run, the mistakes so far. "
    "Least ratio: mistakes over forced mistakes, the least over the seeds, for runs that ended; "
    "at least 1 where the theorem holds. Asks for: cuts, one at each of its own points; or rows, "
    "in rounds on all known rows, which makes exactly the forced mistakes. Bound: the "
    "algorithm's own upper bound of its updates, which are its mistakes; rounded up in print."
)


@needs(resisting_problems)
def resisting_table(evidence: Evidence) -> Table:
    """Mistakes against the resisting oracle, with the number forced and the theorem's bound.

    Columns: ``dimension``, ``margin``, ``forced`` (a lower bound for every algorithm), ``final
    margin`` of the rows (a lower bound), ``label``, ``asks for`` (cuts, or rows: run in rounds),
    ``mistakes``, ``least ratio`` of the mistakes to the number forced, where every cell has ended
    with a proved point; ``bound``, the upper bound of the algorithm's own theorem; ``status``.
    """
    lines = resisting_runs(evidence)
    entries = [line.entry for line in lines]
    margins = [entry.median("final_margin") for entry in entries]
    bounds = [entry.median("bound") for entry in entries]
    columns = [
        counts("dimension", [line.dimension for line in lines]),
        numbers("margin", [line.margin for line in lines]),
        counts("forced", [entry.median("forced") for entry in entries]),
        numbers("final margin", margins, lower_bound),
        texts("label", [entry.label for entry in entries]),
        texts("asks for", ["rows" if line.in_rounds else "cuts" for line in lines]),
        counts("mistakes", [entry.median("mistakes") for entry in entries]),
        numbers("least ratio", [line.ratio for line in lines]),
        numbers("bound", bounds, upper_bound),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    return Table("resisting", columns, 5, notes=[_NOTE_OF_QUERIES], long=True)


MOST_PANELS = 6
"""The largest number of panels: two rows of three dimensions."""
_FORCED = "lower bound of every algorithm"
_BOUND = "upper bound of its theorem"
_CROSS = "ended by the budget"
_ROUNDS = "in rounds"
_CIRCLE: Look = {"color": "0.2", "marker": "o", "linestyle": "-"}
# The grid of margins on which the line of the lower bound is drawn
_STEPS = 40


@needs(resisting_problems)
def resisting_figure(evidence: Evidence) -> Figure:
    """Mistakes against 1 / rho for each dimension, on log axes, above the number that is forced.

    The thick grey line is the lower bound of all algorithms. A line with markers per label that
    asks for cuts itself: medians over the seeds, from quartile to quartile; a cross where the
    budget has ended it, at its mistakes so far. Circles are all labels that are run in rounds on
    the rows known, where they have ended: they make the mistakes forced and no other. Dotted, with
    small markers of each label in colour, the upper bound of its theorem, as far as it is within
    the panel. Of more than six dimensions the first six are drawn, as the figure states.
    """
    lines = resisting_runs(evidence)
    dimensions = list(dict.fromkeys(line.dimension for line in lines))
    drawn = dimensions[:MOST_PANELS]
    asking = list(dict.fromkeys(line.entry.label for line in lines if not line.in_rounds))
    looks = looks_of(evidence, asking)
    figure, panels = drawing.panels(len(drawn), 2.5, 0.9, 2.2)
    for axes, dimension in zip(panels, drawn, strict=True):
        axes.set_title(f"dimension {dimension}", loc="left")
        panel_lines = [line for line in lines if line.dimension == dimension]
        _draw_growth(axes, sorted(panel_lines, key=lambda line: -line.margin), looks)
    panels[0].set_ylabel("mistakes")
    drawing.legend_above(figure, _legend(lines, looks))
    drawing.name_left_out(figure, drawn, dimensions, "dimensions")
    return figure


def _draw_growth(axes: Axes, lines: list[ResistingRuns], looks: dict[str, Look]) -> None:
    """Draw the lines of one dimension, by decreasing margin."""
    margins = np.geomspace(lines[0].margin, lines[-1].margin, _STEPS)
    # On a grid, as the forced mistakes are known between the margins that were run too
    least = [forced(lines[0].dimension, float(margin)) for margin in margins]
    axes.plot(1.0 / margins, least, color="0.75", linewidth=3.0, zorder=1.0, label=_FORCED)
    single = [(1.0 / line.margin, line.entry) for line in lines if not line.in_rounds]
    drawing.draw_medians(axes, looks, single, "mistakes", lambda entry: entry.feasible)
    ended = [
        (1.0 / line.margin, line.entry.median("mistakes"))
        for line in lines
        if line.in_rounds and line.entry.feasible
    ]
    drawing.points(axes, ended, _ROUNDS, _CIRCLE, markersize=5.5, fillstyle="none")
    # Kept: upper bounds of theorems may lie decades above all that was measured
    lowest, highest = axes.get_ylim()
    for label, look in looks.items():
        if look["color"] == GREY:
            continue
        bounds = [(x, entry.median("bound")) for x, entry in single if entry.label == label]
        points = [(x, bound) for x, bound in bounds if bound is not None]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        style: Style = {"color": look["color"], "marker": look["marker"], "linestyle": ":"}
        axes.plot(xs, ys, fillstyle="none", markersize=2.5, lw=1.0, label=f"{label} bound", **style)
    axes.set_ylim(lowest, highest)
    axes.set_xlabel(r"1 / margin $\rho$")
    drawing.rule_logarithmic(axes, "both")
    axes.xaxis.set_major_formatter(LogFormatterMathtext())  # decades side by side


def _legend(lines: list[ResistingRuns], looks: dict[str, Look]) -> list[Line2D]:
    """Return a handle per label that asks for cuts, and one per kind of line or marker."""
    in_rounds = {line.entry.label for line in lines if line.in_rounds}
    ended = all(line.entry.feasible for line in lines if not line.in_rounds)
    kinds = [
        Line2D([], [], color="0.75", linewidth=3.0, label=_FORCED),
        Line2D([], [], color="0.3", linewidth=1.0, linestyle=":", label=_BOUND),
    ]
    if in_rounds:
        name = f"{counted(len(in_rounds), 'algorithm')} run in rounds"
        kinds.append(
            Line2D(
                *([], []),
                color=_CIRCLE["color"],
                marker="o",
                linestyle="none",
                fillstyle="none",
                markersize=5.5,
                label=name,
            )
        )
    if not ended:
        kinds.append(Line2D([], [], color="0.3", marker="x", linestyle="none", label=_CROSS))
    return [*drawing.handles(looks), *kinds]
