"""
Online learners and their mistakes
==================================

A stream of examples, a prediction for each, and an update after every mistake. Two theorems bound
the mistakes (`PerceptronNotes`): Novikoff's, where the classes are separable, and one by hinge
losses, where they are not. Here both bounds are proved for the stream at hand.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab.problems.streams import (
    hinge_loss_bound,
    novikoff_bound,
    online_perceptron,
    worst_case,
)

rng = np.random.default_rng(6)
examples = rng.standard_normal((400, 5))
scores = examples @ [1.0, -1.0, 0.5, 0.0, 0.0]
clear = np.abs(scores) > 0.25
labels = scores[clear] > 0.0

learner = online_perceptron(examples[clear], labels, passes=100)
bound = novikoff_bound(examples[clear], labels)
print(f"{learner.mistakes.total} mistakes, per pass {learner.mistakes.per_pass.tolist()}")
print(f"Novikoff's bound, proved: {bound.value:.1f}; of every vector at least {bound.least:.1f}")
assert learner.mistakes.total <= bound.value

# %%
# With a tenth of the labels wrong nothing separates the classes. One pass, and the bound by the
# hinge losses of the best comparison vector.

noisy = labels ^ (rng.random(len(labels)) < 0.1)
learner = online_perceptron(examples[clear], noisy)
hinge = hinge_loss_bound(examples[clear], noisy)
print(f"{learner.mistakes.total} mistakes of {len(noisy)}; bound {hinge.value:.1f}")
assert learner.mistakes.total <= hinge.value

for name, some in (("clean labels", labels), ("a tenth wrong", noisy)):
    at = online_perceptron(examples[clear], some).mistakes.at
    plt.step([0, *at, len(some)], [*range(len(at) + 1), len(at)], where="post", label=name)
plt.xlabel("examples seen")
plt.ylabel("mistakes")
plt.legend()
plt.show()

# %%
# Four examples in the plane on which the perceptron is slow: 2 K^2 - 2 K + 5 mistakes, though K
# takes only log K bits to write down. Counted, not computed by the formula:

for k in (2, 8, 32, 128):
    case = worst_case(k)
    counted = online_perceptron(case.examples, case.signs, passes=case.passes).mistakes.total
    print(f"K = {k:3}: {counted} mistakes, {case.mistakes} by the theorem, bound {case.novikoff}")
    assert counted == case.mistakes <= case.novikoff
