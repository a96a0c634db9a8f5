"""Measured updates over the bounds of the theorems, drawn: one row of marks per algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.yu.rates import rates as table_of_rates
from perceptron_lab.reporting.printing import drawing

_MARKS: dict[str, tuple[str, str, str, Literal["full", "none"]]] = {
    "feasible": ("feasible", "o", "#0072B2", "full"),
    "epsilon": ("epsilon-certificate", "s", "#D55E00", "none"),
    "relaxed": ("relaxed answer", "^", "#009E73", "full"),
}
"""Side -> how the legend calls it, and its marker, colour and filling."""
_WORDS = ("label", "theorem", "side", "kind")


class Ratio(NamedTuple):
    """Updates over the bound, of one algorithm on one problem, by the side of its answers."""

    name: str
    theorem: str
    side: str
    kind: str
    value: float


def ratios(evidence: Evidence) -> list[Ratio]:
    """Return the positive ratios of an experiment, by label, in the order of the table ``rates``.

    For bounds of the worst case it is the largest of the seeds, for those of the expectation that
    of the means. Only those problems count on which every cell ended with a proved answer.
    """
    found = []
    for line in table_of_rates(evidence).frame.to_dict("records"):
        given = [line["largest ratio"], line["mean ratio"]]
        value = next((float(one) for one in given if not pd.isna(one)), 0.0)
        if value > 0.0 and line["side"]:
            label, theorem, side, kind = (str(line[name]) for name in _WORDS)
            found.append(Ratio(label, theorem, side, kind, value))
    return found


def rates(evidence: Evidence) -> Figure:
    """Measured updates over the bound of each label's own theorem, a mark per problem.

    The marks tell feasible systems, epsilon-certificates and relaxed answers apart. A bound of the
    worst case holds where all marks are at 1 or less, one of the expectation with many seeds. Runs
    without any update, and labels without a bound, are not drawn; the table ``rates`` has them.
    """
    found = ratios(evidence)
    if not found:
        raise DataError("no run ended with a proved answer that a theorem bounds; nothing to draw")
    titles = drawing.spelt_out(evidence.algorithms())
    return draw_ratios((titles.get(one.name, one.name), one.side, [one.value]) for one in found)


def draw_ratios(given: Iterable[tuple[str, str, Sequence[float]]]) -> Figure:
    """Draw names, their sides and ratios above 0: a row of marks for each name."""
    found = list(given)
    names = list(dict.fromkeys(name for name, _, _ in found))
    figure = drawing.canvas(6.0, 0.7 + 0.23 * len(names))
    axes = figure.subplots()
    axes.set(xscale="log", xlabel="measured / bound")
    for name, side, values in found:
        _, marker, colour, fill = _MARKS[side]
        style: dict[str, Any] = {"color": colour, "marker": marker, "fillstyle": fill}
        axes.plot(values, [names.index(name)] * len(values), ls="none", markersize=4.0, **style)
    axes.axvline(1.0, color="0.3", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    drawing.rule_logarithmic(axes, "x")
    drawing.rule(axes, "y", "0.92")
    sides = {side for _, side, _ in found}
    handles = [
        Line2D([], [], color=colour, marker=marker, fillstyle=fill, linestyle="none", label=words)
        for side, (words, marker, colour, fill) in _MARKS.items()
        if side in sides
    ]
    drawing.legend_above(figure, handles)
    return figure
