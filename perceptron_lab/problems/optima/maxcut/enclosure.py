"""The result of a minimisation: a proved interval around the optimum, and what proves it."""

from __future__ import annotations

from dataclasses import dataclass, field

from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import FloatArray


@dataclass
class Course:
    """How the bounds came about; each attribute is a list with one entry per record.

    Parameters
    ----------
    seconds
        Since the beginning, proofs included.
    sweeps
        Passes over all vertices so far; a product with the Hessian counts as one.
    lower, upper
        The bounds proved so far; None where there is none yet.
    estimate
        The relative width that the arrays of the moment are expected to prove.
    """

    seconds: list[float] = field(default_factory=list)
    sweeps: list[int] = field(default_factory=list)
    lower: list[float | None] = field(default_factory=list)
    upper: list[float | None] = field(default_factory=list)
    estimate: list[float] = field(default_factory=list)


@dataclass(frozen=True, eq=False, repr=False)
class Enclosure:
    """lower <= optimum <= upper, both proved.

    Parameters
    ----------
    vectors
        V, shape ``(n, k)``: :func:`.proved_lower` proves ``lower`` by it.
    point
        x with F(x) proved positive definite, shape ``(n,)``: 1'x, rounded up, is ``upper``.
    lower, upper
        The bounds.
    reached
        Whether the width that was asked for is proved.
    course
        How the bounds came about.
    seconds, proof_seconds
        Of the search, and of the proofs on top.
    message
        Why it ended.
    """

    vectors: FloatArray
    point: FloatArray
    lower: float
    upper: float
    reached: bool
    course: Course
    seconds: float
    proof_seconds: float
    message: str

    @property
    def width(self) -> float:
        """(upper - lower) / max(1, |upper|)."""
        return (self.upper - self.lower) / max(1.0, abs(self.upper))

    def __repr__(self) -> str:
        bracket = f"[{text_below(self.lower, 12)}, {text_above(self.upper, 12)}]"
        return f"<Enclosure {bracket}, relative width {text_above(self.width, 2)}>"
