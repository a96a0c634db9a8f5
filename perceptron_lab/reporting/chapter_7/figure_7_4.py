"""Figure 7.4 of `Kharechko2009`: what rescaled coordinates do to the error rate."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.chapter_7.invariance import Rescaled, labels_of, rescaled_errors
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.drawing import STYLE, Look, canvas, legend_above, looks, rule

_LINE, _MARKER = 0.9, 3.5
_TITLES = {"all": "all coordinates rescaled", "one": "one coordinate rescaled"}


def figure_7_4(evidence: Evidence) -> Figure:
    """Draw the error rate against the exponent of the rescaling coefficient.

    One panel where all coordinates are rescaled and one where a single one is. Markers are means
    over the seeds and their repetitions, joined by a line per label. Below, for the learners that
    tell, the share of fits that did not converge: an error rate above it is that of a function that
    is not the optimum.

    Raises
    ------
    DataError
        As :func:`~perceptron_lab.reporting.chapter_7.invariance.rescaled_errors`.
    """
    lines = rescaled_errors(evidence)
    kinds = [kind for kind in _TITLES if any(line.rescaled == kind for line in lines)]
    telling = any(line.converged is not None for line in lines)
    known = looks(labels_of(lines, evidence))
    with style.context(STYLE):
        figure = canvas(3.4 * len(kinds) + 0.4, 3.8 if telling else 2.8)
        panels = figure.subplots(
            2 if telling else 1,
            len(kinds),
            sharex=True,
            sharey="row",
            squeeze=False,
            height_ratios=[2.6, 1.0] if telling else None,
        )
        for column, kind in enumerate(kinds):
            mine = [line for line in lines if line.rescaled == kind]
            panels[0, column].set_title(_TITLES[kind])
            _panel(panels[0, column], mine, known, "error")
            if telling:
                _panel(panels[1, column], mine, known, "unconverged")
            panels[-1, column].set_xlabel("exponent of the rescaling coefficient")
        panels[0, 0].set_ylabel("error rate, percent")
        panels[0, 0].set_ylim(bottom=0.0)
        if telling:
            panels[1, 0].set_ylabel("not converged, %")
            panels[1, 0].set_ylim(-6.0, 106.0)
        legend_above(figure, [_handle(label, look) for label, look in known.items()])
    return figure


def _panel(axes: Axes, lines: Sequence[Rescaled], known: dict[str, Look], what: str) -> None:
    for label, look in known.items():
        heights = [
            (line.exponent, height)
            for line in lines
            if line.label == label and (height := _percent(line, what)) is not None
        ]
        if heights:
            # The first label is the subject, and lies above what it is compared with.
            (drawn,) = axes.plot(*zip(*heights, strict=True), label=label, **look)
            drawn.set(linewidth=_LINE, markersize=_MARKER)
            drawn.set_zorder(3.0 - 0.01 * list(known).index(label))
    exponents = sorted({line.exponent for line in lines})
    axes.set_xticks(exponents[:: 1 + len(exponents) // 12])
    rule(axes, "both", "0.95")


def _percent(line: Rescaled, what: str) -> float | None:
    if what == "error":
        return None if line.mean is None else 100.0 * line.mean
    return None if line.converged is None else 100.0 * (1.0 - line.converged)


def _handle(label: str, look: Look) -> Line2D:
    return Line2D([], [], label=label, linewidth=_LINE, markersize=_MARKER, **look)
