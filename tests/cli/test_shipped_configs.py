"""The gallery at a small size: every shipped experiment runs to its tables and figures."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.experiments.configuration.catalogue import gallery
from tests.cli.small_runs import UNDRAWN, drawn_sizes, run_config, shipped_figures
from tests.repetitions import repeated

pytestmark = pytest.mark.slow

SIZES = {
    "margin_sets": [
        # Entries 1 and 2, 3 and 4, and 5 and 6 are instances of one shape each
        *(f"problems.{i}.rows={50 + 10 * ((i + 1) // 2)}" for i in range(7)),
        *(f"problems.{i}.dimension=5" for i in range(7)),
        "problems.0.seeds=[0, 1]",
        "seeds=[0]",
    ],
    "margin_effect": [
        "problems.0.rows=60",
        "problems.0.dimension=5",
        "problems.0.grid.difficulty=[0.5, 2]",
        "seeds=[0]",
    ],
    "infeasible": [
        "problems.0={dataset: margin-sets, family: convex-combination, dimension: 5, rows: 60}",
        "problems.1={dataset: margin-sets, family: gaussian, dimension: 5, ratio: 4}",
        "problems.2={dataset: margin-sets, family: gaussian, dimension: 5, rows: 50}",
        "problems.3={dataset: margin-sets, family: gaussian, dimension: 5, rows: 60}",
        "problems.4={dataset: margin-sets, family: gaussian, dimension: 5, rows: 70}",
        "seeds=[0]",
    ],
    "kernel": [
        "problems.0.source=wine",
        "problems.0.scaling=standard",
        "budget.updates=40",
        "seeds=[0, 1]",
    ],
    "conic": [
        "problems.0={dataset: conic-sets, family: second-order, dimension: 4, blocks: 5}",
        "problems.1={dataset: conic-sets, family: semidefinite, dimension: 4, order: 4}",
        "problems.2={dataset: conic-sets, family: mixed, dimension: 4, order: 4, rows: 5}",
        "problems.3={dataset: conic-sets, family: mixed, dimension: 4, order: 4, infeasible: true}",
        "problems.4={dataset: maxcut, instances: [random-8-12]}",
    ],
    "rates": [
        "problems.0.rows=60",
        "problems.0.dimension=5",
        "problems.1.rows=60",
        "problems.1.dimension=5",
        "problems.2.rows=60",
        "problems.2.dimension=5",
        "problems.3.rows=60",
        "problems.3.dimension=5",
        "seeds=[0]",
    ],
    "bounds": ["problems.0.grid.margin=[0.1, 0.05]", "seeds=[0]"],
    "margins": [
        "problems=[{dataset: tabular, source: digits, task: pairs, instances: [digits-0-1]},"
        "{dataset: margin-sets, family: classes, dimension: 4, separation: 10.0, rows: 50,"
        " grid: {measured: [directional, geometric]}},"
        "{dataset: margin-sets, family: classes, dimension: 20, separation: 10.0, rows: 200},"
        "{dataset: margin-sets, family: classes, dimension: 6, rows: 60},"
        "{dataset: margin-sets, family: classes, dimension: 5, rows: 60}]",
        *(f"algorithms.{i}.parameters.epochs=50" for i in range(1, 6)),
        "algorithms.6.parameters.iterations=100000",
        "algorithms.7.parameters.longest=1000",
        "seeds=[0]",
    ],
    "gram_prox": [
        "problems.0.dimension=5",
        "problems.0.grid={rows: [20], margin: [0.1]}",
        "seeds=[0]",
    ],
    "decision_lists": [
        *(f"problems.{i}.{size}" for i in range(2) for size in ("dimension=11", "rows=50")),
        *(f"problems.{i}.grid.length=[2]" for i in range(2)),
        "seeds=[0]",
    ],
}
"""What is overridden, so that a second or two suffices."""
REPORTS = {
    "margin_sets": ("table_2", 4 * 8),
    "margin_effect": ("table_2", 2 * 6),
    "infeasible": ("infeasible", 5 * 7),
    "kernel": ("table_figure_2", 5 * 6),
    "conic": ("conic", 5 * 7),
    "rates": ("rates", 5 * 9),
    "bounds": ("rates", 2 * 12 + 3),
    "margins": ("margins", 6 * 8),
    "gram_prox": ("summary", 5),
    "decision_lists": ("summary", 2 * 5),
}
"""Configuration -> its table, and how many lines it has."""
DRAWN_FIRST = "margin_effect"
"""Two kinds of figures of two panels: the fewest."""


def run_small(name: str, folder: Path, *more: str) -> Path:
    """Run a small version without its figures and return the folder of its results."""
    assert run_config(name, folder, (*SIZES[name], *more, UNDRAWN), in_own_folder=True) == 0
    return folder / name


def run(name: str, folder: Path) -> tuple[list[dict[str, str]], pd.DataFrame]:
    """Run a small version and return its rows and its table."""
    return read(name, run_small(name, folder))


def read(name: str, results: Path) -> tuple[list[dict[str, str]], pd.DataFrame]:
    """Return the rows and the table of an experiment."""
    with (results / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, pd.read_csv(results / f"{REPORTS[name][0]}.csv")


@pytest.fixture(scope="module")
def results_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from a name to the folder of its results, which are made once."""
    return cache(lambda name: run_small(name, tmp_path_factory.mktemp("gallery")))


def statuses(rows: list[dict[str, str]]) -> set[str]:
    return {row["status"] for row in rows}


def test_every_shipped_configuration_is_run_somewhere() -> None:
    elsewhere = {"maxcut", "maxcut_oracles", "quickstart"} | {"affine_invariance", "separation_2d"}
    elsewhere |= {"separation_as_feasibility"}
    elsewhere |= {"reuters", "reuters_dimension", "rare_categories", "ellipsoids_embedded"}
    elsewhere |= {"soft_separation", "central_cuts", "sublinear", "retraining"}
    elsewhere |= {"online", "worst_case", "resisting", "rescaling"}
    elsewhere |= {"margin_dependence", "postprocessing", "augmentation"}  # in files of their own
    elsewhere |= {"lp_feasibility", "linear_programs", "separation_verdicts"}
    elsewhere |= {"maxcut_density", "maxcut_cuts"}  # tests/cli/test_maxcut_configs.py
    elsewhere |= {"sdp_rescaling", "conic_rescaling"}  # there, too
    elsewhere |= {"deep_separation", "exponents"}  # there, too
    # tests/cli/test_chapter_9_configs.py
    elsewhere |= {"rotated_digits", "active_learning", "bundle_mirror", "text_stream"}
    elsewhere |= {
        "figure_6_1",
        "maxcut_factors",
        "sdplib_optimum",
        "maxcut_optimum",
        "maxcut_scaling",
    }  # tests/cli/test_program_configs.py
    elsewhere |= {"infeasible_sdp"}  # tests/reporting/test_infeasibility_table.py
    elsewhere |= {"sdplib", "maxcut_large", "sdp_accuracy"}  # tests/cli/test_sdplib_configs.py
    shipped = {name for name in gallery() if not name.startswith("benchmarks/")}
    assert set(SIZES) == set(REPORTS) == shipped - elsewhere


@pytest.mark.parametrize("name", repeated(sorted(SIZES, key=DRAWN_FIRST.__ne__), kept=1))
def test_its_figures_are_drawn(name: str, results_of: Callable[[str], Path]) -> None:
    sizes = drawn_sizes(results_of(name), *shipped_figures(name))
    assert "convergence" in sizes or name in {"margins", "bounds", "gram_prox", "decision_lists"}
    assert min(sizes.values()) > 1000


@pytest.mark.parametrize("name", repeated(["margin_effect", "margin_sets"], kept=1))
def test_every_algorithm_separates_the_margin_sets(
    name: str, results_of: Callable[[str], Path]
) -> None:
    rows, table = read(name, results_of(name))
    assert statuses(rows) == {"FEASIBLE"}
    assert {row["proved"] for row in rows} == {"true"}
    assert len(table) == REPORTS[name][1]
    assert (table.loc[table["label"] == "MPLFP", "ratio"] == 1).all()
    assert table["status"].isna().all()


@pytest.mark.long
def test_every_algorithm_bounds_the_margin_of_the_infeasible(tmp_path: Path) -> None:
    rows, table = run("infeasible", tmp_path)
    assert statuses(rows) <= {"MARGIN_BOUNDED", "INFEASIBLE"}
    assert len(table) == REPORTS["infeasible"][1]
    assert (table["margin upper"] <= 1e-3).all()


@pytest.mark.long
def test_the_kernel_classifiers_learn(tmp_path: Path) -> None:
    rows, table = run("kernel", tmp_path)
    assert statuses(rows) <= {"FEASIBLE", "UPDATE_LIMIT"}
    assert len(table) == REPORTS["kernel"][1]
    assert (table["seeds"] == 2).all()
    last = table[table["iterations"] == 1000].set_index("label")
    assert (last["median"] < 25).all()
    # All were cut off at 40 iterations.
    assert (last["ended"] == last["classifiers"]).all()
    assert "decisions" not in " ".join(rows[0])


@pytest.mark.long
def test_every_algorithm_answers_on_every_cone(tmp_path: Path) -> None:
    rows, table = run("conic", tmp_path)
    assert statuses(rows) <= {"FEASIBLE", "INFEASIBLE", "MARGIN_BOUNDED"}
    assert {row["proved"] for row in rows} == {"true"}
    assert len(table) == REPORTS["conic"][1]
    bracket = table.dropna(subset=["margin lower", "margin upper"])
    assert (bracket["margin lower"] <= bracket["margin upper"]).all()


@pytest.mark.long  # tests/theorems has the bounds, and the next test the table
def test_no_algorithm_exceeds_its_bound(tmp_path: Path) -> None:
    rows, table = run("rates", tmp_path)
    assert statuses(rows) <= {"FEASIBLE", "INFEASIBLE", "MARGIN_BOUNDED"}
    assert len(table) == REPORTS["rates"][1]
    assert set(table["side"]) == {"feasible", "epsilon"}
    ratios = table.dropna(subset=["largest ratio"])
    assert (ratios["largest ratio"] <= 1).all()
    assert (ratios["side"] == "feasible").sum() == 2 * 9
    assert table.loc[table["bound"].isna(), "reason"].notna().all()


def test_the_other_algorithms_stay_within_their_bounds(tmp_path: Path) -> None:
    """Each label's own theorem gives a number on each problem, and no run exceeds it."""
    rows, table = run("bounds", tmp_path)
    assert {row["proved"] for row in rows} == {"true"}
    assert len(table) == REPORTS["bounds"][1]
    assert table["bound"].notna().all()
    ratios = table["largest ratio"].combine_first(table["mean ratio"])
    assert ((ratios >= 0) & (ratios <= 1)).all()
    assert set(table.loc[table["label"] == "relaxed", "side"]) <= {"relaxed", "feasible"}
    assert set(table.loc[table["label"] == "relaxed", "kind"]) == {"expectation"}


@pytest.mark.long
def test_no_method_has_more_than_the_proved_margin(tmp_path: Path) -> None:
    rows, table = run("margins", tmp_path)
    assert statuses(rows) == {"FEASIBLE"}
    assert len(table) == REPORTS["margins"][1]
    assert (table["share"] <= 1.0).all()
    exact = table[table["label"] == "minimum-norm-point"]
    assert (exact["own ratio"] >= 0.9999).all()
    assert (exact["share"] >= 0.9999).all()
    bounded = table[table["label"] == "bisection with bounds"]
    assert (bounded["own ratio"] <= bounded["share"]).all()
