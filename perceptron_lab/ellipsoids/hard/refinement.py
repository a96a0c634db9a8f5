"""A separation in a hull that is known to rounding, with what is proved of the doubles given."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from perceptron_lab.ellipsoids.hard.assessment import described, status_of
from perceptron_lab.ellipsoids.hard.finer import FinerClasses, FinerEllipsoid, is_narrow
from perceptron_lab.ellipsoids.hard.separation import Separation
from perceptron_lab.results import Status


def refined(found: Separation, better: Separation, classes: FinerClasses, how: str) -> Separation:
    """Return a separation with the bounds of t, and their proofs, of its finer classes as well.

    Its ellipsoid and its rule stay.
    """
    lower = max(found.ratio_lower, better.ratio_lower)
    upper = min(found.ratio_upper, better.ratio_upper)
    proof = better.inseparability
    status = status_of(lower, upper, proof)
    words = described(status, lower, upper, proof, found.ratio)
    # the ellipsoid found may fall short of the lower bound
    short = ""
    if not (is_narrow(found.ratio, lower) or found.ratio > lower):
        short = f"; the ellipsoid returned does not use that, and reaches t = {found.ratio:.6g}"
    finer = None
    if better.ellipsoid is not None and better.ratio_lower > found.ratio_lower:
        finer = FinerEllipsoid(better.ellipsoid, classes.residues)
    weights = found.positive_weights, found.negative_weights
    if better.ratio_upper < found.ratio_upper:
        weights = better.positive_weights, np.zeros(len(found.negative_weights))
        weights[1][classes.kept] = better.negative_weights
    return replace(
        found,
        status=status,
        proved=status is not Status.UNVERIFIED,
        ratio=0.0 if proof else found.ratio,
        ratio_lower=lower,
        ratio_upper=upper,
        positive_weights=weights[0],
        negative_weights=weights[1],
        inseparability=proof and proof.among(classes.kept, len(found.negative_weights)),
        iterations=found.iterations + better.iterations,
        message=f"{words} ({how}{short})",
        complete=better.complete,
        finer=finer,
    )


def without_bound(found: Separation, how: str) -> Separation:
    """Return a separation of classes of which no negative lies in the hull of the positives.

    Its ellipsoid and its rule stay: by them, negatives within rounding of the hull lie in it.
    """
    return replace(
        found,
        status=Status.UNBOUNDED,
        proved=True,
        ratio_lower=math.inf,
        ratio_upper=math.inf,
        message="no negative lies in the affine hull of the positives, though some do to rounding "
        "(proved): t is unbounded; the ellipsoid returned takes those for points of the hull "
        f"({how})",
    )
