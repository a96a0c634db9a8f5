"""The algebra of a cone: the direct sum of those of its blocks, blocks of a kind taken together."""

from __future__ import annotations

import numpy as np

from perceptron_lab.cones.base import Cone, Frame
from perceptron_lab.cones.jordan.algebra import JordanAlgebra
from perceptron_lab.cones.jordan.second_order import SpinFactors
from perceptron_lab.cones.jordan.semidefinite import SymmetricMatrices
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray


class Entrywise(JordanAlgebra):
    """R^n, e = (1, .., 1); the only frame is that of the unit vectors."""

    def __init__(self, size: int) -> None:
        self.size = self.rank = size
        self.identity = np.ones(size)

    def spectrum(self, element: FloatArray) -> tuple[FloatArray, None]:
        """Return the entries."""
        return element, None

    def assemble(self, values: FloatArray, frame: None) -> FloatArray:
        """Return the values."""
        return values

    def traces(self, frame: None, element: FloatArray) -> FloatArray:
        """Return the entries."""
        return element

    def peirce(self, frame: None, elements: FloatArray) -> FloatArray:
        """Return the entries: of the pairs i = j."""
        return elements

    def from_peirce(self, frame: None, coordinates: FloatArray) -> FloatArray:
        """Return the entries."""
        return coordinates

    def products(self, values: FloatArray) -> FloatArray:
        """Return the squares."""
        return values * values


class DirectSum(JordanAlgebra):
    """Parts in places of one flat vector; eigenvalues come part after part.

    Parameters
    ----------
    parts
        One or more.
    places
        The flat coordinates of each part, shape ``(part.size,)``; together all, each once.
    """

    def __init__(self, parts: list[JordanAlgebra], places: list[IntArray]) -> None:
        self.parts, self._places = parts, places
        self.size = sum(part.size for part in parts)
        self.rank = sum(part.rank for part in parts)
        self._cuts = np.cumsum([part.rank for part in parts])[:-1]
        self.identity = self._joined([part.identity for part in parts])

    def _joined(self, elements: list[FloatArray]) -> FloatArray:
        whole = np.empty((self.size, *elements[0].shape[1:]))
        for at, element in zip(self._places, elements, strict=True):
            whole[at] = element
        return whole

    def spectrum(self, element: FloatArray) -> tuple[FloatArray, list[Frame]]:
        """Return the eigenvalues part after part, and the list of frames."""
        spectra = [
            part.spectrum(element[at]) for part, at in zip(self.parts, self._places, strict=True)
        ]
        return np.concatenate([values for values, _ in spectra]), [frame for _, frame in spectra]

    def eigenvalues(self, element: FloatArray) -> FloatArray:
        """Return the eigenvalues part after part."""
        pairs = zip(self.parts, self._places, strict=True)
        return np.concatenate([part.eigenvalues(element[at]) for part, at in pairs])

    def assemble(self, values: FloatArray, frame: list[Frame]) -> FloatArray:
        """Return the parts assembled one by one."""
        triples = zip(self.parts, np.split(values, self._cuts), frame, strict=True)
        return self._joined([part.assemble(own, one) for part, own, one in triples])

    def traces(self, frame: list[Frame], element: FloatArray) -> FloatArray:
        """Return those of the parts."""
        triples = zip(self.parts, self._places, frame, strict=True)
        return np.concatenate([part.traces(one, element[at]) for part, at, one in triples])

    def peirce(self, frame: list[Frame], elements: FloatArray) -> FloatArray:
        """Return the coordinates part by part, in the places of the parts."""
        triples = zip(self.parts, self._places, frame, strict=True)
        return self._joined([part.peirce(one, elements[at]) for part, at, one in triples])

    def from_peirce(self, frame: list[Frame], coordinates: FloatArray) -> FloatArray:
        """Return the elements part by part."""
        triples = zip(self.parts, self._places, frame, strict=True)
        return self._joined([part.from_peirce(one, coordinates[at]) for part, at, one in triples])

    def products(self, values: FloatArray) -> FloatArray:
        """Return those of the parts."""
        pairs = zip(self.parts, np.split(values, self._cuts), strict=True)
        return self._joined([part.products(own) for part, own in pairs])


def algebra_of(cone: Cone) -> JordanAlgebra:
    """Return the algebra of which a cone is the cone of squares.

    Raises
    ------
    InputError
        If a matrix block is known on a sparsity pattern only: those matrices are no algebra.
    """
    kinds: dict[object, list[tuple[Cone, slice]]] = {}
    for part, span in cone.blocks:
        kinds.setdefault(_kind(part), []).append((part, span))
    parts = [_together([part for part, _ in blocks]) for blocks in kinds.values()]
    if len(parts) == 1:
        return parts[0]
    places = [
        np.concatenate([np.arange(span.start, span.stop) for _, span in blocks])
        for blocks in kinds.values()
    ]
    return DirectSum(parts, places)


def _kind(cone: Cone) -> object:
    """Return what blocks that are taken together have in common."""
    if isinstance(cone, Semidefinite):
        return cone.rank, cone.rows.tobytes(), cone.columns.tobytes()
    return type(cone)


def _together(cones: list[Cone]) -> JordanAlgebra:
    """Return the algebra of blocks of one kind."""
    first, sizes = cones[0], [cone.size for cone in cones]
    if isinstance(first, Orthant):
        return Entrywise(sum(sizes))
    if isinstance(first, SecondOrder):
        return SpinFactors(sizes)
    if isinstance(first, Semidefinite) and first.complete:
        return SymmetricMatrices(first.rank, len(cones), first.rows, first.columns)
    raise InputError(
        f"no Jordan algebra is known of this {type(first).__name__}; orthants, second-order cones, "
        "matrix blocks with all entries (system.completed()) and their products have one"
    )
