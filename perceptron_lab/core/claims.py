"""The claims of an algorithm, which ``solve`` verifies or rejects."""

from __future__ import annotations

from dataclasses import dataclass

from perceptron_lab.core.results import FloatArray

# The names of figures that an algorithm states of its answer, and nothing proves, begin with it
UNPROVED = "claimed_"


@dataclass(frozen=True)
class FeasiblePoint:
    """``A* point`` lies strictly inside the cone; the point has shape ``(dimension,)``.

    Examples
    --------
    >>> FeasiblePoint([1.0, 0.5]).point
    [1.0, 0.5]
    """

    point: FloatArray


@dataclass(frozen=True)
class MarginAbove:
    """min over atoms of <atom, A* point> / norm(point) is at least ``bound``.

    The bound may be negative (a relaxed answer); the point has shape ``(dimension,)``.
    """

    point: FloatArray
    bound: float


@dataclass(frozen=True)
class MarginBelow:
    """No point has a margin above ``bound`` >= 0, as norm(A weights) shows.

    The weights are a non-zero element of the dual cone, flat, shape ``(size,)``.

    Examples
    --------
    The rows 1 and -1 have the sum 0, so no point has a positive margin:

    >>> MarginBelow([1.0, 1.0], 0.0).bound
    0.0
    """

    weights: FloatArray
    bound: float


@dataclass(frozen=True)
class NearlyWidest:
    """The point's margin is the requested fraction of the largest one, as the weights prove.

    The point has shape ``(dimension,)``, the weights are those of :class:`MarginBelow`.
    """

    point: FloatArray
    weights: FloatArray


Claim = FeasiblePoint | MarginAbove | MarginBelow | NearlyWidest
