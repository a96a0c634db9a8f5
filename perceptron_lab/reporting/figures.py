"""Figures: functions of the table of runs, by name, drawn without matplotlib's global state."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from math import ceil
from typing import Any, Literal, TypedDict

import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from perceptron_lab.reporting.comparison import Comparison, Entry, compare

STYLE: list[str | dict[str, Any]] = [
    "default",
    {
        "font.size": 8,
        "axes.labelsize": 8,
        "axes.linewidth": 0.6,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7,
        "pdf.fonttype": 42,
    },
]
"""The reader's own matplotlibrc is set aside, so that the same runs give the same bytes."""

# Okabe and Ito's palette, told apart with every kind of colour vision; without its yellow, which
# is too pale for small markers on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "D", "^", "v", "P", "h", "<")
_LOWER_EDGE = 0.03
_LETTER = 0.055
"""Inches that a letter takes at 7 points."""


class _Look(TypedDict):
    """How one label is drawn, in every panel and in the legend."""

    color: str
    marker: str
    linestyle: Literal["none"]


def render(
    draw: Callable[[pd.DataFrame], Figure],
    runs: pd.DataFrame,
    title: str,
    kind: Literal["png", "pdf"],
) -> bytes:
    """Return a figure as the bytes of a file: the same for the same runs, with no date in it.

    Parameters
    ----------
    draw
        A function of :data:`FIGURES`.
    runs
        The table of runs.
    title
        Recorded in the file's metadata, not drawn: captions belong to the document.
    kind
        The format, ``png`` (300 dots per inch) or ``pdf``.
    """
    buffer = BytesIO()
    undated: dict[str, dict[str, str | None]] = {
        "png": {"Title": title, "Software": None},
        "pdf": {"Title": title, "Creator": None, "Producer": None, "CreationDate": None},
    }
    with style.context(STYLE):  # also fonts are chosen when the figure is saved
        draw(runs).savefig(buffer, format=kind, dpi=300, metadata=undated[kind])
    return buffer.getvalue()


def table_6_1(runs: pd.DataFrame) -> Figure:
    """Draw Table 6.1: queries above and seconds below, per problem, on logarithmic axes.

    Filled markers are ours, hollow ones of the same colour and shape are the thesis's. A cross is
    an entry that is not a proved feasible point, at the lower edge where it has no number at all.

    Parameters
    ----------
    runs
        The table of runs of homogenised systems, one row per cell.

    Raises
    ------
    DataError
        If the runs are empty, incomplete or contradict one another.
    """
    comparison = compare(runs)
    with style.context(STYLE):
        figure = _canvas(comparison)
        upper, lower = figure.subplots(2, 1, sharex=True)
        _panel(upper, comparison, "oracle queries", *_QUERIES)
        _panel(lower, comparison, "seconds", *_SECONDS)
        _name_problems(lower, list(comparison.orders), figure.get_figwidth())
        _add_legend(figure, comparison)
    return figure


_Value = Callable[[Entry], float | None]
_QUERIES: tuple[_Value, _Value] = (
    lambda entry: entry.queries,
    lambda entry: entry.thesis.queries if entry.thesis else None,
)
_SECONDS: tuple[_Value, _Value] = (
    lambda entry: entry.seconds,
    lambda entry: entry.thesis.seconds if entry.thesis else None,
)


def _canvas(comparison: Comparison) -> Figure:
    """Half a page wide, and wider only where the markers would no longer keep apart."""
    slots = len(comparison.orders) * (1 + len(comparison.labels))
    figure = Figure(figsize=(min(7.2, max(3.5, 0.07 * slots)), 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _looks(comparison: Comparison) -> dict[str, _Look]:
    return {
        label: {
            "color": _COLOURS[i % len(_COLOURS)],
            "marker": _MARKERS[i % len(_MARKERS)],
            "linestyle": "none",
        }
        for i, label in enumerate(comparison.labels)
    }


def _panel(axes: Axes, comparison: Comparison, name: str, ours: _Value, thesis: _Value) -> None:
    axes.set_yscale("log")
    axes.set_ylabel(name)
    labels = comparison.labels
    for i, (label, look) in enumerate(_looks(comparison).items()):
        # Side by side within the width of a problem, so that equal numbers do not hide each other.
        shift = (i - (len(labels) - 1) / 2) * 0.7 / len(labels)
        entries = list(enumerate(comparison.column(label)))
        answers = [(j + shift, ours(e)) for j, e in entries if e.proved]
        others = [(j + shift, ours(e)) for j, e in entries if not e.proved]
        printed = [(j + shift, thesis(e)) for j, e in entries if e.thesis]
        _points(axes, answers, f"{label} proved", look, markersize=3.2)
        _points(axes, printed, f"{label} thesis", look, markersize=6, fillstyle="none")
        cross: _Look = {**look, "marker": "x"}
        _points(axes, others, f"{label} not proved", cross, markersize=5)
    _ruling(axes)


def _points(
    axes: Axes,
    points: list[tuple[float, float | None]],
    name: str,
    look: _Look,
    markersize: float,
    fillstyle: Literal["full", "none"] = "full",
) -> None:
    """Plot what a logarithmic axis can show at its height, and the rest at the lower edge."""
    shown = [(x, y) for x, y in points if y is not None and y > 0]
    edge = [(x, _LOWER_EDGE) for x, y in points if y is None or y <= 0]
    places = ((name, shown, axes.transData), (f"{name}, edge", edge, axes.get_xaxis_transform()))
    for label, chosen, transform in places:
        if chosen:
            axes.plot(
                *zip(*chosen, strict=True),
                label=label,
                markersize=markersize,
                markeredgewidth=0.8,
                fillstyle=fillstyle,
                transform=transform,
                **look,
            )


def _ruling(axes: Axes) -> None:
    """Rule at plain numbers: 1, 2, 5, 10 on a short axis, whole decades on a long one."""
    lowest, highest = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if highest < 300 * lowest else (1,)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.grid(axis="x", color="0.95", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", length=0)


def _name_problems(axes: Axes, names: list[str], width: float) -> None:
    fitting = max(map(len, names)) * _LETTER < 0.8 * width / len(names)
    axes.set_xticks(range(len(names)), names, rotation=0 if fitting else 90)
    axes.set_xlim(-0.6, len(names) - 0.4)


def _add_legend(figure: Figure, comparison: Comparison) -> None:
    """Name ours above the thesis's, or all in a line, in fewer columns where names are long."""
    handles = _handles(comparison)
    rows = 2 if any(map(comparison.has_thesis, comparison.labels)) else 1
    longest = max(len(str(handle.get_label())) for handle in handles)
    fitting = int(figure.get_figwidth() / (0.45 + _LETTER * longest))
    columns = max(1, min(ceil(len(handles) / rows), fitting))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False)


def _handles(comparison: Comparison) -> list[Line2D]:
    handles = []
    for label, look in _looks(comparison).items():
        handles.append(Line2D([], [], label=label, markersize=3.2, markeredgewidth=0.8, **look))
        if comparison.has_thesis(label):
            name = f"{label}, thesis"
            handles.append(Line2D([], [], label=name, markersize=6, fillstyle="none", **look))
    if not all(entry.proved for entry in comparison.entries.values()):
        handles.append(
            Line2D([], [], label="not proved", color="0.3", marker="x", linestyle="none")
        )
    return handles


FIGURES: dict[str, Callable[[pd.DataFrame], Figure]] = {"table_6_1": table_6_1}
"""Name in a configuration -> function of the table of runs."""
