"""Ratios in one run on one machine; not collected by default: `pytest -s tests/bench/bench_*.py`.

The oracles of the semidefinite cone whose word is proved: a definite answer by the sparse factor,
its proof included, against LAPACK's Cholesky decomposition of the whole matrix alone; and a cut by
the Lanczos method at an order of 7000. CPU time of one thread, files of SDPLIB from the mirror.
"""

import time

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_limits

from perceptron_lab.core import registry
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.numerics.compiled.kernel import load_kernels
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair
from perceptron_lab.systems.pencil import homogenised

LARGEST = "random-7000-17148"
"""Of the size of maxG60, the largest graph of SDPLIB."""


@pytest.fixture(autouse=True)
def _single_thread():
    load_kernels()
    with threadpool_limits(1):
        yield


def laplacian(data):
    """The pattern, the entries of C and their absolute row sums, of diag(x) + C."""
    system = homogenised(data)
    pattern = system.cone.parts[1].pattern
    unit = np.append(1.0, np.zeros(pattern.order))
    entries = np.ascontiguousarray(system.operator.scores(unit)[1:])
    return pattern, entries, pattern.row_sums(np.abs(entries))


def plus_diagonal(pattern, entries, diagonal):
    shifted = entries.copy()
    shifted[pattern.diagonal] += diagonal
    return shifted


def cpu_seconds(ready, *functions, rounds=9):
    """The least CPU time of a call of each function, taken in turn, each after ``ready()``."""
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, record in zip(functions, times, strict=True):
            ready()
            clock = time.process_time()
            function()
            record.append(time.process_time() - clock)
    return [min(record) for record in times]


@pytest.mark.parametrize(
    ("name", "least"), [("mcp500-1", 20.0), ("maxG11", 10.0), ("maxG32", 20.0)]
)
def test_a_definite_answer_against_lapack(sdplib_folder, name, least):
    pattern, entries, sums = laplacian(read_sdpa(sdplib_folder / f"{name}.dat-s"))
    entries = plus_diagonal(pattern, entries, sums + 1e-3)
    full = np.asfortranarray(pattern.dense(entries))
    work, running = (
        full.copy(order="F"),
        registry.load("oracle", "sparse-ldl")().running_on(pattern),
    )
    assert running.answer(entries, 0.0, closed=False) == (None, True)

    def ready():
        np.copyto(work, full)  # what LAPACK overwrites; not timed

    def ours():
        for _ in range(20):
            running.answer(entries, 0.0, closed=False)

    def lapack():
        assert scipy.linalg.lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)[1] == 0

    sparse, dense = cpu_seconds(ready, ours, lapack)
    ratio = 20.0 * dense / sparse
    print(f"\n{name}: {1e6 * sparse / 20:.0f} us, LAPACK {1e6 * dense:.0f} us: {ratio:.0f} x")
    assert ratio >= least


@pytest.mark.parametrize("depth", [1e-1, 1e-3, 1e-5])
def test_a_cut_at_the_largest_order(depth):
    """The lowest eigenvalue lies below zero by a part of the mean of the diagonal."""
    pattern, entries, sums = laplacian(generate(LARGEST, 0))
    diagonal = 0.6 * sums + 0.3
    lowest = lowest_eigenpair(pattern.sparse(plus_diagonal(pattern, entries, diagonal)), 1e-9).value
    entries = plus_diagonal(pattern, entries, diagonal - lowest - depth * diagonal.mean())
    oracles = [
        registry.load("oracle", name)().running_on(pattern) for name in ("lanczos", "sparse-ldl")
    ]
    for running in oracles:
        direction, proved = running.answer(entries, 0.0, closed=False)
        assert proved
        assert direction is not None
    lanczos, sparse = cpu_seconds(
        lambda: None,
        *(lambda oracle=oracle: oracle.answer(entries, 0.0, closed=False) for oracle in oracles),
    )
    assert oracles[0].answers["sparse-ldl"] == 0
    print(f"\n{depth:g}: lanczos {1e3 * lanczos:.1f} ms, sparse-ldl {1e3 * sparse:.1f} ms")
    assert lanczos < 0.02
