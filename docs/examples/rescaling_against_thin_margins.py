"""
Rescaling against thin margins
==============================

The perceptron needs up to 1 / margin^2 updates, which is hopeless where the feasible cone is
thin. Algorithms that rescale stretch the space along a thin direction, and look again: the margin
enters their bounds by its logarithm.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import Budget, solve

# %%
# Cones about a fixed direction, thinner and thinner: rows at nearly a right angle to it.


def thin(margin, rng):
    """Return 60 unit rows in dimension 6 with at least this margin."""
    across = rng.standard_normal((60, 5))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return np.column_stack([np.full(60, margin), across * np.sqrt(1.0 - margin**2)])


names = ("perceptron", "rescaled-perceptron", "deterministic-rescaled-perceptron", "ellipsoid")
margins = 10.0 ** -np.arange(0.5, 5.5, 0.5)
limit = Budget(updates=30_000, seconds=2)
counts = {name: [] for name in names}
for margin in margins:
    rows = thin(margin, np.random.default_rng(7))
    for name in names:
        result = solve(rows, name, budget=limit)
        counts[name].append(result.queries if result.proved else np.nan)

# %%
# A line that rises as a power of the margin ends early; one that pays for its logarithm goes
# on. A line ends where the limit of 30 000 updates was not enough.

for name in names:
    plt.loglog(margins, counts[name], marker="o", label=name)
plt.gca().invert_xaxis()
plt.xlabel("margin")
plt.ylabel("queries until a proof")
plt.legend()
plt.show()

# %%
# The points of the thinnest system, proved like all others:

rows = thin(margins[-1], np.random.default_rng(7))
for name in names[1:]:
    result = solve(rows, name, budget=limit)
    print(f"{name:34} {result.status.value:9} margin >= {result.margin_lower:.3g}")
assert solve(rows, "ellipsoid").proved
