"""The committed samples are what their stores say, and say nothing of the machine's owner."""

from __future__ import annotations

import csv
import json
import re
import shutil
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.plan import plan
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.reader import Reader, read_config_of
from perceptron_lab.experiments.verify import verify
from perceptron_lab.reporting import report
from tests.repetitions import repeated

SAMPLES = Path(__file__).parents[2] / "results" / "sample"
TABLES_ALONE = {"rare_categories"}
"""Samples of earlier versions, of which only tables and figures were kept."""
STORED = schema.folders_below(SAMPLES)
STORED.sort(key=lambda folder: schema.path_of(folder).stat().st_size)


def rows_of(table: Path) -> list[list[str]]:
    return list(csv.reader(table.read_text(encoding="utf-8").splitlines()))


def names(folder: Path, *endings: str) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix in endings}


def test_every_sample_has_its_store() -> None:
    folders = {path.name for path in SAMPLES.iterdir() if path.is_dir()}
    assert folders - {folder.name for folder in STORED} == TABLES_ALONE


@pytest.mark.slow
@pytest.mark.parametrize("folder", repeated(STORED, kept=3), ids=lambda folder: folder.name)
def test_its_tables_can_be_reproduced(folder: Path, tmp_path: Path) -> None:
    """Captions may say by now that the rows are those of another version; the numbers stay.

    On the processor that made the sample they are the same bytes; on another one a least squares
    fit, or a logarithm, may differ in its last digits.
    """
    copy = tmp_path / folder.name
    copy.mkdir()
    shutil.copy(schema.path_of(folder), copy)
    tables = read_config_of(folder).report.tables
    report_again = report.make_report(copy, {"tables": tables}, "")
    assert not report_again.failed
    written = names(copy, ".csv")
    assert written
    for name in written:
        again, before = (rows_of(parent / name) for parent in (copy, folder))
        assert [len(row) for row in again] == [len(row) for row in before], name
        for cell, former in zip(chain(*again), chain(*before), strict=True):
            assert cell == former or float(cell) == pytest.approx(float(former), rel=1e-9), name


@pytest.fixture(scope="module", params=STORED, ids=lambda folder: folder.name)
def stored(request: pytest.FixtureRequest) -> Path:
    """The folder of a sample: its tests run one after the other, and unpack its store once."""
    folder: Path = request.param
    return folder


def test_it_is_complete_and_of_a_shipped_configuration(stored: Path) -> None:
    with Reader.open(stored) as reader:
        config, planned, runs = reader.config(), reader.plan(), reader.runs()
    assert len(runs) == len(planned)
    assert config.experiment == stored.name
    (shipped,) = [path for path in gallery().values() if path.stem == stored.name]
    today = [(cell.instance.title, cell.variant.label, cell.seed) for cell in plan(shipped)]
    assert [(cell.title, cell.label, cell.settings["seed"]) for cell in planned] == today
    for entry in config.report.figures:
        stem = entry if isinstance(entry, str) else entry.curves.stem
        assert (stored / f"{stem}.png").is_file()


def test_it_contains_no_machine_paths(stored: Path) -> None:
    with closing(schema.open_to_read(stored)) as connection:
        content = connection.serialize()
    assert re.findall(rb"/(?:home|root|tmp|work|Users|mnt|var)/[ -~]{0,60}", content) == []
    for environment in json.loads((stored / "environment.json").read_text()).values():
        assert environment["argv"][0] in {"plab", "rerun_cells.py"}
        assert not environment["git"]["dirty"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder",
    [folder for folder in STORED if (folder / "certificates").is_dir()],
    ids=lambda folder: folder.name,
)
def test_its_certificates_are_proved(folder: Path, request: pytest.FixtureRequest) -> None:
    if read_config_of(folder).problems[0].dataset == "sdplib":
        request.getfixturevalue("sdplib_folder")
    verification = verify(folder)
    assert set(verification.counts) == {"PROVED"}
    assert verification.counts["PROVED"] == len(verification.cells)
