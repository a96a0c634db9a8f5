"""
Complete separation in a logistic regression
============================================

A logistic regression whose estimates run to infinity is a common surprise: the program warns, or
stops at some large number. The reason is a linear system. Estimates exist if and only if the
classes overlap, and :func:`~perceptron_lab.separation` decides that in exact arithmetic,
coefficient by coefficient. First the classes are separated completely, then only in part.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from perceptron_lab import separation

# %%
# Twelve patients: a dose, their age, and who was cured. All who had 4 units or more were cured,
# nobody with less was: a line between the doses 3 and 4 has each class strictly on its own side.

dose = np.array([1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 6, 7])
age = np.array([61, 45, 52, 39, 44, 50, 48, 53, 66, 41, 58, 47])
cured = np.repeat(["no", "yes"], 6)
complete = pd.DataFrame({"dose": dose, "age": age})

found = separation(complete, cured)
print(found)
assert found.verdict == "complete"

# %%
# The proof of it is a direction b, of whole numbers or fractions: x'b has the sign of the class in
# every row, strictly. Along t b the likelihood rises to 1 as t grows, and no point attains that:
# there is no estimate. In all such directions the dose has a positive sign and the intercept a
# negative one; that of the age is not determined, since there are directions of either.


def scores(found, data):
    """Return x'b with the sign of each row's class, exactly."""
    rows = zip(cured, data.to_numpy().tolist(), strict=True)
    return [
        (1 if label == "yes" else -1)
        * sum(b * int(x) for b, x in zip(found.direction, (*row, 1), strict=True))
        for label, row in rows
    ]


print("direction", [str(b) for b in found.direction])
print("scores", [str(score) for score in scores(found, complete)])
assert min(scores(found, complete)) > 0


# %%
# A solver of the likelihood only shows a symptom: the less it is held back by a penalty, the larger
# the coefficient of the dose becomes, without end. That of the age seems to settle, where the
# verdict knows of directions of both signs: a curve is no proof.

strengths = 10.0 ** np.arange(0, 9)


def sizes(data):
    """Return the size of each coefficient, for decreasing penalties."""
    fits = [LogisticRegression(C=c, tol=1e-10, max_iter=100_000) for c in strengths]
    return np.abs([fit.fit(data, cured).coef_[0] for fit in fits])


def plot(data, title):
    """Draw the sizes of the coefficients against the inverse strength of the penalty."""
    plt.semilogx(strengths, sizes(data), marker="o", label=["dose", "age"])
    plt.xlabel("inverse strength of the penalty")
    plt.ylabel("size of the coefficient")
    plt.title(title)
    plt.legend()
    plt.show()


plot(complete, "complete separation")

# %%
# Now let two of the patients who were not cured have had 4 units, too: all who had more were cured,
# nobody was who had less, and both happened at exactly 4, at mixed ages. No line has each class
# strictly on its own side any more, and yet the dose has no estimate. That is quasi-complete
# separation.

quasi = complete.assign(dose=np.where(complete.index.isin([4, 5]), 4, dose))
found = separation(quasi, cured)
print(found)
print(found.coefficients)
assert found.verdict == "quasi-complete"
assert found.coefficients["dose"] == "+INF"
assert found.coefficients["age"] == "FINITE"

# %%
# The coefficient of the dose runs to infinity, and that of the age has a finite estimate: the one
# of the patients who overlap.

plot(quasi, "quasi-complete separation")

# %%
# Along this direction the likelihood never falls: no row has a negative score, those of
# ``separated_rows`` have a positive one, and those of ``overlap_rows`` have 0.

print("scores", [str(score) for score in scores(found, quasi)])
print("separated", found.separated_rows, "overlap", found.overlap_rows)
assert min(scores(found, quasi)) == 0
positive = {i for i, score in enumerate(scores(found, quasi)) if score > 0}
assert positive == set(found.separated_rows.tolist())
