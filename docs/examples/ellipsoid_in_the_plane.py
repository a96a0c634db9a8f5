"""
Separation by an ellipse
========================

One class in the middle, the other one around it: no line separates them, an ellipse does. The one
of maximal separation ratio (chapter 7 of `Kharechko2009`) has a larger copy around itself, and
the ring between the two is empty.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import EllipsoidSeparationClassifier, solve

rng = np.random.default_rng(1)
angles = rng.uniform(0.0, 2.0 * np.pi, 120)
radii = np.where(np.arange(120) < 60, 0.8 * np.sqrt(rng.random(120)), rng.uniform(1.3, 2.4, 120))
map_ = np.array([[1.6, 0.7], [0.0, 0.6]])
X = (radii * np.array([np.cos(angles), np.sin(angles)])).T @ map_.T + [0.4, -0.2]
y = np.repeat(["outside", "within"], [60, 60])[::-1]

print("a line:", solve(X, y).status.value)

# %%
# The classifier is scikit-learn's kind of estimator. The larger label is inside. The axes of
# the two ellipses have the ratio sqrt(1 + t).

model = EllipsoidSeparationClassifier().fit(X, y)
found = model.separation_
print(f"{model.status_.value}: t lies in [{found.ratio_lower:.9f}, {found.ratio_upper:.9f}]")

# %%
# The decision function is zero in the middle of the ring.

u, v = np.meshgrid(np.linspace(-4, 5, 300), np.linspace(-2.2, 1.8, 300))
values = model.decision_function(np.column_stack([u.ravel(), v.ravel()])).reshape(u.shape)
plt.contourf(u, v, values, levels=[0.0, np.inf], alpha=0.2, colors=["C0"])
plt.contour(u, v, values, levels=[0.0], colors=["C0"])
for label, marker in (("within", "o"), ("outside", "s")):
    plt.scatter(*X[y == label].T, marker=marker, s=14, label=label)
plt.legend()
plt.show()

# %%
# The ratio does not depend on the units of the features: any affine map leaves it as it is.

moved = EllipsoidSeparationClassifier().fit(X @ [[1000.0, 3.0], [0.0, 0.001]] + 17.0, y)
print(model.separation_.ratio, moved.separation_.ratio)
assert (model.predict(X) == y).all()
assert np.isclose(model.separation_.ratio, moved.separation_.ratio, rtol=1e-4)
