"""The figure of certificates: the least upper bound so far, and the epsilon that is asked for."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.goals import Budget
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.running.runner import run_cells
from perceptron_lab.reporting import Evidence
from perceptron_lab.reporting.printing.curves import Curve
from perceptron_lab.reporting.printing.figure_files import render
from perceptron_lab.reporting.studies.convergence import certificates, least_upper, scale_bounds
from tests.reporting.artificial_runs import make_row, make_trace
from tests.reporting.drawn_lines import heights

NAN = math.nan


def experiment(folder: Path, **changes: Any) -> Evidence:
    """Return the evidence of a small infeasible system by a method with weights, one without."""
    config = {
        "experiment": "e",
        "problems": [
            {"dataset": "margin-sets", "family": "gaussian", "dimension": 3, "rows": 30},
        ],
        "algorithms": [{"name": "mirror-prox", "label": "MP"}, {"name": "ellipsoid"}],
        "goal": {"margin_upper": 1e-2},
        "budget": Budget(updates=100),
        "seeds": [0, 1],
    }
    checked = ExperimentConfig.model_validate(config | changes)
    return Evidence.of_folder(run_cells(checked, output=folder).folder)


def curve(*bounds: float) -> Curve:
    values = np.array(bounds)
    return Curve(np.arange(1.0, len(values) + 1), values, values, values)


def axes_of(*curves: Curve, epsilon: float | None = None) -> Axes:
    axes = Figure().subplots()
    scale_bounds(axes, curves, epsilon)
    return axes


def medians(axes: Axes) -> list[Line2D]:
    """The lines that are no single run."""
    return [line for line in axes.get_lines() if line.get_linewidth() != 0.5]


@pytest.mark.slow
def test_bounds_reach_epsilon_and_runs_without_weights_are_named(tmp_path: Path) -> None:
    figure = certificates(experiment(tmp_path))
    for axes in figure.axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        level, line, end = medians(axes)
        assert heights(level) == [1e-2, 1e-2]
        bounds = heights(line)
        assert (np.diff(bounds) <= 0.0).all()
        assert bounds[-1] <= 1e-2
        assert heights(end) == [bounds[-1]]
    assert heights(medians(figure.axes[0])[1])[0] > 1e-2
    assert [text.get_text() for text in figure.axes[0].texts] == [
        "no bound of the margin: ellipsoid"
    ]
    assert "epsilon = 0.01" in [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.long  # test_convergence.py has the same of curves
def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    config = experiment(tmp_path)
    assert render(certificates, config, "T") == render(certificates, config, "T")


@pytest.mark.slow
def test_another_goal_has_no_epsilon(tmp_path: Path) -> None:
    config = experiment(tmp_path, goal="decide")
    figure = certificates(config)
    assert len(medians(figure.axes[0])) == 2
    assert not [text for text in figure.legends[0].get_texts() if "epsilon" in text.get_text()]


def test_without_the_configuration_the_goal_is_unknown() -> None:
    evidence = Evidence.of_runs(pd.DataFrame([make_row("a", "L", cell="c")]))
    with pytest.raises(DataError, match=r"needs .* experiment's store, but only rows"):
        certificates(evidence)


def test_the_least_bound_so_far_passes_over_records_without_weights() -> None:
    trace = make_trace([0, 1, 2, 4, 8], [0.0] * 5, [NAN, 0.5, 0.75, NAN, 0.25])
    np.testing.assert_array_equal(least_upper(trace), [NAN, 0.5, 0.5, 0.5, 0.25])


@given(st.lists(st.floats(0, 10) | st.just(NAN), min_size=1, max_size=20))
def test_the_least_bound_so_far_is_one_of_the_bounds_and_never_grows(upper: list[float]) -> None:
    least_bound = least_upper(make_trace(list(range(len(upper))), [0.0] * len(upper), upper))
    finite = least_bound[~np.isnan(least_bound)]
    assert (np.diff(finite) <= 0.0).all()
    assert set(finite) <= set(upper)
    assert len(finite) == 0 or finite[-1] == np.nanmin(upper)


@pytest.mark.parametrize("epsilon", [None, 1e-4, 0.5, 30.0])
@pytest.mark.parametrize("bounds", [(1.0, 1e-2), (1e-9,), (0.5, 0.0)])
def test_the_axis_holds_every_bound_above_0_and_epsilon(
    bounds: tuple[float, ...], epsilon: float | None
) -> None:
    axes = axes_of(curve(*bounds), epsilon=epsilon)
    lowest, highest = axes.get_ylim()
    assert axes.get_yscale() == "log"
    positive = [value for value in (*bounds, epsilon) if value]
    assert 0.0 < lowest < min(positive)
    assert max(positive) < highest


def test_no_bounds_leave_the_axis_alone() -> None:
    for curves in ([], [curve(0.0, 0.0)]):
        assert axes_of(*curves).get_yscale() == "linear"
        assert axes_of(*curves, epsilon=1e-3).get_yscale() == "log"
