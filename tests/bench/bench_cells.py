"""What a cell costs beside its algorithm; not collected: `pytest -s tests/bench/bench_cells.py`.

A hundred tiny cells, one at a time, through ``run_cells`` with its store: seconds from the end of
the first cell to the end of the last, without the algorithms' own, by part. The start of the fork
server, once per run, is told apart.
"""

import time
from functools import wraps

import pytest

from perceptron_lab.experiments.cells import supervisor
from perceptron_lab.experiments.cells.attempt import Attempt
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.cells.supervisor import supervise
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.runner import run_cells
from perceptron_lab.experiments.storage.store import Store

CELLS = 101
CONFIG = """\
experiment: tiny
budget: {{updates: 50}}
problems:
  - {{dataset: margin-sets, family: exact, dimension: 5, rows: 20, margin: 0.01, seeds: {seeds}}}
algorithms:
  - {{name: perceptron}}
"""


class Clock(Progress):
    """Notes when the cells are planned, started and finished."""

    def __init__(self):
        self.began = 0.0
        self.starts, self.ends = [], []

    def planned(self, total, reused, stale):
        self.began = time.perf_counter()

    def started(self, cell):
        self.starts.append(time.perf_counter())

    def finished(self, completed, total, row):
        self.ends.append(time.perf_counter())


def measured(monkeypatch, kind, name):
    """Let a method note how long each call takes."""
    durations, method = [], getattr(kind, name)

    @wraps(method)
    def timed(*arguments, **settings):
        began = time.perf_counter()
        try:
            return method(*arguments, **settings)
        finally:
            durations.append(time.perf_counter() - began)

    monkeypatch.setattr(kind, name, timed)
    return durations


@pytest.mark.parametrize("jobs", [1, 2])
def test_overhead_of_a_cell(tmp_path, monkeypatch, jobs):
    (tmp_path / "tiny.yaml").write_text(CONFIG.format(seeds=list(range(CELLS))))
    parts = {
        "store": measured(monkeypatch, Store, "add"),
        "handing over": measured(monkeypatch, Attempt, "__init__"),
    }
    monkeypatch.setattr(supervisor, "supervise", supervise)  # with a server of its own
    clock = Clock()
    results = run_cells(
        tmp_path / "tiny.yaml", output=tmp_path, execution=Execution(jobs=jobs), progress=clock
    )
    assert len(results.rows) == CELLS
    assert not results.failed
    inside_cells = sum(row["total_seconds"] for row in results.rows[1:])
    overhead = (clock.ends[-1] - clock.ends[0] - inside_cells / jobs) / (CELLS - 1)
    shares = [
        f"{1e3 * sum(seconds[1:]) / (CELLS - 1):.1f} ms {part}" for part, seconds in parts.items()
    ]
    print(
        f"\n{jobs} jobs: {1e3 * overhead:.1f} ms a cell, of these {', '.join(shares)}; "
        f"{clock.starts[0] - clock.began:.2f} s until the first cell starts"
    )
    assert overhead <= 0.060
