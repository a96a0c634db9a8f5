"""Cells on the workers of a cluster: the rows of one process, whatever happens to the workers."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.configuration.plan import Cell
from perceptron_lab.experiments.configuration.rows import CLOCKS, Row
from perceptron_lab.experiments.provenance.code_digest import PACKAGE, CellCode
from perceptron_lab.experiments.provenance.environment import environment
from perceptron_lab.experiments.provenance.source_files import parsed
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.runner import ExperimentRows, run_cells
from tests.experiments.cells.clusters import AtCell, started_by
from tests.experiments.conftest import Configure
from tests.experiments.processes import ended, faulty

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from perceptron_lab.experiments.cells import (  # noqa: E402
    dask_executor,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
    # Sockets that dask closes late, when its worker was killed.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

MARGIN_SETS = [
    {
        "dataset": "margin-sets",
        "family": "reflected",
        "dimension": 20,
        "rows": 500,
        "seeds": list(range(4)),
    }
]
ALGORITHMS = [
    {"name": "perceptron"},
    {"name": "perceptron", "label": "random", "oracle": "random"},
    {"name": "von-neumann"},
]

SCRIPT = """\
import sys
from pydantic.dataclasses import dataclass
from perceptron_lab.core import registry
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.runner import run_cells
from perceptron_lab.core.refusals import STRICT

@dataclass(frozen=True, config=STRICT)
class Mine(Perceptron):
    def start(self, system, rng):
        print("mine starts")
        return super().start(system, rng)

if __name__ == "__main__":
    registry.register("algorithm", "mine", Mine)
    config, scheduler, output = sys.argv[1:]
    execution = Execution(executor="dask", scheduler=scheduler)
    for row in run_cells(config, output=output, execution=execution).rows:
        print(row["label"], row["status"], row["message"])
"""


@pytest.fixture
def on_cluster(cluster: Any, tmp_path: Path) -> Callable[..., ExperimentRows]:
    """Return a function that runs a configuration on the cluster."""
    how = Execution(executor="dask", scheduler=cluster.scheduler_address)

    def run(config: Any, **settings: Any) -> ExperimentRows:
        return run_cells(config, output=tmp_path / "cluster", execution=how, **settings)

    return run


def workers_of(cluster: Any) -> list[int]:
    return [nanny.pid for nanny in cluster.workers.values() if nanny.pid]


def without_clocks(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name not in CLOCKS} for row in rows]


class AtFinish(Progress):
    """Calls a function when so many rows are there."""

    def __init__(self, number: int, act: Callable[[], None]) -> None:
        self.number, self.act = number, act

    def finished(self, completed: int, total: int, row: Row) -> None:
        if completed == self.number:
            self.act()


class AtStart(Progress):
    """Calls a function when the n-th cell is started, and counts."""

    def __init__(self, number: int, act: Callable[[], None]) -> None:
        self.number, self.act = number, act
        self.starts = self.moves = 0

    def started(self, cell: Cell) -> None:
        self.starts += 1
        if self.starts == self.number:
            self.act()

    def advanced(self, cell: Cell, updates: int, margin: float) -> None:
        self.moves += 1


def test_workers_compute_the_rows_of_a_single_process(
    configure: Configure, on_cluster: Callable[..., ExperimentRows], tmp_path: Path
) -> None:
    hows = ["error", "die", "kill-itself", "unpicklable", "not"]
    config = configure(
        problems=[
            MARGIN_SETS[0] | {"seeds": [0]},
            {"dataset": "toy", "instances": ["eye-3"]},
        ],
        algorithms=[*ALGORITHMS[1:], *(faulty(how) for how in hows)],
        budget={"updates": 200},
    )
    watching = AtStart(0, lambda: None)
    there = on_cluster(config, progress=watching)
    results = run_cells(config, output=tmp_path / "here")
    assert without_clocks(there.rows) == without_clocks(results.rows)
    assert len({row["environment"] for row in results.rows}) == 1
    assert {row["status"] for row in results.rows} >= {"ERROR", "CRASHED", "KILLED", "FEASIBLE"}
    # What is told of a cell that has ended already is left out.
    assert 0 < watching.starts <= len(results.rows) == 2 * 7
    assert watching.moves > 0


class Yielding:
    """Lets another thread run when it is collected, in the middle of whatever that is."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(0)


@pytest.mark.long
def test_threads_of_a_worker_may_look_at_the_code_at_once() -> None:
    def look(_: int) -> list[str]:
        return [parsed(source).digest for source in sources if Yielding()]

    sources = [path.read_bytes() for path in sorted(PACKAGE.rglob("*.py"))[::2]]
    thresholds = gc.get_threshold()
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(4) as threads:
            first, *rest = threads.map(look, range(4))
    finally:
        gc.set_threshold(*thresholds)
    assert len(set(first)) > 100
    assert all(other == first for other in rest)


def test_the_environment_is_that_of_cells() -> None:
    with threadpool_limits(limits=2):
        described = environment()
    assert {pool["num_threads"] for pool in described["blas"]} == {1}


@pytest.mark.long  # tests/experiments/test_interrupts.py ends runs in processes
@pytest.mark.parametrize("ending", [KeyboardInterrupt, None])
def test_no_files_remain_on_the_workers(
    cluster: Any,
    configure: Configure,
    on_cluster: Callable[..., ExperimentRows],
    ending: type[BaseException] | None,
) -> None:
    def look() -> None:
        recorded.extend(started_by(workers_of(cluster)))
        if ending is not None:
            raise ending

    recorded: list[int] = []
    hows = ["not", "not", "spin-deaf"] if ending else ["not", "not", "die"]
    config = configure(algorithms=[faulty(how, at) for at, how in enumerate(hows)])
    watching = AtCell("spin-deaf", look) if ending else AtFinish(4, look)
    if ending is None:
        assert len(on_cluster(config, progress=watching).rows) == 6
    else:
        with pytest.raises(ending):
            on_cluster(config, progress=watching)
    assert recorded
    assert ended(recorded)
    assert ended(started_by(workers_of(cluster)))


@pytest.mark.long
def test_classes_defined_in_a_script_are_sent_to_workers(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "mine.yaml").write_text(
        "{experiment: mine, problems: [{dataset: maxcut, instances: [random-8-12]}], algorithms: "
        "[{name: mine}, {name: whitened, parameters: {algorithm: mine}}]}"
    )
    command = [sys.executable, "script.py", "mine.yaml", cluster.scheduler_address, "results"]
    path = str(Path(__file__).parents[3])
    completed = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stderr
    assert [line.split()[:2] for line in completed.stdout.splitlines()] == [
        ["mine", "FEASIBLE"],
        ["whitened", "FEASIBLE"],
    ]


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            "perceptron_lab.solving.driver",
            "the worker has another version of perceptron_lab.solving.driver; inst",
        ),
        ("tests.experiments.toys", "the worker has another version of tests.experiments.toys; ins"),
        ("someones_module", "the worker has no module someones_module; install the same version"),
    ],
)
def test_a_worker_with_other_code_is_refused(
    configure: Configure,
    on_cluster: Callable[..., ExperimentRows],
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    message: str,
) -> None:
    modules_of = CellCode.modules_of
    monkeypatch.setattr(
        CellCode, "modules_of", lambda *arguments: modules_of(*arguments) | {module: "0" * 64}
    )
    results = on_cluster(configure(algorithms=[faulty("not")]))
    assert {row["status"] for row in results.rows} == {"ERROR"}
    assert all(row["message"].startswith(message) for row in results.rows)


@pytest.mark.long  # tests/experiments/cells/test_supervisor.py has cells that cannot be sent
def test_a_cell_that_cannot_be_sent_is_a_row(
    configure: Configure, on_cluster: Callable[..., ExperimentRows], monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = dask_executor.cloudpickle.dumps

    def refusing(task: Any) -> bytes:
        if task.position == 1:
            raise TypeError("cannot pickle it")
        return dumps(task)

    monkeypatch.setattr(dask_executor.cloudpickle, "dumps", refusing)
    first, second = on_cluster(configure(algorithms=[faulty("not")])).rows
    assert first["status"] == "FEASIBLE"
    assert second["status"] == "ERROR"
    assert second["message"].startswith("the cell cannot be handed to a worker: TypeError: cannot")


@pytest.mark.long  # tests/experiments/cells/test_supervisor.py kills servers of cells
def test_cells_of_a_dead_worker_run_on_other_workers(
    cluster: Any, configure: Configure, on_cluster: Callable[..., ExperimentRows], tmp_path: Path
) -> None:
    def kill() -> None:
        killed.append(next(process for process in workers_of(cluster) if started_by([process])))
        left.extend(started_by(killed))
        os.kill(killed[0], signal.SIGKILL)

    killed: list[int] = []
    left: list[int] = []
    budget = {"updates": 3000}
    config = configure(problems=MARGIN_SETS, algorithms=ALGORITHMS, budget=budget)
    there = on_cluster(config, progress=AtFinish(4, kill))
    assert ended([*killed, *left])
    assert left
    results = run_cells(config, output=tmp_path / "here")
    assert without_clocks(there.rows) == without_clocks(results.rows)
    assert not there.failed
