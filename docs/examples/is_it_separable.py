"""
Is it separable?
================

Two classes of points, and the first question of all: does some affine function have the one class
on its positive side and the other on its negative side? And if so, with how much room?
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import solve

rng = np.random.default_rng(3)
X = np.vstack([rng.normal((-1.2, -0.4), 0.55, (40, 2)), rng.normal((1.1, 0.7), 0.6, (40, 2))])
y = np.repeat(["no", "yes"], 40)

# %%
# One call decides. The answer is a point (w, b), and w'x + b is positive on the larger label,
# here "yes".

result = solve(X, y)
print(result)

# %%
# How wide is the gap? With ``margin="geometric"`` the margin is that of support vector
# machines, half the distance of the hulls of the classes. The goal asks for 99.9 % of the
# largest one: the run ends once the bracket of the margin is proved to be as narrow.

widest = solve(X, y, margin="geometric", goal={"margin_ratio": 0.999})
print(widest)

# %%
# The two dotted lines are proved to have no point between them.

w, b = widest.point[:2], widest.point[2]
across = np.array([-4.0, 4.0])
for label, marker in (("no", "s"), ("yes", "o")):
    plt.scatter(*X[y == label].T, marker=marker, s=18, label=label)
for shift in (-1.0, 0.0, 1.0):
    room = shift * widest.margin_lower * np.linalg.norm(w)
    plt.plot(across, (room - b - w[0] * across) / w[1], "k-" if shift == 0.0 else "k:", lw=1)
plt.xlim(-3, 3)
plt.ylim(-2.5, 2.5)
plt.legend()
plt.show()

# %%
# Swap two labels, and no line is left. That is proved as well: by weights of the constraints
# whose combination is zero.

wrong = y.copy()
wrong[[0, 40]] = wrong[[40, 0]]
crossed = solve(X, wrong)
print(crossed)
assert crossed.proved
assert crossed.status == "INFEASIBLE"
