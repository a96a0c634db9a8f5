"""SDPLIB by families, the large MAXCUT relaxations, solvers of others: at a small size."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.loader import load_experiment
from tests.cli.small_runs import run_config
from tests.repetitions import repeated

SMALL = {
    "sdplib": [
        "problems.0={dataset: maxcut, instances: [torus-3x3]}",
        "problems.1={dataset: sdplib, missing: skip, instances: [infd1]}",
    ],
    "maxcut_large": [
        "problems.0={dataset: sdplib, missing: skip, instances: [maxG60]}",
        "problems.1={dataset: maxcut, instances: [random-12-20]}",
    ],
}


def test_every_registered_file_of_sdplib_is_in_its_configuration() -> None:
    instances = load_experiment(gallery()["sdplib"]).instances
    names = [
        instance.name for instance in instances if instance.dataset.record.question == "feasibility"
    ]
    assert sorted(names) == sorted(collection("sdplib").files)
    assert all(instance.optional for instance in instances)


@pytest.mark.slow
@pytest.mark.parametrize("name", repeated(sorted(SMALL, reverse=True), kept=1))
def test_it_runs_without_any_file_of_sdplib(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("PLAB_DATA_MIRROR", "PLAB_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    assert run_config(name, tmp_path / "results", SMALL[name], in_own_folder=True) == 0
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


@pytest.mark.slow
@pytest.mark.long  # as the optima in tests/cli/test_program_configs.py
def test_solvers_that_are_not_there_are_skipped_and_the_others_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("PLAB_DATA_MIRROR", "PLAB_DATA_DIR", "PATH"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    overrides = [
        "problems.0={dataset: maxcut, instances: [torus-3x3]}",
        "problems.2={dataset: conic-sets, family: semidefinite, dimension: 4, order: 4}",
        "problems.3={dataset: maxcut, instances: [random-8-12]}",
        "experiment=small",
    ]
    assert run_config("sdp_accuracy", tmp_path, overrides) in (0, 1)
    table = pd.read_csv(tmp_path / "small" / "accuracy.csv", keep_default_na=False)
    programs = table[table["label"].isin(["csdp", "sdpa", "dsdp5"])]
    assert set(programs["status"]) == {"SKIPPED"}
    runs = pd.read_csv(tmp_path / "small" / "runs.csv", keep_default_na=False)
    messages = runs[(runs["label"] == "csdp") & (runs["problem"] == "torus-3x3")]["message"]
    assert list(messages) == ["csdp is not on PATH; Debian: apt install coinor-csdp"]
    direct = table[(table["label"] == "clarabel-direct") & (table["status"] == "FEASIBLE")]
    assert len(direct) == 3
    assert (direct["claimed"].astype(float) < 1e-7).all()
    assert (direct["proved"].astype(float) < 1e-5).all()
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "small")]) == 0
    assert "not checked: claimed_dimacs_1" in capsys.readouterr().out
