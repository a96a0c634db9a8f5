"""Figures 7.1, 7.2 and 7.3: where the ellipses, axes and examples are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Result, Status, Trace
from perceptron_lab.datasets.generated.ellipsoid_sets import EllipsoidSets, Sample
from perceptron_lab.reporting import report
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.thesis.ellipses import separations
from tests.reporting.artificial_runs import Row, make_result, make_row, make_trace, write_folder

SETS: list[dict[str, Any]] = [
    {"dimension": 2, "ratio": 1.5, "training": 8},
    {"dimension": 2, "ratio": 0.8, "training": 8},
    {"dimension": 1, "ratio": 1.5, "training": 5},
]
SEED = 3
LIMIT = -0.5
"""-s / 2 of the limit of the central path, s = 1."""


def canonical(sample: Sample) -> FloatArray:
    """Return (7.8) of the ellipsoid that the sample is made from."""
    inverse = np.linalg.inv(sample.ellipsoid.matrix)
    factor = np.column_stack([inverse, -inverse @ sample.ellipsoid.shift])
    return np.asarray(factor.T @ factor)


def arrays(record: EllipsoidSets) -> dict[str, list[FloatArray]]:
    """Return what a learner keeps: the known optimum, or a quadratic with a limit's threshold."""
    homogeneous = canonical(record.sample(SEED))
    excess = record.squared_excess
    threshold = ((1.0 + np.sqrt(1.0 + excess)) / 2.0) ** 2
    if not excess:
        # q = (x - c)'E(x - c) - 2 lies below 0 and above -1 on and near the ellipsoid.
        homogeneous[-1, -1] -= 2.0
        threshold = LIMIT
    weights = np.zeros(record.training)
    weights[: record.dimension + 1] = 1.0 if excess else 0.5
    return {
        "homogeneous": [homogeneous],
        "threshold": [np.array([threshold])],
        "ratio": [np.array([excess])],
        "positive_weights": [weights],
        "negative_weights": [weights],
    }


def evidence(folder: Path, problems: list[dict[str, Any]], keep: bool = True) -> Evidence:
    """Write an experiment's folder, as the runner does."""
    rows: list[Row] = []
    results: dict[str, Result] = {}
    for number, parameters in enumerate(problems):
        record = EllipsoidSets(**parameters)
        (name,) = record.names()
        rows.append(make_row(name, "ellipsoid", cell=f"c{number}", seed=SEED))
        trace = Trace(measures=arrays(record) if keep else {})
        result = make_result(make_trace([1], [0.0]))
        changed = {"trace": trace, "status": Status.FEASIBLE}
        results[f"c{number}"] = Result(**vars(result) | changed)
    config = {
        "experiment": "made",
        "title": "made",
        "problems": [{"dataset": "ellipsoid-sets", **parameters} for parameters in problems],
        "algorithms": [{"name": "ellipsoid-separation", "parameters": {"components": None}}],
        "seeds": [SEED],
    }
    return write_folder(folder, rows, results, config)


def curve(axes: Axes, label: str) -> FloatArray:
    (curve,) = [line for line in axes.get_lines() if line.get_label() == label]
    return np.asarray(curve.get_xydata(), dtype=float)


def distances(sample: Sample, points: FloatArray) -> FloatArray:
    """Return norm(A^-1 (x - c)) of rows."""
    inner = np.linalg.solve(sample.ellipsoid.matrix, (points - sample.ellipsoid.shift).T)
    return np.asarray(np.linalg.norm(inner, axis=0))


@pytest.fixture
def planar() -> Sample:
    return EllipsoidSets(**SETS[0]).sample(SEED)


def test_figure_7_1_has_the_axes_and_the_centre(tmp_path: Path, planar: Sample) -> None:
    (axes,) = report.figure("figure_7_1", evidence(tmp_path, SETS)).axes
    boundary = distances(planar, curve(axes, "ellipse"))
    # The middle one between 1 and 1.5.
    assert boundary == pytest.approx(np.full(361, 1.25), rel=1e-9)
    assert curve(axes, "centre") == pytest.approx(planar.ellipsoid.shift[None], rel=1e-9)
    arrows = [text for text in axes.texts if not text.get_text()]
    steps = [np.array(arrow.xy) - planar.ellipsoid.shift for arrow in arrows]  # type: ignore[attr-defined]
    lengths = sorted((float(np.linalg.norm(step)) for step in steps), reverse=True)
    half_axes = 1.25 * np.linalg.eigvalsh(planar.ellipsoid.matrix)[::-1]
    assert lengths == pytest.approx(half_axes.tolist(), rel=1e-9)
    assert abs(steps[0] @ steps[1]) < 1e-9
    for step, length in zip(steps, half_axes, strict=True):
        assert planar.ellipsoid.matrix @ step == pytest.approx(length / 1.25 * step, rel=1e-6)
    assert axes.get_aspect() == 1.0
    names = [text.get_text() for text in axes.texts if text.get_text()]
    assert names == [r"$\lambda_1\,\mathbf{v}_1$", r"$\lambda_2\,\mathbf{v}_2$", r"$\mathbf{c}$"]


def test_figure_7_2_has_three_ellipses_and_the_support(tmp_path: Path, planar: Sample) -> None:
    figure = report.figure("figure_7_2", evidence(tmp_path, SETS))
    axes, twin = figure.axes
    for label, ratio in (
        ("bound of positives", 1.0),
        ("classifier", 1.25),
        ("bound of negatives", 1.5),
    ):
        drawn = distances(planar, curve(axes, label))
        assert drawn == pytest.approx(np.full(361, ratio), rel=1e-9)
    styles = {str(line.get_label()): line.get_linestyle() for line in axes.get_lines()}
    assert (styles["classifier"], styles["bound of positives"]) == ("-", "--")
    examples = np.asarray(planar.task.examples)
    assert (curve(axes, "positives") == examples[:8]).all()
    assert (curve(axes, "negatives") == examples[8:]).all()
    support = distances(planar, curve(axes, "support examples"))
    assert support == pytest.approx([1.0] * 3 + [1.5] * 3, rel=1e-9)
    assert axes.get_title() == r"separation ratio $\rho = 1.5$"
    low, high = axes.get_xlim()
    assert low < examples[:, 0].min() < examples[:, 0].max() < high
    assert twin.get_title() == "no ellipse separates, $t = 0$"


def test_figure_7_2_draws_the_limit_where_none_separates(tmp_path: Path) -> None:
    figure = report.figure("figure_7_2", evidence(tmp_path, SETS[1:2]))
    (axes,) = figure.axes
    sample = EllipsoidSets(**SETS[1]).sample(SEED)
    for label, squared in (
        ("bound of positives", 2.0),
        ("classifier", 1.5),
        ("bound of negatives", 1.0),
    ):
        drawn = distances(sample, curve(axes, label)) ** 2
        assert drawn == pytest.approx(np.full(361, squared), rel=1e-9)
    assert "support examples" not in {line.get_label() for line in axes.get_lines()}


def test_figure_7_3_has_one_section(tmp_path: Path) -> None:
    (axes,) = report.figure("figure_7_3", evidence(tmp_path, SETS)).axes
    sample = EllipsoidSets(**SETS[2]).sample(SEED)
    centre, half = float(sample.ellipsoid.shift[0]), float(sample.ellipsoid.matrix[0, 0])
    ends = curve(axes, "section")
    assert ends == pytest.approx(np.array([[centre - half, 1.0], [centre + half, 1.0]]), rel=1e-9)
    members = 0
    for line in axes.get_lines():
        label = str(line.get_label())
        if label.startswith("$\\eta = 0"):
            eta = float(label.strip("$").split("=")[1])
            x, height = np.asarray(line.get_xydata(), dtype=float).T
            values = eta * ((x - centre * height) / half) ** 2 + (1 - eta) * height**2
            assert values == pytest.approx(np.ones(len(x)), rel=1e-9)
            members += 1
    assert members >= 3
    # eta = 1: abs(x - c x_2) = half, without end.
    x, height = curve(axes, "$\\eta = 1$").T
    assert x - centre * height == pytest.approx([-half, -half], rel=1e-9)
    assert height.min() < axes.get_ylim()[0]
    assert curve(axes, "positives")[:, 0] == pytest.approx(np.asarray(sample.task.examples)[:5, 0])
    assert curve(axes, "origin").tolist() == [[0.0, 0.0]]


def test_figure_7_1_has_the_height_of_its_ellipse(tmp_path: Path) -> None:
    figure = report.figure("figure_7_1", evidence(tmp_path, SETS))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    box = axes.get_tightbbox()
    assert box is not None
    width, height = figure.get_size_inches() * figure.dpi
    assert box.height > 0.93 * height
    assert box.width > 0.93 * width


@pytest.mark.parametrize("name", ["figure_7_1", "figure_7_2", "figure_7_3"])
def test_they_are_named_figures(name: str, tmp_path: Path) -> None:
    assert isinstance(report.figure(name, evidence(tmp_path, SETS)), Figure)


@pytest.mark.parametrize(
    ("name", "problems", "message"),
    [
        ("figure_7_1", SETS[1:2], "in dimension 2 no ellipsoid separates any of the classes"),
        ("figure_7_1", SETS[2:], "no run has an ellipsoid in dimension 2"),
        ("figure_7_2", SETS[2:], "no run has an ellipsoid in dimension 2"),
        ("figure_7_3", SETS[:2], "no run has an ellipsoid in dimension 1"),
    ],
)
def test_missing_ellipsoids_are_named(
    name: str, problems: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        report.figure(name, evidence(tmp_path, problems))


def test_results_without_arrays_have_no_ellipsoid(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="components: null"):
        separations(evidence(tmp_path, SETS, keep=False), 2)


def test_records_that_are_no_ellipse_are_refused(tmp_path: Path) -> None:
    (separated,) = separations(evidence(tmp_path, SETS[:1]), 2)
    separated.homogeneous[0, 0] *= -1.0
    with pytest.raises(DataError, match="not an ellipse, because C has the eigenvalue"):
        separated.ellipse(1.0)


def test_an_empty_level_is_refused(tmp_path: Path) -> None:
    (separated,) = separations(evidence(tmp_path, SETS[:1]), 2)
    with pytest.raises(DataError, match="no point has a value below -1"):
        separated.ellipse(-1.0)
