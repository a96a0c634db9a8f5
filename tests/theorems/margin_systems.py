"""Rows of unequal lengths with their exact directional margin, and runs held to its bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.spatial

from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem
from tests.families import exact_margin, planted
from tests.theorems.courses import BUDGET, first_claim, ready, walk


@dataclass
class Known:
    """Rows as given, their directional margin gamma_d and the unit vector u that attains it."""

    rows: FloatArray
    margin: float
    best: FloatArray

    @property
    def system(self) -> ConicSystem:
        return ConicSystem.from_rows(self.rows, margin="directional")

    @property
    def facts(self) -> Facts:
        return self.system.facts(self.margin)

    @property
    def longest(self) -> float:
        """R."""
        return float(np.linalg.norm(self.rows, axis=1).max())

    @property
    def shortest(self) -> float:
        """r."""
        return float(np.linalg.norm(self.rows, axis=1).min())

    @property
    def unit(self) -> Known:
        """The same rows divided by their norms."""
        rows = self.rows / np.linalg.norm(self.rows, axis=1, keepdims=True)
        return Known(rows, *exact_margin(rows))

    def worst(self, point: FloatArray) -> float:
        """min_k y_k'u of u = point / norm(point)."""
        return float((self.rows @ point).min() / np.linalg.norm(point))


def known(seed: int) -> Known:
    """Rows of a directional margin from about 0.02 to 0.5 times their largest norm.

    Those of a planted unit margin, of lengths 0.7 to 1.4; or augmented examples of two classes.
    """
    rng = np.random.default_rng(seed)
    if seed % 2:
        rows = planted(int(rng.integers(2, 8)), 30, rng.uniform(0.03, 0.5), rng)[0]
        rows = rows * rng.uniform(0.7, 1.4, (30, 1))
    else:
        signs = np.repeat([1.0, -1.0], 15)
        examples = rng.standard_normal((30, 3)) + np.outer(signs, [2.5, 0.0, 0.0])
        examples[:, 0] = signs * np.maximum(signs * examples[:, 0], 0.3)
        rows = np.column_stack([examples, np.full(30, rng.uniform(0.5, 3))]) * signs[:, None]
    margin, best = exact_margin(rows)
    return Known(rows, margin, best)


def orthonormal(seed: int) -> Known:
    """12 orthonormal rows, of margin 1 / sqrt 12: nothing takes more updates for its margin."""
    rows = np.linalg.qr(np.random.default_rng(seed).standard_normal((12, 12)))[0]
    return Known(rows, *exact_margin(rows))


def run_to_claim(algorithm: Any, problem: Known) -> tuple[Any, float]:
    """The state at the claim, a feasible point, and the bound for the exact margin.

    The claim comes within the bound, which the budget of updates could break; the weights prove no
    less than the margin.
    """
    system = ready(algorithm, problem.system)
    bound = algorithm.bound(problem.facts)
    assert bound.value is not None, bound.reason
    assert bound.value < BUDGET.updates, "the budget could not break this bound"
    state, claim = first_claim(algorithm, system, BUDGET.updates)
    assert isinstance(claim, FeasiblePoint)
    assert state.updates <= bound.value
    upper = system.prove_weights(state.weights)
    assert upper is not None
    assert upper >= problem.margin * (1 - 1e-12)
    # A smaller margin that is known has a larger bound, where it has one.
    looser = algorithm.bound(replace(problem.facts, margin=0.9 * problem.margin)).value
    assert looser is None or looser >= bound.value
    return state, bound.value


def angles(algorithm: Any, problem: Known, most: int = 3000) -> list[float]:
    """u_t'u before and after each update."""
    system, cosines = ready(algorithm, problem.system), []
    for state in walk(algorithm, system, most):
        length = float(np.linalg.norm(state.point))
        cosines.append(float(state.point @ problem.best) / length if length else 0.0)
    return cosines


def ball_radius(rows: FloatArray) -> float:
    """The largest r with r B inside the hull of the rows: the distance of 0 from its facets."""
    return float(-scipy.spatial.ConvexHull(rows).equations[:, -1].max())
