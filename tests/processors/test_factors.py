"""Factors: what asks for them, what a machine lacks, and that one that is ignored is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processors import run
from tests.processors.factors import FACTORS, VARIABLES, Kernel, another_kernel
from tests.processors.processor import Processor, in_force, in_force_under
from tests.repetitions import repeated

ROOT = Path(__file__).parents[2]
MODERN = Processor(
    kernels={"numpy.libs": "SkylakeX", "scipy.libs": "SkylakeX"},
    threads={"numpy.libs": 2, "scipy.libs": 2},
    features=dict.fromkeys(
        ["SSE3", "SSE42", "AVX", "AVX2", "FMA3", "AVX512F", "AVX512DQ", "AVX512VL", "X86_V4"], True
    ),
    dispatched=("X86_V4", "AVX512_SPR"),
    target="znver4",
)
OLD = replace(
    MODERN,
    kernels=dict.fromkeys(MODERN.kernels, "Sandybridge"),
    features={name: name in ("SSE3", "SSE42", "AVX") for name in MODERN.features},
)
CLEAN = {name: value for name, value in os.environ.items() if name not in VARIABLES}


def test_a_modern_processor_lacks_no_factor() -> None:
    for name, factor in FACTORS.items():
        lacking = factor.lacking(MODERN)
        assert not lacking or (name, os.cpu_count()) == ("two-threads", 1)


def test_missing_features_of_an_old_processor_are_named() -> None:
    assert FACTORS["Haswell"].lacking(OLD) == "the processor lacks AVX2 FMA3"
    assert FACTORS["SkylakeX"].lacking(OLD) == "the processor lacks AVX512F AVX512DQ AVX512VL"
    assert FACTORS["numpy-baseline"].lacking(OLD) == "numpy uses its baseline anyway"
    assert "without OpenBLAS" in FACTORS["Prescott"].lacking(replace(MODERN, kernels={}))
    assert not any(FACTORS[name].lacking(OLD) for name in ("Prescott", "Nehalem", "Sandybridge"))


def test_another_kernel_is_available_and_not_in_use() -> None:
    assert another_kernel(MODERN) == another_kernel(OLD) == "Prescott"
    oldest = replace(OLD, kernels=dict.fromkeys(OLD.kernels, "Katmai"))
    assert another_kernel(oldest) == "Nehalem"
    assert another_kernel(replace(MODERN, kernels={})) is None


def test_a_kernel_in_one_of_two_copies_is_not_in_force() -> None:
    mixed = replace(MODERN, kernels={"numpy.libs": "Katmai", "scipy.libs": "SkylakeX"})
    assert FACTORS["Prescott"].amiss(mixed) == "scipy.libs uses SkylakeX"


def test_every_factor_is_reported_where_it_is_not_in_force() -> None:
    asked_for = [name for name, factor in FACTORS.items() if not factor.amiss(MODERN)]
    assert asked_for == ["SkylakeX", "two-threads"]  # what the modern machine uses of itself


@pytest.mark.slow
def test_factors_are_in_force_on_request() -> None:
    """Those of different libraries at once: here only the asking is tested."""
    processor = in_force_under(CLEAN)
    factors = [FACTORS[name] for name in ("numpy-baseline", "numba-generic", "one-thread")]
    other = another_kernel(processor)
    factors += [] if other is None else [FACTORS[other]]
    environment = dict(CLEAN)
    for factor in factors:
        environment |= {} if factor.lacking(processor) else factor.environment(processor)
    now = in_force_under(environment)
    assert [factor.amiss(now) for factor in factors] == [""] * len(factors)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", repeated(["Nonsense", "prescot"], kept=1))
def test_a_name_that_openblas_ignores_is_noticed(kernel: str) -> None:
    factor = Kernel(kernel, (kernel,), ())
    now = in_force_under({**CLEAN, **factor.environment(MODERN)})
    if factor.lacking(now):
        pytest.skip(factor.lacking(now))
    assert len(now.kernels) == factor.amiss(now).count("uses") > 0


@pytest.mark.slow
def test_a_run_without_the_factor_fails_before_its_first_test() -> None:
    name = "numba-generic" if in_force().target != "generic" else "two-threads"
    command = [sys.executable, "-m", "pytest", "-p", "tests.processors.plugin", "--processor", name]
    ended = subprocess.run(
        [*command, "-q", __file__], env=CLEAN, cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--processor {name} is not in force" in ended.stderr
    assert "passed" not in ended.stdout


def test_the_runner_requests_one_factor_and_reports_each_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[list[str], dict[str, str]]] = []

    def ended(command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        calls.append((command, {name: env[name] for name in VARIABLES if name in env}))
        return subprocess.CompletedProcess(command, int("numba-generic" in command))

    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    monkeypatch.setattr(run, "in_force_under", lambda environment: OLD)
    monkeypatch.setattr(subprocess, "run", ended)
    factors = "other Haswell numba-generic"
    assert run.main(["--factors", factors, "--numerical", "--", "-m", "not slow"]) == 1
    assert [environment for _, environment in calls] == [
        {"OPENBLAS_CORETYPE": "Prescott"},
        {"NUMBA_CPU_NAME": "generic"},
    ]
    assert calls[0][0][2:] == [
        *("pytest", "-p", "tests.processors.plugin", "--processor", "Prescott"),
        *("-m", "not slow", *run.NUMERICAL),
    ]
    output = capsys.readouterr().out
    assert "Prescott: passed" in output
    assert "Haswell: skipped, the processor lacks AVX2 FMA3" in output
    assert "numba-generic: FAILED, pytest ended with 1" in output
    assert run.main(["--factors", "Prescott Haswell"]) == 0
    monkeypatch.setattr(run, "another_kernel", lambda processor: None)
    assert run.main(["--factors", "other"]) == 0
    assert "other: skipped, no other kernel" in capsys.readouterr().out


def test_an_unknown_factor_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("Prescot", " "):
        with pytest.raises(SystemExit):
            run.main(["--factors", text])
        assert "allowed: Prescott, Nehalem" in capsys.readouterr().err


def test_the_numerical_folders_exist() -> None:
    assert all((ROOT / folder).is_dir() for folder in run.NUMERICAL)
