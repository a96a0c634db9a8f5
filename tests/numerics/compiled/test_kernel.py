"""Kernels are loaded late, all together, and before the clock of a run starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest

from perceptron_lab import solve
from perceptron_lab.numerics.compiled import kernel as module
from perceptron_lab.numerics.compiled.kernel import before_kernels, kernel, load_kernels

Real = Annotated[float, "real"]


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_what_computes_nothing_does_without_numba() -> None:
    assert run(
        "import sys, perceptron_lab.experiments.running.runner\n"
        "import perceptron_lab.algorithms.automatic.auto\n"
        "from perceptron_lab.numerics.compiled.entropic_steps import softmin\n"
        "print('numba' in sys.modules, softmin.__name__, end=' ')\n"
        "from perceptron_lab.numerics.compiled.pivoted_cholesky import rounding_tolerance\n"
        "rounding_tolerance(3)\n"
        "print('numba' in sys.modules)"
    ).split() == ["False", "softmin", "True"]


def test_they_are_loaded_when_the_clock_of_a_run_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    waiting = [("mine", lambda: loaded.append("kernels"))]
    monkeypatch.setattr(module, "_WAITING", waiting)
    clock = iter(range(10**6))

    def ticking() -> float:
        loaded.append("clock")
        return float(next(clock))

    monkeypatch.setattr("perceptron_lab.solving.driver.time.perf_counter", ticking)
    solve(np.eye(2))
    assert loaded[:2] == ["kernels", "clock"]
    assert loaded.count("kernels") == 1


@pytest.mark.slow
def test_a_call_loads_the_kernels_of_its_module_and_those_that_they_call() -> None:
    script = (
        "from perceptron_lab.numerics.compiled import entropic_steps, pivoted_cholesky\n"
        "from perceptron_lab.numerics.compiled.kernel import load_kernels, _WAITING\n"
        "before = {name for name, _ in _WAITING}\n"
        "import numpy\n"
        "one, two = numpy.ones(3), numpy.ones(3)\n"
        "entropic_steps.softmin(one, one, 1.0, 1.0, two, two.copy())\n"
        "print(sorted(one.rpartition('.')[2] for one in before - {name for name, _ in _WAITING}))\n"
        "print(load_kernels() > 0, _WAITING)\n"
    )
    assert run(script).splitlines() == [
        "['entropic_steps', 'entropic_trials']",
        "True []",
    ]


def test_a_kernel_is_compiled_for_both_precisions_and_calls_those_before_it() -> None:
    @kernel()
    def doubled(x: Real) -> Real:
        return x + x

    load_kernels()
    assert doubled(1.5) == 3.0
    assert isinstance(doubled(np.float32(1.5)), float)
    assert doubled.__name__ == "doubled"


def test_what_fails_to_load_fails_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> None:
        raise OSError("no room for numba's cache")

    monkeypatch.setattr(module, "_WAITING", [])
    before_kernels(failing)
    for _ in range(2):
        with pytest.raises(OSError, match="no room"):
            load_kernels()


@pytest.mark.slow
def test_all_of_them_are_compiled_in_one_command() -> None:
    folder = Path(module.__file__).parent
    kernels = sum(path.read_text().count("\n@kernel(") for path in folder.glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "perceptron_lab.numerics.compiled"], capture_output=True, text=True
    )
    assert kernels > 20
    assert done.stdout == f"{kernels} kernels are compiled\n"
