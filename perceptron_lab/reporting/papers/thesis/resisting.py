"""Mistakes against the resisting oracle, compared with the forced ones and the bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.core.errors import DataError, counted
from perceptron_lab.datasets.generated.resisting import Resisting
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs, problems_of
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import Summary, summaries

MEASURED = ("mistakes", "rounds", "forced", "final_margin")
"""Columns ``measure.NAME`` of the runs."""


def resisting_problems(outline: Outline) -> dict[str, Resisting]:
    """Return the problems of the dataset resisting; without any there is nothing to be held."""
    mine = problems_of(outline, Resisting)
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


_NOTE = (
    "Forced: every algorithm makes as many mistakes at least before a point passes (docs/notes/"
    "resisting-oracle.md), on unit rows whose margin is the final one at least. Mistakes: medians "
    "over the seeds; where no point has passed within the budget, those so far. Least ratio: "
    "mistakes over the number forced, of those that have ended; the theorem holds at 1 or more. "
    "Asks for: cuts, one at its own points; or rows, in rounds on all rows known, which ends with "
    "the number forced exactly. Bound: of the algorithm's own theorem, for updates, which are its "
    "mistakes; rounded up in print."
)


@needs(resisting_problems)
def resisting_table(evidence: Evidence) -> Table:
    """Mistakes against the resisting oracle, beside the number forced and the theorem's bound.

    Columns: ``dimension``, ``margin``, ``forced`` (a lower bound for every algorithm), ``final
    margin`` of the rows (a lower bound), ``label``, ``asks for`` (cuts, or rows: run in rounds),
    ``mistakes``, ``least ratio`` of the mistakes to the number forced, where every cell has ended
    with a proved point; ``bound``, the upper bound of the algorithm's own theorem; ``status``.
    """
    lines = held(evidence)
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
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("resisting", columns, 5, notes=[_NOTE], long=True)


MOST_PANELS = 6
"""The most dimensions that are drawn: three beside each other, in two rows."""
_FORCED = "forced: none makes fewer"
_BOUND = "upper bound of its theorem"
_CROSS = "not ended, so far"
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
    small markers of the label, the upper bound of its theorem, as far as it is within the panel. Of
    more than six dimensions the first six are drawn, and the figure says so.
    """
    lines = held(evidence)
    found = list(dict.fromkeys(line.dimension for line in lines))
    drawn = found[:MOST_PANELS]
    asking = list(dict.fromkeys(line.entry.label for line in lines if not line.in_rounds))
    known = drawing.looks(asking)
    figure, panels = drawing.panels(len(drawn), 2.5, 0.9, 2.2)
    for axes, dimension in zip(panels, drawn, strict=True):
        axes.set_title(f"dimension {dimension}", loc="left")
        mine = [line for line in lines if line.dimension == dimension]
        _draw(axes, sorted(mine, key=lambda line: -line.margin), known)
    panels[0].set_ylabel("mistakes")
    drawing.legend_above(figure, _legend(lines, known))
    drawing.name_left_out(figure, drawn, found, "dimensions")
    return figure


def _draw(axes: Axes, lines: list[Held], known: dict[str, Look]) -> None:
    """Draw the lines of one dimension, by decreasing margin."""
    margins = np.geomspace(lines[0].margin, lines[-1].margin, _STEPS)
    least = [forced(lines[0].dimension, float(margin)) for margin in margins]
    axes.plot(1.0 / margins, least, color="0.75", linewidth=3.0, zorder=1.0, label=_FORCED)
    asked = [(1.0 / line.margin, line.entry) for line in lines if not line.in_rounds]
    drawing.draw_medians(axes, known, asked, "mistakes", lambda entry: entry.feasible)
    ended = [
        (1.0 / line.margin, line.entry.median("mistakes"))
        for line in lines
        if line.in_rounds and line.entry.feasible
    ]
    drawing.points(axes, ended, _ROUNDS, _CIRCLE, markersize=5.5, fillstyle="none")
    lowest, highest = axes.get_ylim()
    for label, look in known.items():
        bounds = [(x, entry.median("bound")) for x, entry in asked if entry.label == label]
        points = [(x, bound) for x, bound in bounds if bound is not None]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        style: drawing.Style = {"color": look["color"], "marker": look["marker"], "linestyle": ":"}
        axes.plot(xs, ys, fillstyle="none", markersize=2.5, lw=1.0, label=f"{label} bound", **style)
    axes.set_ylim(lowest, highest)
    axes.set_xlabel(r"1 / $\rho$")
    drawing.rule_logarithmic(axes, "x")
    drawing.rule_logarithmic(axes, "y")
    axes.xaxis.set_major_formatter(LogFormatterMathtext())  # decades side by side


def _legend(lines: list[Held], known: dict[str, Look]) -> list[Line2D]:
    """Return a handle per label that asks for cuts, and one per kind of line or marker."""
    in_rounds = {line.entry.label for line in lines if line.in_rounds}
    ended = all(line.entry.feasible for line in lines if not line.in_rounds)
    kinds = [
        Line2D([], [], color="0.75", linewidth=3.0, label=_FORCED),
        Line2D([], [], color="0.3", linewidth=1.0, linestyle=":", label=_BOUND),
    ]
    if in_rounds:
        name = f"{counted(len(in_rounds), 'label')} in rounds"
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
    return [*drawing.handles(known), *kinds]
