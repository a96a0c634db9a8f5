"""The course of one run as a figure: computed margins and bounds, and the bracket proved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from perceptron_lab.core.inline_figure import InlineFigure

if TYPE_CHECKING:
    from perceptron_lab.core.results import Result


def trace_figure(result: Result) -> InlineFigure:
    """Return a figure of a run's trace over its updates; see :meth:`.results.Result.plot`."""
    figure = InlineFigure(figsize=(5.2, 3.2), layout="constrained")
    axes, trace = figure.add_subplot(), result.trace
    lines = (
        ("margin of the point (computed)", trace.margin, "#0072B2", "o"),
        (r"$\|A w\|$, a bound of the margin (computed)", trace.upper, "#D55E00", "s"),
    )
    for name, values, colour, marker in lines:
        seen = [(x, y) for x, y in zip(trace.updates, values, strict=False) if math.isfinite(y)]
        if seen:
            axes.plot(*zip(*seen, strict=True), color=colour, marker=marker, ms=3, lw=1, label=name)
    lower, upper = result.margin_lower, result.margin_upper
    if lower is not None and upper is not None:
        axes.axhspan(lower, upper, color="#009E73", alpha=0.25, label="proved bracket")
    for bound in (lower, upper):
        if bound is not None:
            label = "" if lower is not None and upper is not None else "proved bound"
            axes.axhline(bound, color="#009E73", lw=1, label=label)
    if max(trace.updates, default=0) > 16:
        axes.set_xscale("symlog", linthresh=1)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(left=0)
    axes.set_xlabel("updates")
    axes.set_ylabel("margin")
    axes.set_title(f"{result.status}{' (proved)' if result.proved else ''}", fontsize=9)
    if axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside lower center", ncols=2, fontsize=7, frameon=False)
    return figure
