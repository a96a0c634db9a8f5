"""Style, colours, axes and legends of figures."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence, Sized
from math import ceil
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from perceptron_lab.core.trace_figure import InlineFigure
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.curves import Curve, History
from perceptron_lab.reporting.printing.looks import Look, Style, curve_looks, nested
from perceptron_lab.reporting.summary import Summary

STYLE: list[str | Style] = [
    "default",
    {
        "font.size": 8,
        "axes.labelsize": 8,
        "axes.titlesize": 8,
        "axes.linewidth": 0.6,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7,
        "pdf.fonttype": 42,
        "svg.hashsalt": "perceptron_lab",
    },
]
"""The reader's own matplotlibrc is set aside, so that the same runs give the same bytes."""


LOWER_EDGE = 0.03
"""Height, as a part of a logarithmic axis, of values that it cannot show."""
LETTER = 0.055
"""Inches that a letter takes at 7 points; at 8 points, as titles have, 8 / 7 of it."""
BESIDE = 3
"""The number of panels per row on a page."""
TICKS = 0.8
"""Inches of a figure's width outside its panels, at least."""
SECONDS = "seconds, proofs excluded"
"""The name of the axis of the time of an algorithm alone."""
UNPROVED = "not proved"
"""The legend's name of a cross."""


def canvas(width: float, height: float) -> InlineFigure:
    """Return an empty figure of a size in inches, outside matplotlib's global state."""
    figure = InlineFigure(figsize=(width, height), layout="constrained")
    # pyplot would keep every figure until it is closed, and choose a backend by the reader's screen
    FigureCanvasAgg(figure)
    return figure


def panel(width: float, height: float) -> tuple[InlineFigure, Axes]:
    """Return a figure of one panel, of a size in inches, and the panel."""
    figure = canvas(width, height)
    return figure, figure.subplots()


def panels(
    count: int,
    width: float,
    head: float,
    height: float,
    *,
    least: float = 4.6,
    sharey: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with this number of panels, three per row.

    Panels have a width and a height in inches, above them is the head; the figure has at least a
    width.
    """
    beside = min(BESIDE, count)
    lines = ceil(count / beside)
    figure = canvas(max(least, width * beside), head + height * lines)
    grid = list(figure.subplots(lines, beside, squeeze=False, sharey=sharey).flat)
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]


def draw(figure: Callable[[Evidence], Figure], evidence: Evidence) -> Figure:
    """Draw a registered figure in the package's style."""
    with style.context(STYLE):
        return figure(evidence)


def points(
    axes: Axes,
    pairs: Sequence[tuple[float, float | None]],
    name: str,
    look: Look,
    markersize: float,
    fillstyle: Literal["full", "none"] = "full",
) -> None:
    """Plot numbers above 0 at their height, and others at the lower edge of a logarithmic axis."""
    # At the edge rather than left out: a run without a number is not a run that did not happen
    visible = [(x, y) for x, y in pairs if y is not None and y > 0]
    edge = [(x, LOWER_EDGE) for x, y in pairs if y is None or y <= 0]
    layers = ((name, visible, axes.transData), (f"{name}, edge", edge, axes.get_xaxis_transform()))
    for label, pairs_of_layer, transform in layers:
        if pairs_of_layer:
            axes.plot(
                *zip(*pairs_of_layer, strict=True),
                label=label,
                color=look["color"],
                marker=look["marker"],
                linestyle="none",
                markersize=markersize,
                markeredgewidth=0.8,
                fillstyle=fillstyle,
                transform=transform,
            )


def draw_bar(
    axes: Axes, position: float, ends: Sequence[float], colour: str, width: float = 0.8
) -> None:
    """Draw a vertical bar from the lower to the upper end."""
    # A butt cap ends where the value is; a projecting one would lengthen the bar
    axes.plot([position, position], ends, color=colour, linewidth=width, solid_capstyle="butt")


def draw_medians(
    axes: Axes,
    styles: Mapping[str, Look],
    entries: Sequence[tuple[float, Summary]],
    column: str,
    answered: Callable[[Summary], bool],
) -> None:
    """Draw medians of a column over the seeds on logarithmic axes, joined by a line per label.

    Bars reach from quartile to quartile.

    Parameters
    ----------
    entries
        Where on the horizontal axis each summary stands, in increasing order.
    answered
        Whether a summary has a marker; otherwise a cross, at the lower edge if there is no number.
    """
    axes.set(xscale="log", yscale="log")
    factors = nested(styles)
    for label, look in styles.items():
        factor = factors[label]
        line_entries = [
            (x, entry, entry.median(column)) for x, entry in entries if entry.label == label
        ]
        # A median of 0 has no place on a logarithmic axis
        line = [(x, y) for x, _, y in line_entries if y]
        colour, dashes = look["color"], look["linestyle"]
        axes.plot(
            [x for x, _ in line], [y for _, y in line], color=colour, ls=dashes, lw=0.8 * factor
        )
        for x, entry, _ in line_entries:
            values = entry.runs[column].dropna()
            if len(values) > 1:
                draw_bar(axes, x, values.quantile([0.25, 0.75]).tolist(), colour)
        proved = [(x, y) for x, entry, y in line_entries if answered(entry)]
        unproved = [(x, y) for x, entry, y in line_entries if not answered(entry)]
        points(axes, proved, f"{label} proved", look, markersize=3.2 * factor)
        points(axes, unproved, f"{label} {UNPROVED}", {**look, "marker": "x"}, markersize=5.0)
    rule_logarithmic(axes, "both")


def rule_logarithmic(
    axes: Axes,
    which: Literal["x", "y", "both"],
    longest: float = 300.0,
    steps: Sequence[float] = (1, 2, 5),
) -> None:
    """Rule at plain numbers: 1, 2, 5, 10 on a short axis, whole decades on a long one.

    The ends of a short one differ by less than the factor ``longest``; ``steps`` are its numbers
    from 1 to 10.
    """
    both = ("x", axes.xaxis, axes.get_xlim()), ("y", axes.yaxis, axes.get_ylim())
    for name, axis, (lowest, highest) in both:
        if which in (name, "both"):
            axis.set_major_locator(LogLocator(subs=steps if highest < longest * lowest else (1,)))
            # Matplotlib would print powers of ten even for 1 and 10
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_formatter(NullFormatter())
    rule(axes, which, "0.9")


def rule(axes: Axes, which: Literal["x", "y", "both"], grey: str) -> None:
    """Draw pale lines at the ticks, below everything else."""
    axes.grid(axis=which, color=grey, linewidth=0.6)
    # By default matplotlib draws the grid above filled areas
    axes.set_axisbelow(True)


def spelt_out(algorithms: Mapping[str, str]) -> dict[str, str]:
    """Return label -> label, an acronym followed by the algorithm where it occurs first.

    Examples
    --------
    >>> spelt_out({"VN": "von-neumann", "VN best": "von-neumann", "SCS": "scs"})
    {'VN': 'VN (von-neumann)', 'VN best': 'VN best', 'SCS': 'SCS'}
    """
    explained: set[tuple[str, str]] = set()
    names = {}
    for label, algorithm in algorithms.items():
        words = algorithm.lower().split("-")
        short = [word for word in label.split() if re.fullmatch("[A-Z]{2,}", word)]
        unknown = {(word, algorithm) for word in short if word.lower() not in words} - explained
        names[label] = f"{label} ({algorithm})" if unknown else label
        explained |= unknown
    return names


def legend_above(figure: Figure, handles: Sequence[Line2D], rows: int = 1) -> None:
    """Name the handles above the panels, in more rows of equal length where names are long."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    # Handle and spaces take about 0.45 inches of each name
    fitting = max(1, int(figure.get_figwidth() / (0.45 + LETTER * longest)))
    # Rows of equal length: a last row of one name would waste a line
    columns = ceil(len(handles) / max(rows, ceil(len(handles) / fitting)))
    # Inside a panel it would hide curves; constrained layout makes room for it outside
    figure.legend(handles=list(handles), loc="outside upper center", ncols=columns, frameon=False)


def entitle(axes: Axes, title: str) -> None:
    """Write the title of a panel above its left end, broken where it is longer than the panel.

    It is broken after commas, or else at blanks and after hyphens.
    """
    grid, figure = axes.get_gridspec(), axes.get_figure()
    assert isinstance(figure, Figure)
    beside = 1 if grid is None else grid.ncols
    width = (figure.get_figwidth() - TICKS) / beside
    letters = max(1, int(width / (LETTER * 8.0 / 7.0)))
    glued = re.sub("(?<!,) ", "\N{NO-BREAK SPACE}", title)
    fits = max(map(len, glued.split(" "))) <= letters
    lines = textwrap.wrap(glued if fits else title, letters)
    axes.set_title("\n".join(lines).replace("\N{NO-BREAK SPACE}", " "), loc="left")


def name_left_out(figure: Figure, drawn: Sized, available: Sized, things: str) -> None:
    """Say below the panels that not everything is drawn, if so."""
    if len(drawn) < len(available):
        figure.supxlabel(f"showing the first {len(drawn)} of {len(available)} {things}", fontsize=7)


def handles(
    styles: Mapping[str, Look],
    proved: bool = True,
    *,
    names: Mapping[str, str] | None = None,
    linewidth: float = 0.8,
    size: float = 3.5,
) -> list[Line2D]:
    """Return the legend entries of the labels, and of a cross if an answer is not proved.

    ``names`` are longer names of labels, as of :func:`spelt_out`.
    """
    named = names or {}
    lines = [
        Line2D([], [], label=named.get(label, label), markersize=size, linewidth=linewidth, **look)
        for label, look in styles.items()
    ]
    cross = Line2D([], [], label=UNPROVED, color="0.3", marker="x", linestyle="none")
    return lines if proved else [*lines, cross]


def draw_curves(
    axes: Axes, x: npt.ArrayLike, curves: Mapping[str, npt.ArrayLike], **legend: Any
) -> None:
    """Draw curves over the same x, with a legend in the panel."""
    for name, look in curve_looks(list(curves)).items():
        axes.plot(x, curves[name], label=name, **look)
    axes.legend(frameon=False, **legend)


FEWEST = 4
"""Of fewer runs the quartiles are the least and the largest: their band would be a blank block."""


def draw_spread(axes: Axes, curve: Curve, courses: Sequence[History], colour: str) -> None:
    """Draw the band between the quartiles, or of fewer than four runs a thin line for each.

    Below the medians of all labels, and pale: those of many labels overlap.
    """
    if len(courses) >= FEWEST:
        finite = np.isfinite(curve.median)
        ends = curve.lower[finite], curve.upper[finite]
        shade: Style = {"color": colour, "alpha": 0.1, "linewidth": 0, "zorder": 1.0}
        axes.fill_between(curve.positions[finite], *ends, step="post", **shade)
    elif len(courses) > 1:
        for positions, values in courses:
            finite = np.isfinite(values) & (positions > 0)
            style: Style = {"color": colour, "alpha": 0.45, "linewidth": 0.5}
            axes.step(positions[finite], values[finite], where="post", zorder=1.0, **style)
