"""The shipped comparison of warm starts with restarts, at a small size."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml

from perceptron_lab.core import registry
from tests.cli.small_runs import run_config
from tests.prose.pages import ROOT

SMALL = (
    "problems.0.dimension=5",
    "problems.0.rows=60",
    "problems.0.margin=0.1",
    "algorithms.0.grid={algorithm: [perceptron, ellipsoid], share: [0.0, 0.9]}",
    "experiment=retraining",
)


def test_the_configuration_has_every_algorithm_that_takes_a_start_but_two() -> None:
    config = yaml.safe_load((ROOT / "configs" / "retraining.yaml").read_text())
    names = registry.names("algorithm")
    started = [name for name in names if registry.load("algorithm", name).takes_start]
    assert sorted(config["algorithms"][0]["grid"]["algorithm"]) == sorted(
        set(started) - {"relaxed-perceptron", "derandomised-rescaled-perceptron"}
    )


@pytest.mark.slow
def test_the_table_has_the_updates_of_its_runs(tmp_path: Path) -> None:
    assert run_config("retraining", tmp_path, SMALL) == 0
    folder = tmp_path / "retraining"
    runs, table = (pd.read_csv(folder / name) for name in ("runs.csv", "retraining.csv"))
    assert (runs["status"] == "FEASIBLE").all()
    assert list(table["algorithm"]) == ["perceptron", "ellipsoid"]
    keys = ["algorithm.algorithm", "algorithm.share", "seed"]
    updates = runs.set_index(keys)["updates"].sort_index()
    medians = updates.groupby(level=[0, 1]).median().unstack()
    for _, line in table.iterrows():
        name = line["algorithm"]
        assert [line["restart"], line["share 0.9"]] == list(medians.loc[name])
        ratios = updates[name, 0.9] / updates[name, 0.0]
        assert line["largest ratio"] == pytest.approx(ratios.max())
    assert table["status"].isna().all()
