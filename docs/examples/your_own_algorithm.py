"""
Your own algorithm in twenty lines
==================================

An algorithm is a frozen record with three methods: ``start`` makes a state, ``step`` changes it,
and ``bound`` says what is guaranteed. The clock, the budget, the trace and the proofs are not its
business.
"""

from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np

from perceptron_lab import Budget, register, solve
from perceptron_lab.algorithms.base import Algorithm, State, cut_or_claim
from perceptron_lab.core.results import Bound
from perceptron_lab.systems import Cut

# %%
# A perceptron that forgets: it shrinks its point a little before each update.


@dataclass(frozen=True)
class Forgetful(Algorithm[State]):
    """The perceptron with x <- (1 - decay) x + a / norm(a)."""

    systems: ClassVar = {"runs": "rows kernel second-order semidefinite product"}
    decay: float = 0.001

    def start(self, system, rng):
        return State(np.zeros(system.dimension))

    def step(self, system, state, most):
        for _ in range(most):
            cut = cut_or_claim(system, state.point)
            if not isinstance(cut, Cut):
                return state, cut  # no constraint is violated: claim the point
            state.point *= 1.0 - self.decay
            state.point += cut.normal / cut.norm
            state.updates += 1
        return state, None

    def bound(self, facts):
        return Bound(None, "none", "nobody has proved one")


# %%
# Registered, it is tried on a small system at once, and has a name for
# :func:`~perceptron_lab.solve` and for experiments. It runs on every cone: it only ever sees
# cuts.

register("algorithm", "forgetful", Forgetful)

rng = np.random.default_rng(2)
rows = rng.standard_normal((300, 8))
rows[:, 0] = np.abs(rows[:, 0]) * 0.3 + 0.02
print(solve(rows, "forgetful"))

# %%
# Does forgetting help? A question for a picture.

decays = [0.0, 0.0003, 0.001, 0.003]
limit = Budget(updates=5_000)
runs = [solve(rows, Forgetful(decay), budget=limit) for decay in decays]
for decay, run in zip(decays, runs, strict=True):
    print(f"decay {decay:6}: {run.updates:6} updates, {run.status.value}")
plt.bar([str(decay) for decay in decays], [run.updates for run in runs])
plt.yscale("log")
plt.xlabel("decay")
plt.ylabel("updates")
plt.show()

# %%
# Wherever it says FEASIBLE the point was proved on the data, by code that knows nothing of the
# algorithm. The scores say the same.

proved = [run for run in runs if run.proved]
print([float((rows @ run.point).min()) > 0.0 for run in proved])
assert all((rows @ run.point).min() > 0.0 for run in proved)
