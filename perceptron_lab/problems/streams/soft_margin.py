"""Soft and hard margins by a smoothed problem, for which scipy's trust region is fast.

Least over w is R^2 norm(w)^2 + sum_i psi_i(1 - r_i'w), where psi_i(z) rises with the slope
min(cap_i, stiffness_i z) for z > 0: a hinge of slope cap_i with a rounded corner, or without a cap
half a square. The slopes lambda_i at any w are multipliers: sum lambda_i - norm(sum lambda_i r_i)^2
/ (4 R^2) bounds from below the problem with sharp corners.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from perceptron_lab.core.results import FloatArray

# Up to this dimension second derivatives are written out
WRITTEN_OUT = 1000
# Of the gradient's norm, relative to the root of what is minimised
STATIONARY = 1e-8
MOST_ITERATIONS = 200


@dataclass(frozen=True)
class Smoothed:
    """The problem above, in v = R w and the rows r_i / R, which are no longer than 1.

    Parameters
    ----------
    rows, signs
        r_i = s_i a_i, as a_i, shape ``(m, n)``, and s_i, shape ``(m,)``.
    length
        R.
    caps, stiffness
        > 0, shape ``(m,)`` each; caps may be infinite.
    """

    rows: FloatArray | sp.csr_array
    signs: FloatArray
    length: float
    caps: FloatArray
    stiffness: FloatArray

    def solved(self, start: FloatArray) -> FloatArray:
        """Return the v that is best, starting from another, as well as double precision allows."""
        if len(start) <= WRITTEN_OUT:
            with suppress(ValueError):  # scipy takes the root of a discriminant that rounds below 0
                return self._minimised(start, "trust-exact", hess=self._curvature)
        return self._minimised(start, "trust-krylov", hessp=self._curvature_along)

    def _minimised(
        self, start: FloatArray, method: Literal["trust-exact", "trust-krylov"], **second: Any
    ) -> FloatArray:
        value = self._value(start)[0]
        length = 1.0 + float(np.linalg.norm(start))
        found = minimize(
            self._value,
            start,
            jac=True,
            method=method,
            options={
                "initial_trust_radius": length,
                "max_trust_radius": 1e3 * (length + value**0.5),
                "gtol": STATIONARY * (1.0 + value**0.5),
                "maxiter": MOST_ITERATIONS,
            },
            **second,
        )
        return np.asarray(found.x)

    def multipliers(self, v: FloatArray) -> FloatArray:
        """Return lambda_i, shape ``(m,)``."""
        return self._slopes(v)[1]

    def _slopes(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        missing = 1.0 - self.signs * (self.rows @ (v / self.length))
        return missing, np.minimum(self.caps, self.stiffness * np.maximum(missing, 0.0))

    def _value(self, v: FloatArray) -> tuple[float, FloatArray]:
        missing, slopes = self._slopes(v)
        value = float(v @ v + slopes @ (missing - slopes / (2.0 * self.stiffness)))
        return value, 2.0 * v - ((slopes * self.signs) @ self.rows) / self.length

    def _bent(self, v: FloatArray) -> tuple[Any, FloatArray]:
        """Return the rows in the rounded corners, divided by R, and how stiff these are."""
        missing, slopes = self._slopes(v)
        corner = np.flatnonzero((missing > 0.0) & (slopes < self.caps))
        return self.rows[corner] / self.length, self.stiffness[corner]

    def _curvature(self, v: FloatArray) -> FloatArray:
        rows, stiffness = self._bent(v)
        if isinstance(rows, np.ndarray):
            return np.asarray(2.0 * np.eye(len(v)) + (rows.T * stiffness) @ rows)
        sparse = rows.T @ sp.diags_array(stiffness) @ rows
        return np.asarray(2.0 * np.eye(len(v)) + sparse.toarray())

    def _curvature_along(self, v: FloatArray, direction: FloatArray) -> FloatArray:
        rows, stiffness = self._bent(v)
        along: Any = 2.0 * direction + rows.T @ (stiffness * (rows @ direction))
        return np.asarray(along)
