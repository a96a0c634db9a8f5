"""From a computed solution to a separation with its proofs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perceptron_lab.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.ellipsoids.hard.ratio_proofs import (
    Inseparability,
    prove_inseparable,
    proved_lower_bound,
    proved_upper_bound,
)
from perceptron_lab.ellipsoids.hard.separation import Gaps, Rule, Separation
from perceptron_lab.ellipsoids.hard.solution import Solution
from perceptron_lab.ellipsoids.lifting import quadratic_values
from perceptron_lab.outward import text_above, text_below
from perceptron_lab.results import FloatArray, IntArray, Status

NEGLIGIBLE = 1e-6
"""A t that is not proved to be positive counts as 0 up to this; MARGIN_BOUNDED says so."""
SMALL = 1e-3
"""Computed ratios t below this may stand for 0, and a proof of that is tried."""


@dataclass(frozen=True)
class Assessment:
    """A computed solution and the examples, of which something is to be proved."""

    positives: FloatArray
    negatives: FloatArray
    kept: IntArray
    frame: AffineFrame
    solution: Solution

    def separation(self) -> Separation:
        """Return the solution with its proofs."""
        own, ellipsoid, lower = self._separating()
        proof = None
        inside = self.negatives[self.kept]
        weights = self.solution.positive_weights, self.solution.negative_weights
        if lower == 0.0 and self.solution.ratio < SMALL:
            proof = prove_inseparable(self.positives, inside, weights, self.frame)
        upper = 0.0 if proof else proved_upper_bound(self.positives, inside, weights, self.frame)
        status = status_of(lower, upper, proof)
        # (8.2) for the canonical ellipsoid, or for the solution as it is
        quadratic = self.solution.quadratic if own is None else own.homogeneous
        across = self._across(self.solution.ratio)
        rule = Rule(self.frame, quadratic, self.solution.threshold, across)
        ratio = 0.0 if proof else max(self.solution.ratio, lower, 0.0)
        matrix = rule.homogeneous()
        if self.solution.limit:  # e e', (7.10)
            matrix = np.zeros_like(matrix)
            matrix[-1, -1] = 1.0
        spread = np.zeros(len(self.negatives))
        spread[self.kept] = weights[1]
        return Separation(
            status,
            status is not Status.UNVERIFIED,
            ratio,
            lower,
            upper,
            matrix,
            weights[0],
            spread,
            ellipsoid,
            proof and proof.among(self.kept, len(self.negatives)),
            None,
            self._gaps(),
            self.solution.iterations,
            f"{described(status, lower, upper, proof, ratio)} ({self.solution.message})",
            rule,
            self.solution.complete,
        )

    def _separating(self) -> tuple[Ellipsoid | None, Ellipsoid | None, float]:
        """Return the canonical ellipsoid, scaled to hold the positives, and what it proves.

        It comes in the frame's coordinates and in the space of the examples.
        """
        if self.solution.limit:
            return None, None, 0.0
        own = Ellipsoid.canonical(self.solution.quadratic)
        found = own.through(self.frame)
        inside = self.negatives[self.kept]
        lower, most = proved_lower_bound(self.positives, inside, found)
        if not lower > 0.0:
            return None, None, 0.0
        own, found = own.scaled(1.0 / most), found.scaled(1.0 / most)
        if self.frame.outside.any():
            found = found.extended(self.frame.normals, self._across(lower))
        # of the ellipsoid as it is returned, so that it can be proved again from that
        lower = proved_lower_bound(self.positives, self.negatives, found)[0]
        return (own, found, lower) if lower > 0.0 else (None, None, 0.0)

    def _across(self, ratio: float) -> float:
        """Return the weight of the normals that brings the negatives off the hull to 1 + t."""
        if not self.frame.outside.any():
            return 0.0
        off = (self.frame.offsets(self.negatives[self.frame.outside]) ** 2).sum(axis=1)
        return (1.0 + max(ratio, 0.0)) / float(off.min()) * (1.0 + 1e-9)

    def _gaps(self) -> Gaps | None:
        """Return the optimality conditions of the solver's own solution; None for a limit."""
        solution = self.solution
        if solution.limit:
            return None
        points = [self.frame.coordinates(p) for p in (self.positives, self.negatives[self.kept])]
        inside, outside = (quadratic_values(solution.quadratic, p) for p in points)
        plus, minus = solution.positive_weights, solution.negative_weights
        size = 1.0 + solution.ratio
        slack = np.concatenate([plus * (1.0 - inside), minus * (outside - size)])
        excess = max(float(inside.max()) - 1.0, size - float(outside.min()), 0.0)
        return Gaps(
            float(plus.sum() - size) / size,
            float(np.abs(slack).max()) / size,
            float(plus @ inside - minus @ outside) / size,
            excess / size,
        )


def ranks(found: Separation) -> bool:
    """Tell whether f of a separation ranks: by an ellipsoid, a hull, or a limit found already.

    It does not where the solver's t is 0: its matrix is e e' but for its own errors.
    """
    already = found.gaps is None
    return already or found.ellipsoid is not None or found.ratio > NEGLIGIBLE


def status_of(lower: float, upper: float, proof: Inseparability | None) -> Status:
    """Return what proved bounds of t, or a proof that it is 0, say of two classes."""
    if lower > 0.0:
        return Status.FEASIBLE
    if proof is not None:
        return Status.INFEASIBLE
    return Status.MARGIN_BOUNDED if upper <= NEGLIGIBLE else Status.UNVERIFIED


def described(
    status: Status, lower: float, upper: float, proof: Inseparability | None, ratio: float
) -> str:
    """Return in words what is proved; ``ratio`` is t as computed."""
    bracket = f"{text_below(lower, 10)} <= t <= {text_above(upper, 10)}"
    return {
        Status.FEASIBLE: f"an ellipsoid separates the classes: {bracket}",
        Status.INFEASIBLE: "no ellipsoid separates the classes: " + (proof.method if proof else ""),
        Status.MARGIN_BOUNDED: f"t <= {text_above(upper, 3)} is proved",
    }.get(status, f"nothing is proved but t <= {text_above(upper)}; the solver has t = {ratio:.3g}")
