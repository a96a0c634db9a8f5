"""SDPLIB by families and the large MAXCUT relaxations, at a small size."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.datasets.download.registered_files import sdplib
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.loader import load_experiment

SMALL = {
    "sdplib": [
        "problems.0={dataset: maxcut, instances: [random-8-12, torus-3x3]}",
        "problems.1={dataset: sdplib, missing: skip, instances: [infd1]}",
    ],
    "maxcut_large": [
        "problems.0={dataset: sdplib, missing: skip, instances: [maxG60]}",
        "problems.1={dataset: maxcut, instances: [random-12-20]}",
    ],
}


def test_every_registered_file_of_sdplib_is_in_its_configuration() -> None:
    instances = load_experiment(gallery()["sdplib"]).instances
    names = [one.name for one in instances if one.dataset.record.question == "feasibility"]
    assert sorted(names) == sorted(sdplib().files)
    assert all(one.optional for one in instances)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_it_runs_without_any_file_of_sdplib(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("PLAB_DATA_MIRROR", "PLAB_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    overrides = [word for one in SMALL[name] for word in ("-s", one)]
    own = ["-s", f"experiment={name}"]
    assert main(["run", name, "-q", "--output", str(tmp_path / "results"), *overrides, *own]) == 0
    folder = tmp_path / "results" / name
    with (folder / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        missing = row["problem"] in ("infd1", "maxG60")
        assert row["status"] == ("SKIPPED" if missing else "FEASIBLE")
        assert "is not in" in row["message"] if missing else row["proved"] == "true"
    table = pd.read_csv(folder / "families.csv")
    labels = len(load_experiment(gallery()[name]).variants)
    assert table["skipped"].sum() == labels
    assert table["feasible"].sum() == len(rows) - labels
