"""The geometric margin of a million examples: `python -m tests.bench.bench_largest_margin`.

Examples of the dataset ``streams`` (planted, 20 features, margin 0.05 from the origin), seed 0:
proved 99 % and 1 - 1e-6 of the largest geometric margin, beside LIBLINEAR (hinge loss, intercept)
and LIBSVM (linear), both with C = 1e6. Seconds are those of a whole call from X and y, by the clock
and of the processor; a share is that of the proved upper bound. LIBSVM takes minutes at a million;
ROWS=100000 is another size.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from perceptron_lab import solve
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.streams import Streams

PEERS = {
    "LinearSVC": LinearSVC(loss="hinge", C=1e6, max_iter=1000),
    "LIBSVM": SVC(kernel="linear", C=1e6, cache_size=500),
}


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what a call returns, its seconds, and those of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    value = call()
    return value, time.perf_counter() - wall, time.process_time() - processor


def geometric_margin(w: FloatArray, b: float, X: FloatArray, y: FloatArray) -> float:
    """Return min_i y_i (w'x_i + b) / norm(w)."""
    return float((y * (X @ w + b)).min() / np.linalg.norm(w))


def main() -> None:
    """Print a line for each."""
    rows = int(os.environ.get("ROWS", "1000000"))
    task = Streams(dimension=20, margin=0.05, rows=rows).problem(0).tasks[0]
    X, y = np.asarray(task.examples), np.asarray(task.labels)
    solve(X[:1000], y[:1000], margin="geometric", goal={"margin_ratio": 0.99})  # it is compiled
    bound, times = np.inf, {}
    for ratio in (0.99, 1.0 - 1e-6):
        goal = {"margin_ratio": ratio}
        result, wall, processor = timed(
            lambda goal=goal: solve(X, y, margin="geometric", goal=goal)
        )
        assert result.goal_reached
        bound, times[ratio] = min(bound, result.margin_upper), (wall, processor)
        share = result.margin_lower / result.margin_upper
        print(f"proved {share:.8f} of {bound:.6f}: {wall:.3f} s, processor {processor:.3f} s")
    print(f"1 - 1e-6 in {times[1.0 - 1e-6][0] / times[0.99][0]:.2f} times the time of 99 %")
    for name, machine in PEERS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, wall, processor = timed(lambda machine=machine: machine.fit(X, y))
        share = geometric_margin(machine.coef_[0], float(machine.intercept_[0]), X, y) / bound
        ratios = wall / times[0.99][0], processor / times[0.99][1]
        print(
            f"{name}: share {share:.4f}, {wall:.1f} s ({ratios[0]:.0f} x), processor "
            f"{processor:.1f} s ({ratios[1]:.0f} x)"
        )


if __name__ == "__main__":
    main()
