"""Proofs that a program has no strictly feasible point, from multipliers that a solver computed.

With X positive semidefinite, X != 0, <F_i, X> = 0 and <F_0, X> >= 0 no F(x) is positive definite:
<F(x), X> = -<F_0, X> would be positive. Solvers find X to some digits. Where it has no interior no
near one is proved to exist, yet simple numbers solve the equations exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem

# X over its largest entry is rounded to multiples of 1 / k for these k
_DENOMINATORS = (1, 2, 4, 8, 16, 64, 256)


@dataclass(frozen=True, eq=False)
class Refutation:
    """Weights that prove it, a point to be shown, and the reason in words."""

    point: FloatArray
    weights: FloatArray
    message: str


def refuted(system: ConicSystem, weights: FloatArray) -> Refutation | None:
    """Return the proof by weights at or near these; None where there is none.

    Parameters
    ----------
    system
        A homogenised system.
    weights
        X as weights of the blocks behind that of x_0, as solvers have it.
    """
    whole = system
    if len(weights) + 1 != system.cone.size:
        whole = system.completed(required=False)
    largest = float(np.abs(weights).max(initial=0.0))
    if len(weights) + 1 != whole.cone.size or not 0.0 < largest < np.inf:
        return None
    for k in _DENOMINATORS:
        simple = _completed(whole, np.round(weights / largest * k) / k)
        if whole.prove_weights(simple) == 0.0:
            return _refutation(system, simple, "weights w >= 0 with A w = 0 exactly")
    near = _completed(whole, weights / largest)
    found = whole.prove_infeasible(near)
    if found is None:
        return None
    return _refutation(system, near, f"{found.method} = {found.ratio:.2g} < 1")


def _completed(system: ConicSystem, weights: FloatArray) -> FloatArray:
    """Return the weights with that of x_0 in front: <F_0, X>, or 0 where that is negative."""
    operator = system.operator
    assert isinstance(operator, Matrix)
    data: Any = operator.data
    column = data[1:, [0]]
    constant = np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()
    return np.concatenate([[max(0.0, -float(constant @ weights))], weights])


def _refutation(system: ConicSystem, weights: FloatArray, message: str) -> Refutation:
    return Refutation(np.zeros(system.unknowns), weights, message)
