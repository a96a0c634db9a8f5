"""
A linear matrix inequality: is this system stable?
==================================================

The system x' = F x is stable if and only if some symmetric P is positive definite and has F'P + P
F negative definite: then x'Px falls along every path (Lyapunov). That is a linear matrix
inequality in the entries of P, and its strict form is the question of this package. As a multiple
of P serves as well, F'P + P F may be asked to lie below -I.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import solve

F = np.array([[-0.2, 2.0], [-1.0, -0.3]])
P = cp.Variable((2, 2), symmetric=True, name="P")


def inequality(F):
    return cp.Problem(cp.Minimize(0), [P >> 0, -(F.T @ P + P @ F) >> np.eye(2)])


result = solve(inequality(F))
print(result)

# %%
# The variables of the problem have their values now, and the result has them by name.

answer = result.values["P"]
a, b, c = answer[np.triu_indices(2)]
print(answer)
print("eigenvalues of P", np.linalg.eigvalsh(answer))
print("eigenvalues of F'P + P F", np.linalg.eigvalsh(F.T @ answer + answer @ F))

# %%
# The paths of the system cross the ellipses x'Px = constant inwards.

grid = np.linspace(-2.0, 2.0, 200)
u, v = np.meshgrid(grid, grid)
plt.contour(u, v, a * u * u + 2 * b * u * v + c * v * v, levels=8, linewidths=0.8, cmap="Blues_r")
plt.streamplot(u, v, F[0, 0] * u + F[0, 1] * v, F[1, 0] * u + F[1, 1] * v, density=0.8, color="C1")
plt.gca().set_aspect("equal")
plt.show()

# %%
# Give the system a little energy, and there is no such P. That is proved too, by weights: two
# positive semidefinite matrices and a number. The constraints in conflict are named.

unstable = solve(inequality(F + 0.3 * np.eye(2)))
print(unstable)
assert result.proved
assert unstable.status == "INFEASIBLE"
