"""Nothing more can be written: the command says so, what is there stays, a later run completes."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.reader import Reader
from tests.robustness.commands import Command, without_clocks

CONFIG = """\
experiment: full
budget: {updates: 300}
problems:
  - {dataset: margin-sets, family: reflected, dimension: 10, rows: 300, seeds: [0, 1, 2, 3, 4, 5]}
algorithms:
  - {name: perceptron}
  - {name: von-neumann}
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has /dev/full, and limits"),
]


def limited_to(size: int) -> Callable[[], None]:
    """Return what lets no file of a process grow beyond so many bytes, as a full disk would."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.fixture(scope="module")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the configuration and the results of a run with enough room."""
    folder = tmp_path_factory.mktemp("full")
    (folder / "full.yaml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["run", "full.yaml", "--output", "enough", "-q"]) == 0
    return folder


@pytest.fixture
def folder(results_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same folder, in which the test runs."""
    monkeypatch.chdir(results_folder)
    return results_folder


def saved(results: Path) -> dict[str, Row]:
    with Reader.open(results) as reader:
        stored = reader.stored_of(cell.cell for cell in reader.plan()).values()
    assert not [row.fault for row in stored if row.fault]
    return {row.cell: row.row for row in stored}


@pytest.mark.long  # tests/experiments/storage/test_store_faults.py has full disks of any size
@pytest.mark.parametrize("sizes", [(200_000,), (200_000, 300_000)])
def test_a_full_disk_ends_the_run_without_other_damage(
    folder: Path, sizes: tuple[int, ...]
) -> None:
    """The store can hold a few cells, and then a few more."""
    little = f"little-{len(sizes)}"
    results, full = folder / little / "full", folder / "enough" / "full"
    arguments = ("run", "full.yaml", "--output", little, "-v")
    rows: list[dict[str, Row]] = [{}]
    for size in sizes:  # bytes, of the journal first
        with Command(*arguments, folder=folder, prepare=limited_to(size)) as command:
            assert command.finish() == 2, command.output
            assert not command.orphans()
        (message,) = (line for line in command.output.splitlines() if line.startswith("Error: "))
        assert "cannot be written" in message
        assert (
            "free space on the disk, or remove the cause named here, and run the same command to "
            "resume" in message
        )
        assert "Traceback" not in command.output
        rows.append(saved(results))
        assert rows[-1].items() >= rows[-2].items()
        assert f"the {len(rows[-1])} cells that were finished before are safe there" in message
    assert 0 < len(rows[1]) < 12
    assert main(list(arguments)) == 0
    assert saved(results).items() >= rows[-1].items()
    assert without_clocks(results) == without_clocks(full)


@pytest.mark.long
def test_a_disk_that_is_full_from_the_start(folder: Path) -> None:
    arguments = ("run", "full.yaml", "--output", "none")
    with Command(*arguments, folder=folder, prepare=limited_to(2048)) as command:
        assert command.finish() == 2
        assert not command.orphans()
    assert "Traceback" not in command.output
    (message,) = (line for line in command.output.splitlines() if line.startswith("Error: "))
    assert "none/full" in message
    assert main(list(arguments)) == 0
    assert without_clocks(folder / "none" / "full") == without_clocks(folder / "enough" / "full")


def test_a_file_in_place_of_the_folder_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "taken").write_text("mine")
    assert main(["run", "full.yaml", "--output", "taken"]) == 2
    printed = capsys.readouterr()
    assert "'taken' is a file" in printed.err
    assert "Traceback" not in printed.out + printed.err
    assert (folder / "taken").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_is_read_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "closed").mkdir(mode=0o500)
    assert main(["run", "full.yaml", "--output", "closed"]) == 2
    assert "closed" in capsys.readouterr().err
    assert not list((folder / "closed").iterdir())


@pytest.mark.long  # test_an_output_without_room_is_no_bug is the same in one process
def test_an_output_that_is_full_loses_no_row(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard output is a device without room: the rows are stored all the same."""
    device = os.open("/dev/full", os.O_WRONLY)
    arguments = ("run", "full.yaml", "--output", "mute")
    try:
        with Command(*arguments, folder=folder, prepare=lambda: _redirected(device)) as command:
            assert command.finish() == 2
            assert not command.orphans()
    finally:
        os.close(device)
    message = "Error: the output cannot be written (No space left on device); make room there"
    assert message in command.output
    assert "Traceback" not in command.output
    assert without_clocks(folder / "mute" / "full") == without_clocks(folder / "enough" / "full")
    assert main(list(arguments)) == 0
    assert "12 of 12 rows are there already" in "".join(capsys.readouterr())


def _redirected(device: int) -> None:
    os.dup2(device, 1)
