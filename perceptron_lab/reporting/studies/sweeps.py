"""Curves of a sweep: a column of the runs against another, one line per value of a third."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError, did_you_mean
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.experiments.configuration.config import Curves
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import PARAMETER, Evidence
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.looks import Look, Style, distinct_looks, looks_of, nested
from perceptron_lab.reporting.summary import CLAIMS

# Positive numbers that spread by this factor have a logarithmic axis
_WIDE = 20.0
# The most values on the horizontal axis that have a tick each
_TICKS = 8


class Group(NamedTuple):
    """The rows of one line at one place.

    ``quartiles`` of the numbers, lower, middle and upper, are None where they are missing;
    ``answered``: whether every row has an answer, proved or, of learners, fitted.
    """

    position: float
    quartiles: tuple[float, float, float] | None
    rows: pd.DataFrame
    answered: bool


def draw_curves(evidence: Evidence, curves: Curves) -> Figure:
    """Draw medians of the column y against x, with a band between the quartiles.

    Medians are taken over all rows of equal x and ``by``: the seeds, and whatever else is not told
    apart, which is said below the axes. An axis of numbers above 0 that spread widely is
    logarithmic; an x that is no number has its values side by side. A cross is a median of rows of
    which some have no proved answer, at the lower edge where there is no number.
    """
    frame, values = evidence.frame, _numbers(evidence, curves.y)
    # An empty figure would hide the wrong name of a column
    if values.isna().all():
        raise DataError(f"the column {curves.y} has no numbers; set y to another column")
    positions, names = _positions(evidence, curves.x)
    lines = _column(evidence, curves.by).astype(str)
    names_of_lines = list(dict.fromkeys(lines))
    by_label = curves.by == "label"
    looks = looks_of(evidence) if by_label else distinct_looks(names_of_lines)
    groups = {name: list(_groups(frame, positions, values, lines == name)) for name in looks}
    figure, axes = drawing.panel(4.8, 3.2 + 0.05 * len(looks))
    factors = nested(looks)
    for name, look in looks.items():
        _draw(axes, name, groups[name], look, factors[name])
    _scale(axes, "x", positions.to_numpy(), names)
    # By the quartiles that are drawn, not by single runs far outside
    _scale(axes, "y", np.array([q for g in groups.values() for q in _quartile_values(g)]), ())
    axes.set(xlabel=_readable_name(curves.x), ylabel=_readable_name(curves.y))
    if note := _pooled(curves, [group for line_groups in groups.values() for group in line_groups]):
        # Pooled problems are not repetitions: whoever reads the band must know what it spreads over
        figure.supxlabel(note, fontsize=6)
    titles = drawing.spelt_out(evidence.algorithms()) if by_label else {}
    answered = all(group.answered for line_groups in groups.values() for group in line_groups)
    if not by_label:
        titles = {name: f"{_readable_name(curves.by)} {name}" for name in looks}
    drawing.legend_above(figure, drawing.handles(looks, answered, names=titles))
    return figure


def _column(evidence: Evidence, name: str) -> pd.Series:
    """Return a column of the runs."""
    columns = list(map(str, evidence.frame.columns))
    if name not in columns:
        raise DataError(
            f"the runs have no column {name!r}{did_you_mean(name, columns)}; they have "
            f"{', '.join(columns)}"
        )
    return evidence.frame[name]


def _numbers(evidence: Evidence, name: str) -> pd.Series:
    return reals(_column(evidence, name), invalid="coerce")


def _positions(evidence: Evidence, name: str) -> tuple[pd.Series, Sequence[str]]:
    """Return where rows stand on the horizontal axis, and the names of its ticks if it has such."""
    column, numbers = _column(evidence, name), _numbers(evidence, name)
    if numbers.notna().all():
        return numbers, ()
    # One value that is no number makes all of them names: they have no common scale
    texts = column.astype(str)
    names = list(dict.fromkeys(texts))
    return texts.map({text: float(position) for position, text in enumerate(names)}), names


def _groups(
    frame: pd.DataFrame, positions: pd.Series, values: pd.Series, line_rows: pd.Series
) -> Iterator[Group]:
    """Yield the groups of one line, from left to right."""
    proved = frame["status"].isin(CLAIMS) & frame["proved"]
    answered = proved | (frame["status"] == Status.FITTED)
    for position in sorted(positions[line_rows].unique()):
        selected = line_rows & (positions == position)
        present = values[selected].dropna()
        low, middle, high = present.quantile([0.25, 0.5, 0.75])
        quartiles = (low, middle, high) if len(present) else None
        yield Group(float(position), quartiles, frame[selected], bool(answered[selected].all()))


def _quartile_values(groups: Sequence[Group]) -> list[float]:
    return [value for group in groups if group.quartiles for value in group.quartiles]


def _draw(axes: Axes, name: str, groups: Sequence[Group], look: Look, factor: float) -> None:
    """Draw one line with its band."""
    pairs = [(group, group.quartiles) for group in groups if group.quartiles is not None]
    at = [group.position for group, _ in pairs]
    low, middle, high = np.array([quartiles for _, quartiles in pairs]).reshape(-1, 3).T
    colour = look["color"]
    shade: Style = {"color": colour, "alpha": 0.12, "linewidth": 0, "zorder": 1.0}
    # Quartiles, not a deviation: times and counts are skewed, and limits cut them off
    axes.fill_between(at, low, high, **shade)
    axes.plot(at, middle, color=colour, ls=look["linestyle"], lw=factor, label=name)
    marks: Style = {"color": colour, "linestyle": "none", "markersize": 3.4 * factor}
    for proved, marker in ((True, look["marker"]), (False, "x")):
        points = [(group.position, q[1]) for group, q in pairs if group.answered == proved]
        if points:
            axes.plot(*zip(*points, strict=True), marker=marker, **marks)
    empty = [(group.position, None) for group in groups if group.quartiles is None]
    drawing.points(axes, empty, f"{name} without number", {**look, "marker": "x"}, markersize=5)


def _scale(axes: Axes, which: Literal["x", "y"], values: FloatArray, names: Sequence[str]) -> None:
    """Choose a linear or logarithmic axis, with a tick for each of a few values."""
    distinct = np.unique(values)
    ticks = distinct if which == "x" and len(distinct) <= _TICKS else distinct[:0]
    # Texts have no scale: equal distances
    if names:
        # Upright beyond a few names, as they would run into each other
        axes.set_xticks(range(len(names)), list(names), rotation=90 if len(names) > 4 else 0)
    elif distinct[0] > 0 and distinct[-1] > _WIDE * distinct[0]:
        axes.set(**{f"{which}scale": "log"})
        drawing.rule_logarithmic(axes, which)
        if len(ticks):
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.set_xticks([], minor=True)
    elif len(ticks):
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    drawing.rule(axes, which, "0.9")


def _readable_name(column: str) -> str:
    """Return a column's name without prefix and underscores, for axes and legends."""
    for prefix in (PARAMETER, "algorithm.", "measure."):
        column = column.removeprefix(prefix)
    return column.replace("_", " ")


def _pooled(curves: Curves, groups: Sequence[Group]) -> str:
    """Say over which rows medians are taken; nothing where each is of a single row."""
    if all(len(group.rows) == 1 for group in groups):
        return ""
    over = ["seeds"]
    for column in ("problem", "label"):
        mixed = any(group.rows[column].nunique() > 1 for group in groups)
        over += [f"{column}s"] if mixed else []
    return f"medians and quartiles over {' and '.join(over)}"
