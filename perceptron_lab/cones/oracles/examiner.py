"""The contracts of oracles of the semidefinite cone: asked with whole matrices, or with entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import ClassVar, Literal

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.symmetric.pattern import Pattern


class Examiner(ABC):
    """An oracle of the semidefinite cone that looks at whole matrices.

    Attributes
    ----------
    overwrites
        Whether ``find`` leaves other numbers in its argument.
    """

    kind: ClassVar[Literal["semidefinite"]] = "semidefinite"
    overwrites: ClassVar[bool] = True

    @property
    def accepts_boundary(self) -> bool:
        """Whether a singular matrix can pass where a definite one is asked for."""
        return False

    def start(self, order: int) -> Examiner:
        """Return a running oracle for matrices of this order: itself, where it has no state."""
        return self

    @abstractmethod
    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return v with v'Zv <= 0 (``closed``: < 0), or None if Z seems positive (semi)definite.

        Parameters
        ----------
        matrix
            Z, symmetric, shape ``(n, n)``, C order, both triangles. It may be overwritten.
        closed
            Whether positive semidefinite is enough.
        """


class PatternExaminer(ABC):
    """A running oracle that takes the entries of a matrix Z on a pattern.

    Parameters
    ----------
    pattern
        Where they stand.

    Attributes
    ----------
    answers
        Name of an oracle -> how many questions were answered by its way; empty where there is but
        one way, and none to be told.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.answers: Counter[str] = Counter()

    @property
    def notes(self) -> list[str]:
        """What it did that its name does not say, in words."""
        return []

    @abstractmethod
    def find(self, entries: FloatArray, slack: float) -> FloatArray | None:
        """Return v with v'Mv <= 0, M = Z + slack I, or None if M seems positive definite.

        At slack s > 0 it is v'Mv < 0, or None if M seems positive semidefinite.
        """
