"""Made-up cells, outcomes and stores."""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_lab.core.errors import PlabError
from perceptron_lab.core.results import Bound, Result, Status, Trace
from perceptron_lab.experiments.cells.cell_run import Outcome
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ProcessLimits
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.store import Store
from perceptron_lab.experiments.storage.stored import Planned

CONFIG = ExperimentConfig.model_validate(
    {
        "experiment": "made",
        "problems": [{"dataset": "maxcut", "instances": ["torus-3x3"]}],
        "algorithms": [{"name": "ellipsoid"}],
    }
)
MACHINE = {"id": "machine", "time": "2020-01-01T00:00:00+00:00"}
CORE = "cell:" + "c0de" * 16
LIMITS = ProcessLimits(memory=10**9)


def make_planned(number: int, **changes: Any) -> Planned:
    """Return the cell of this number."""
    settings = {
        "dataset": "maxcut",
        "dataset_parameters": {"instances": ["torus-3x3"]},
        "instance": "torus-3x3",
        "algorithm": "ellipsoid",
        "parameters": {},
        "oracle": [],
        "goal": "decide",
        "seed": number,
    }
    dataset = Planned(f"{number:016x}", f"p{number}", "EA", f"key {number}", "5a" * 32, settings)
    return replace(dataset, **changes)


def make_result(updates: int = 3, **changes: Any) -> Result:
    """Return a result whose trace has a record per update."""
    counts = list(range(updates + 1))
    trace = Trace(
        updates=counts,
        iterations=counts,
        queries=[2 * count for count in counts],
        products=[count + 0.5 for count in counts],
        seconds=[count / 3 for count in counts],
        phase=["", *["größer"] * updates],
        margin=[float("-inf"), *[1 / (count + 1) for count in counts[1:]]],
        upper=[2.0**-count for count in counts],
        measures={"spread": [np.array([count, 0.1]) for count in counts]},
    )
    result = Result(
        status=Status.FEASIBLE,
        proved=True,
        point=np.array([1.0, -1 / 3]),
        weights=np.array([0.25, 0.75]),
        margin_lower=0.1 + 0.2,
        margin_upper=0.5,
        updates=updates,
        queries=2 * updates,
        iterations=updates,
        products=updates + 0.5,
        seconds=updates / 3,
        proof_seconds=0.5,
        total_seconds=9.0,
        trace=trace,
        certificate={"method": "rows"},
        bound=Bound(7.0, "a theorem"),
        message="proved",
    )
    return replace(result, **changes)


def make_outcome(result: Result | None = None, **changes: Any) -> Outcome:
    """Return the outcome of a cell that ended with a result."""
    recorded_result = make_result() if result is None else result
    return replace(
        Outcome(recorded_result.status, recorded_result.message, recorded_result), **changes
    )


def make_failure(status: Status = Status.CRASHED, **changes: Any) -> Outcome:
    """Return the outcome of a cell that ended without a result."""
    return replace(Outcome(status, "it ended badly"), **changes)


def make_row(planned: Planned, outcome: Outcome, **changes: Any) -> Row:
    """Return the row of a cell that ended so."""
    row = {
        "cell": planned.cell,
        "problem": planned.title,
        "label": planned.label,
        "seed": planned.settings["seed"],
        "status": outcome.status.value,
        "proved": outcome.result is not None,
        "message": outcome.message,
        "environment": "machine",
    }
    if outcome.result is not None:
        names = ("margin_lower", "updates", "seconds")
        row |= {name: getattr(outcome.result, name) for name in names}
    return row | changes


def add(store: Store, planned: Planned, outcome: Outcome | None = None, **changes: Any) -> Row:
    """Add a cell to a store, by default one that ended with a result."""
    ended = outcome or make_outcome()
    row = make_row(planned, ended, **changes)
    return store.add(planned, row, ended, core=CORE, limits=LIMITS)


def fill(folder: Path, numbers: Sequence[int]) -> list[Row]:
    """Make a store whose plan is these cells, and add all of them."""
    planned = [make_planned(number) for number in numbers]
    with Store.open(folder) as store:
        store.begin(CONFIG, Path(), MACHINE, planned)
        for planned_cell in planned:
            add(store, planned_cell)
        store.export()
        return store.rows()


def error_text_of(action: Callable[[], object]) -> str:
    """Return the text of the error that an action ends with; empty without one."""
    try:
        action()
    except PlabError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def write_until_killed(folder: Path, cells: int, ready: int, added: int) -> None:
    """Add cells one after the other, and say on two pipes when that begins and after each."""
    with Store.open(folder) as store:
        planned = [make_planned(number) for number in range(cells)]
        store.begin(CONFIG, Path(), MACHINE, planned)
        os.write(ready, b".")
        for planned_cell in planned:
            store.running(planned_cell.cell)
            add(store, planned_cell)
            os.write(added, b".")
            if int(planned_cell.cell, 16) % 5 == 4:
                store.export()


def kill_writers(folder: Path, count: int, seed: int) -> None:
    """Let writers be killed at random times; print for each how many cells it had added."""
    times = random.Random(seed)
    for number in range(count):
        ready, added = os.pipe(), os.pipe()
        process = os.fork()
        if process == 0:
            write_until_killed(folder / str(number), 500, ready[1], added[1])
            os._exit(0)
        os.read(ready[0], 1)
        time.sleep(times.uniform(0.0, 0.15))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(added[1])
        written = 0
        while chunk := os.read(added[0], 4096):
            written += len(chunk)
        for end in (*ready, added[0]):
            os.close(end)
        sys.stdout.write(f"{written}\n")


def run_again(folder: Path) -> None:
    """Run the cell 1 again, which takes longer now, and the cell 2 for the first time."""
    planned = [make_planned(number) for number in range(3)]
    with Store.open(folder) as store:
        store.begin(CONFIG, Path(), MACHINE, planned)
        store.running(planned[1].cell)
        add(store, planned[1], make_outcome(make_result(400)))
        add(store, planned[2])
        store.export()


def fill_small_disks(folder: Path, sizes: Sequence[int]) -> None:
    """Run again with files limited to sizes, in one folder each; print what came of it."""
    for size in sizes:
        process = os.fork()
        if process == 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            message = error_text_of(partial(run_again, folder / str(size)))
            with suppress(OSError):
                os.write(1, f"{size}\t{message}\n".encode())
            os._exit(0)
        os.waitpid(process, 0)


if __name__ == "__main__":
    action, where, *numbers = sys.argv[1:]
    if action == "kill":
        kill_writers(Path(where), int(numbers[0]), int(numbers[1]))
    else:
        fill_small_disks(Path(where), [int(number) for number in numbers])
