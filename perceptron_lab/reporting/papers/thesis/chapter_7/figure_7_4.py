"""Figure 7.4 of `Kharechko2009`: the error rate against the factor of the coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import learners_among, needs
from perceptron_lab.reporting.papers.thesis.chapter_7.invariance import (
    Rescaled,
    percent,
    rescaled_errors,
    rescalings,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.drawing import Look

_LINE, _MARKER = 0.9, 3.5
_TITLES = {"all": "all coordinates rescaled", "one": "one coordinate rescaled"}


@needs(of_plan=[learners_among, rescalings])
def figure_7_4(evidence: Evidence) -> Figure:
    """Error rate against the exponent of the rescaling coefficient.

    One panel where all coordinates are rescaled and one where a single one is. Markers are means
    over the seeds and their repetitions, joined by a line per label. Below, for the learners that
    tell, the share of fits that did not converge: an error rate above it is that of a function that
    is not the optimum.
    """
    lines = rescaled_errors(evidence)
    kinds = [kind for kind in _TITLES if any(line.rescaled == kind for line in lines)]
    telling = any(line.unconverged is not None for line in lines)
    known = drawing.looks(list(evidence.frame["label"].unique()))
    figure = drawing.canvas(3.4 * len(kinds) + 0.4, 3.8 if telling else 2.8)
    heights = [2.6, 1.0] if telling else [1.0]
    panels = figure.subplots(
        *(len(heights), len(kinds)), sharex=True, sharey="row", squeeze=False, height_ratios=heights
    )
    for kind, column in zip(kinds, panels.T, strict=True):
        mine = [line for line in lines if line.rescaled == kind]
        column[0].set_title(_TITLES[kind])
        _draw(column[0], known, mine, [line.mean for line in mine])
        if telling:
            _draw(column[1], known, mine, [line.unconverged for line in mine])
        column[-1].set_xlabel("exponent of the rescaling coefficient")
    panels[0, 0].set_ylabel("error rate, percent")
    panels[0, 0].set_ylim(bottom=0.0)
    if telling:
        panels[1, 0].set(ylabel="not converged, %", ylim=(-6.0, 106.0))
    drawing.legend_above(figure, drawing.handles(known, linewidth=_LINE, size=_MARKER))
    return figure


def _draw(
    axes: Axes, known: Mapping[str, Look], lines: Sequence[Rescaled], shares: Sequence[float | None]
) -> None:
    """Draw shares of the lines in percent, label by label."""
    for place, (label, look) in enumerate(known.items()):
        heights = [
            (line.exponent, percent(share))
            for line, share in zip(lines, shares, strict=True)
            if line.label == label and share is not None
        ]
        if heights:
            # The first label is the subject, and lies above what it is compared with.
            (drawn,) = axes.plot(*zip(*heights, strict=True), label=label, **look)
            drawn.set(linewidth=_LINE, markersize=_MARKER, zorder=3.0 - 0.01 * place)
    exponents = sorted({line.exponent for line in lines})
    axes.set_xticks(exponents[:: 1 + len(exponents) // 12])
    drawing.rule(axes, "both", "0.95")
