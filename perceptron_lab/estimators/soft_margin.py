"""The soft margin of one class against the rest, for examples that no function separates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.ellipsoids.soft.descent import SquaredHinge, minimise_linear

STEPS = 500  # Newton steps at most; a dozen is usual
TOLERANCE = 1e-12  # Norm of the gradient, relative to that at 0


@dataclass(frozen=True)
class SoftMargin:
    """The least penalised violations, by the squared hinge loss.

        minimise over w, b   1/2 norm(w)^2 + C sum_i c_i max(0, 1 - s_i f(x_i))^2,
        f(x) = w'x + b, or w'x where ``affine`` is False.

    Parameters
    ----------
    penalty
        C > 0.
    affine
        Whether there is a b, which is free.
    """

    penalty: float
    affine: bool

    def point(
        self,
        operator: Operator,
        rows: Any,
        signs: FloatArray,
        weights: FloatArray,
        start: FloatArray | None,
    ) -> FloatArray:
        """Return (w, b), or w unless ``affine``; of a kernel the coefficients of s_j phi(x_j).

        Parameters
        ----------
        operator
            That of the rows s_i (x_i, 1) or s_i x_i, or of a kernel's features.
        rows, signs, weights
            x_i, dense or sparse, shape ``(m, n)``; s_i and c_i > 0, shape ``(m,)``.
        start
            The first (w, b) or w of Newton's method; None for 0.
        """
        if not isinstance(operator, Gram):
            return self._minimised(rows, signs, weights, start)[0]
        values, vectors = np.linalg.eigh(operator.kernel)
        features = vectors * np.sqrt(np.maximum(values, 0.0))
        # As the gradient vanishes, they are 2 C times weight and violation of each example
        return 2.0 * self.penalty * self._minimised(features, signs, weights, None)[1]

    def _minimised(
        self, rows: Any, signs: FloatArray, weights: FloatArray, start: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the minimiser, and c_i max(0, 1 - s_i f(x_i))."""
        total = float(weights.sum())
        problem = SquaredHinge(
            rows, signs > 0.0, weights / total, 1.0 / (self.penalty * total), float(self.affine)
        )
        first = problem.value_and_gradient(np.zeros(rows.shape[1] + 1))[1]
        tolerance = TOLERANCE * float(np.linalg.norm(first))
        if start is not None and not self.affine:
            start = np.append(start, 0.0)
        point = minimise_linear(problem, tolerance, STEPS, start)[0]
        violations = weights * np.maximum(0.0, problem.gaps(point))
        return point if self.affine else point[:-1], violations
