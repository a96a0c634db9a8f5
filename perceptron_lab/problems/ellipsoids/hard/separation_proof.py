"""Proof of a separation from a stored ellipsoid and weights; no solver runs."""

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
from perceptron_lab.problems.ellipsoids.hard.finer import (
    FinerClasses,
    FinerEllipsoid,
    Residues,
    is_narrow,
)
from perceptron_lab.problems.ellipsoids.hard.ratio_proofs import (
    prove_inseparable,
    proved_lower_bound,
    proved_upper_bound,
    recession,
)
from perceptron_lab.problems.ellipsoids.hard.separation import NEGLIGIBLE, Separation

ELLIPSOID = ("shift", "factor", "offset")
"""The arrays of an ellipsoid."""
FINER = tuple(f"finer_{name}" for name in ELLIPSOID)
"""Those of an ellipsoid by which alone the lower bound is proved."""
RESIDUES = ("finer_coefficients", "finer_levels")
"""Those of the columns that it uses, if it does not use those given."""
WEIGHTS = ("positive_weights", "negative_weights")
"""The arrays of lambda, one per class."""


@dataclass(frozen=True)
class ProvedRatio:
    """Proved status and bracket of t of two classes."""

    # FEASIBLE, INFEASIBLE, UNBOUNDED, MARGIN_BOUNDED, as of Separation; FITTED if none of these is
    status: Status
    ratio_lower: float  # the proved bracket of t
    ratio_upper: float
    message: str  # in words


def proof_arrays(separation: Separation) -> dict[str, FloatArray]:
    """Return the numbers from which :func:`prove_separation` proves it again.

    The separating ellipsoid (``shift``, ``factor``, ``offset``), if there is one, the finer one,
    if there is one, and the weights lambda of both classes.
    """
    arrays = {name: getattr(separation, name) for name in WEIGHTS}
    finer = None if separation.finer is None else separation.finer.ellipsoid
    for ellipsoid, names in ((separation.ellipsoid, ELLIPSOID), (finer, FINER)):
        if ellipsoid is not None:
            parts = ellipsoid.shift, ellipsoid.factor, ellipsoid.offset
            arrays |= dict(zip(names, parts, strict=True))
    residues = None if separation.finer is None else separation.finer.residues
    if residues is not None:
        arrays |= dict(zip(RESIDUES, (residues.coefficients, residues.levels), strict=True))
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
        Of :func:`proof_arrays`; whatever they are, only what holds is proved.
    whiten
        As for :func:`~perceptron_lab.problems.ellipsoids.hard.separation_ratio.maximal_separation`.
    """
    inner, outer = two_classes(positives, negatives)
    weights = _weights(arrays, len(inner), len(outer))
    frame = AffineFrame.of(inner, outer, whiten=whiten)
    direction = recession(inner, outer, frame)
    if direction is not None or frame.empty:
        proved = direction is None or direction.proved
        status = Status.UNBOUNDED if proved else Status.FITTED
        return ProvedRatio(status, 0.0, math.inf, "no negative lies in the positives' hull")
    pair, inside = (weights[0], weights[1][~frame.outside]), outer[~frame.outside]
    lower = _lower(inner, outer, arrays, frame)
    nothing = prove_inseparable(inner, inside, pair, frame) if lower == 0.0 else None
    if nothing is not None:
        return ProvedRatio(Status.INFEASIBLE, 0.0, 0.0, nothing.method)
    upper = proved_upper_bound(inner, inside, pair, frame)
    finer = None if is_narrow(lower, upper) else FinerClasses.of(inner, outer, frame)
    if finer is not None:
        part, inside_frame = weights[1][finer.kept], ~finer.frame.outside
        pair, inside = (weights[0], part[inside_frame]), finer.negatives[inside_frame]
        upper = min(upper, proved_upper_bound(finer.positives, inside, pair, finer.frame))
    status = Status.MARGIN_BOUNDED if upper <= NEGLIGIBLE else Status.FITTED
    if lower > 0.0:
        status = Status.FEASIBLE
    words = f"{text_below(lower, 10)} <= t <= {text_above(upper, 10)}"
    return ProvedRatio(status, lower, upper, words)


def _weights(
    arrays: Mapping[str, FloatArray], positives: int, negatives: int
) -> tuple[FloatArray, FloatArray]:
    """Return lambda of each class, none where entries are negative or not finite."""
    first, second = (arrays.get(name) for name in WEIGHTS)
    if first is None or second is None or first.shape != (positives,):
        raise DataError(f"weights of {positives} positives and {negatives} negatives are missing")
    if second.shape != (negatives,):
        raise DataError(f"weights of shape {second.shape} for {negatives} negatives")
    joined = np.concatenate([first, second])
    if not (np.isfinite(joined) & (joined >= 0.0)).all():
        return np.zeros(positives), np.zeros(negatives)
    return first, second


def _lower(
    positives: FloatArray,
    negatives: FloatArray,
    arrays: Mapping[str, FloatArray],
    frame: AffineFrame,
) -> float:
    """Return the bound by the ellipsoids, the finer one among them."""
    columns, best, residues = positives.shape[1], 0.0, None
    if set(ELLIPSOID) <= arrays.keys():
        ellipsoid = _ellipsoid(arrays, ELLIPSOID, columns)
        best = proved_lower_bound(positives, negatives, ellipsoid)[0]
    if not set(FINER) <= arrays.keys():
        return best
    if set(RESIDUES) <= arrays.keys():
        residues = Residues(*(arrays[name] for name in RESIDUES))
        shapes = residues.coefficients.shape, residues.levels.shape
        if residues.levels.ndim != 1 or shapes[0] != (len(residues.levels), columns):
            raise DataError(
                f"coefficients of shape {shapes[0]} and levels of shape {shapes[1]} for examples "
                f"of {columns} columns"
            )
        columns += len(residues.levels)
    finer = FinerEllipsoid(_ellipsoid(arrays, FINER, columns), residues)
    return max(best, finer.lower_bound(positives, negatives, frame))


def _ellipsoid(arrays: Mapping[str, FloatArray], names: tuple[str, ...], columns: int) -> Ellipsoid:
    ellipsoid = Ellipsoid(*(arrays[name] for name in names))
    shapes = ellipsoid.shift.shape, ellipsoid.factor.shape, ellipsoid.offset.shape
    if shapes != ((columns,), (ellipsoid.offset.size, columns), (ellipsoid.offset.size,)):
        raise DataError(f"an ellipsoid of shapes {shapes} for examples of {columns} columns")
    return ellipsoid
