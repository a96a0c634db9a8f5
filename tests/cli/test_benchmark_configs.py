"""The benchmarks at a small size: they run to their tables and figures, `auto` has all proofs."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.experiments.configuration.catalogue import find_config, gallery
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.reporting import Evidence, write_report
from tests.cli.small_runs import drawn_sizes, shipped_figures
from tests.repetitions import repeated

pytestmark = pytest.mark.slow

SMALL = {
    "benchmarks/peers": (
        "problems=["
        "{dataset: margin-sets, family: reflected, dimension: 5, rows: 60},"
        "{dataset: margin-sets, family: reflected, dimension: 5, rows: 90},"
        "{dataset: margin-sets, family: gaussian, dimension: 5, rows: 60},"
        "{dataset: tabular, source: wine, instances: [wine-0-rest]}]"
    ),
    "benchmarks/tiny_margin": (
        "problems=["
        "{dataset: margin-sets, family: exact, dimension: 5, rows: 50,"
        " grid: {margin: [1e-2, 1e-9]}},"
        "{dataset: margin-sets, family: thin, dimension: 5, rows: 50,"
        " grid: {margin: [1e-2, 1e-9]}}]"
    ),
    "benchmarks/certificates": (
        "problems=["
        "{dataset: margin-sets, family: convex-combination, dimension: 5, rows: 60},"
        "{dataset: margin-sets, family: gaussian, dimension: 5, rows: 40}]"
    ),
    "benchmarks/scaling": (
        "problems=["
        "{dataset: margin-sets, family: reflected, dimension: 5, grid: {rows: [50, 100, 200]}},"
        "{dataset: margin-sets, family: reflected, rows: 100, grid: {dimension: [2, 3]}}]"
    ),
    "benchmarks/auto": (
        "problems=[{dataset: margin-sets, family: reflected, dimension: 5, rows: 60}]"
    ),
    "benchmarks/cones": (
        "problems=["
        "{dataset: conditioned-cones, family: second-order, blocks: 3, block_size: 3,"
        " grid: {delta: [0.3, 0.01]}},"
        "{dataset: conditioned-cones, family: semidefinite, blocks: 1, order: 4,"
        " side: infeasible, delta: 0.1}]"
    ),
    "benchmarks/cluster": (
        "problems=["
        "{dataset: rows-in-parts, dimension: 5, part_rows: 30, workers: 1, rows: 400},"
        "{dataset: rows-in-parts, dimension: 5, part_rows: 30, grid: {rows: [50, 100, 200]}}]"
    ),
    "benchmarks/labelled": (
        "problems=["
        "{dataset: labelled-sets, family: heavy-tailed, dimension: 5, rows: 60},"
        "{dataset: labelled-sets, family: sparse, dimension: 9, rows: 60, density: 0.3,"
        " grid: {difficulty: [1, 0.1]}}]"
    ),
    "benchmarks/margin_sets_large": (
        "problems=[{dataset: margin-sets, family: reflected, dimension: 5, rows: 60}]"
    ),
    "benchmarks/out_of_core": (
        "problems=["
        "{dataset: rows-on-disk, dimension: 5, memory: 1000000, grid: {rows: [50, 100, 200]}}]"
    ),
}
"""Name -> its problems in a second or two."""
ONE_SEED = ("benchmarks/cluster", "benchmarks/out_of_core", "benchmarks/margin_sets_large")
"""4 GB of disk, minutes or hours, a seed."""
WITHOUT_FIGURES = ("benchmarks/margin_sets_large",)
NO_ANSWER = {"ERROR", "CRASHED", "KILLED", "OUT_OF_MEMORY", "SKIPPED"}


def test_every_benchmark_runs_at_a_small_size() -> None:
    assert set(SMALL) == {name for name in gallery() if name.startswith("benchmarks/")}


def test_benchmarks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "experiments"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_is_a_shipped_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert find_config(name).resolve() == gallery()[name].resolve()
    assert main(["show", name]) == 0
    assert capsys.readouterr().out == gallery()[name].read_text()
    config = load_experiment(gallery()[name]).config
    assert len(config.seeds) >= 3 or name in ONE_SEED
    assert config.algorithms[0].name == "auto"
    assert bool(config.report.figures) == (name not in WITHOUT_FIGURES)


def run_small(name: str, folder: Path) -> Path:
    """Run a small version without its figures and return the folder of its results."""
    config = load_experiment(gallery()[name]).config
    limits = [
        word
        for index in range(1, len(config.algorithms))  # `auto` is the first: it has all its time
        for word in ("-s", f"algorithms.{index}.budget={{seconds: 0.03}}")
    ]
    small = ["-s", SMALL[name], *limits, "-s", "seeds=[0]", "-s", "report.figures=[]"]
    small += ["-s", "experiment=small"]
    # A peer's wrong answer is a failed cell, and no failure of the benchmark.
    assert main(["run", name, "-q", "--output", str(folder), *small]) in (0, 1)
    (folder / "small").rename(folder / config.experiment)
    return folder / config.experiment


@pytest.fixture(scope="module")
def results_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from a name to the folder of its results, which are made once."""
    folder = tmp_path_factory.mktemp("benchmarks")

    @cache
    def evidence_of_sweep(name: str) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            if "rows-on-disk" in SMALL[name]:
                patch.setenv("PLAB_DATA_DIR", str(folder / "data"))
            return run_small(name, folder)

    return evidence_of_sweep


@pytest.mark.parametrize("name", repeated(sorted({*SMALL} - {*WITHOUT_FIGURES}), kept=1))
def test_its_figures_are_drawn(name: str, results_of: Callable[[str], Path]) -> None:
    assert min(drawn_sizes(results_of(name), *shipped_figures(name)).values()) > 1000


@pytest.mark.parametrize("name", repeated(sorted(SMALL), kept=1))
def test_ours_has_a_proved_answer_everywhere(name: str, results_of: Callable[[str], Path]) -> None:
    config = load_experiment(gallery()[name]).config
    folder = results_of(name)
    with (folder / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert not {row["status"] for row in rows} & NO_ANSWER
    assert {row["proved"] for row in rows if row["label"] == "auto"} == {"true"}
    if "profile" not in config.report.tables:
        return
    profile = pd.read_csv(folder / "profile.csv").set_index("label")
    assert list(profile.index) == [entry.label or entry.name for entry in config.algorithms]
    assert profile.loc["auto", "solved"] == 1


def test_a_scaling_report_of_other_data_states_the_reason(tmp_path: Path) -> None:
    words = ["-s", "report.figures=[scaling]", "-s", "experiment=small"]
    small = ["-s", "algorithms=[{name: ellipsoid}]", "-s", "seeds=[0]"]
    exit_code = main(["run", "quickstart", "-q", "--output", str(tmp_path), *small, *words])
    assert exit_code == 1
    assert (tmp_path / "small" / "runs.csv").is_file()
    assert write_report(tmp_path / "small", {"figures": ["profile"]}, "T")
    assert Evidence.of_folder(tmp_path / "small").frame["proved"].all()
