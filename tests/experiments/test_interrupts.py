"""Ctrl-C once, twice, and SIGTERM: what has ended is saved, and nobody is left behind."""

from __future__ import annotations

import csv
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.experiments.running.runner import Interrupts
from perceptron_lab.experiments.storage.reader import Reader
from tests.repetitions import repeated
from tests.robustness.commands import Command

CONFIG = """\
experiment: long
problems:
  - {dataset: resisting, dimension: 3, margin: 1e-6}
  - {dataset: resisting, dimension: 3, margin: 1e-7}
algorithms:
  - {name: auto}
  - {name: ellipsoid}
  - {name: perceptron, budget: {updates: 10000000000, seconds: 3000}}
"""
RESULTS = Path("results/long")

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Let SIGINT be what it is at a terminal; and leave all as it was."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    earlier = {number: signal.getsignal(number) for number in numbers}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in earlier.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_interrupts_the_running_step(number: signal.Signals) -> None:
    handler = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), Interrupts().watched():
        signal.raise_signal(number)
    assert signal.getsignal(number) is handler


def hold(*steps: Callable[[], None]) -> None:
    """Take steps while signals are put off, and one more afterwards."""
    *first, last = steps
    with Interrupts().watched() as interrupts:
        with interrupts.held():
            for step in first:
                step()
        last()


def test_critical_steps_finish_before_an_interrupt() -> None:
    steps_done: list[str] = []
    steps = (lambda: signal.raise_signal(signal.SIGTERM), lambda: steps_done.append("whole"))
    with pytest.raises(KeyboardInterrupt):
        hold(*steps, lambda: steps_done.append("never"))
    assert steps_done == ["whole"]


def test_a_second_signal_does_not_wait() -> None:
    steps_done: list[str] = []

    def interrupt() -> None:
        steps_done.append("before")
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        hold(
            interrupt,
            interrupt,
            lambda: steps_done.append("never"),
            lambda: steps_done.append("never"),
        )
    assert steps_done == ["before", "before"]


def test_an_error_of_a_step_is_raised() -> None:
    def fail() -> None:
        signal.raise_signal(signal.SIGINT)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        hold(fail, fail)


def test_without_a_signal_all_steps_run() -> None:
    before, runs = signal.getsignal(signal.SIGINT), 0
    with Interrupts().watched() as interrupts:
        assert signal.getsignal(signal.SIGINT) is not before
        for _ in range(3):
            with interrupts.held():
                runs += 1
    assert runs == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_is_ignored_remains_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Interrupts().watched():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_are_not_interrupted() -> None:
    handler, handlers = signal.getsignal(signal.SIGINT), []

    def watch() -> None:
        with Interrupts().watched() as interrupts, interrupts.held():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert handlers == [handler]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "long.yaml").write_text(CONFIG)
    return tmp_path


def until_cells_run(command: Command, finished: int) -> None:
    """Wait until so many cells have ended and others are running."""
    assert command.wait_for_line(f"[{finished}/6]"), command.output
    assert command.wait_for(lambda: len(command.cells()) == 2)


def saved(folder: Path) -> list[str]:
    with Reader.open(folder / RESULTS) as reader:
        stored = reader.stored_of(run.cell for run in reader.plan())
        cells = [planned_cell.cell for planned_cell, _ in reader.runs()]
    assert [stored[cell].fault for cell in cells] == [""] * len(cells)
    return cells


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("number", repeated([signal.SIGINT, signal.SIGTERM], kept=1))
def test_the_command_stops_cleanly(
    folder: Path,
    number: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Command("run", "long.yaml", "--jobs", "2", folder=folder) as command:
        until_cells_run(command, 4)
        command.interrupt(number)
        assert command.finish() == 130
        assert command.orphans() == []
    expected = "interrupted; 4 finished cells are in results/long; run the same command to resume"
    assert expected in command.output.splitlines()
    cells = saved(folder)
    with (folder / RESULTS / "runs.csv").open(newline="") as file:
        assert [row["cell"] for row in csv.DictReader(file)] == cells
    assert len(cells) == 4
    monkeypatch.chdir(folder)
    Path("long.yaml").write_text(CONFIG.replace("updates: 10000000000", "updates: 9"))
    assert main(["run", "long.yaml"]) == 0
    assert "4 of 6 rows are there already; 2 cells to run" in capsys.readouterr().err


@pytest.mark.long  # test_a_second_signal_does_not_wait is the same in one process
@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_a_second_interrupt_ends_it_at_once(folder: Path, pause: float) -> None:
    with Command("run", "long.yaml", "--jobs", "2", folder=folder) as command:
        until_cells_run(command, 4)
        command.interrupt()
        time.sleep(pause)
        if command.runs:
            command.interrupt()
        assert command.finish() in (130, -signal.SIGINT), command.output
        assert command.orphans() == []
    assert len(saved(folder)) == 4


@pytest.mark.long
@on_linux
@pytest.mark.slow
def test_workers_of_dask_end_with_the_command(folder: Path) -> None:
    pytest.importorskip("distributed")
    with Command("run", "long.yaml", "--executor", "dask", folder=folder) as command:
        assert command.wait_for_line("[2/6]"), command.output
        assert len(command.processes()) >= 3  # itself, the worker, its server
        command.interrupt()
        assert command.finish() == 130
        assert command.orphans() == []
    assert "interrupted; 2 finished cells are in results/long" in command.output
    assert len(saved(folder)) == 2
