"""Not collected by default: `pytest -s tests/bench/bench_ellipsoid_classifiers.py`.

Both ellipsoid classifiers with default parameters on the usual data sets: seconds of the processor,
one thread, and the proved bracket of t. Numbers of rows are those fitted.
"""

from __future__ import annotations

import math
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from perceptron_lab.datasets.gaussian_shells import GaussianShells
from perceptron_lab.estimators import EllipsoidSeparationClassifier, SoftEllipsoidClassifier
from tests.estimators.usual_data import Case, generated, measured


def shells(drawn: int) -> Case:
    inside, outside = GaussianShells(drawn).sample(0)
    rows = np.vstack([inside, outside])
    return Case(f"shells of {drawn}", lambda: (rows, np.arange(len(rows)) < len(inside)))


def timed(model, rows, labels):
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clock = time.process_time()
        model.fit(rows, labels)
        return time.process_time() - clock


CASES = {
    "measured": measured,
    "circles and clusters": lambda: [
        case for n in (1000, 10_000, 100_000) for case in generated(n)
    ],
    "shells": lambda: [shells(5000), shells(100_000)],
}


@pytest.mark.parametrize("kind", CASES)
def test_table(kind):
    print(
        f"\n{'data':36s} {'rows x features':>16s} {'status':15s} {'t >=':>16s} {'t <=':>16s} "
        f"{'width':>8s} {'hard s':>7s} {'soft s':>7s}"
    )
    for case in CASES[kind]():
        rows, labels = case.load()
        hard = EllipsoidSeparationClassifier()
        seconds = timed(hard, rows, labels)
        soft = timed(SoftEllipsoidClassifier(), rows, labels)
        found = hard.separation_
        width = found.ratio_upper - found.ratio_lower
        width = width / found.ratio_lower if found.ratio_lower > 0.0 else width
        print(
            f"{case.name:36s} {f'{len(rows)} x {rows.shape[1]}':>16s} {hard.status_!s:15s} "
            f"{found.ratio_lower:16.10g} {found.ratio_upper:16.10g} {width:8.1e} {seconds:7.2f} "
            f"{soft:7.2f}",
            flush=True,
        )
        assert math.isfinite(found.ratio_upper) or hard.status_ == "UNBOUNDED"
