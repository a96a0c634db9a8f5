"""Ratios in one run on one machine; not collected by default: `pytest -s tests/bench/bench_*.py`.

The update of the ellipsoid method against the two BLAS calls that it cannot do without (dsymv and
dsyr on arrays made ready for them), and against P -= outer(d, d) in numpy.
"""

import time

import numpy as np
import pytest
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

from perceptron_lab.algorithms.rescaling.ellipsoid import Metric

ORDERS = [250, 500, 1000, 2000]


def interleaved(*functions, seconds=1.5):
    """The median duration of ten calls of each function, taken in turn."""
    times = [[] for _ in functions]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 7:
        for function, record in zip(functions, times, strict=True):
            clock = time.perf_counter()
            for _ in range(10):
                function()
            record.append(time.perf_counter() - clock)
    return [float(np.median(record)) for record in times]


@pytest.mark.parametrize("n", ORDERS)
def test_ellipsoid_update_against_blas_and_numpy(n):
    rng = np.random.default_rng(n)
    normal = rng.standard_normal(n)
    metric, bare, full = Metric(n), np.asfortranarray(np.eye(n)), np.eye(n)

    def ours():
        product, length = metric.along(normal)
        metric.shrink(product, 1e-9 / length**2)

    def two_calls():
        product = blas.dsymv(1.0, bare, normal, lower=1)
        blas.dsyr(-1e-9 / n, product, lower=1, a=bare, overwrite_a=1)

    def naive():
        nonlocal full
        product = full @ normal
        full -= 1e-9 / n * np.outer(product, product)

    with threadpool_limits(1):
        update, calls, numpy_way = interleaved(ours, two_calls, naive)
    ratios = f"n = {n}: {update / calls:.2f} x BLAS, {numpy_way / update:.1f} x faster than numpy"
    print(f"\n{ratios}")
    assert update <= 1.3 * calls
    assert numpy_way >= 2.0 * update
