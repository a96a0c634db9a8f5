"""
The papers' theory, drawn and checked
=====================================

``plab theory`` computes what the papers state: figures by their formulas, constants exactly, and
claims that do not survive exact computation. The same is at hand in Python.
"""

from perceptron_lab.reporting.theory.exhibit import exhibit

# %%
# Figure 3.1 of `Kharechko2009`: the rescaling of a feasible cone in the plane, before and
# after.

shown = exhibit("figure_3_1")
print(shown.title)
figure = shown.draw()

# %%
# Its table: the growth of the margin by one rescaling, and the growth that is guaranteed.

frame = shown.table.frame
print(frame.round(4).to_string(index=False))
assert (frame["growth"] >= frame["bound"] - 1e-12).all()

# %%
# Figure 3.2: the margins for which the perceptron's bound beats that of the ellipsoid method.

figure = exhibit("figure_3_2").draw()

# %%
# Theorem 5.9 as a diagram: mistakes that are forced, beside upper bounds.

figure = exhibit("learning_complexity").draw()

# %%
# Not all that is printed is true. Every row of this table has a check, which was run just now:
# the number that the claim asserts in its example, and the number found there.

claims = exhibit("claims").table.frame
print(claims[["paper", "place", "printed", "computed", "refuted"]].to_string(index=False))
assert (claims["refuted"] == "yes").all()
