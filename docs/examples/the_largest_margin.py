"""
The largest margin
==================

A separator is an answer; the separator with the largest margin is a better one. Here four
algorithms go for it on the same rows, and every one proves its bracket: a point bounds the margin
from below, weights of the constraints bound it from above.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import Budget, solve

rng = np.random.default_rng(4)
rows = rng.standard_normal((2000, 20))
rows[:, 0] = np.abs(rows[:, 0]) + 0.3

names = ("minimum-norm-point", "mirror-prox", "normalized-perceptron", "margin-bisection")
goal = {"margin_ratio": 0.999}
limit = Budget(updates=20_000, seconds=3)
results = {name: solve(rows, name, goal=goal, budget=limit) for name in names}
for name, result in results.items():
    print(f"{name:22} [{result.margin_lower:.6f}, {result.margin_upper:.6f}]", result.status.value)

# %%
# The goal asks for 99.9 % of the largest margin. ``minimum-norm-point``, Wolfe's exact method
# on a growing set of rows, is there first. The courses of the others:

for name, result in results.items():
    trace = result.trace
    plt.semilogx(trace.products, trace.margin, marker=".", label=name)
plt.axhline(results["minimum-norm-point"].margin_upper, color="k", lw=0.8, ls=":")
plt.ylim(bottom=-0.1)
plt.xlabel("products with the data")
plt.ylabel("margin of the point")
plt.legend()
plt.show()

# %%
# The brackets are proofs, so they cannot contradict one another: every lower bound is below
# every upper bound, whoever found them.

lowest_upper = min(result.margin_upper for result in results.values())
highest_lower = max(result.margin_lower for result in results.values())
print(f"{highest_lower:.9f} <= margin <= {lowest_upper:.9f}")
assert highest_lower <= lowest_upper
