"""The soft-margin ellipsoid: fixed margin, squared hinge, low rank, any dimension."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.sparse as sp
from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from perceptron_lab.datasets.problem import Examples
from perceptron_lab.ellipsoids.soft.certificate import SoftOptimality, certify
from perceptron_lab.ellipsoids.soft.objective import Quadratic, SoftObjective
from perceptron_lab.ellipsoids.soft.whitening import AffineMap
from perceptron_lab.errors import InputError
from perceptron_lab.goals import STRICT
from perceptron_lab.inputs import checked_rows, two_classes
from perceptron_lab.results import FloatArray

MEMORY = 20
"""Pairs of steps and gradients that L-BFGS keeps."""
START = 0.1
"""|L'x| at the start, in the root mean square over examples (as an expectation)."""


@checked(frozen=True, config=STRICT)
class SoftEllipsoid:
    """Score examples by f(x) = -(|L'x|^2 + 2 g'x + c), an ellipsoid's quadratic function.

        minimise over L, g, c   1/2 sum_i w_i max(0, 1 - y_i f(x_i))^2
                                + regularisation / 2 (|L L'|_F^2 + 2 |g|^2),   sum_i w_i = 1.

    It is what chapter 8 of `Kharechko2009` lacks for data that no ellipsoid separates: a margin
    fixed at 1 with slack, in place of the separation ratio. {f >= 0} is an ellipsoid, degenerate
    where L has no full row rank. In A = L L' the problem is convex, so that a low-rank minimum
    without a direction of negative curvature in A is the global one:
    :meth:`FittedSoftEllipsoid.certify` tells by a duality gap. Rank 0 is the linear scorer with
    the same loss.

    L-BFGS with the exact gradient, from a small random L (L = 0 is stationary), g = c = 0; one
    step costs two products of the examples with ``rank + 1`` vectors.

    Parameters
    ----------
    rank
        Columns of L, 0 or more; the number of features is enough, and is not exceeded.
    regularisation
        >= 0 (default 1e-4). On the ten categories of Table 8.1, rows of norm 1, cross-validation
        chooses 1e-9 to 1e-4 with 30 features, 1e-7 to 1e-3 with 200, 1e-4 or 1e-3 with all words.
    class_weight
        None: all w_i equal. ``"balanced"``: each class has half of the weight.
    whiten
        Fit in coordinates in which the weighted examples have mean 0 and covariance I (directions
        in which they do not vary are left out), which makes the result invariant to affine maps.
        For dense examples of low dimension.
    tolerance
        L-BFGS ends when a step lowers the objective, which is at most 1/2, by no more than this.
    max_iterations
        Steps of L-BFGS at most, 1 or more.
    max_seconds
        Seconds of L-BFGS at most, > 0; None for no limit.
    seed
        Of the random start.

    References
    ----------
    `Kharechko2009`, sections 8.4 and 9 (soft margins as an open problem), equation (8.2).
    """

    rank: Annotated[int, Field(ge=0)] = 20
    regularisation: Annotated[float, Field(ge=0)] = 1e-4
    class_weight: Literal["balanced"] | None = None
    whiten: bool = False
    tolerance: Annotated[float, Field(gt=0)] = 1e-7
    max_iterations: Annotated[int, Field(ge=1)] = 1000
    max_seconds: Annotated[float, Field(gt=0)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0

    def fit(
        self,
        examples: Examples,
        labels: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> FittedSoftEllipsoid:
        """Fit the function.

        Parameters
        ----------
        examples
            Shape ``(m, features)``, dense or sparse.
        labels
            1 for positive examples, -1 or 0 for negative ones, shape ``(m,)``; both must occur.
        sample_weight
            Weights >= 0, shape ``(m,)``, with a positive sum in both classes; default all 1.
        """
        data = _in_double(checked_rows(examples))
        signs = np.where(two_classes(labels, data.shape[0]), 1.0, -1.0)
        weights = _normalised(sample_weight, signs, self.class_weight == "balanced")
        axes = AffineMap.whitening(data, weights) if self.whiten else None
        objective = SoftObjective(
            axes.of(data) if axes else data, signs, weights, self.regularisation
        )
        found = scipy.optimize.minimize(
            objective.value_and_gradient,
            self._start(objective).packed(),
            jac=True,
            method="L-BFGS-B",
            callback=_until(self.max_seconds),
            options={
                "maxiter": self.max_iterations,
                "maxfun": 20 * self.max_iterations,
                "maxcor": MEMORY,
                "ftol": self.tolerance,
                "gtol": 1e-3 * self.tolerance,
            },
        )
        return FittedSoftEllipsoid(
            parameters=self,
            quadratic=Quadratic.unpacked(found.x, objective.features),
            axes=axes,
            features=data.shape[1],
            value=float(found.fun),
            iterations=int(found.nit),
            converged=found.status == 0,
            objective=objective,
        )

    def _start(self, objective: SoftObjective) -> Quadratic:
        features = objective.features
        rank = min(self.rank, features)
        factor = np.random.default_rng(self.seed).standard_normal((features, rank))
        squares = objective.weights @ _squared_norms(objective.examples)
        factor *= START / np.sqrt(max(rank, 1) * (squares or 1.0))
        return Quadratic(factor, np.zeros(features), 0.0)


@dataclass(frozen=True)
class FittedSoftEllipsoid:
    """A soft ellipsoid.

    Parameters
    ----------
    parameters
        What it was fitted with.
    quadratic
        q = -f, in the coordinates of ``axes``.
    axes
        The whitening of the features, or None.
    features
        The number of features of an example.
    value
        The objective.
    iterations, converged
        Of L-BFGS; not converged: a limit was reached, or no step made progress.
    objective
        What was minimised; it holds the training examples.
    """

    parameters: SoftEllipsoid
    quadratic: Quadratic
    axes: AffineMap | None
    features: int
    value: float
    iterations: int
    converged: bool
    objective: SoftObjective = field(repr=False, compare=False)

    def scores(self, examples: Examples) -> FloatArray:
        """Return f of every example, shape ``(m,)``: positive inside the ellipsoid."""
        data = _in_double(checked_rows(examples))
        if data.shape[1] != self.features:
            raise InputError(
                f"examples with {data.shape[1]} features; the ellipsoid was fitted to "
                f"{self.features}: give as many"
            )
        return -self.quadratic.values(self.axes.of(data) if self.axes else data)

    def certify(self) -> SoftOptimality:
        """Return how far the objective is from the best of any rank, by duality."""
        return certify(self.objective, self.quadratic)


def _until(seconds: float | None) -> Any:
    """Return what ends the minimisation after some seconds, if they are given."""
    deadline = math.inf if seconds is None else time.monotonic() + seconds

    def ended(point: Any) -> None:
        if time.monotonic() >= deadline:
            raise StopIteration

    return ended


def _in_double(data: Examples) -> Examples:
    return data if data.dtype == np.float64 else data.astype(np.float64)


def _squared_norms(examples: Examples) -> FloatArray:
    if isinstance(examples, np.ndarray):
        squares: FloatArray = np.einsum("ij,ij->i", examples, examples)
        return squares
    return np.asarray(sp.csr_array(examples).power(2).sum(axis=1), dtype=np.float64)


def _normalised(
    sample_weight: npt.ArrayLike | None, signs: FloatArray, balanced: bool
) -> FloatArray:
    """Return weights with sum 1, half of it in each class if they are to be balanced."""
    count = len(signs)
    weights = np.ones(count) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if weights.shape != (count,):
        raise InputError(
            f"weights of shape {weights.shape} for {count} examples; give one for each"
        )
    if not np.isfinite(weights).all() or weights.min() < 0.0:
        raise InputError("sample weights must be finite and >= 0; replace the others")
    sums = {sign: float(weights[signs == sign].sum()) for sign in (1.0, -1.0)}
    if min(sums.values()) <= 0.0:
        raise InputError("the examples of one class have weight 0 together; give some of them more")
    if balanced:
        weights = weights * np.where(signs > 0, 0.5 / sums[1.0], 0.5 / sums[-1.0])
        return np.asarray(weights, dtype=np.float64)
    return np.asarray(weights / sum(sums.values()), dtype=np.float64)
