"""The configurations about Table 6.1 at a small size, from generated graphs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.small_runs import UNDRAWN, drawn_sizes, run_config, shipped_figures

pytestmark = pytest.mark.slow


def run(name: str, folder: Path, *overrides: str) -> Path:
    assert run_config(name, folder, (*overrides, UNDRAWN), in_own_folder=True) == 0
    return folder / name


def test_the_density_of_graphs_and_a_fixed_margin(tmp_path: Path) -> None:
    results = run(
        "maxcut_density",
        tmp_path,
        "problems.0.instances=[random-12-15, random-12-40]",
        "problems.1.instances=[random-12-15-0.1]",
        "seeds=[0]",
    )
    table = pd.read_csv(results / "maxcut_density.csv").set_index("problem")
    assert table["status"].isna().all()
    assert (table["rho lower"] <= table["rho upper"]).all()
    assert table.loc["random-12-15-0.1", "rho lower"] == pytest.approx(0.1, rel=2e-3)
    assert table.loc["random-12-40", "rho upper"] < table.loc["random-12-15", "rho lower"]
    assert drawn_sizes(results, *shipped_figures("maxcut_density"))["maxcut_density"] > 1000


def test_the_cuts_of_every_oracle(tmp_path: Path) -> None:
    results = run("maxcut_cuts", tmp_path, "problems.0={dataset: maxcut, instances: [torus-3x4]}")
    table = pd.read_csv(results / "cuts.csv")
    assert len(table) == 9
    assert set(table["ended"]) == {"FEASIBLE"}
    assert (table["norm"] > 0).all()
    assert table["depth"].between(0, 1).all()
    assert drawn_sizes(results, *shipped_figures("maxcut_cuts"))["cuts"] > 1000


def test_the_perceptron_rescales_where_margins_are_small(tmp_path: Path) -> None:
    results = run(
        "sdp_rescaling",
        tmp_path,
        "problems.0.grid.margin=[0.1, 0.003]",
        "seeds=[0]",
        "algorithms.2.label=PRA thesis",
        "budget.updates=1500",
    )
    table = pd.read_csv(results / "rescalings.csv").set_index(["margin", "label"])
    assert table.loc[(0.003, "PRA practical"), "rescalings"] > 0
    assert table.loc[(0.003, "PRA practical"), "ended"] == "FEASIBLE"
    perceptron = table.loc[(0.003, "perceptron"), "updates"]
    assert table.loc[(0.003, "PRA practical"), "updates"] < perceptron / 3


@pytest.mark.long  # as sdp_rescaling, on other cones
def test_rescaling_is_for_small_margins_on_second_order_cones_too(tmp_path: Path) -> None:
    results = run(
        "conic_rescaling",
        tmp_path,
        "problems.0.dimension=4",
        "problems.0.blocks=4",
        "problems.0.grid.margin=[0.1, 0.0001]",
        "seeds=[0]",
        "budget.updates=3000",
    )
    table = pd.read_csv(results / "rescalings.csv").set_index(["margin", "label"])
    for label in ("correlation", "correlation second-order", "deterministic", "deep separation"):
        assert table.loc[(0.0001, label), "ended"] == "FEASIBLE"
        assert table.loc[(0.0001, label), "rescalings"] > 0
    assert table.loc[(0.0001, "perceptron"), "ended"] == "UPDATE_LIMIT"


def test_deep_separation_and_planted_margins_of_maxcut(tmp_path: Path) -> None:
    results = run(
        "deep_separation",
        tmp_path,
        "problems.0.grid.margin=[0.01]",
        "problems.0.algorithms=[deep practical, coordinate practical]",
        "problems.1.instances=[random-5-7-0.03]",
        "problems.1.algorithms=[deep practical, coordinate practical]",
        "seeds=[0]",
        "budget.updates=3000",
    )
    table = pd.read_csv(results / "rescalings.csv").set_index(["margin", "label"])
    assert set(table.index.get_level_values("margin")) == {0.01, 0.03}
    for label in ("deep practical", "coordinate practical"):
        assert (table.xs(label, level="label")["ended"] == "FEASIBLE").all()
        assert (table.xs(label, level="label")["rescalings"] > 0).all()


def test_the_exponents_are_mapped(tmp_path: Path) -> None:
    results = run(
        "exponents",
        tmp_path,
        "problems.0.grid.margin=[0.01]",
        "algorithms.0.grid.beta=[0.5, 1.0]",
        "algorithms.0.grid.gamma=[0.5, 1.5]",
        "seeds=[0]",
        "budget.updates=3000",
    )
    table = pd.read_csv(results / "exponents.csv").set_index(["beta", "gamma"])
    assert list(table["condition"]) == ["fails", "fails", "holds", "holds"]
    assert list(table["range"]) == ["inside", "outside", "inside", "outside"]
    assert (table["bound"].notna() == (table["condition"] == "holds")).all()
    assert (table["share"].dropna() < 1.0).all()
    assert drawn_sizes(results, *shipped_figures("exponents"))["exponents"] > 1000


def test_a_map_of_exponents_without_a_bound_is_drawn(tmp_path: Path) -> None:
    results = run(
        "exponents",
        tmp_path,
        "problems.0.grid.margin=[0.1]",
        "algorithms.0.grid.beta=[0.25]",
        "algorithms.0.grid.gamma=[0.5]",
        "seeds=[0]",
    )
    assert pd.read_csv(results / "exponents.csv")["bound"].isna().all()
    assert drawn_sizes(results, *shipped_figures("exponents"))["exponents"] > 1000
