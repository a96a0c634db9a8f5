"""Not collected by default: `pytest -s tests/bench/bench_deep_cuts.py`.

Programs of MAXCUT to a relative 1e-4 by the ellipsoid method with deep cuts, beside SCS and
Clarabel, called directly: seconds of the processor, one thread, the least of some runs. First until
a point that is proved feasible is within 1e-4 of the optimum (taken from Clarabel), which is the
measure for all three; then until both bounds are proved to be so near each other, which the others
do not offer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
import scs
from threadpoolctl import threadpool_limits

from perceptron_lab.core.errors import PlabError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.semidefinite_programs import Sdplib
from perceptron_lab.numerics.compiled.kernel import load_kernels
from perceptron_lab.problems.optima.deep_cut_ellipsoid import (
    DeepCutEllipsoid,
    DeepCutSearch,
    start_ellipsoid,
)
from perceptron_lab.problems.optima.optimiser import minimise
from perceptron_lab.problems.optima.search import Search
from perceptron_lab.systems import ConicSystem

ACCURACY = 1e-4
LONGEST = 120.0
"""Seconds that SCS may take: an answer that comes later counts as one of so many seconds."""


def timed(run: Callable[[], FloatArray]) -> tuple[FloatArray, float]:
    """An answer and the least seconds of five runs, or of as many as take half a second."""
    each: list[float] = []
    while len(each) < 5 and sum(each) < 0.5:
        clock = time.process_time()
        completed = run()
        each.append(time.process_time() - clock)
    return completed, min(each)


def conic_form(matrix: FloatArray, *, lower: bool) -> tuple[sp.csc_matrix, FloatArray]:
    """diag(x) - C as a vector of a triangle, by columns, sqrt 2 off the diagonal: b - A x."""
    n = len(matrix)
    at = [(i, j) for j in range(n) for i in (range(j, n) if lower else range(j + 1))]
    rows, columns = np.array(at).T
    right = -matrix[rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    (on,) = np.nonzero(rows == columns)
    shape = (len(at), n)
    return sp.csc_matrix((-np.ones(n), (on, rows[on])), shape=shape), right


def by_clarabel(matrix: FloatArray) -> FloatArray:
    n = len(matrix)
    entries, right = conic_form(matrix, lower=False)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    cones = [clarabel.PSDTriangleConeT(n)]
    solver = clarabel.DefaultSolver(
        sp.csc_matrix((n, n)), np.ones(n), entries, right, cones, settings
    )
    return np.array(solver.solve().x)


def by_scs(matrix: FloatArray) -> FloatArray:
    n = len(matrix)
    entries, right = conic_form(matrix, lower=True)
    data = {"A": entries, "b": right, "c": np.ones(n)}
    solver = scs.SCS(
        data, {"s": [n]}, eps_abs=ACCURACY, eps_rel=ACCURACY, verbose=False, time_limit_secs=LONGEST
    )
    return np.asarray(solver.solve()["x"])


def by_deep_cuts(system: ConicSystem, target: float) -> FloatArray:
    run = DeepCutSearch(system, start_ellipsoid(Search(system)))
    run.advance(10_000_000, target=target)
    point = np.concatenate([[1.0], run.best])
    assert system.prove_point(point).feasible
    return run.best


def repaired_gap(matrix: FloatArray, x: FloatArray, optimum: float) -> float:
    """How far a point is above the optimum once it is made feasible by a multiple of ones."""
    lowest = float(np.linalg.eigvalsh(np.diag(x) - matrix)[0])
    return (x.sum() + len(x) * max(0.0, -lowest) - optimum) / optimum


@pytest.mark.parametrize("name", ["mcp100", "mcp124-1", "mcp250-1", "mcp500-1"])
def test_relative_accuracy_compared_with_scs_and_clarabel(name: str) -> None:
    try:
        system = Sdplib([name]).load(name, seed=0, base=Path()).system
    except PlabError as error:
        pytest.skip(str(error))
    load_kernels()
    part, span = system.cone.blocks[1]
    scores = system.operator.data[span][:, [0]].toarray().ravel()  # type: ignore[attr-defined]
    matrix = -part.matrix(scores)  # type: ignore[attr-defined]
    with threadpool_limits(1):
        accurate, clarabel_seconds = timed(lambda: by_clarabel(matrix))
        optimum = float(accurate.sum())
        rough, scs_seconds = timed(lambda: by_scs(matrix))
        target = optimum * (1.0 + ACCURACY)
        best, seconds = timed(lambda: by_deep_cuts(system, target))
        clock = time.process_time()
        both = minimise(system, DeepCutEllipsoid(width=ACCURACY))
        both_seconds = time.process_time() - clock
    assert both.optimum_width is not None
    assert both.optimum_width <= ACCURACY
    print(
        f"\n{name}: deep cuts {seconds:.3f} s (SCS {scs_seconds / seconds:.1f}, Clarabel "
        f"{clarabel_seconds / seconds:.2f} times that), both bounds proved {both_seconds:.3f} s; "
        f"SCS {scs_seconds:.3f} s (gap once repaired "
        f"{repaired_gap(matrix, rough, optimum):.1e}), Clarabel {clarabel_seconds:.3f} s (gap "
        f"{repaired_gap(matrix, accurate, optimum):.1e}); deep cuts' gap "
        f"{repaired_gap(matrix, best, optimum):.1e}"
    )
    assert scs_seconds >= 4.0 * seconds
    assert clarabel_seconds >= seconds
