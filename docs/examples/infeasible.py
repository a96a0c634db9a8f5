"""
Why there is no answer
======================

"No solution found" is not an answer. Where no point is strictly feasible, there are weights w of
the constraints whose combination A w is zero (Gordan), and they prove it. The weights say which
constraints are in one another's way.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import maximum_support, negative_margin, solve
from perceptron_lab.problems.streams import linear_inequalities

angles = np.radians([15.0, 40.0, 160.0, 265.0])
rows = np.column_stack([np.cos(angles), np.sin(angles)])
result = solve(rows)
print(result)
print("weights", result.weights.round(4))

# %%
# The arrows are the constraints; a feasible point would see all of them on its own side.
# Weighted, they add up to nothing.

steps = np.vstack([[0.0, 0.0], np.cumsum(result.weights[:, None] * rows, axis=0)])
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for row, weight in zip(rows, result.weights, strict=True):
    left.annotate(
        "", row, (0, 0), arrowprops={"arrowstyle": "->", "lw": 1 + 4 * weight, "color": "C0"}
    )
left.set(
    xlim=(-1.1, 1.1),
    ylim=(-1.1, 1.1),
    aspect="equal",
    title="the constraints, by weight",
)
right.plot(*steps.T, "o-", color="C1")
right.set(aspect="equal", title="one after another: a closed path")
plt.show()

# %%
# How infeasible is it? The margin is negative, and is enclosed as well.

print(negative_margin(rows))

# %%
# Which constraints are to blame, exactly? Every row can either be positive while none is
# negative, or has a positive weight in some combination that vanishes; never both.

found = maximum_support(np.array([[1, 0], [-1, 0], [1, 1]]))
print(found)
print("can be positive:", found.support, "at", [str(entry) for entry in found.point])
heaviest = max(found.weights.values())
print("weights:", {row: str(weight / heaviest) for row, weight in found.weights.items()})

# %%
# With right-hand sides, A x > b, the proof is that of Farkas: weights u with A'u = 0 and b'u >= 0.
# An algorithm proposes them in doubles, and they are made exact.

A, b = np.array([[1.0, 1.0], [-2.0, 0.0], [0.0, -2.0]]), np.array([3.0, -2.0, -2.0])
lifted = linear_inequalities(A, b)
proof = lifted.farkas(solve(lifted.system, "von-neumann").weights)
u = proof.exact
print(
    "no solution at all:",
    proof.empty,
    "| exact weights, as multiples:",
    [str(one / u[-1]) for one in u],
)

total = [sum(int(A[i, j]) * u[k] for k, i in enumerate(proof.rows.tolist())) for j in range(2)]
print("A'u =", [str(one) for one in total])
assert total == [0, 0]
assert sum(int(b[i]) * u[k] for k, i in enumerate(proof.rows.tolist())) > 0
