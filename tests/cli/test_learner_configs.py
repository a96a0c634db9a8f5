"""The experiments with learners, on wine in the place of Reuters: they run to their tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.datasets.collections.reuters_corpus import categories
from perceptron_lab.experiments.configuration.loader import instances_of, load_experiment
from tests.cli.small_runs import run_config

pytestmark = pytest.mark.slow

NAMES = ["reuters", "reuters_dimension", "rare_categories", "ellipsoids_embedded"]
WINE = "{{dataset: tabular, source: wine, instances: [{}], scaling: standard, test_fraction: 0.5}}"
SMALL = {
    # With more features an ellipsoid separates the classes, and the central path has no limit.
    "reuters": ["algorithms.0.parameters.components=2", "algorithms.1.parameters.components=2"],
    "reuters_dimension": [
        "algorithms.0.grid.components=[1]",
        "algorithms.1.grid.components=[2]",
        "algorithms.2.grid.components=[2, 5]",
        "algorithms.3.grid.components=[7]",
        "algorithms.4.grid.components=[2, 5]",
        "algorithms.5.grid.components=[7]",
        *(f"algorithms.{i}.parameters.regularisations=[1e-2, 1e-4]" for i in range(2, 6)),
    ],
    "rare_categories": [
        "algorithms.1.parameters.regularisations=[1e-2, 1e-4]",
        "algorithms.2.parameters.penalties=[1e-2, 1]",
        "algorithms.3.parameters.regularisations=[1e-2, 1e-4]",
    ],
    "ellipsoids_embedded": [],
}


def run(name: str, folder: Path, instances: str = "wine-0-rest", seeds: str = "[0]") -> Path:
    wine = WINE.format(instances)
    problems = f"problems=[{wine}]" if name == "ellipsoids_embedded" else f"problems.0={wine}"
    overrides = [problems, f"seeds={seeds}", *SMALL[name]]
    assert run_config(name, folder, overrides, in_own_folder=True) == 0
    return folder / name


@pytest.mark.parametrize("name", NAMES)
def test_they_pass_the_check(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", name]) == 0
    assert "ok" in capsys.readouterr().out


@pytest.mark.long
def test_table_8_1_is_made_in_one_command(tmp_path: Path) -> None:
    folder = run("reuters", tmp_path, "wine-0-rest, wine-1-rest", "[0, 1]")
    table = pd.read_csv(folder / "table_8_1.csv").set_index("category")
    assert list(table.index) == ["wine-0-rest", "wine-1-rest", "mean"]
    assert (table["soft k30"] > 90).all()
    assert (table["soft k30 lowest"] <= table["soft k30"]).all()
    proofs = table["hard central-path proves"].dropna()
    assert list(proofs) == ["t = 0", "t = 0"]
    differences = pd.read_csv(folder / "precision_differences.csv")
    pairs = {("soft k30", "SVM k30"), ("soft k200", "linear k200"), ("soft full", "SVM full")}
    assert pairs <= set(zip(differences["first"], differences["second"], strict=True))
    rows = pd.read_csv(folder / "runs.csv")
    assert sorted(rows.loc[rows["label"] == "soft k30", "seed"].unique()) == [0, 1]
    assert set(rows.loc[rows["label"] == "SVM full", "seed"]) == {0}
    assert (folder / "table_8_1.tex").read_text().count("\\\\") > 3


@pytest.mark.long  # tests/reporting draws it
def test_figure_8_1_is_drawn(tmp_path: Path) -> None:
    folder = run("reuters_dimension", tmp_path)
    for suffix in ("png", "pdf"):
        assert (folder / f"figure_8_1.{suffix}").stat().st_size > 1000


@pytest.mark.long  # the other tables of learners are made always
def test_rare_categories_state_the_number_of_features(tmp_path: Path) -> None:
    folder = run("rare_categories", tmp_path)
    table = pd.read_csv(folder / "rare_categories.csv").set_index("category")
    assert table.loc["wine-0-rest", "hard components"] == 13
    assert table["hard proves"].dropna().str.contains("t >=").all()


@pytest.mark.long
def test_the_embedded_sets_need_no_download(tmp_path: Path) -> None:
    folder = run("ellipsoids_embedded", tmp_path)
    learners = pd.read_csv(folder / "learners.csv").set_index("label")
    assert len(learners) == 11
    assert (learners["average precision"] > 80).all()
    gaussian = learners.loc[["soft Gaussian k50", "SVM Gaussian k50", "linear Gaussian k50"]]
    assert (gaussian["features"] == 50).all()
    differences = pd.read_csv(folder / "precision_differences.csv")
    pairs = set(zip(differences["first"], differences["second"], strict=True))
    assert ("soft Gaussian k50", "SVM Gaussian k50") in pairs
    assert not any(("Gaussian" in first) != ("Gaussian" in second) for first, second in pairs)
    datasets = {
        instance.dataset.name
        for instance in instances_of(load_experiment("ellipsoids_embedded").config)
    }
    assert datasets == {"tabular"}


def test_slacks_and_the_share_of_the_solver(tmp_path: Path) -> None:
    name = "soft_separation"
    words = ["-s", "problems.0.instances=[wine-1-rest]", "-s", "seeds=[0]"]
    options = ["-s", f"experiment={name}"]  # in a folder of this name, whatever is overridden
    assert main(["run", name, "-q", "--output", str(tmp_path), *words, *options]) == 0
    learners = pd.read_csv(tmp_path / name / "learners.csv").set_index("label")
    precision = learners["average precision"]
    assert precision["slacks"] > 75
    # where t = 0, the limit of the central path ranks, and the error of a solver does not
    assert precision["hard"] > precision["hard by cvxpy-scs"] + 10
    rows = pd.read_csv(tmp_path / name / "runs.csv").set_index("label")
    assert rows.loc["slacks", "measure.candidates"] == 9
    assert rows.loc["slacks", "measure.converged"] == 1


def test_the_rare_categories_are_all_there_are() -> None:
    config = load_experiment("rare_categories").config
    expected = [c.name for c in categories().values() if 0 < c.training < 50 and c.test]
    named = [instance.name for instance in instances_of(config)]
    assert sorted(named) == sorted(expected)
    assert len(named) == 64
    training = [categories()[name].training for name in named]
    assert training == sorted(training, reverse=True)


@pytest.mark.parametrize("name", NAMES)
def test_learners_choose_among_nearly_equally_many(name: str) -> None:
    """Seven to nine candidates each, a power of ten apart; soft and linear have the same ones."""
    candidates: dict[str, dict[tuple[object, ...], set[tuple[float, ...]]]] = {}
    for variant in load_experiment(name).variants:
        record = variant.algorithm.record
        for field in ("penalties", "regularisations"):
            if hasattr(record, field):
                features = (record.components, getattr(record, "kernel", None))
                grids = candidates.setdefault(field, {}).setdefault(features, set())
                grids.add(tuple(getattr(record, field)))
    for field, by_features in candidates.items():
        for grids in by_features.values():
            (grid,) = grids  # one per set of features
            assert 7 <= len(grid) <= 9
            step = 1.0 if field == "penalties" else -1.0
            assert np.allclose(np.diff(np.log10(grid)), step)
