"""
Separation in a logistic regression
===================================

A logistic regression whose estimates run to infinity is a common surprise: the program warns, or
stops at some large number. The reason is a linear system. Estimates exist if and only if the
classes overlap, and :func:`~perceptron_lab.separation` decides that in exact arithmetic,
coefficient by coefficient.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from perceptron_lab import separation

# %%
# Twelve patients: a dose, their age, and who was cured. All who had more than 4 units were
# cured, nobody with less was, and both happened at exactly 4, at mixed ages.

dose = np.array([1, 2, 2, 3, 4, 4, 4, 4, 5, 6, 6, 7])
age = np.array([61, 45, 52, 39, 44, 50, 48, 53, 66, 41, 58, 47])
cured = np.repeat(["no", "yes"], 6)
X = pd.DataFrame({"dose": dose, "age": age})

# %%
# A solver of the likelihood only shows a symptom: the less it is held back, the larger a
# coefficient becomes.

strengths = 10.0 ** np.arange(0, 9)
fits = [LogisticRegression(C=c, max_iter=100_000).fit(X, cured).coef_[0] for c in strengths]
plt.semilogx(strengths, np.abs(fits), marker="o", label=["dose", "age"])
plt.xlabel("inverse strength of the penalty")
plt.ylabel("size of the coefficient")
plt.legend()
plt.show()

# %%
# The verdict: the classes are separated, if not completely. The coefficient of the dose runs to
# infinity, that of the age has a finite estimate, in the patients who overlap.

found = separation(X, cured)
print(found.verdict, "(proved)" if found.proved else "")
print(found.coefficients)

# %%
# Its proof is a direction b of whole numbers, or fractions, in which the likelihood never
# falls: no row has a negative score, and the rows of ``separated_rows`` have a positive one.

signs = np.where(cured == "yes", 1, -1)
scores = [
    s * sum(b * int(x) for b, x in zip(found.direction, (*row, 1), strict=True))
    for s, row in zip(signs.tolist(), X.to_numpy().tolist(), strict=True)
]
print("scores", [str(score) for score in scores])
print("separated", found.separated_rows, "overlap", found.overlap_rows)
assert min(scores) >= 0
assert {i for i, score in enumerate(scores) if score > 0} == set(found.separated_rows.tolist())
