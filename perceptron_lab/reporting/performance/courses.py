"""The courses of runs: a quantity against what was asked of the system, and against time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.performance.curves import Course, Curve, asked, quartile_curve
from perceptron_lab.reporting.printing.drawing import (
    STYLE,
    Look,
    canvas,
    cross_handle,
    legend_above,
    looks,
    rule,
    rule_logarithmic,
)
from perceptron_lab.reporting.summary import Summary, summaries
from perceptron_lab.results import FloatArray, Trace

MOST_PROBLEMS = 8
"""The most problems that are drawn: a page holds no more pairs of panels."""
_PAGE = 11.5
_PANEL = 1.9
_LEVEL: dict[str, Any] = {"color": "0.3", "linewidth": 0.6}

_Places = Callable[[Trace], FloatArray]
_AXES: tuple[tuple[str, _Places], ...] = (
    ("oracle queries or iterations", asked),
    ("seconds", lambda trace: np.array(trace.seconds)),
)


@dataclass(frozen=True)
class Quantity:
    """What is drawn of runs along their course.

    Parameters
    ----------
    name
        Beside its axis.
    values
        Its values in a run, record by record; NaN where there is none.
    scale
        Sets the scale, limits and ticks of an axis that is to hold these curves; it is called
        before they are drawn.
    level
        A value that is drawn as a thin horizontal line, or None.
    level_name
        What the legend calls that line.
    """

    name: str
    values: Callable[[Trace], FloatArray]
    scale: Callable[[Axes, Sequence[Curve]], None]
    level: float | None = None
    level_name: str = ""


def draw_courses(evidence: Evidence, quantity: Quantity) -> Figure:
    """Draw a quantity, for each problem a pair of panels.

    Left against the oracle queries or iterations, right against the seconds of the algorithm. A
    line is the median over the seeds, the shade around it reaches from the lower to the upper
    quartile; a run that has ended keeps its last value. A dot ends a label all of whose cells have
    a proved answer, a cross one of which some have none; at the edge of a panel it stands for a
    value beyond it. What has no course at all, or none of this quantity, is named in the panel. Of
    more than eight problems the first eight are drawn, and the figure says so.

    Raises
    ------
    DataError
        If the result of a cell is missing or damaged.
    """
    entries = summaries(evidence.frame)
    problems = list(dict.fromkeys(entry.problem for entry in entries))
    labels = list(dict.fromkeys(entry.label for entry in entries))
    drawn = problems[:MOST_PROBLEMS]
    with style.context(STYLE):
        figure = canvas(7.0, 0.5 + len(drawn) * min(_PANEL, _PAGE / len(drawn)))
        rows = figure.subplots(len(drawn), 2, squeeze=False, sharey="row")
        for pair, problem in zip(rows, drawn, strict=True):
            mine = [entry for entry in entries if entry.problem == problem]
            _pair(list(pair), evidence, quantity, mine, looks(labels))
        for axes, (name, _) in zip(rows[-1], _AXES, strict=True):
            axes.set_xlabel(name)
        figure.align_ylabels()
        legend_above(figure, _handles(quantity, entries, looks(labels)))
        if len(drawn) < len(problems):
            figure.supxlabel(f"the first {len(drawn)} of {len(problems)} problems", fontsize=7)
    return figure


def _pair(
    panels: Sequence[Axes],
    evidence: Evidence,
    quantity: Quantity,
    entries: Sequence[Summary],
    known: dict[str, Look],
) -> None:
    """Draw the panels of one problem."""
    panels[0].set_title(entries[0].problem, loc="left")
    panels[0].set_ylabel(quantity.name)
    curves = [
        (axes, curve, entry)
        for entry in entries
        for axes, (_, places) in zip(panels, _AXES, strict=True)
        if (curve := _curve(_traces(evidence, entry), quantity, places)) is not None
    ]
    for axes in panels:
        quantity.scale(axes, [curve for _, curve, _ in curves])
        if quantity.level is not None:
            axes.axhline(quantity.level, **_LEVEL)
    for axes, curve, entry in curves:
        _draw(axes, curve, entry, known[entry.label])
    for axes in panels:
        axes.set_xscale("log")
        rule_logarithmic(axes, "x")
        rule(axes, "y", "0.9")
    _name_absent(panels[0], evidence, quantity, entries)


def _traces(evidence: Evidence, entry: Summary) -> list[Trace]:
    found = [evidence.trace(cell) for cell in entry.runs["cell"]]
    return [trace for trace in found if trace is not None]


def _curve(traces: Sequence[Trace], quantity: Quantity, places: _Places) -> Curve | None:
    return quartile_curve([Course(places(trace), quantity.values(trace)) for trace in traces])


def _draw(axes: Axes, curve: Curve, entry: Summary, look: Look) -> None:
    finite = np.isfinite(curve.median)
    at = curve.places[finite]
    lower, upper = curve.lower[finite], curve.upper[finite]
    colour = look["color"]
    axes.fill_between(at, lower, upper, color=colour, alpha=0.2, linewidth=0, step="post")
    line = look["linestyle"]
    axes.step(at, curve.median[finite], color=colour, linestyle=line, linewidth=1, where="post")
    if finite.any():
        end = look["marker"] if entry.answered else "x"
        last = np.clip(curve.median[finite][-1], *axes.get_ylim())
        axes.plot(at[-1], last, color=colour, marker=end, markersize=4, clip_on=False, zorder=3)


def _name_absent(
    axes: Axes, evidence: Evidence, quantity: Quantity, entries: Sequence[Summary]
) -> None:
    """Say which labels have cells without a course, or runs without the quantity."""
    ended, without = [], []
    for entry in entries:
        traces = _traces(evidence, entry)
        if len(traces) < max(1, entry.seeds):
            ended.append(f"{entry.label}: {entry.endings}")
        if any(np.isnan(quantity.values(trace)).all() for trace in traces):
            without.append(entry.label)
    said = ["no course: " + "; ".join(ended)] if ended else []
    said += [f"no {quantity.name}: " + ", ".join(without)] if without else []
    if said:
        place = (0.02, 0.03)
        axes.annotate("\n".join(said), place, xycoords="axes fraction", fontsize=6, color="0.3")


def _handles(
    quantity: Quantity, entries: Sequence[Summary], known: dict[str, Look]
) -> list[Line2D]:
    handles = [
        Line2D([], [], label=label, markersize=4, linewidth=1, **look)
        for label, look in known.items()
    ]
    if quantity.level is not None:
        handles.append(Line2D([], [], label=quantity.level_name, **_LEVEL))
    proved = all(entry.answered for entry in entries)
    return handles if proved else [*handles, cross_handle()]
