"""
A proved bound of MAXCUT
========================

Split the vertices of a graph in two, so that as many edges as possible run between the parts. The
semidefinite relaxation bounds every cut from above, and random hyperplanes make a cut of its
solution (Goemans and Williamson). :func:`~perceptron_lab.optimum` encloses the relaxation's
optimum in a proved interval.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import optimum
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram

rng = np.random.default_rng(0)
n = 60
first, second = np.nonzero(np.triu(rng.random((n, n)) < 0.08, 1))
print(len(first), "edges")

program = MaxCutProgram.of_graph(n, first, second, np.ones(len(first)))
found = optimum(program)
print(found)

# %%
# The cut comes with the result: one sign per vertex. Counting its edges needs no trust.

side = found.proof["signs"] > 0
across = side[first] != side[second]
most = math.floor(found.optimum_upper)
print(f"this cut: {across.sum()}; no cut has more than {most}")
assert across.sum() <= most

# %%
# The two parts, left and right; orange edges are not cut.

places = np.column_stack([np.where(side, 1.0, -1.0) + rng.uniform(-0.4, 0.4, n), rng.random(n)])
for i, j, cut in zip(first, second, across, strict=True):
    plt.plot(*places[[i, j]].T, color="0.75" if cut else "C1", lw=0.5 if cut else 1.2, zorder=1)
plt.scatter(*places.T, c=np.where(side, "C0", "C2"), s=18, zorder=2)
plt.axis("off")
plt.title(f"{across.sum()} of {len(first)} edges cut; proved: {most} at most")
plt.show()

# %%
# The interval closes quickly: each width asked for, and the one proved.

for width in (1e-2, 1e-4, 1e-6, 1e-8):
    run = optimum(program, width=width)
    print(
        f"{width:.0e}: [{run.optimum_lower:.9f}, {run.optimum_upper:.9f}], {run.iterations} sweeps"
    )
    assert run.optimum_lower <= run.optimum_upper
    assert run.goal_reached
