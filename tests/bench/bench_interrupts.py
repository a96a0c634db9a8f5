"""How soon Ctrl-C is answered: ``python -m tests.bench.bench_interrupts [SEED]``.

20 runs are interrupted at random times, those of ``plab solve`` and those of Python in turn, on
problems of all kinds that need far longer: seconds, and seconds of the processor, which others who
use the machine do not change, from the signal to the end of the process. ``plab solve`` ends with
what is proved so far, or at once while it reads, and Python by KeyboardInterrupt.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.systems.pencil import write_sdpa

RUNS = 20
FIRST, LAST = 3.0, 12.0  # Seconds after the start, between which the signal comes


def labelled(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    path = folder / "labelled.csv"
    X, y = rng.standard_normal((1500, 150)), rng.choice(["no", "yes"], 1500)
    lines = [",".join([*(f"x{j}" for j in range(150)), "outcome"])]
    lines += [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(lines))
    return path


def rows(folder: Path) -> Path:
    path = folder / "rows.npy"
    np.save(path, np.random.default_rng(0).standard_normal((3000, 1500)))
    return path


def graph(folder: Path) -> Path:
    path = folder / "graph.dat-s"
    write_sdpa(generate("random-7000-17148", seed=0), path)
    return path


def equations(folder: Path) -> Path:
    """Equations with nonnegative variables, as an MPS file."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((300, 450)).round(3)
    right = (A @ rng.random(450).round(3)).round(6)
    lines = ["NAME equations", "ROWS", " N cost", *(f" E r{i}" for i in range(300)), "COLUMNS"]
    lines += [f" x{j} r{i} {A[i, j]}" for j in range(450) for i in range(300)]
    lines += ["RHS", *(f" b r{i} {right[i]}" for i in range(300)), "ENDATA"]
    path = folder / "equations.mps"
    path.write_text("\n".join(lines) + "\n")
    return path


COMMANDS: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "rows": (rows, []),
    "rows, ellipsoid method": (rows, ["--algorithm", "ellipsoid"]),
    "rows, HiGHS": (rows, ["--algorithm", "highs"]),
    "labelled": (labelled, ["--labels", "outcome", "--goal", "budget"]),
    "verdict": (labelled, ["--labels", "outcome", "--verdict"]),
    "ellipsoid": (labelled, ["--labels", "outcome", "--ellipsoid"]),
    "optimum": (graph, ["--optimum", "--goal", "width=1e-13"]),
    "linear": (equations, []),
}
_DATA = (
    "import numpy as np, perceptron_lab as pl; rng = np.random.default_rng(0); "
    "from perceptron_lab import estimators; X = rng.standard_normal((3000, 300)); "
    "y = rng.choice([-1, 1], 3000); A = rng.standard_normal((300, 450)).round(3); "
)
PROGRAMS = {
    "solve": "pl.solve(rng.standard_normal((3000, 1500)), budget=pl.Budget(10**9, 300))",
    "separation": "pl.separation(X, y)",
    "fit": "estimators.MaxMarginClassifier(tol=1e-12).fit(rng.standard_normal((3000, 1450)), y)",
    "kernel": "estimators.MaxMarginClassifier(kernel='rbf', tol=1e-12).fit(X, y)",
    "linear": "pl.solve(pl.ConicSystem.from_linear(np.zeros((0, 450)), [], (A, A[:, 0]), lower=0))",
    "optimum": "pl.optimum(X[:2000].T @ X[:2000] + 0 * A[0, 0], width=1e-15)",
    "clarabel": "pl.solve(X, y, 'clarabel-direct')",
    "support": "pl.maximum_support(X)",
}


def interrupted(command: list[str], after: float) -> tuple[float, float, int, str]:
    """Return seconds and processor seconds to the end of an interrupted process, status, line."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            clock, before = time.monotonic(), _processor_seconds(process.pid)
            process.send_signal(signal.SIGINT)
            assert process.stdout is not None
            output = process.stdout.read()
            _, ended, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(ended)
            lines = output.decode(errors="replace").strip().splitlines() or [""]
            processor = usage.ru_utime + usage.ru_stime - before
            return time.monotonic() - clock, processor, process.returncode, lines[-1]
        return 0.0, 0.0, process.returncode, "ended before"


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(seed: int) -> None:
    """Interrupt the runs and print a line each."""
    rng, late = np.random.default_rng(seed), 0
    with tempfile.TemporaryDirectory() as name:
        for k in range(RUNS):
            after = float(rng.uniform(FIRST, LAST))
            if k % 2:
                title = list(PROGRAMS)[k // 2 % len(PROGRAMS)]
                command, title_ = (
                    [sys.executable, "-c", _DATA + PROGRAMS[title]],
                    f"Python, {title}",
                )
            else:
                title = list(COMMANDS)[k // 2 % len(COMMANDS)]
                make, options = COMMANDS[title]
                file = str(make(Path(name)))
                plab = [sys.executable, "-m", "perceptron_lab", "solve", file]
                command, title_ = [*plab, "--budget-seconds", "300", *options], f"plab, {title}"
            seconds, processor, status, line = interrupted(command, after)
            late += seconds > 1.0
            mark = "LATE " if seconds > 1.0 else "ok   "
            times = f"{after:.1f} s, then {seconds:.2f} s ({processor:.2f} s of the processor)"
            print(f"{mark} {title_}: {times}, exit {status}; {line[:80]}")
            sys.stdout.flush()
    print(f"{late} of {RUNS} later than a second")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
