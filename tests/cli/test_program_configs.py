"""figure_6_1 at a small size: levels, objectives and the proved optimum, in tables and figure."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.experiments.verify import verify
from tests.cli.small_runs import UNDRAWN, drawn_sizes, run_config, shipped_figures

ORACLES = ("pivoted-cholesky", "eigenvector")
SMALL = (
    "problems.0={dataset: maxcut, instances: [random-8-12]}",
    "budget.updates=600",
    "experiment=figure_6_1",
    UNDRAWN,
)


@pytest.mark.slow
def test_figure_6_1_runs_to_its_tables_and_is_proved_again(tmp_path: Path) -> None:
    assert run_config("figure_6_1", tmp_path, SMALL) == 0
    folder = tmp_path / "figure_6_1"
    assert set(verify(folder).counts) == {"PROVED"}
    rows = pd.read_csv(folder / "runs.csv").set_index("label")
    assert (rows["optimum_lower"] <= rows["optimum_upper"].min()).all()
    assert rows["optimum_width"].min() <= 1e-3
    ends = pd.read_csv(folder / "optima_reached.csv").set_index("label")
    assert list(ends.index) == list(rows.index)
    assert (ends["above the optimum"] >= 0.0).all()
    best = 100.0 * (rows["optimum_upper"] / rows["optimum_lower"].max() - 1.0)
    assert ends["above the optimum"].to_numpy() == pytest.approx(best.to_numpy())
    steps = pd.read_csv(folder / "levels.csv")
    ellipsoid_rows = steps[steps["label"] == "EA"]
    assert ellipsoid_rows["level"].to_numpy()[1:] == pytest.approx(
        ellipsoid_rows["objective"].to_numpy()[:-1]
    )
    assert ellipsoid_rows["updates"].sum() == rows.loc["EA", "updates"]
    assert drawn_sizes(folder, *shipped_figures("figure_6_1"))["figure_6_1"] > 1000


@pytest.mark.slow
def test_maxcut_factors_crosses_its_levels(tmp_path: Path) -> None:
    levels = product(["PRA perceptron", "EA central"], ORACLES, ["start=own", "start=barycentre"])
    labels = ["low-rank", *map(" ".join, levels)]
    overrides = [
        f"problems=[{{dataset: maxcut, instances: [random-6-8], algorithms: {labels}}}]",
        "budget.updates=100",
        "experiment=small",
        UNDRAWN,
    ]
    assert run_config("maxcut_factors", tmp_path, overrides) == 0
    rows = pd.read_csv(tmp_path / "small" / "runs.csv")
    assert sorted(rows["label"]) == sorted(labels)
    assert len(pd.read_csv(tmp_path / "small" / "effects.csv")) == 2 * 3
    assert len(pd.read_csv(tmp_path / "small" / "rivals.csv")) == 4
    assert drawn_sizes(tmp_path / "small", "rivals")["rivals"] > 1000


@pytest.mark.slow
def test_optima_of_solvers_that_are_there_are_proved_and_the_others_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("PLAB_DATA_MIRROR", "PLAB_DATA_DIR", "PATH"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    overrides = [
        "problems.0={dataset: maxcut, instances: [random-8-12]}",
        "experiment=small",
        UNDRAWN,
    ]
    assert run_config("sdplib_optimum", tmp_path, overrides) == 0
    folder = tmp_path / "small"
    assert set(verify(folder).counts) == {"PROVED", "NOTHING CLAIMED"}
    rows = pd.read_csv(folder / "runs.csv").set_index("label")
    assert set(rows.loc[["CSDP", "SDPA", "DSDP"], "status"]) == {"SKIPPED"}
    assert rows.loc["Clarabel", "optimum_width"] <= 1e-6
    assert rows.loc["Clarabel", "measure.claimed_dimacs_1"] <= 1e-6
    best = pd.read_csv(folder / "best_optima.csv")
    assert drawn_sizes(folder, "proved_optima")["proved_optima"] > 1000
    assert best["asked"].tolist() == [2]
    assert best["two-sided"].tolist() == [2]
    assert best["lower"][0] <= best["upper"][0]


@pytest.mark.slow
@pytest.mark.long  # the two other tables of optima are made always
def test_optima_of_maxcut_are_proved_and_figured(tmp_path: Path) -> None:
    overrides = [
        "problems=[{dataset: maxcut, instances: [random-12-25, torus-3x3]}]",
        "algorithms.1.name=low-rank",
        "algorithms.1.parameters={rank: 3}",
        "algorithms.2.parameters={solver: clarabel, tolerance: 1.0e-9}",
        "experiment=maxcut_optimum",
    ]
    assert run_config("maxcut_optimum", tmp_path, overrides) == 0
    folder = tmp_path / "maxcut_optimum"
    assert set(verify(folder).counts) == {"PROVED"}
    rows = pd.read_csv(folder / "runs.csv")
    assert rows[rows["label"] == "low-rank"]["goal_reached"].all()
    assert not rows[rows["label"] == "SCS"]["goal_reached"].any()
    best = pd.read_csv(folder / "best_optima.csv")
    assert (best["width"] <= 1e-8).all()
    assert (best["two-sided"] == 5).all()
    assert (folder / "proved_optima.png").stat().st_size > 1000


@pytest.mark.slow
def test_scaling_of_maxcut_tells_sizes_memory_and_cuts_and_is_proved_again(tmp_path: Path) -> None:
    graphs = ["random-60-150", "planar-60-174", "planar-60-250", "torus-8x9", "torus-7x7-unit"]
    overrides = [f"problems.{index}.instances=[{name}]" for index, name in enumerate(graphs)]
    overrides += ["problems.5.instances=[torus-5x5x5]", "experiment=small", UNDRAWN]
    assert run_config("maxcut_scaling", tmp_path, overrides) == 0
    folder = tmp_path / "small"
    assert set(verify(folder).counts) == {"PROVED"}
    table = pd.read_csv(folder / "maxcut_scaling.csv")
    assert table["vertices"].tolist() == [60, 60, 60, 72, 49, 125]
    assert (table["width"] <= table["goal"]).all()
    assert (table["megabytes"] > 10.0).all()
    # weights 1: the guarantee of random hyperplanes, and more by flips
    assert (table["cut ratio"][[0, 1, 2, 4]] >= 0.878).all()
    assert (table["cut"] <= table["upper"]).all()
    assert drawn_sizes(folder, *shipped_figures("maxcut_scaling"))["maxcut_scaling"] > 1000
