"""The claims of an algorithm, which ``solve`` proves or rejects."""

from __future__ import annotations

from dataclasses import dataclass

from perceptron_lab.results import FloatArray


@dataclass(frozen=True)
class FeasiblePoint:
    """``A* point`` lies strictly inside the cone.

    Parameters
    ----------
    point
        Shape ``(dimension,)``.
    """

    point: FloatArray


@dataclass(frozen=True)
class MarginAbove:
    """The margin of ``point`` is at least ``bound``, which may be negative (a relaxed answer).

    Parameters
    ----------
    point
        Shape ``(dimension,)``.
    bound
        The claimed lower bound of min over atoms of <atom, A* point> / norm(point).
    """

    point: FloatArray
    bound: float


@dataclass(frozen=True)
class MarginBelow:
    """No point has a margin above ``bound``, as norm(A weights) shows.

    Parameters
    ----------
    weights
        A non-zero element of the dual cone, flat, shape ``(size,)``.
    bound
        The claimed upper bound of the margin, 0 or more.
    """

    weights: FloatArray
    bound: float


Claim = FeasiblePoint | MarginAbove | MarginBelow
