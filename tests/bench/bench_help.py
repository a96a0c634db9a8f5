"""How long `plab --help` takes; not collected by default: `pytest -s tests/bench/bench_help.py`."""

import statistics
import subprocess
import sys
import time

COMMAND = [sys.executable, "-m", "perceptron_lab.cli.main", "--help"]


def test_help_is_there_at_once():
    durations = []
    for _ in range(11):
        began = time.perf_counter()
        subprocess.run(COMMAND, check=True, capture_output=True)
        durations.append(time.perf_counter() - began)
    best, median = min(durations[1:]), statistics.median(durations[1:])
    print(f"\nplab --help: {best:.3f} s at best, {median:.3f} s in the median of 10")
    assert best <= 0.3
