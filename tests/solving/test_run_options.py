"""Options of a run reach the places that use them; a new one of the trace touches two files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import perceptron_lab
from perceptron_lab.core.run_options import RunOptions, TraceOptions

PACKAGE = Path(perceptron_lab.__file__).parent
# file -> a line of it, and the lines that a new option adds after that one
ADDED = {
    "core/run_options.py": (
        "    trace_cuts: bool = False\n",
        "    trace_lengths: bool = False\n",
    ),
    "solving/recording.py": (
        "            measured |= self.cuts.take()\n",
        "        if self.options.trace.trace_lengths:\n"
        '            measured["length"] = float(np.linalg.norm(state.point))\n',
    ),
}
RUN = """
from pathlib import Path
from perceptron_lab import check, run
from perceptron_lab.experiments.storage.reader import Reader

config = {
    "experiment": "lengths",
    "problems": [{"dataset": "maxcut", "instances": ["random-8-12"]}],
    "algorithms": [{"name": "perceptron"}],
}
check(config)
for asked in (False, True):
    folder = run(config | {"trace_lengths": asked}, output=Path("results"), progress=None).folder
    with Reader.open(folder) as reader:
        (planned,) = reader.plan()
        print(planned.recorded.trace_lengths, sorted(reader.trace(planned.cell).measures))
"""


@pytest.mark.slow
@pytest.mark.long
def test_a_new_option_of_the_trace_touches_two_files(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name)
    for name, (line, lines) in ADDED.items():
        file = tmp_path / PACKAGE.name / name
        content = file.read_text(encoding="utf-8")
        assert content.count(line) == 1
        file.write_text(content.replace(line, line + lines), encoding="utf-8")
    completed = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert completed.stdout.splitlines() == ["False []", "True ['length']"], completed.stderr


def test_trace_options_are_compared_one_by_one() -> None:
    options = TraceOptions(trace_cuts=True, record_at=[7, 5])
    assert options.covers(TraceOptions())
    assert options.covers(TraceOptions(trace_cuts=True, record_at=[5]))
    assert not options.covers(TraceOptions(trace_measures=True))
    assert not options.covers(TraceOptions(record_at=[5, 6]))


def test_options_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        RunOptions().seed = 1  # type: ignore[misc]
