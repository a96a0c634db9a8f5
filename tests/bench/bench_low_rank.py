"""Ratios in one run on one machine; not collected by default: `pytest -s tests/bench/bench_*.py`.

Proved optima of MAXCUT relaxations: CPU seconds of one thread, the proofs included, of ``low-rank``
on a program that is read already, without its order of elimination; and of DSDP's own program,
`dsdp5 FILE -gaptol 1e-7`, if it is on PATH, which reads the file as well and proves nothing. It is
stopped where its time is MOST times ours; the ratio is then a lower bound. Its time depends much on
the BLAS that it is linked with: the reference one is several times slower than OpenBLAS.
"""

import resource
import shutil
import subprocess
import sys
import time

import pytest
from threadpoolctl import threadpool_limits

from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.numerics.compiled.kernel import load_kernels
from perceptron_lab.problems.optima.maxcut.low_rank import enclose
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.systems.pencil import homogenised

MIRROR = ["mcp100", *(f"mcp{n}-{k}" for n in (124, 250, 500) for k in (1, 2, 3, 4))]
LARGE = ["maxG11", "maxG32", "maxG55"]
GENERATED = ["random-7000-17148", "torus-70x100"]
MOST = 110.0


@pytest.fixture(autouse=True)
def _single_thread():
    load_kernels()
    with threadpool_limits(1):
        yield


def program_in(folder, name):
    read = name in MIRROR + LARGE
    data = read_sdpa(folder / f"{name}.dat-s") if read else generate(name, 0)
    return MaxCutProgram.of_system(homogenised(data))


def enclosed(program, width, rounds):
    """The result and the least CPU time, nothing kept from one call for the next."""
    seconds = []
    for _ in range(rounds):
        fresh = MaxCutProgram(program.diagonal, program.weights, program.roundings)
        clock = time.process_time()
        enclosure = enclose(fresh, width=width)
        seconds.append(time.process_time() - clock)
    assert enclosure.reached, enclosure.message
    return enclosure, min(seconds)


def dsdp_seconds(path, most):
    """The CPU seconds of DSDP, and whether they are all of them; None without it."""
    program = shutil.which("dsdp5")
    if program is None:
        return None
    limit = max(1, round(most))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [program, path, "-gaptol", "1e-7"],
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **_libraries()},
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        cwd=path.parent if path.parent.stat().st_mode & 0o200 else "/tmp",
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, ended.returncode == 0


def _libraries():
    import os

    return {key: os.environ[key] for key in ("LD_LIBRARY_PATH", "PATH") if key in os.environ}


def print_row(*cells):
    sys.stdout.write("  ".join(cells) + "\n")


@pytest.mark.parametrize("width", [1e-6, 1e-8])
def test_all_relaxations_together(sdplib_folder, width):
    total = 0.0
    print_row(f"\n{'program':18}", f"{'n':>5}", "sweeps", "seconds", "relative width")
    for name in MIRROR + LARGE + GENERATED:
        enclosure, seconds = enclosed(program_in(sdplib_folder, name), width, 1)
        total += seconds if name not in GENERATED else 0.0
        sweeps = enclosure.history.sweeps[-1]
        print_row(
            f"{name:18}",
            f"{len(enclosure.point):5}",
            f"{sweeps:6}",
            f"{seconds:7.3f}",
            repr(enclosure),
        )
    print_row(f"all of the mirror: {total:.2f} s")
    assert total < 15.0


def test_the_narrowest_interval_of_another_verifier_on_the_largest(sdplib_folder):
    enclosure, seconds = enclosed(program_in(sdplib_folder, "maxG55"), 1.2e-9, 1)
    print_row(f"\nmaxG55 {seconds:.2f} s", repr(enclosure))
    assert enclosure.width <= 1.2e-9


@pytest.mark.parametrize(("name", "least"), [("maxG11", 10.0), ("maxG32", 20.0), ("maxG55", 100.0)])
def test_against_dsdp_at_a_width_of_1e_6(sdplib_folder, name, least):
    program = program_in(sdplib_folder, name)
    enclosed(program, 1e-6, 1)
    rounds = 1 if name == "maxG55" else 5
    ours = enclosed(program, 1e-6, rounds)[1]
    reference = dsdp_seconds(sdplib_folder / f"{name}.dat-s", MOST * ours)
    if reference is None:
        pytest.skip("dsdp5 is not on PATH")
    at_least = "" if reference[1] else "more than "
    print_row(f"\n{name}: low-rank {ours:.3f} s, DSDP {at_least}{reference[0]:.2f} s:")
    print_row(f"{at_least}{reference[0] / ours:.0f} times")
    assert reference[0] / ours > least
