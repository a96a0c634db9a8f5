"""
Kernels: the same algorithms in a space of functions
====================================================

With a kernel the unknown is a function, given by its coefficients. Nothing else changes: the
kernel versions of the papers' algorithms are the linear ones on another system.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import ConicSystem, solve
from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf

rng = np.random.default_rng(0)
t = rng.uniform(0.3, 3.0, 80) * np.pi
turn = np.repeat([0.0, np.pi], 40)
X = (t * np.array([np.cos(t + turn), np.sin(t + turn)])).T / 6.0 + rng.normal(0.0, 0.02, (80, 2))
y = np.repeat(["one", "other"], 40)

# %%
# Two spirals. Which spaces of functions have a member that tells them apart? FEASIBLE is
# proved, and so is MARGIN_BOUNDED: no function has more than a tiny margin. The errors of the
# kernel's values are part of the proof.

kernels = {"linear": Linear(), "degree 3": Polynomial(degree=3), "Gaussian": Rbf(gamma=20.0)}
for name, kernel in kernels.items():
    result = solve(ConicSystem.from_kernel(kernel, X, y))
    print(f"{name:9} {result.status.value:14} margin <= {result.margin_upper:.1e}")

# %%
# Mirror-Prox and the perceptron, in the Gaussian's space.

system = ConicSystem.from_kernel(kernels["Gaussian"], X, y)
fits = {name: solve(system, name) for name in ("perceptron", "mirror-prox")}
for name, fit in fits.items():
    print(f"{name:12} {fit.updates:3} updates, margin >= {fit.margin_lower:.2e}")

# %%
# The function is f(x) = sum_j c_j s_j K(x_j, x).

signs = np.where(y == "other", 1.0, -1.0)
u, v = np.meshgrid(np.linspace(-1.8, 1.8, 160), np.linspace(-1.8, 1.8, 160))
points = np.column_stack([u.ravel(), v.ravel()])
distances = ((points[:, None] - X) ** 2).sum(axis=2)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), layout="constrained")
for axis, (name, fit) in zip(axes, fits.items(), strict=True):
    f = np.exp(-20.0 * distances) @ (fit.point * signs)
    axis.contourf(
        u, v, np.sign(f).reshape(u.shape), levels=[-2, 0, 2], alpha=0.3, colors=["C0", "C1"]
    )
    axis.scatter(*X.T, c=np.where(signs > 0, "C1", "C0"), s=12)
    axis.set_title(name)
plt.show()
assert all(fit.proved for fit in fits.values())
