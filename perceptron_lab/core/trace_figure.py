"""Figures that notebooks display when returned, and the plot of a run's trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import BytesIO

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator


class InlineFigure(Figure):
    """A figure outside matplotlib's global state, which notebooks still display."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=150)
        return buffer.getvalue()


def trace_figure(
    updates: Sequence[int],
    margin: Sequence[float],
    bound: Sequence[float],
    bracket: tuple[float | None, float | None],
    title: str,
) -> InlineFigure:
    """Return a figure of a run's trace over its updates; see :meth:`.results.Result.plot`.

    Parameters
    ----------
    updates
        At each record.
    margin, bound
        The margin of the point and the bound norm(A w) / <e, w>, computed at each record.
    bracket
        The proved bounds of the margin, or None.
    title
        Above the axes.
    """
    figure = InlineFigure(figsize=(5.2, 3.2), layout="constrained")
    axes = figure.add_subplot()
    lines = (
        ("margin of the point (computed)", margin, "#0072B2", "o"),
        (r"$\|A w\|$, a bound of the margin (computed)", bound, "#D55E00", "s"),
    )
    for name, values, colour, marker in lines:
        finite = [(x, y) for x, y in zip(updates, values, strict=False) if math.isfinite(y)]
        if finite:
            axes.plot(
                *zip(*finite, strict=True), color=colour, marker=marker, ms=3, lw=1, label=name
            )
    lower, upper = bracket
    if lower is not None and upper is not None:
        axes.axhspan(lower, upper, color="#009E73", alpha=0.25, label="proved bracket")
    for proved in (lower, upper):
        if proved is not None:
            label = "" if lower is not None and upper is not None else "proved bound"
            axes.axhline(proved, color="#009E73", lw=1, label=label)
    if max(updates, default=0) > 16:
        axes.set_xscale("symlog", linthresh=1)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(left=0)
    axes.set_xlabel("updates")
    axes.set_ylabel("margin")
    axes.set_title(title, fontsize=9)
    if axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside lower center", ncols=2, fontsize=7, frameon=False)
    return figure
