"""The contract of a self-dual cone K in flat coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.compiled.kernel import Functions

# Oracle records by the kind of cone that they separate: orthant, semidefinite
Oracles = Mapping[str, Any]

# The basis in which scores are diagonal; its type depends on the cone
Frame = Any


class Atom(NamedTuple):
    """An extreme point of the base Delta(K) = {w in K*: <e, w> = 1}, zero outside its span.

    Parameters
    ----------
    span
        The flat coordinates of its block.
    values
        Its dual coordinates there, so that a plain dot product with scores is <atom, scores>.
    direction
        v of a matrix block's atom vv', which a sparse pattern does not determine, or None.
    """

    span: slice
    values: FloatArray
    direction: FloatArray | None = None


class Cone(ABC):
    """A self-dual cone K with identity e.

    Attributes
    ----------
    size
        Number of flat coordinates.
    rank
        Number of eigenvalues.
    identity
        e in score coordinates, shape ``(size,)``.
    multiplicity
        Weights over score coordinates of the same element, shape ``(size,)``: the plain dot of
        weights w and scores s is the trace inner product of the elements w / multiplicity and s.
    oracles
        The oracle records in use, by the kind of cone that they separate.
    of_rows
        Whether K is the non-negative orthant: one inequality per row of the data.
    of_matrices
        Whether it consists of positive semidefinite matrices, perhaps diagonal ones.
    """

    size: int
    rank: int
    identity: FloatArray
    multiplicity: FloatArray
    oracles: dict[str, Any]
    of_rows: ClassVar[bool] = False
    of_matrices: ClassVar[bool] = False

    @property
    def blocks(self) -> list[tuple[Cone, slice]]:
        """The factors of a product and their flat coordinates; K itself if it is no product."""
        return [(self, slice(0, self.size))]

    @property
    def notes(self) -> list[str]:
        """Remarks about the answers of the cone's oracles."""
        return []

    @property
    def answers(self) -> Counter[str]:
        """Name of an oracle -> the number of questions that its method answered."""
        return Counter()

    @abstractmethod
    def separate(self, scores: FloatArray, slack: float = 0.0) -> Atom | None:
        """Return an atom that violates the scores, or None.

        At slack s <= 0, scores + s e must lie inside K: an atom w has <w, scores> <= -s. At slack
        s > 0, scores + s e must lie in K: the atom has <w, scores> < -s. Slack is absolute.
        """

    @abstractmethod
    def deepest(self, scores: FloatArray) -> tuple[Atom, float]:
        """Return an atom w of least <w, scores>, and that value: the lowest eigenvalue."""

    @abstractmethod
    def eigenvalues(self, scores: FloatArray) -> FloatArray:
        """Return the eigenvalues of scores, shape ``(rank,)``, in the order of ``spectrum``."""

    def lowest(self, scores: FloatArray) -> float:
        """Return the lowest eigenvalue of scores: min over w in Delta(K) of <w, scores>."""
        return float(self.eigenvalues(scores).min())

    @abstractmethod
    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, Frame]:
        """Return the eigenvalues of scores and the frame to which they belong."""

    @abstractmethod
    def assemble(self, eigenvalues: FloatArray, frame: Frame) -> FloatArray:
        """Return the element with these eigenvalues in this frame, as weights, ``(size,)``."""

    def compiled(self, oracles: Oracles) -> Functions:
        """Return the compiled functions of the given oracles, or of the default ones."""
        return ()

    @abstractmethod
    def started(self, oracles: Oracles, rng: np.random.Generator) -> Self:
        """Return this cone with newly started oracles, the given or the default ones."""

    def completed(
        self, *, required: bool = True, keep_sparse: bool = False
    ) -> tuple[Cone, IntArray]:
        """Return the cone with all entries of its matrices, and the indices of this cone's entries.

        Matrices that are too large raise an InputError, or keep their pattern unless ``required``.
        With ``keep_sparse`` sparse matrices keep it too, and full matrices are avoided afterwards.
        """
        return self, np.arange(self.size)

    def strict(self) -> Self:
        """Return this cone with oracles that refuse the boundary."""
        return self
