"""The three pictures of the first page, each of answers that are proved while it is drawn."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from from_code.themed_pictures import save_both
from perceptron_lab import Budget, Result, optimum, solve
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8a8f98"
RACE = ("perceptron", "von-neumann", "smoothed-perceptron", "mirror-prox")
_LINES = ((ORANGE, "-"), (GREEN, "--"), (BLUE, "-."), ("#CC79A7", ":"))


def write(folder: Path) -> None:
    """Write the pictures."""
    save_both(separated, folder, "separated")
    save_both(race, folder, "race")
    save_both(cut, folder, "cut")


def separated() -> Figure:
    """Return two classes, the line of the largest margin, and the margin that is proved."""
    rng = np.random.default_rng(3)
    centres, spreads = np.repeat([[-1.2, -0.4], [1.1, 0.7]], 30, axis=0), np.repeat([0.55, 0.6], 30)
    examples = rng.normal(centres, spreads[:, None])
    labels = np.repeat(["no", "yes"], 30)
    result = solve(examples, labels, margin="geometric", goal={"margin_ratio": 0.999})
    figure, axes = _empty()
    for label, colour, marker in (("no", ORANGE, "s"), ("yes", BLUE, "o")):
        axes.scatter(*examples[labels == label].T, s=16, color=colour, marker=marker)
    normal, offset = result.point[:2], result.point[2]
    length, across = np.linalg.norm(normal), np.array([-4.0, 4.0])
    for shift, style in ((0.0, "-"), (result.margin_lower, ":"), (-result.margin_lower, ":")):
        heights = (shift * length - offset - normal[0] * across) / normal[1]
        axes.plot(across, heights, style, color=GREY, lw=1.2)
    axes.set(xlim=(-3, 3), ylim=(-2.5, 2.5), aspect="equal", xticks=[], yticks=[])
    axes.set_title(f"margin at least {floor_of(result.margin_lower)}: proved", fontsize=9)
    return figure


def floor_of(bound: float) -> float:
    """Return a lower bound to four places, rounded down."""
    return math.floor(bound * 1e4) / 1e4


def race() -> Figure:
    """Return the margins of four algorithms' points on thin rows, against products."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((400, 10))
    rows[:, 0] = np.abs(rows[:, 0]) * 0.2 + 0.02
    figure, axes = _empty()
    for name, (colour, style) in zip(RACE, _LINES, strict=True):
        trace = course(rows, name).trace
        axes.plot(trace.products, trace.margin, style, color=colour, lw=1.5, label=name)
    axes.axhline(0.0, color=GREY, lw=1)
    axes.set(xscale="log", xlabel="products with the data")
    axes.set(ylabel="margin of the point", ylim=(-0.2, 0.05))
    axes.legend(fontsize=7, frameon=False)
    return figure


def course(rows: NDArray[np.float64], name: str) -> Result:
    """Return a run that goes on after its proof, recorded often."""
    marks = np.unique(np.geomspace(1, 20_000, 200).astype(int)).tolist()
    return solve(
        rows, name, goal="budget", budget=Budget(updates=20_000, seconds=0.5), record_at=marks
    )


def cut() -> Figure:
    """Return a cut of a graph, and the proved bound of all its cuts."""
    rng = np.random.default_rng(7)
    places = rng.random((40, 2))
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    first, second = np.nonzero(np.triu(distances < 0.24, 1))
    found = optimum(MaxCutProgram.of_graph(40, first, second, np.ones(len(first))))
    side = found.proof["signs"] > 0
    across = side[first] != side[second]
    figure, axes = _empty()
    for crosses, colour, width in ((True, GREY, 0.7), (False, ORANGE, 1.8)):
        edges = np.stack([places[first], places[second]], axis=1)[across == crosses]
        axes.add_collection(LineCollection(edges, colors=colour, linewidths=width, zorder=1))
    axes.scatter(*places[side].T, s=26, color=BLUE, zorder=2)
    axes.scatter(*places[~side].T, s=26, color=GREEN, marker="s", zorder=2)
    most = math.floor(found.optimum_upper)
    axes.set_title(f"{across.sum()} edges cut, {most} at most: proved", fontsize=9)
    axes.set_axis_off()
    return figure


def _empty() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(4.0, 3.4), layout="constrained")
    return figure, figure.add_subplot()
