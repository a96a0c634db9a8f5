"""Seconds per epoch of bisections against the rows: `python -m tests.bench.bench_epochs`.

Rows of the dataset ``margin-sets`` (classes, 20 unknowns, separation 10), seed 0: the first
procedure of `TsampoukaShaweTaylor`, section 3, as printed, 1e4 to 1e6 rows. Processor seconds
over epochs, and the slope of their logarithm against that of the rows.
"""

from __future__ import annotations

import time

import numpy as np

from perceptron_lab import Budget, solve
from perceptron_lab.algorithms.margins.margin_bisection import MarginBisection
from perceptron_lab.datasets.generated.margin_sets import MarginSets

ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def main() -> None:
    """Print a line for each size, and the slope."""
    costs = []
    for rows in ROWS:
        system = MarginSets(family="classes", separation=10.0, dimension=20, rows=rows).problem(0)
        epochs = 200_000_000 // rows
        bisection = MarginBisection(hopeless=False, tolerance=1e-4, epochs=epochs)
        solve(system.system, bisection, goal="budget", budget=Budget(updates=1000))  # it is warm
        began = time.process_time()
        limits = Budget(updates=10**9, seconds=20.0)
        result = solve(system.system, bisection, goal="budget", budget=limits)
        spent = time.process_time() - began - result.proof_seconds
        costs.append(spent / result.products)
        print(f"{rows} rows: {result.products:.0f} epochs, {1e3 * costs[-1]:.4f} ms each")
    slope = np.polyfit(np.log(ROWS), np.log(costs), 1)[0]
    print(f"slope {slope:.3f}")


if __name__ == "__main__":
    main()
