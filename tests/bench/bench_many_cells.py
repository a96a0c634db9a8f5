"""10 000 tiny cells: again without work, status, verify and report.

Not collected by default: `pytest -s tests/bench/bench_many_cells.py`. The cells are run in this
process to begin with, which takes a minute or two.
"""

import resource
import subprocess
import sys
import time

from perceptron_lab.experiments.cells.cell_run import run_cell
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.runner import run_cells
from tests.experiments.many_cells import many_cells

CELLS = 10_000


class Here(Execution):
    """Cells are run in this process."""

    def function(self, limits, progress):
        return lambda jobs: (
            (at, run_cell(job.cell, job.cell.load(job.base))) for at, job in enumerate(jobs)
        )


def timed(*words):
    """Run a command; return its seconds on the clock and of processors, its exit code apart."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    code = subprocess.run(
        [sys.executable, "-m", "perceptron_lab.cli.main", *words], stdout=subprocess.DEVNULL
    ).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"plab {words[0]}: {time.perf_counter() - began:.1f} s, {spent:.1f} s of processors")
    return code


def test_ten_thousand_cells(tmp_path):
    config = tmp_path / "many.yaml"
    config.write_text(many_cells(CELLS))
    assert len(run_cells(config, output=tmp_path, execution=Here()).rows) == CELLS
    folder = str(tmp_path / "many")
    print()
    assert timed("run", str(config), "--output", str(tmp_path), "-q") == 0
    assert [timed(name, folder) for name in ("status", "verify", "report")] == [0, 0, 0]
