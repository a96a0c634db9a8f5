"""The courses of runs: margins and bounds against the queries or iterations, and against time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from perceptron_lab.core.goals import MarginUpper
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.curves import (
    Curve,
    History,
    finite_medians,
    quartile_curve,
    queries_or_iterations,
)
from perceptron_lab.reporting.printing.drawing import draw_spread
from perceptron_lab.reporting.printing.looks import Look, Style, looks_of, nested
from perceptron_lab.reporting.printing.problem_titles import title_of
from perceptron_lab.reporting.summary import Summary, summaries

MOST_PROBLEMS = 6
"""The most problems that are drawn: a page holds no more pairs of panels."""
MOST_TICKS = 7
"""The most ticks of the axis of margins, which has two logarithmic halves."""
# Negative margins within this factor have a plain axis
_ONE_SIZE = 30.0
# Problems that have a row of panels each; more are drawn so many per row
_ROWS = _BESIDE = 3
_LEVEL: Style = {"color": "0.3", "linewidth": 0.6}

_Places = Callable[[Trace], FloatArray]
_AXES: tuple[tuple[str, _Places], ...] = (
    ("oracle queries or iterations", queries_or_iterations),
    (drawing.SECONDS, lambda trace: np.array(trace.seconds)),
)


@dataclass(frozen=True)
class Quantity:
    """A quantity that is drawn along the course of runs.

    ``values`` gives it record by record, NaN where it is missing. ``scale`` sets the scale, limits
    and ticks of an axis before curves are drawn on it. ``level`` is drawn as a thin horizontal
    line, called ``level_name`` in the legend.
    """

    name: str
    values: Callable[[Trace], FloatArray]
    scale: Callable[[Axes, Sequence[Curve]], None]
    level: float | None = None
    level_name: str = ""


def convergence(evidence: Evidence) -> Figure:
    """Margin of the current point along the runs, against queries or iterations and seconds.

    In one panel per problem against the oracle queries or iterations, in another against the
    seconds of the algorithm: a line is the median over the seeds, the shade behind it reaches from
    the lower to the upper quartile (of fewer than four seeds thin lines are the runs themselves),
    and a run that has ended keeps its last value. A marker ends a label all of whose cells have a
    proved answer, a cross one of which some have none; at the edge of a panel it stands for a value
    beyond it. A label without a course is named in the panel. Of
    more than six problems the first six are drawn, as the figure states.

    Margins are negative until a point is feasible, and small afterwards: the axis is logarithmic on
    both sides of a short linear part around 0, so that halving the violation and doubling the
    margin look alike. It reaches down to the worst median; the margin of the point 0, from which
    most methods start, is minus infinity and not drawn.
    """
    margin = Quantity("margin", lambda trace: np.array(trace.margin, dtype=float), scale_margins)
    return draw_histories(evidence, margin)


def scale_margins(axes: Axes, curves: Sequence[Curve]) -> None:
    """Give an axis of margins its two logarithmic halves, and few ticks.

    The linear part between them ends a decade below the best margin, if any is positive; otherwise
    at the decade of the one closest to 0. Negative margins of about one size have a plain axis.
    """
    values = finite_medians(curves)
    values = values[values != 0]
    if not len(values):
        return
    highest, lowest = float(values.max()), float(values.min())
    if highest < 0 and lowest > _ONE_SIZE * highest:
        # Up to 0, where a point becomes feasible, so that the distance to it can be seen
        axes.set_ylim(1.1 * lowest, 0.0)
        return
    # A decade of positive margins is left on the logarithmic half, to show their growth
    decade = floor(log10(abs(highest))) - (1 if highest > 0 else 0)
    axes.set_yscale("symlog", linthresh=10.0**decade, linscale=0.5)
    # Half a decade of room beyond the outermost medians
    axes.set_ylim(3.0 * min(lowest, 0.0), 3.0 * max(highest, 0.0))
    # Ticks at 0 and at the powers of ten beyond the linear part, in equal steps.
    least, most = axes.get_ylim()
    below = [k for k in range(decade + 1, 2) if -(10.0**k) >= least]
    above = [k for k in range(decade + 1, 2) if 10.0**k <= most]
    step = max(1, ceil((len(below) + len(above)) / MOST_TICKS))
    ticks = {0.0: "0"}
    ticks |= {-(10.0**k): f"$-10^{{{k}}}$" for k in below[::-step]}
    ticks |= {10.0**k: f"$10^{{{k}}}$" for k in above[::-step]}
    # The own ticks of a symmetric logarithmic axis would crowd around 0
    axes.yaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.yaxis.set_major_formatter(FixedFormatter(list(ticks.values())))
    axes.yaxis.set_minor_locator(NullLocator())


def certificates(evidence: Evidence) -> Figure:
    """Least bound norm(A w) / <e, w> of the margin so far, along the runs.

    In one panel per problem against the oracle queries or iterations, in another against the
    seconds of the algorithm: a line is the median over the seeds, the shade behind it reaches from
    the lower to the upper quartile (of fewer than four seeds thin lines are the runs themselves),
    and a run that has ended keeps its last value. A marker ends a label all of whose cells have a
    proved answer, a cross one of which some have none; at the edge of a panel it stands for a value
    beyond it. A label without a course is named in the panel. Of
    more than six problems the first six are drawn, as the figure states.

    Weights w in the dual cone prove that the margin is at most norm(A w) / <e, w>. Each run counts
    with the least of its records so far, as computed; all axes are logarithmic. A thin line is the
    epsilon that the experiment asks for, if its goal is an upper bound of the margin. A method
    without weights is named in the panel. That exact weights near those of a run prove that no
    point is feasible is not drawn: it has no place on a logarithmic axis.
    """
    # Only the goal of a bound has an epsilon that this axis can show
    goal = evidence.goal()
    epsilon = goal.margin_upper if isinstance(goal, MarginUpper) else None
    bound = Quantity(
        "bound of the margin",
        least_upper,
        partial(scale_bounds, epsilon=epsilon),
        level=epsilon,
        level_name=f"epsilon = {epsilon:g}" if epsilon else "",
    )
    return draw_histories(evidence, bound)


def least_upper(trace: Trace) -> FloatArray:
    """Return the least upper bound so far, record by record; NaN before the first weights."""
    # fmin ignores the records without weights
    return np.fmin.accumulate(np.array(trace.upper, dtype=float))


def scale_bounds(axes: Axes, curves: Sequence[Curve], epsilon: float | None) -> None:
    """Give an axis of bounds a logarithmic scale that holds the medians above 0 and epsilon."""
    values = finite_medians(curves)
    # With epsilon, so that its line is seen even where no run has come near it
    values = np.append(values[values > 0], [epsilon] if epsilon else [])
    if len(values):
        axes.set_yscale("log")
        axes.set_ylim(values.min() / 3.0, 3.0 * values.max())
        drawing.rule_logarithmic(axes, "y")


def draw_histories(evidence: Evidence, quantity: Quantity) -> Figure:
    """Draw a quantity, for each problem a pair of panels.

    One against the oracle queries or iterations, one against the seconds of the algorithm. A
    line is the median over the seeds, the shade around it reaches from the lower to the upper
    quartile (of fewer than four seeds thin lines are the runs themselves); a run that has ended
    keeps its last value. A dot ends a label all of whose cells have a proved answer, a cross one of
    which some have none; at the edge of a panel it stands for a value beyond it. A label without a
    course, or without this quantity, is named in the panel. Of more than six problems the first
    six are drawn, as the figure states.
    """
    entries = summaries(evidence.frame)
    problems = list(dict.fromkeys(entry.problem for entry in entries))
    looks = looks_of(evidence)
    drawn = problems[:MOST_PROBLEMS]
    figure, pairs, first = _panels(len(drawn), quantity.name)
    for pair, problem in zip(pairs, drawn, strict=True):
        traces = [
            (entry, [t for cell in entry.runs["cell"] if (t := evidence.trace(cell)) is not None])
            for entry in entries
            if entry.problem == problem
        ]
        # Side by side one title serves both panels; apart, each needs its own
        for axes in pair[:1] if len(drawn) <= _ROWS else pair:
            drawing.entitle(axes, title_of(evidence, problem))
        _draw(pair, quantity, traces, looks)
        _name_absent(pair[0], quantity, traces)
    # Tick labels of different widths would set the names of the axes at different distances
    figure.align_ylabels(first)
    names = drawing.spelt_out(evidence.algorithms())
    proved = all(entry.answered for entry in entries)
    named = drawing.handles(looks, proved, names=names, linewidth=1, size=4)
    if quantity.level is not None:
        named.insert(len(looks), Line2D([], [], label=quantity.level_name, **_LEVEL))
    drawing.legend_above(figure, named)
    drawing.name_left_out(figure, drawn, problems, "problems")
    return figure


def _panels(problems: int, quantity: str) -> tuple[Figure, list[tuple[Axes, Axes]], list[Axes]]:
    """Return a figure, the pair of panels of each problem, and the leftmost panels.

    Up to three problems have a row each. More would fill more than a page: those against queries
    stand together, three per row (two of four), and below them those against seconds.
    """
    if problems <= _ROWS:
        figure = drawing.canvas(7.0, 0.6 + 1.9 * problems)
        grid = figure.subplots(problems, 2, squeeze=False, sharey="row")
        pairs = [(left, right) for left, right in grid]
        lowest, first = [pairs[-1]], list(grid[:, 0])
    else:
        beside = 2 if problems == 4 else _BESIDE
        lines = ceil(problems / beside)
        figure = drawing.canvas(7.0, 0.8 + 2 * lines * (1.75 if lines == 2 else 1.4))
        upper, lower = np.split(figure.subplots(2 * lines, beside), 2)
        pairs = list(zip(upper.flat, lower.flat, strict=True))
        for left, right in pairs[problems:]:
            # A grid has panels to spare in its last row
            left.remove()
            right.remove()
        pairs = pairs[:problems]
        for left, right in pairs:
            # Each problem has one scale for both of its panels; margins of different problems
            # differ by decades
            right.sharey(left)
        lowest, first = pairs[-beside:], [*upper[:, 0], *lower[:, 0]]
    for axes in first:
        axes.set_ylabel(quantity)
    # In a column the panels share what their axis says: once is enough
    for pair in lowest:
        for axes, (name, _) in zip(pair, _AXES, strict=True):
            axes.set_xlabel(name)
    return figure, pairs, first


_Traces = Sequence[tuple[Summary, Sequence[Trace]]]


def _draw(
    panels: Sequence[Axes], quantity: Quantity, traces: _Traces, looks: Mapping[str, Look]
) -> None:
    """Draw the panels of one problem."""
    runs = [
        (axes, entry, [History(axis_values(t), quantity.values(t)) for t in traces_of_entry])
        for entry, traces_of_entry in traces
        for axes, (_, axis_values) in zip(panels, _AXES, strict=True)
    ]
    drawn = [(axes, entry, courses, quartile_curve(courses)) for axes, entry, courses in runs]
    curves = [
        (axes, entry, courses, curve) for axes, entry, courses, curve in drawn if curve is not None
    ]
    for axes in panels:
        # First, as the ends of curves are clipped to the limits
        quantity.scale(axes, [curve for *_, curve in curves])
        if quantity.level is not None:
            axes.axhline(quantity.level, **_LEVEL)
    factors = nested(looks)
    for axes, entry, courses, curve in curves:
        look, factor = looks[entry.label], factors[entry.label]
        # The margin of the point 0 is minus infinity, which has no place
        finite = np.isfinite(curve.median)
        at, median, colour = curve.positions[finite], curve.median[finite], look["color"]
        draw_spread(axes, curve, courses, colour)
        style: Style = {
            "color": colour,
            "linestyle": look["linestyle"],
            "linewidth": factor,
        }
        axes.step(at, median, where="post", **style)
        if finite.any():
            end = look["marker"] if entry.answered else "x"
            # A curve that ends outside still shows at the edge how it ended
            last = np.clip(median[-1], *axes.get_ylim())
            size = 3.4 * factor
            axes.plot(
                at[-1], last, color=colour, marker=end, markersize=size, clip_on=False, zorder=3
            )
    for axes in panels:
        # Runs differ by decades in length, and early steps change most
        axes.set_xscale("log")
        spec = axes.get_subplotspec()
        narrow = spec is not None and spec.get_gridspec().ncols == _BESIDE
        drawing.rule_logarithmic(axes, "x", 12.0 if narrow else 300.0)
        drawing.rule(axes, "y", "0.9")


def _name_absent(axes: Axes, quantity: Quantity, traces: _Traces) -> None:
    """Say which labels have cells without a course, or runs without the quantity."""
    ended = [
        f"{entry.label}: {entry.status_counts}"
        for entry, traces_of_entry in traces
        # A label without cells counts as absent too
        if len(traces_of_entry) < max(1, entry.seeds)
    ]
    without = [
        entry.label
        for entry, traces_of_entry in traces
        if any(np.isnan(quantity.values(trace)).all() for trace in traces_of_entry)
    ]
    notes = ["no trace: " + "; ".join(ended)] if ended else []
    notes += [f"no {quantity.name}: " + ", ".join(without)] if without else []
    if notes:
        position = (0.02, 0.03)
        axes.annotate("\n".join(notes), position, xycoords="axes fraction", fontsize=6, color="0.3")
