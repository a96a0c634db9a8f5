"""Answers of the oracle of a system, and how often it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from perceptron_lab.cones.base import Atom
from perceptron_lab.results import FloatArray


class Cut(NamedTuple):
    """A violated constraint: <normal, point> <= 0 at the point asked about, <= -slack with slack.

    Parameters
    ----------
    normal
        a = A(atom), shape ``(dimension,)``, a new array.
    atom
        The extreme point of Delta(K) that it belongs to.
    norm
        norm(a); 0 shows that no point is strictly feasible.
    """

    normal: FloatArray
    atom: Atom
    norm: float


class Deepest(NamedTuple):
    """The most violated (or least satisfied) constraint of a point.

    Parameters
    ----------
    cut
        The constraint.
    score
        <normal, point>, the lowest eigenvalue of the scores.
    scores
        A*point, shape ``(size,)``.
    """

    cut: Cut
    score: float
    scores: FloatArray


@dataclass
class Counters:
    """Calls of the oracle, and full applications of the data, shared by all views of a system."""

    queries: int = 0
    products: float = 0.0
