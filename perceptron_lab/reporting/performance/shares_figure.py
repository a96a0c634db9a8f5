"""The share of the largest margin that runs have reached, against the time they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.performance.curves import Course, quartile_curve
from perceptron_lab.reporting.performance.largest_margins import (
    Reached,
    best_bounds,
    courses,
    methods_with_margins,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.summary import Summary, summaries

CLOSEST: Final = 1e-4
"""The least missing part that the figure tells apart."""
LEAST: Final = 0.01
"""The least share that the figure tells apart: smaller ones are drawn as this one."""
MOST_PROBLEMS: Final = 9
"""The most problems that are drawn: three times three panels, as many as a page holds."""
_TICKS: Final = {
    1.0 - LEAST: "\u2264 1 %",
    0.5: "50 %",
    0.1: "90 %",
    1e-2: "99 %",
    1e-3: "99.9 %",
    CLOSEST: "\u2265 99.99 %",
}
_BESIDE: Final = 3


@needs(methods_with_margins)
def margins(evidence: Evidence) -> Figure:
    """Share of the largest margin against the seconds of the algorithm, in a panel per problem.

    A share is that of the least upper bound that any label has proved on the instance. The axis is
    logarithmic in what is missing: 90 %, 99 % and 99.9 % are one step apart each. What is beyond
    its ends, shares below 1 % and above 99.99 %, stands at them. Each run counts with its best
    point so far, as computed; lines are medians over the seeds, the shade behind them reaches from
    quartile to quartile, and a run that has ended keeps its last value. The axis of seconds begins
    shortly before the first share above 1 %. A marker ends a label all of whose cells have a proved
    feasible point, a cross one of which some have none. Of more than nine problems the first nine
    are drawn, and the figure says so.
    """
    entries = summaries(evidence.frame)
    problems = list(dict.fromkeys(entry.problem for entry in entries))
    drawn, bounds = problems[:MOST_PROBLEMS], best_bounds(evidence)
    known = drawing.looks(list(dict.fromkeys(entry.label for entry in entries)))
    beside = min(_BESIDE, len(drawn))
    lines = ceil(len(drawn) / beside)
    figure = drawing.canvas(7.0, 0.8 + 2.0 * lines)
    panels = figure.subplots(lines, beside, squeeze=False, sharey=True)
    for axes in panels.flat[len(drawn) :]:
        axes.remove()
    for place, problem in enumerate(drawn):
        axes = panels.flat[place]
        own = [entry for entry in entries if entry.problem == problem]
        _draw(axes, [(entry, courses(evidence, entry, bounds)) for entry in own], known)
        drawing.entitle(axes, problem)
        if place + beside >= len(drawn):
            axes.set_xlabel("seconds")
        if place % beside == 0:
            axes.set_ylabel("share of the proved margin")
    proved = all(entry.feasible for entry in entries)
    names = drawing.spelt_out(evidence.algorithms())
    drawing.legend_above(
        figure, drawing.handles(known, proved, names=names, linewidth=1.0, size=3.5)
    )
    drawing.name_left_out(figure, drawn, problems, "problems")
    return figure


def _draw(
    axes: Axes, found: Sequence[tuple[Summary, Sequence[Reached]]], known: Mapping[str, Look]
) -> None:
    """Draw one problem: what is missing of the share, downwards."""
    factors = drawing.nested(known)
    axes.set(xscale="log", yscale="log", ylim=(1.3, 0.7 * CLOSEST))
    begins = []
    for entry, own in found:
        curve = quartile_curve([Course(one.seconds, one.shares) for one in own])
        if curve is None:
            continue
        look, factor = known[entry.label], factors[entry.label]
        lower, middle, upper = (
            np.clip(1.0 - shares, CLOSEST, 1.0 - LEAST)
            for shares in (curve.lower, curve.median, curve.upper)
        )
        risen = curve.places[curve.upper > LEAST]
        begins.append(float(risen[0] if len(risen) else curve.places[-1]))
        shade: dict[str, Any] = {"color": look["color"], "alpha": 0.1, "linewidth": 0, "zorder": 1}
        axes.fill_between(curve.places, upper, lower, step="post", **shade)
        line: dict[str, Any] = {"color": look["color"], "linestyle": look["linestyle"]}
        line |= {"linewidth": factor, "label": entry.label}
        axes.step(curve.places, middle, where="post", **line)
        mark = look["marker"] if entry.feasible else "x"
        end: dict[str, Any] = {"color": look["color"], "marker": mark, "markersize": 3.4 * factor}
        axes.plot(curve.places[-1:], middle[-1:], clip_on=False, zorder=3, **end)
    if begins:
        axes.set_xlim(left=0.5 * min(begins))
    axes.yaxis.set_major_locator(FixedLocator(list(_TICKS)))
    axes.yaxis.set_major_formatter(FixedFormatter(list(_TICKS.values())))
    axes.yaxis.set_minor_locator(NullLocator())
    drawing.rule_logarithmic(axes, "x", 12.0)
    drawing.rule(axes, "y", "0.9")
