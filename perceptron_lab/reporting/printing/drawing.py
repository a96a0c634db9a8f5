"""Style, colours, axes and legends of figures."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from math import ceil
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.core.trace_figure import InlineFigure
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.summary import Summary, answered

Line = Literal["-", "--", ":", "-."]
Style = dict[str, Any]
"""Settings of lines and markers, by matplotlib's names."""

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

# Okabe and Ito's palette, distinct for every kind of colour vision; without its yellow, which
# is too pale for small markers on white; two rows of darker colours follow, whose lines are dashed
# and dotted.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
    *("#332288", "#882255", "#999933", "#8C510A", "#7F7F7F", "#44AA99", "#66A61E"),
    *("#117733", "#B2182B", "#6699CC", "#AA4499", "#A6761D", "#404040", "#661100"),
)
_IN_A_ROW = 7
# Index of the colour of each algorithm. Those that occur in the same figures differ.
_OF_ALGORITHMS: dict[str, int] = {
    **{"mirror-prox": 0, "minimum-norm-point": 0, "low-rank": 0, "ellipsoid-separation": 0},
    **{"online-kernel-perceptron": 0, "smoothed-perceptron": 1, "perceptron-with-margin": 1},
    **{"soft-ellipsoid": 1, "dsdp5": 1, "normalized-perceptron": 2, "margin-bisection": 2},
    **{"clarabel": 2, "clarabel-direct": 2, "polynomial-svm": 2, "von-neumann": 3, "linear-svc": 3},
    **{"csdp": 3, "linear-scorer": 3, "iterated-smoothed-von-neumann": 4, "highs": 4},
    **{"conic-rescaled-perceptron": 4, "adaptive-mirror-prox": 5, "scs": 5, "scs-direct": 5},
    **{"auto": 6, "smoothed-von-neumann": 7, "interior-point": 7, "perceptron": 8},
    **{"online-perceptron": 8, "whitened": 8, "winnow": 9, "nnls": 9, "relaxed-perceptron": 9},
    **{"rescaled-perceptron": 10, "ellipsoid": 12, "second-order-perceptron": 13, "svc": 13},
    **{"sgd": 14, "projection-rescaling": 15, "deterministic-rescaled-perceptron": 16},
    **{"derandomised-rescaled-perceptron": 19},
    **{"sklearn-perceptron": 16, "correlation-rescaling": 17, "primal-dual": 17},
    **{"space-dilation": 18, "ecos": 18, "cyclic-perceptron": 20},
}
MOST_COLOURED = 6
"""The most series of a panel in colour; further ones are grey."""
GREY = "#A8A8A8"
_MARKERS = ("o", "s", "D", "^", "v", "P", "h", "<")
_LINES: tuple[Line, ...] = ("-", "--", ":", "-.")

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


class Look(TypedDict):
    """Colour, marker and line of one label, in every panel and in the legend."""

    color: str
    marker: str
    linestyle: Line


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """Return label -> look; 21 labels differ in colour, 84 in colour or line, and 168 at all."""
    return {
        label: {
            "color": _COLOURS[i % len(_COLOURS)],
            "marker": _MARKERS[i % len(_MARKERS)],
            "linestyle": _LINES[i // _IN_A_ROW % len(_LINES)],
        }
        for i, label in enumerate(labels)
    }


def looks_of(
    evidence: Evidence,
    labels: Iterable[str] | None = None,
    algorithms: Mapping[str, str] | None = None,
) -> dict[str, Look]:
    """Return label -> look of the labels of an experiment, by default of all.

    An algorithm has the same colour in all figures; where several labels are all of one algorithm,
    each has its own. Of more than six labels those are in colour that answered most instances, and
    of equally many those with the least median time; the others are grey, and follow.
    ``algorithms`` are the names by label, by default those of the rows.
    """
    frame = evidence.frame
    listed = list(frame["label"].unique() if labels is None else labels)
    named = algorithms or evidence.algorithms()
    if len(listed) > 1 and len({named.get(label, label) for label in listed}) == 1:
        return looks(listed)
    leading = sorted(listed, key=lambda label: _rank(frame[frame["label"] == label]))
    return algorithm_looks(listed, algorithms or evidence.algorithms(), leading[:MOST_COLOURED])


def _rank(runs: pd.DataFrame) -> tuple[int, float]:
    """Return a key that is least for the label with most answers, the quickest of equals."""
    answers = answered(runs)
    seconds = runs["seconds"].where(answers).median()
    return -int(answers.sum()), float(np.nan_to_num(seconds, nan=np.inf))


def algorithm_looks(
    labels: Sequence[str], algorithms: Mapping[str, str], coloured: Collection[str]
) -> dict[str, Look]:
    """Return label -> look, in the colours of the algorithms; grey labels are last.

    Labels of one algorithm differ in marker and line.

    Parameters
    ----------
    labels
        In their order.
    algorithms
        Label -> the name of its algorithm.
    coloured
        The labels that are not grey.
    """
    names = [algorithms.get(label, label) for label in labels]
    taken_indices = {_OF_ALGORITHMS[name] for name in names if name in _OF_ALGORITHMS}
    free = [index for index in range(len(_COLOURS)) if index not in taken_indices]
    unknown = [name for name in dict.fromkeys(names) if name not in _OF_ALGORITHMS]
    colours = {name: _COLOURS[free[i % len(free)]] for i, name in enumerate(unknown)}
    colours |= {name: _COLOURS[index] for name, index in _OF_ALGORITHMS.items()}
    styles: dict[str, Look] = {}
    for i, (label, name) in enumerate(zip(labels, names, strict=True)):
        colour = colours[name] if label in coloured else GREY
        before = sum(look["color"] == colour for look in styles.values())
        styles[label] = {
            "color": colour,
            "marker": _MARKERS[(before if colour == GREY else i) % len(_MARKERS)],
            "linestyle": _LINES[before % len(_LINES)],
        }
    return dict(sorted(styles.items(), key=lambda pair: pair[1]["color"] == GREY))


def nested(labels: Iterable[str]) -> dict[str, float]:
    """Return label -> a factor of its lines' width and its markers' size, in decreasing order.

    What is drawn later is thinner and smaller, so that the first of two equal curves is seen below
    the second.
    """
    listed = list(labels)
    steps = max(1, len(listed) - 1)
    return {label: 1.7 - 0.9 * number / steps for number, label in enumerate(listed)}


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


def title_of(evidence: Evidence, problem: str, without: str = "") -> str:
    """Return the title of a problem in words, as :func:`in_words` makes it."""
    parameters = dict(evidence.parameters(problem))
    for name, size in zip(("dimension", "rows"), evidence.shapes().get(problem, ()), strict=False):
        if parameters.get(name) is None:
            parameters[name] = size
    return in_words(problem, parameters, without)


def in_words(problem: str, parameters: Mapping[str, Any], without: str = "") -> str:
    """Return the title of a problem in words, or the title itself if it has another form.

    Parameters
    ----------
    problem
        A name of words and numbers, each the value of a parameter, and settings such as degree=2.
    parameters
        Those of its dataset.
    without
        A parameter to leave out.

    Examples
    --------
    >>> sizes = {"rows": 5000, "dimension": 100, "kappa": 0.3}
    >>> in_words("reflected-100x5000-0.3", sizes)
    'reflected, 5000 rows, dimension 100, kappa 0.3'
    >>> in_words("reflected-100x5000-0.3 rows=5000 degree=2", sizes, without="rows")
    'reflected, dimension 100, kappa 0.3, degree 2'
    >>> in_words("digits-3-rest", {}), in_words("digits-8-9 degree=2", {"task": "pairs"})
    ('digits, 3 against the rest', 'digits, 8 against 9, degree 2')
    >>> in_words("mcp100", {})
    'mcp100'
    """
    name, *settings = problem.split(" ")
    words = _words(name, parameters, without)
    if not words or not all("=" in setting for setting in settings):
        return problem
    stated = (setting for setting in settings if setting.partition("=")[0] != without)
    return ", ".join([*words, *(setting.replace("=", " ") for setting in stated)])


def _words(name: str, parameters: Mapping[str, Any], without: str) -> list[str]:
    """Return the words of a name without settings; none if it has another form."""
    if match := re.fullmatch(r"([a-z-]+)-(\w+)-rest", name):
        return [match[1], f"{match[2]} against the rest"]
    if parameters.get("task") == "pairs" and (
        match := re.fullmatch(r"([a-z-]+)-(\w+)-(\w+)", name)
    ):
        return [match[1], f"{match[2]} against {match[3]}"]
    if re.fullmatch("[a-z-]+", name):
        return [name]
    kind = re.match(r"[a-z-]+(?=-\d)", name)
    numbers = {float(number) for number in re.findall(r"\d[\d.]*(?:e[-+]?\d+)?", name)}
    values = {key: value for key, value in parameters.items() if _is_one_of(value, numbers)}
    if kind is None or numbers - {float(value) for value in values.values()}:
        return []
    sizes = {key: values.pop(key) for key in ("rows", "dimension") if key in values}
    flags = [key for key, value in parameters.items() if value is True and f"-{key}" in name]
    words = [_with_value(key, value) for key, value in (sizes | values).items() if key != without]
    return [kind[0], *words, *flags]


def _is_one_of(value: Any, numbers: Collection[float]) -> bool:
    """Return whether a parameter has one of the numbers as its value."""
    try:
        return not isinstance(value, bool) and float(value) in numbers
    except (TypeError, ValueError):
        return False


def _with_value(parameter: str, value: Any) -> str:
    """Return a parameter with its value, in words."""
    number = f"{float(value):.15g}"
    return f"{number} rows" if parameter == "rows" else f"{parameter.replace('_', ' ')} {number}"


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


_DASHES: tuple[Line, ...] = ("-", "--", "-.", ":")


def curve_looks(names: Sequence[str]) -> dict[str, Style]:
    """Return name -> colour, dashes and width; four in a row differ in dashes, then in width."""
    return {
        name: {
            "color": look["color"],
            "linestyle": _DASHES[number % len(_DASHES)],
            "linewidth": 1.1 + 0.9 * (number // len(_DASHES)),
        }
        for number, (name, look) in enumerate(looks(names).items())
    }


def draw_curves(
    axes: Axes, x: npt.ArrayLike, curves: Mapping[str, npt.ArrayLike], **legend: Any
) -> None:
    """Draw curves over the same x, with a legend in the panel."""
    for name, look in curve_looks(list(curves)).items():
        axes.plot(x, curves[name], label=name, **look)
    axes.legend(frameon=False, **legend)


MOST_POSITIONS = 200
"""The largest number of positions of a curve; more would not be seen."""


class History(NamedTuple):
    """A quantity along one run, record by record; NaN where a record has none.

    ``positions`` (queries, seconds) do not decrease.
    """

    positions: FloatArray
    values: FloatArray


class Curve(NamedTuple):
    """Quartiles of a quantity over the runs, each a value of some run, at increasing places."""

    positions: FloatArray
    lower: FloatArray
    median: FloatArray
    upper: FloatArray


def queries_or_iterations(trace: Trace) -> FloatArray:
    """Return how often a run has asked its system, record by record: oracle queries or iterations.

    A method that is not mistake-driven has few queries or none, one that is has one and more per
    update; the larger of the two is meant.
    """
    return np.maximum(trace.queries, trace.updates).astype(float)


def quartile_curve(courses: Sequence[History]) -> Curve | None:
    """Return the quartiles of runs over their places; None if no value has a place above 0.

    Between two values a run has the earlier one, and after its last the last: it has ended, and
    what it found stays. The curve begins where the last run has begun, so that no run comes in
    later and makes it jump; runs without a value at a place above 0 do not count.
    """
    begun = []
    for positions, values in courses:
        valid = ~np.isnan(values) & (positions > 0)
        if valid.any():
            begun.append(History(positions[valid], values[valid]))
    if not begun:
        return None
    grid: FloatArray = np.unique(np.concatenate([history.positions for history in begun]))
    grid = grid[grid >= max(history.positions[0] for history in begun)]
    if len(grid) > MOST_POSITIONS:  # thinned out evenly on a logarithmic axis
        sampled = np.searchsorted(grid, np.geomspace(grid[0], grid[-1], MOST_POSITIONS)[:-1])
        grid = np.asarray(grid[np.unique([*sampled, len(grid) - 1])])
    # At each place of the grid the last value at or before it.
    values = np.array(
        [
            history.values[np.searchsorted(history.positions, grid, side="right") - 1]
            for history in begun
        ]
    )
    # An observed value and not one between two, which may be infinite.
    quartiles = np.quantile(values, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    return Curve(grid, *quartiles)


def finite_medians(curves: Sequence[Curve]) -> FloatArray:
    """Return the medians of all curves that are finite, in one array."""
    values: FloatArray = np.concatenate([curve.median for curve in curves] or [np.zeros(0)])
    return values[np.isfinite(values)]


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
