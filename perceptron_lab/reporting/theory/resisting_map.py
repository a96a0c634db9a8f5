"""Chapter 5 as one map: mistakes over the number forced, by dimension and margin."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.rescaling import (
    ResistingRuns,
    resisting_problems,
    resisting_runs,
)
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.theory.learning_complexity import least_upper

GridPoint = tuple[int, float]  # (n, rho)

DARK_RATIO = 10.0  # The least ratio whose cell is dark, so that its letters are white
WORST = 1000.0  # The ratio at the dark end of the scale
LEAST_BOUND = "least bound of a theorem"
IN_ROUNDS = "in rounds"


def ratios(lines: list[ResistingRuns]) -> dict[GridPoint, tuple[float, bool]]:
    """Return mistakes over forced ones at each grid point, and whether all runs have ended there.

    The greatest over the runs; of several labels the least, of those that have ended if any has.
    """
    ratio_at: dict[GridPoint, tuple[float, bool]] = {}
    for line in lines:
        point, ended = (line.dimension, line.margin), line.entry.feasible
        ratio = float((line.entry.runs["mistakes"] / line.entry.runs["forced"]).max())
        earlier = ratio_at.get(point, (math.inf, False))
        if (not ended, ratio) < (not earlier[1], earlier[0]):
            ratio_at[point] = ratio, ended
    return ratio_at


@needs(resisting_problems)
def resisting_map(evidence: Evidence) -> Figure:
    """Mistakes over the number forced, one panel per label that asks for cuts, by n and rho.

    Further panels: the best of the labels that are run in rounds, and the least upper bound of a
    theorem (perceptron, ellipsoid, centres of gravity) over the number forced. A number with > is
    that of a run which the budget ended: its ratio is larger.
    """
    lines = resisting_runs(evidence)
    panels = {
        label: ratios([line for line in lines if line.entry.label == label])
        for label in dict.fromkeys(line.entry.label for line in lines if not line.in_rounds)
    }
    in_rounds = [line for line in lines if line.in_rounds]
    if in_rounds:
        panels[IN_ROUNDS] = ratios(in_rounds)
    grid = dict.fromkeys((line.dimension, line.margin) for line in lines)
    panels[LEAST_BOUND] = {point: (least_upper(*point) / forced(*point), True) for point in grid}
    figure, axes = drawing.panels(len(panels), 2.4, 0.6, 2.4, sharey=True)
    for panel, (label, values) in zip(axes, panels.items(), strict=True):
        _draw(panel, label, values)
    figure.supxlabel("dimension $n$", fontsize=8)
    figure.supylabel(r"margin $\rho$", fontsize=8)
    return figure


def _draw(axes: Axes, label: str, values: Mapping[GridPoint, tuple[float, bool]]) -> None:
    """Draw one panel: a cell for each dimension and margin, with its ratio."""
    dimensions = sorted({n for n, _ in values})
    margins = sorted({rho for _, rho in values}, reverse=True)
    shades = np.full((len(margins), len(dimensions)), np.nan)
    for (n, rho), (ratio, ended) in values.items():
        row, column = margins.index(rho), dimensions.index(n)
        shades[row, column] = ratio
        color = "white" if ratio >= DARK_RATIO else "black"
        number = f"{ratio:.0f}" if ratio >= 100.0 else f"{ratio:.3g}"
        text = number if ended else f">{number}"
        axes.text(column, row, text, ha="center", va="center", fontsize=6, color=color)
    axes.imshow(shades, cmap="Greys", norm=LogNorm(0.5, WORST, clip=True), aspect="auto")
    axes.set_xticks(range(len(dimensions)), labels=[str(n) for n in dimensions])
    axes.set_yticks(range(len(margins)), labels=[f"{rho:g}" for rho in margins])
    axes.set_title(label, loc="left", fontsize=7)
    axes.grid(False)
