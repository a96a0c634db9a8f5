"""The guarantees of the perceptron with margin, as functions of b, eta and the facts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from perceptron_lab.algorithms.base import BEYOND, NO_MARGIN
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import Bound

THEOREM = "(2.11) of TsampoukaShaweTaylor"


@dataclass(frozen=True)
class MarginLimit:
    """The limits of the scores: b, eta R^2 where none is given, and that of the negative class."""

    rate: float
    b: float | None = None
    negative: float | None = None

    def at(self, longest: float) -> float:
        """Return b for rows of norms up to R."""
        return self.rate * longest * longest if self.b is None else self.b

    def largest(self, longest: float) -> float:
        """Return the largest limit of any row, which all bounds hold with."""
        return max(self.at(longest), self.negative or 0.0)

    def bound(self, facts: Facts) -> Bound:
        """Return t_N = R^2 / gamma_d^2 + 2 b / (eta gamma_d^2), with f_t = 1."""
        longest, margin = facts.atom_norm, facts.margin
        if longest is None or margin is None or margin <= 0.0:
            return Bound(None, THEOREM, NO_MARGIN)
        ratio = longest / margin
        value = ratio * ratio + 2.0 * self.largest(longest) / self.rate / margin / margin
        return Bound(value, THEOREM) if math.isfinite(value) else Bound(None, THEOREM, BEYOND)

    def guaranteed_margin(self, facts: Facts) -> float | None:
        """Return beta_min = gamma_d / (2 + eta R^2 / b), b the least limit and in 2 the largest."""
        longest, margin = facts.atom_norm, facts.margin
        if longest is None or margin is None or margin <= 0.0:
            return None
        b = self.at(longest)
        least = b if self.negative is None else min(b, self.negative)
        return margin * least / (self.rate * longest * longest + 2.0 * self.largest(longest))

    def critical_time(self, facts: Facts) -> float | None:
        """Return t_c = (R^2 / gamma_d^2 - 1) / 2 + b / (eta gamma_d^2)."""
        longest, margin = facts.atom_norm, facts.margin
        if longest is None or margin is None or margin <= 0.0:
            return None
        ratio = longest / margin
        return (ratio * ratio - 1.0) / 2.0 + self.largest(longest) / self.rate / margin / margin
