"""
A zero trade flow and its fixed effects
=======================================

Gravity equations model trade flows by Poisson regression with a fixed effect of each exporter and
each importer. Many flows are 0. If all flows of a country are 0, no estimate of its fixed effect
exists: the likelihood increases as the effect tends to -infinity. Other zeros separate in less
visible ways, by a combination of regressors (Correia, Guimarães and Zylkin 2019).
:func:`~perceptron_lab.separation` names the rows, and proves that all estimates exist without them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from perceptron_lab import separation

# %%
# Five countries trade with each other. A row of the table is an exporter, a column an importer. The
# importer E buys nothing at all, and D sells nothing to C. Some pairs have an agreement.

countries = list("ABCDE")
table = [[0, 7, 3, 9, 0], [6, 0, 2, 4, 0], [4, 1, 0, 5, 0], [2, 3, 0, 0, 0], [8, 2, 1, 6, 0]]
agreements = {"AB", "BA", "CD", "DC", "BE", "EA"}
flows = pd.DataFrame(
    [
        (exporter, importer, int(exporter + importer in agreements), table[i][j])
        for i, exporter in enumerate(countries)
        for j, importer in enumerate(countries)
        if i != j
    ],
    columns=["exporter", "importer", "agreement", "flow"],
)
effects = pd.get_dummies(flows[["exporter", "importer"]], drop_first=True, dtype=int)
design = pd.concat([flows[["agreement"]], effects], axis=1)

found = separation(design, flows.flow, family="poisson")
print(found)
assert found.verdict == "quasi-complete"

# %%
# The flows to E separate: their fixed effect tends to -infinity, and their fitted means to 0. The
# zero flow from D to C has a mean above 0, since all its coefficients are finite: it overlaps.

print(flows.loc[found.separated_rows])
assert set(flows.importer[found.separated_rows]) == {"E"}
infinite = {name: kind for name, kind in found.coefficients.items() if kind != "FINITE"}
assert infinite == {"importer_E": "-INF"}

# %%
# Without the separated rows all estimates exist, which is proved separately. They are the limits of
# the estimates from all rows: every other coefficient keeps its meaning. The search also states
# that it is enough to leave out one column, the fixed effect, or that one flow above 0 would do.

remedies = found.remedies()
print(remedies)
assert remedies.remaining.finite
assert remedies.columns.members == ("importer_E",)

# %%
# Newton's method shows the symptom. On all rows the effect of E falls by about 1 in each step; the
# coefficient of the agreement tends to its estimate from the remaining rows.


def steps(X, y, count=12):
    """Return the coefficients after each step of Newton's method."""
    b, path = np.zeros(X.shape[1]), []
    for _ in range(count):
        means = np.exp(X @ b)
        b = b + np.linalg.solve(X.T @ (means[:, None] * X), X.T @ (y - means))
        path.append(b)
    return np.array(path)


X = np.column_stack([np.ones(len(design)), design]).astype(float)
rest, other = remedies.remaining_rows, design.columns != "importer_E"
path = steps(X, flows.flow.to_numpy())
limits = steps(X[rest][:, np.append(True, other)], flows.flow[rest].to_numpy())
plt.plot(path[:, -1], marker="o", label="importer E, all rows")
plt.plot(path[:, 1], marker="o", label="agreement, all rows")
plt.plot(limits[:, 1], marker="x", label="agreement, remaining rows")
plt.xlabel("step of Newton's method")
plt.ylabel("coefficient")
plt.legend()
plt.show()
assert abs(path[-1, 1] - limits[-1, 1]) < 1e-3
assert path[-1, -1] < -8
