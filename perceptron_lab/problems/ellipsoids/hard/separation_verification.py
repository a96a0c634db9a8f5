"""Verification of a separation from a stored ellipsoid and stored weights, without a solver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid, two_classes
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.problems.ellipsoids.hard.equivalent_classes import (
    ColumnResiduals,
    EquivalentClasses,
    ResidualEllipsoid,
    is_narrow,
)
from perceptron_lab.problems.ellipsoids.hard.ratio_bounds import (
    prove_inseparable,
    proved_lower_bound,
    proved_upper_bound,
    recession,
)
from perceptron_lab.problems.ellipsoids.hard.separation import NEGLIGIBLE, Separation

ELLIPSOID = ("shift", "factor", "offset")
"""The arrays of an ellipsoid."""
RESIDUAL_ELLIPSOID = tuple(f"finer_{name}" for name in ELLIPSOID)
"""Those of the ellipsoid that uses residuals, where only this one proves the lower bound."""
RESIDUALS = ("finer_coefficients", "finer_levels")
"""Those of the residual columns, if that ellipsoid uses any."""
WEIGHTS = ("positive_weights", "negative_weights")
"""The arrays of lambda, one per class."""


@dataclass(frozen=True)
class ProvedRatio:
    """Proved status and bracket of t of two classes."""

    # FEASIBLE, INFEASIBLE, UNBOUNDED, MARGIN_BOUNDED, as of Separation; FITTED if none of these is
    status: Status
    ratio_lower: float  # the proved bracket of t
    ratio_upper: float
    message: str


def proof_arrays(separation: Separation) -> dict[str, FloatArray]:
    """Return the arrays from which :func:`prove_separation` verifies a separation.

    The separating ellipsoid (``shift``, ``factor``, ``offset``), if there is one, that of
    the residuals (``finer_shift``, ..), if there is one, and the weights lambda of both classes.
    """
    arrays = {name: getattr(separation, name) for name in WEIGHTS}
    residual = separation.residual_ellipsoid
    residual_ellipsoid = None if residual is None else residual.ellipsoid
    for ellipsoid, names in (
        (separation.ellipsoid, ELLIPSOID),
        (residual_ellipsoid, RESIDUAL_ELLIPSOID),
    ):
        if ellipsoid is not None:
            parts = ellipsoid.shift, ellipsoid.factor, ellipsoid.offset
            arrays |= dict(zip(names, parts, strict=True))
    residuals = None if residual is None else residual.residuals
    if residuals is not None:
        arrays |= dict(zip(RESIDUALS, (residuals.coefficients, residuals.levels), strict=True))
    return arrays


def prove_separation(
    positives: npt.ArrayLike | Examples,
    negatives: npt.ArrayLike | Examples,
    arrays: Mapping[str, FloatArray],
    *,
    whiten: bool,
) -> ProvedRatio:
    """Prove the bracket of t that an ellipsoid and weights give for two classes.

    Parameters
    ----------
    positives, negatives
        Dense finite rows, shapes ``(m, k)``.
    arrays
        As from :func:`proof_arrays`. Any values are safe: only true bounds are proved.
    whiten
        As for :func:`~perceptron_lab.problems.ellipsoids.hard.separation_ratio.maximal_separation`.
    """
    inner, outer = two_classes(positives, negatives)
    weights = _weights(arrays, len(inner), len(outer))
    frame = AffineFrame.of(inner, outer, whiten=whiten)
    direction = recession(inner, outer, frame)
    if direction is not None or frame.no_negative_inside:
        proved = direction is None or direction.proved
        status = Status.UNBOUNDED if proved else Status.FITTED
        return ProvedRatio(status, 0.0, math.inf, "no negative lies in the positives' hull")
    pair, inside = (weights[0], weights[1][~frame.outside]), outer[~frame.outside]
    lower = _lower_bound(inner, outer, arrays, frame)
    nothing = prove_inseparable(inner, inside, pair, frame) if lower == 0.0 else None
    if nothing is not None:
        return ProvedRatio(Status.INFEASIBLE, 0.0, 0.0, nothing.method)
    upper = proved_upper_bound(inner, inside, pair, frame)
    equivalent = None if is_narrow(lower, upper) else EquivalentClasses.of(inner, outer, frame)
    if equivalent is not None:
        part = weights[1][equivalent.negative_indices]
        inside_frame = ~equivalent.frame.outside
        pair, inside = (weights[0], part[inside_frame]), equivalent.negatives[inside_frame]
        upper = min(upper, proved_upper_bound(equivalent.positives, inside, pair, equivalent.frame))
    status = Status.MARGIN_BOUNDED if upper <= NEGLIGIBLE else Status.FITTED
    if lower > 0.0:
        status = Status.FEASIBLE
    words = f"{text_below(lower, 10)} <= t <= {text_above(upper, 10)}"
    return ProvedRatio(status, lower, upper, words)


def _weights(
    arrays: Mapping[str, FloatArray], positives: int, negatives: int
) -> tuple[FloatArray, FloatArray]:
    """Return lambda of each class; zeros, which prove nothing, if any is negative or not finite."""
    first, second = (arrays.get(name) for name in WEIGHTS)
    if first is None or second is None or first.shape != (positives,):
        raise DataError(f"weights of {positives} positives and {negatives} negatives are missing")
    if second.shape != (negatives,):
        raise DataError(f"weights of shape {second.shape} for {negatives} negatives")
    joined = np.concatenate([first, second])
    if not (np.isfinite(joined) & (joined >= 0.0)).all():
        return np.zeros(positives), np.zeros(negatives)
    return first, second


def _lower_bound(
    positives: FloatArray,
    negatives: FloatArray,
    arrays: Mapping[str, FloatArray],
    frame: AffineFrame,
) -> float:
    """Return the best lower bound of t by the stored ellipsoids."""
    columns, best, residuals = positives.shape[1], 0.0, None
    if set(ELLIPSOID) <= arrays.keys():
        ellipsoid = _ellipsoid(arrays, ELLIPSOID, columns)
        best = proved_lower_bound(positives, negatives, ellipsoid)[0]
    if not set(RESIDUAL_ELLIPSOID) <= arrays.keys():
        return best
    if set(RESIDUALS) <= arrays.keys():
        residuals = ColumnResiduals(*(arrays[name] for name in RESIDUALS))
        shapes = residuals.coefficients.shape, residuals.levels.shape
        if residuals.levels.ndim != 1 or shapes[0] != (len(residuals.levels), columns):
            raise DataError(
                f"coefficients of shape {shapes[0]} and levels of shape {shapes[1]} for examples "
                f"of {columns} columns"
            )
        columns += len(residuals.levels)
    residual = ResidualEllipsoid(_ellipsoid(arrays, RESIDUAL_ELLIPSOID, columns), residuals)
    return max(best, residual.lower_bound(positives, negatives, frame))


def _ellipsoid(arrays: Mapping[str, FloatArray], names: tuple[str, ...], columns: int) -> Ellipsoid:
    ellipsoid = Ellipsoid(*(arrays[name] for name in names))
    shapes = ellipsoid.shift.shape, ellipsoid.factor.shape, ellipsoid.offset.shape
    if shapes != ((columns,), (ellipsoid.offset.size, columns), (ellipsoid.offset.size,)):
        raise DataError(f"an ellipsoid of shapes {shapes} for examples of {columns} columns")
    return ellipsoid
