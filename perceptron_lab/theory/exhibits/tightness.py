"""How tight each theorem is, measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.theory.exhibit import Exhibit
from perceptron_lab.theory.tightness import Tightness, measured

_MARKS: dict[str, tuple[str, str, Literal["full", "none"]]] = {
    "feasible": ("o", "#0072B2", "full"),
    "epsilon": ("s", "#D55E00", "none"),
}


def tightness() -> Exhibit:
    """How tight each theorem is: measured updates over its bound, of the algorithms in samples.

    Columns: ``algorithm``, ``theorem``, ``side`` (``feasible`` or ``epsilon``, by the proved
    answers), ``kind`` of the bound; ``problems``; ``least`` and ``largest`` ratio over them. For
    bounds of the worst case it is that of the largest updates over the seeds, for those of the
    expectation that of the means. It reads the samples rates, maxcut_oracles, tiny_margin and
    conic_rescaling.
    """
    found = measured()
    columns = [
        texts("algorithm", [one.algorithm for one in found]),
        texts("theorem", [one.theorem for one in found]),
        texts("side", [one.side for one in found]),
        texts("kind", [one.kind for one in found]),
        counts("problems", [len(one.ratios) for one in found]),
        numbers("least", [one.least for one in found]),
        numbers("largest", [one.largest for one in found]),
    ]
    note = (
        "Updates over the theorem's bound with its own constants, at the margin known or proved: "
        "the largest over the seeds for bounds of the worst case, means for expectations; least "
        "and largest over the problems. At most 1 where the theorem holds."
    )
    table = Table("tightness", columns, notes=[note], long=True)
    return Exhibit("How tight each theorem is: updates over bound", table, partial(_draw, found))


def _draw(found: Sequence[Tightness]) -> Figure:
    names = list(dict.fromkeys(one.algorithm for one in found))
    figure = drawing.canvas(6.0, 0.7 + 0.23 * len(names))
    axes = figure.subplots()
    axes.set(xscale="log", xlabel="measured / bound")
    for one in found:
        marker, colour, fill = _MARKS[one.side]
        row = [names.index(one.algorithm)] * len(one.ratios)
        style: dict[str, Any] = {
            "color": colour,
            "marker": marker,
            "fillstyle": fill,
            "linestyle": "none",
        }
        axes.plot(one.ratios, row, markersize=4.0, **style)
    axes.axvline(1.0, color="0.3", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    drawing.rule_logarithmic(axes, "x")
    drawing.rule(axes, "y", "0.92")
    known = {"feasible": _MARKS["feasible"], "epsilon-certificate": _MARKS["epsilon"]}
    handles = [
        Line2D([], [], color=colour, marker=marker, fillstyle=fill, linestyle="none", label=name)
        for name, (marker, colour, fill) in known.items()
    ]
    drawing.legend_above(figure, handles)
    return figure
