"""Kernels are loaded when they are called, with those that they call, while clocks stand still."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from perceptron_lab.core.time_limit import clock_seconds, seconds_left, time_limit
from perceptron_lab.numerics.compiled import kernel as module
from perceptron_lab.numerics.compiled.kernel import (
    SMALL,
    GivenVector,
    compiled_only,
    kernel,
    load_kernels,
)

Real = Annotated[float, "real"]


@pytest.fixture(scope="module")
def printed() -> list[str]:
    """What a fresh process prints that imports modules with kernels, calls one, and loads all."""
    script = (
        "import numpy, sys, perceptron_lab.experiments.running.runner\n"
        "import perceptron_lab.algorithms.automatic.auto\n"
        "from perceptron_lab.numerics.compiled import entropic_steps, pivoted_cholesky\n"
        "from perceptron_lab.numerics.compiled.kernel import _DEFINED\n"
        "print('numba' in sys.modules, entropic_steps.softmin.__name__)\n"
        "one, two = numpy.ones(3), numpy.ones(3)\n"
        "entropic_steps.softmin(one, one, 1.0, 1.0, two, two.copy())\n"
        "print('numba' in sys.modules)\n"
        "print(*sorted(k.__name__ for k in _DEFINED if k.compiled), flush=True)\n"
        "import runpy\n"  # python -m perceptron_lab.numerics.compiled
        "runpy.run_module('perceptron_lab.numerics.compiled', run_name='__main__')\n"
    )
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.splitlines()


@pytest.mark.slow
def test_modules_without_computation_do_not_load_numba(printed: list[str]) -> None:
    assert printed[:2] == ["False softmin", "True"]


def test_clocks_stand_still_while_kernels_are_loaded() -> None:
    loading: list[float] = []

    def slow() -> None:
        began = time.perf_counter()
        time.sleep(0.2)
        loading.append(time.perf_counter() - began)

    @kernel(before=slow)
    def halved(x: Real) -> Real:
        return x / 2

    with time_limit(60.0):
        real, clock, left = time.perf_counter(), clock_seconds(), seconds_left()
        assert halved(3.0) == 1.5
        spent, real = clock_seconds() - clock, time.perf_counter() - real
        assert left - seconds_left() < real - loading[0]
    assert spent < real - loading[0]


@pytest.mark.slow
def test_a_call_loads_the_kernels_that_it_calls_alone(printed: list[str]) -> None:
    assert printed[2] == "advance_sums softmin write_powers"


@kernel()
def successor(x: Real) -> Real:
    return x + 1


def test_the_first_compilation_is_logged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    @kernel()
    def twice_successor(x: Real) -> Real:
        return successor(x) * 2

    successor.compiled = None  # type: ignore[attr-defined]
    assert load_kernels([twice_successor], compiling=False) == 0  # nothing is compiled unasked
    assert not caplog.messages
    assert twice_successor(1.0) == 4.0
    assert caplog.messages == ["compiling 2 kernels (first run only)"]


def test_without_a_folder_for_the_cache_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from numba.core.caching import CompileResultCacheImpl

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])

    @kernel()
    def tripled(x: Real) -> Real:
        return 3 * x

    assert tripled(2.0) == 6.0


def test_a_kernel_is_compiled_for_both_precisions_and_calls_those_before_it() -> None:
    @kernel()
    def doubled(x: Real) -> Real:
        return x + x

    assert doubled(1.5) == 3.0
    assert isinstance(doubled(np.float32(1.5)), float)
    assert doubled.__name__ == "doubled"


@pytest.mark.parametrize("within", [nullcontext, compiled_only])
@pytest.mark.parametrize("entries", [SMALL, SMALL + 1])
def test_on_small_arrays_alone_it_is_interpreted_but_not_in_cells(
    monkeypatch: pytest.MonkeyPatch, entries: int, within: Callable[[], Any]
) -> None:
    @kernel(small=True)
    def successors(x: GivenVector) -> float:
        total = 0.0
        for value in x:
            total += successor(value)
        return total

    monkeypatch.setattr(successor, "compiled", None)
    numbers = np.ones(entries)
    with within():
        assert successors(numbers) == 2 * entries
    loaded = [vars(module)["compiled"] is not None for module in (successor, successors)]
    assert loaded == [entries > SMALL or within is compiled_only] * 2
    with warnings.catch_warnings(action="error"):
        assert successors(np.where(numbers, 1e308, 0.0)) == np.inf


@pytest.mark.slow
def test_all_kernels_are_compiled_by_one_command(printed: list[str]) -> None:
    folder = Path(module.__file__).parent
    kernels = sum(path.read_text().count("\n@kernel(") for path in folder.glob("*.py"))
    assert kernels > 20
    assert printed[3] == f"{kernels} kernels are compiled"
