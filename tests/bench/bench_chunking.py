"""Not collected by default: `pytest -s tests/bench/bench_chunking.py`.

Constraint generation on 100 000 examples of 10 features: seconds, examples used, proved gap.
"""

import time

import pytest
from threadpoolctl import threadpool_limits

from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from tests.problems.ellipsoids.two_class_sets import separable


@pytest.mark.parametrize(("positives", "negatives"), [(50_000, 50_000), (1_000, 99_000)])
def test_constraint_generation(positives, negatives):
    classes = separable(1, positives, negatives, 10)
    with threadpool_limits(1):
        clock = time.perf_counter()
        separation = maximal_separation(*classes, solver="constraint-generation", tolerance=1e-5)
        seconds = time.perf_counter() - clock
    gap = (separation.ratio_upper - separation.ratio_lower) / separation.ratio_upper
    print(f"\n{seconds:.2f} s, proved gap {gap:.1e}: {separation.message}")
    assert gap <= 1e-4
