"""The figure of convergence: margins, on an axis with two logarithmic halves."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.reporting.printing.curves import Curve
from perceptron_lab.reporting.printing.figure_files import render
from perceptron_lab.reporting.studies.convergence import MOST_TICKS, convergence, scale_margins
from tests.reporting.artificial_runs import make_result, make_row, make_trace, write_folder
from tests.reporting.drawn_lines import heights

TRACE = make_trace([0, 1, 2, 4], [-math.inf, -0.5, -0.01, 0.002])


def curve(*margins: float) -> Curve:
    values = np.array(margins)
    return Curve(np.arange(1.0, len(values) + 1), values, values, values)


def axes_of(*curves: Curve) -> Axes:
    axes = Figure().subplots()
    scale_margins(axes, curves)
    return axes


def test_the_lines_are_the_margins_of_the_points(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [make_row("a", "L", cell="c")], {"c": make_result(TRACE)})
    figure = convergence(folder)
    for axes in figure.axes:
        assert heights(axes.get_lines()[0]) == [-0.5, -0.01, 0.002]
        assert axes.get_yscale() == "symlog"
    assert figure.axes[0].get_ylabel() == "margin"
    assert not figure.axes[0].texts


@pytest.mark.parametrize("seeds", [2, 3, 4])
def test_few_runs_are_lines_and_more_have_a_band(seeds: int, tmp_path: Path) -> None:
    rows = [make_row("a", "L", cell=f"c{seed}", seed=seed) for seed in range(seeds)]
    traces = [
        make_trace([0, 1, 2, 4], [-math.inf, -0.5, -0.01, 0.002 * (1 + seed)])
        for seed in range(seeds)
    ]
    results = {row["cell"]: make_result(trace) for row, trace in zip(rows, traces, strict=True)}
    axes = convergence(write_folder(tmp_path, rows, results)).axes[0]
    ends = {heights(line)[-1] for line in axes.get_lines()}
    assert len(axes.collections) == (seeds >= 4)
    if seeds < 4:
        assert {0.002 * (1 + seed) for seed in range(seeds)} <= ends
    else:
        assert 0.002 * seeds not in ends


@pytest.mark.parametrize(
    "margins", [(-0.9, -1e-3, 2e-5), (-1e-7, 3e-1), (-30.0, 4e-9), (0.5, 0.7), (-5e-4, -0.9)]
)
def test_the_axis_holds_every_margin_and_few_ticks(margins: tuple[float, ...]) -> None:
    axes = axes_of(curve(*margins))
    lowest, highest = axes.get_ylim()
    assert lowest <= min(margins)
    assert highest >= max(margins)
    ticks = axes.get_yticks()
    assert 0.0 in ticks
    assert 2 <= len(ticks) <= MOST_TICKS + 2
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(set(labels)) == len(ticks)
    assert axes.get_yscale() == "symlog"


def test_negative_margins_of_one_size_have_a_plain_axis() -> None:
    axes = axes_of(curve(-0.5, -0.2), curve(-0.9, -0.3))
    assert axes.get_yscale() == "linear"
    lowest, highest = axes.get_ylim()
    assert lowest < -0.9
    assert highest == 0.0


@pytest.mark.parametrize("curves", [[], [curve(-math.inf)], [curve(0.0, 0.0)]])
def test_no_margins_leave_the_axis_alone(curves: list[Curve]) -> None:
    assert axes_of(*curves).get_yscale() == "linear"


@pytest.mark.slow
def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [make_row("a", "L", cell="c")], {"c": make_result(TRACE)})
    assert render(convergence, folder, "T") == render(convergence, folder, "T")
