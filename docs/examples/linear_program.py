"""
A linear program, decided exactly
=================================

Linear conditions need no tolerance: :meth:`.ConicSystem.from_linear` takes every number as it is,
and the answer is an exact rational point, or exact weights that add the conditions up to a
contradiction.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import ConicSystem, solve

# %%
# A diet: at least 50 g of protein, at most 2000 kcal and 3 units of money. Per portion of
# beans, bread and cheese:

protein = [Fraction(15), Fraction(8), Fraction(25)]
energy = [Fraction(230), Fraction(250), Fraction(400)]
price = [Fraction(1, 3), Fraction(1, 5), Fraction(9, 10)]


def diet(least_protein, most_energy, most_price):
    """Return the conditions A x >= b."""
    matrix = [protein, [-e for e in energy], [-p for p in price]]
    return ConicSystem.from_linear(matrix, [least_protein, -most_energy, -most_price], lower=0)


found = solve(diet(50, 2000, 3))
print(found)
print([str(portion) for portion in found.x])

# %%
# How much protein can the money buy? Weights of Farkas' lemma answer: a demand beyond is
# refuted by adding the conditions up, and the result names those that clash.

print(solve(diet(50, 2000, 1)))

# %%
# The boundary between the two answers is sharp. One unit of money buys so much of the food with
# the most protein per unit of money; a demand that exceeds this by 10^-30 is infeasible.

best = max(p / m for p, m in zip(protein, price, strict=True))
beyond = best + Fraction(1, 10**30)
possible, impossible = solve(diet(best, 2000, 1)), solve(diet(beyond, 2000, 1))
print(f"{best} g of protein:", possible.status.value)
print("and 1e-30 g more:", impossible.status.value)
assert possible.status == "FEASIBLE"
assert impossible.status == "INFEASIBLE"

# %%
# The picture for two of the foods, beans and bread.

portions = np.linspace(0, 10, 200)
plt.fill_between(
    portions,
    np.maximum(0, (50 - 15 * portions) / 8),
    np.minimum((2000 - 230 * portions) / 250, (3 - portions / 3) * 5),
    where=(3 - portions / 3) * 5 >= np.maximum(0, (50 - 15 * portions) / 8),
    alpha=0.4,
)
plt.xlabel("portions of beans")
plt.ylabel("portions of bread")
plt.title("diets of 50 g protein, 2000 kcal, 3 units of money")
plt.show()
