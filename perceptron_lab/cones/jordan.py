"""Euclidean Jordan algebras of the cones: spectra and quadratic representations.

The squares of a Euclidean Jordan algebra are a symmetric cone K. The algebra of a cone is the
direct sum of those of its blocks. Blocks of one kind and size are processed together, in one array
operation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from perceptron_lab.cones.base import Cone, Frame
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import LOWEST, SPECTRUM, Semidefinite
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time


class JordanAlgebra(ABC):
    """Elements in isometric coordinates, in which the trace inner product is the plain dot product.

    They are scores times sqrt(multiplicity), and weights divided by it. Every element is
    x = sum_i lambda_i c_i with a *frame* of rank orthogonal primitive idempotents c_i, norm(c_i) =
    1, that sum to the identity e; x lies in K if no lambda_i < 0. A frame is opaque: only the
    methods of its algebra read it.

    Attributes
    ----------
    size, rank
        The number of coordinates, and of eigenvalues.
    identity
        e, shape ``(size,)``, norm(e)^2 = rank.
    """

    size: int
    rank: int
    identity: FloatArray

    @abstractmethod
    def spectrum(self, element: FloatArray) -> tuple[FloatArray, Frame]:
        """Return the eigenvalues of an element, shape ``(rank,)``, and their frame."""

    @abstractmethod
    def assemble(self, values: FloatArray, frame: Frame) -> FloatArray:
        """Return sum_i values_i c_i."""

    @abstractmethod
    def traces(self, frame: Frame, element: FloatArray) -> FloatArray:
        """Return <c_i, x> for the idempotents of a frame, shape ``(rank,)``."""

    @abstractmethod
    def peirce(self, frame: Frame, elements: FloatArray) -> FloatArray:
        """Return the columns of ``elements`` in orthonormal coordinates of Peirce's decomposition.

        Each coordinate belongs to a pair i <= j of idempotents. ``elements`` has the shape
        ``(size,)`` or ``(size, k)``, and so has the result.
        """

    @abstractmethod
    def from_peirce(self, frame: Frame, coordinates: FloatArray) -> FloatArray:
        """Return the elements with these coordinates: the inverse, and transpose, of ``peirce``."""

    @abstractmethod
    def products(self, values: FloatArray) -> FloatArray:
        """Return values_i values_j for the pairs of Peirce's coordinates, shape ``(size,)``."""

    def quadratic(self, values: FloatArray, frame: Frame, elements: FloatArray) -> FloatArray:
        """Return P(v) x for v = sum_i values_i c_i and the columns x of ``elements``.

        P(v) x = 2 v (v x) - (v v) x, for matrices v x v, is an automorphism of K where v is
        invertible, self-adjoint, with P(v) e = v^2 and P(v)^-1 = P(v^-1). In Peirce's coordinates
        it multiplies by values_i values_j. ``elements`` has the shape ``(size,)`` or ``(size, k)``.
        """
        factors, coordinates = self.products(values), self.peirce(frame, elements)
        factors = factors if elements.ndim == 1 else factors[:, None]
        return self.from_peirce(frame, factors * coordinates)

    def eigenvalues(self, element: FloatArray) -> FloatArray:
        """Return the eigenvalues of an element, in the order of ``spectrum``."""
        return self.spectrum(element)[0]

    def deepest(self, element: FloatArray) -> tuple[float, FloatArray]:
        """Return the lowest eigenvalue of an element, and its idempotent."""
        values, frame = self.spectrum(element)
        lowest = int(values.argmin())
        indicator = values * 0.0
        indicator[lowest] = 1.0
        return float(values[lowest]), self.assemble(indicator, frame)


ROOT = math.sqrt(0.5)


class SpinFactors(JordanAlgebra):
    """Blocks (u, t) in coordinates sqrt(2) (u, t), e = (0, 1) in each; t is the last coordinate.

    The eigenvalues of a block are t - norm(u) and t + norm(u), those of all blocks in this order:
    first all lower ones. A frame holds the directions u / norm(u), with 1 in the places of the t;
    the idempotents are (-+u / norm(u), 1) / 2. Squares of entries must not leave the range of
    doubles.

    Parameters
    ----------
    sizes
        Coordinates of the blocks, at least 2 each.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._ends = np.cumsum(sizes)
        self._starts = self._ends - np.array(sizes)
        self._last = self._ends - 1
        self.size, self.blocks = int(self._ends[-1]), len(sizes)
        self.rank = 2 * self.blocks
        self._block = np.repeat(np.arange(self.blocks), sizes)
        self.identity = np.zeros(self.size)
        self.identity[self._last] = math.sqrt(2.0)

    def _norms(self, element: FloatArray) -> FloatArray:
        squares = element * element
        # One pass over all blocks: many cones of dimension 3 would make a loop in Python slow.
        squares[self._last] = 0.0
        return np.sqrt(np.add.reduceat(squares, self._starts))

    def spectrum(self, element: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return t - norm(u) of all blocks, t + norm(u) of all, and u / norm(u) (e_1 for u = 0)."""
        norms, last = self._norms(element), element[self._last]
        flat = norms == 0.0
        direction = element / np.where(flat, 1.0, norms)[self._block]
        # Any unit vector is an eigenvector for u = 0: e_1, so that results do not depend on
        # rounding.
        direction[self._starts[flat]] = 1.0
        direction[self._last] = 1.0
        return np.concatenate([last - norms, last + norms]) * ROOT, direction

    def eigenvalues(self, element: FloatArray) -> FloatArray:
        """Return t - norm(u) of all blocks, then t + norm(u)."""
        norms, last = self._norms(element), element[self._last]
        return np.concatenate([last - norms, last + norms]) * ROOT

    def assemble(self, values: FloatArray, frame: FloatArray) -> FloatArray:
        """Return ((p_2 - p_1) u, p_1 + p_2) / 2 for unit directions u."""
        low, high = values[: self.blocks] * ROOT, values[self.blocks :] * ROOT
        element = frame * (high - low)[self._block]
        element[self._last] = low + high
        return element

    def deepest(self, element: FloatArray) -> tuple[float, FloatArray]:
        """Return the least t - norm(u), and (-u / norm(u), 1) / 2 of its block."""
        lower = element[self._last] - self._norms(element)
        block = int(lower.argmin())
        at = slice(self._starts[block], self._last[block])
        norm = float(np.linalg.norm(element[at]))
        idempotent = np.zeros(self.size)
        idempotent[at] = element[at] * (-ROOT / norm) if norm > 0.0 else 0.0
        if norm == 0.0:
            idempotent[at.start] = -ROOT
        idempotent[at.stop] = ROOT
        return float(lower[block]) * ROOT, idempotent

    def traces(self, frame: FloatArray, element: FloatArray) -> FloatArray:
        """Return (t - u'x, t + u'x) / sqrt 2, for the directions u of the frame."""
        last = element[self._last]
        along = np.add.reduceat(frame * element, self._starts) - last
        return np.concatenate([last - along, last + along]) * ROOT

    def peirce(self, frame: FloatArray, elements: FloatArray) -> FloatArray:
        """Return (H u without its last entry, (t - d'u) / sqrt 2, (t + d'u) / sqrt 2) per block.

        H is the Householder reflection that takes the direction d to -+e_k, k the last entry of u.
        """
        reflected = self._reflected(frame, elements)
        along, last = self._sign(frame, reflected) * reflected[self._last - 1], elements[self._last]
        reflected[self._last - 1] = (last - along) * ROOT
        reflected[self._last] = (last + along) * ROOT
        return reflected

    def from_peirce(self, frame: FloatArray, coordinates: FloatArray) -> FloatArray:
        """Return u and t from the coordinates of :meth:`peirce`."""
        low, high = coordinates[self._last - 1], coordinates[self._last]
        mixed = coordinates.copy()
        mixed[self._last - 1] = self._sign(frame, mixed) * (high - low) * ROOT
        mixed[self._last] = (low + high) * ROOT
        return self._reflected(frame, mixed)

    def products(self, values: FloatArray) -> FloatArray:
        """Return p_1 p_2 for the entries of u across the direction, p_1^2, and p_2^2."""
        low, high = values[: self.blocks], values[self.blocks :]
        factors = (low * high)[self._block]
        factors[self._last - 1] = low * low
        factors[self._last] = high * high
        return factors

    def _sign(self, frame: FloatArray, elements: FloatArray) -> FloatArray:
        """Return the sign of e_k' H d per block, as a column where elements are columns."""
        signs = np.where(frame[self._last - 1] < 0.0, 1.0, -1.0)
        return signs if elements.ndim == 1 else signs[:, None]

    def _reflected(self, frame: FloatArray, elements: FloatArray) -> FloatArray:
        """Return H u and t: H = I - h h' / (1 + |d_k|) for h = d + sign(d_k) e_k."""
        normal = frame.copy()
        normal[self._last] = 0.0
        ends = normal[self._last - 1]
        lengths = 1.0 + np.abs(ends)
        # The sign of d_k avoids cancellation, as in any Householder reflection.
        normal[self._last - 1] = ends + np.where(ends < 0.0, -1.0, 1.0)
        if elements.ndim == 1:
            inner = np.add.reduceat(normal * elements, self._starts) / lengths
            return np.asarray(elements - normal * inner[self._block])
        inner = np.add.reduceat(normal[:, None] * elements, self._starts, axis=0)
        return np.asarray(elements - normal[:, None] * (inner / lengths[:, None])[self._block])


# Entries of matrices that are transformed in one batch: 32 MB
ENTRIES = 2**22


class SymmetricMatrices(JordanAlgebra):
    """``blocks`` symmetric matrices of order n: upper triangles, off the diagonal times sqrt 2.

    A frame holds orthonormal eigenvectors as columns, shape ``(blocks, n, n)``; the idempotents are
    vv'.

    Parameters
    ----------
    order, blocks
        n and the number of matrices, 1 or more.
    rows, columns
        Rows and columns of the entries of one matrix, all on and above its diagonal, in any order.
    """

    def __init__(self, order: int, blocks: int, rows: IntArray, columns: IntArray) -> None:
        self.order, self.blocks = order, blocks
        self._rows, self._columns, self._length = rows, columns, len(rows)
        self.size, self.rank = blocks * self._length, blocks * order
        diagonal = self._rows == self._columns
        self._factors = np.where(diagonal, 1.0, math.sqrt(2.0))
        self.identity = np.tile(diagonal.astype(float), blocks)

    def _matrices(self, element: FloatArray) -> FloatArray:
        """Return the matrices of elements ``(.., size)``, shape ``(.., blocks, n, n)``."""
        stacked = element.reshape(*element.shape[:-1], self.blocks, self._length) / self._factors
        matrices = np.empty((*stacked.shape[:-1], self.order, self.order))
        matrices[..., self._rows, self._columns] = stacked
        matrices[..., self._columns, self._rows] = stacked
        return matrices

    def _elements(self, matrices: FloatArray) -> FloatArray:
        """Return the elements of matrices ``(.., blocks, n, n)``, shape ``(.., size)``."""
        upper = matrices[..., self._rows, self._columns] * self._factors
        return np.asarray(upper.reshape(*upper.shape[:-2], self.size))

    def _finite_matrices(self, element: FloatArray) -> FloatArray:
        if not np.isfinite(element).all():  # LAPACK may answer wrongly, or never
            raise NumericalError("the entries of a matrix block are not finite (overflow)")
        return self._matrices(element)

    def spectrum(self, element: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues, ascending in each block, and the eigenvectors."""
        check_time(SPECTRUM * self.blocks * float(self.order) ** 3)
        values, vectors = np.linalg.eigh(self._finite_matrices(element))
        return values.ravel(), vectors

    def eigenvalues(self, element: FloatArray) -> FloatArray:
        """Return the eigenvalues, ascending in each block."""
        check_time(LOWEST * self.blocks * float(self.order) ** 3)
        return np.asarray(np.linalg.eigvalsh(self._finite_matrices(element)).ravel())

    def assemble(self, values: FloatArray, frame: FloatArray) -> FloatArray:
        """Return V diag(values) V'."""
        stacked = values.reshape(self.blocks, 1, self.order)
        return self._elements((frame * stacked) @ frame.swapaxes(-1, -2))

    def traces(self, frame: FloatArray, element: FloatArray) -> FloatArray:
        """Return v_i' X v_i."""
        return np.asarray((frame * (self._matrices(element) @ frame)).sum(axis=-2).ravel())

    def peirce(self, frame: FloatArray, elements: FloatArray) -> FloatArray:
        """Return V'XV."""
        return self._congruent(frame.swapaxes(-1, -2), frame, elements)

    def from_peirce(self, frame: FloatArray, coordinates: FloatArray) -> FloatArray:
        """Return VXV'."""
        return self._congruent(frame, frame.swapaxes(-1, -2), coordinates)

    def products(self, values: FloatArray) -> FloatArray:
        """Return values_i values_j for the entries (i, j)."""
        blocks = values.reshape(self.blocks, self.order)
        return np.asarray((blocks[:, self._rows] * blocks[:, self._columns]).ravel())

    def _congruent(self, left: FloatArray, right: FloatArray, elements: FloatArray) -> FloatArray:
        """Return the elements of left X right for the columns, in batches."""
        if elements.ndim == 1:
            return self._elements(left @ self._matrices(elements) @ right)
        images = np.empty_like(elements)
        # All columns at once would form an array of n^2 numbers for each.
        step = max(1, ENTRIES // (self.blocks * self.order**2))
        for start in range(0, elements.shape[1], step):
            at = slice(start, start + step)
            images[:, at] = self._elements(left @ self._matrices(elements[:, at].T) @ right).T
        return images


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
        """Return the entries, which belong to the pairs i = i."""
        return elements

    def from_peirce(self, frame: None, coordinates: FloatArray) -> FloatArray:
        """Return the entries."""
        return coordinates

    def products(self, values: FloatArray) -> FloatArray:
        """Return the squares."""
        return values * values


class DirectSum(JordanAlgebra):
    """A direct sum of parts in one flat vector; eigenvalues come part after part.

    Parameters
    ----------
    parts
        One or more.
    positions
        The flat coordinates of each part, shape ``(part.size,)``; together a partition of all.
    """

    def __init__(self, parts: list[JordanAlgebra], positions: list[IntArray]) -> None:
        self.parts, self._indices = parts, positions
        self.size = sum(part.size for part in parts)
        self.rank = sum(part.rank for part in parts)
        self._cuts = np.cumsum([part.rank for part in parts])[:-1]
        self.identity = self._concatenated([part.identity for part in parts])

    def _concatenated(self, elements: list[FloatArray]) -> FloatArray:
        joined = np.empty((self.size, *elements[0].shape[1:]))
        for at, element in zip(self._indices, elements, strict=True):
            joined[at] = element
        return joined

    def spectrum(self, element: FloatArray) -> tuple[FloatArray, list[Frame]]:
        """Return the eigenvalues part after part, and the list of frames."""
        spectra = [
            part.spectrum(element[at]) for part, at in zip(self.parts, self._indices, strict=True)
        ]
        return np.concatenate([values for values, _ in spectra]), [frame for _, frame in spectra]

    def eigenvalues(self, element: FloatArray) -> FloatArray:
        """Return the eigenvalues part after part."""
        pairs = zip(self.parts, self._indices, strict=True)
        return np.concatenate([part.eigenvalues(element[at]) for part, at in pairs])

    def assemble(self, values: FloatArray, frame: list[Frame]) -> FloatArray:
        """Return the parts assembled one by one."""
        triples = zip(self.parts, np.split(values, self._cuts), frame, strict=True)
        return self._concatenated(
            [part.assemble(part_values, part_frame) for part, part_values, part_frame in triples]
        )

    def traces(self, frame: list[Frame], element: FloatArray) -> FloatArray:
        """Return the traces of the parts."""
        triples = zip(self.parts, self._indices, frame, strict=True)
        return np.concatenate(
            [part.traces(part_frame, element[at]) for part, at, part_frame in triples]
        )

    def peirce(self, frame: list[Frame], elements: FloatArray) -> FloatArray:
        """Return the coordinates of the parts, at the indices of the parts."""
        triples = zip(self.parts, self._indices, frame, strict=True)
        return self._concatenated(
            [part.peirce(part_frame, elements[at]) for part, at, part_frame in triples]
        )

    def from_peirce(self, frame: list[Frame], coordinates: FloatArray) -> FloatArray:
        """Return the elements of the parts, at their indices."""
        triples = zip(self.parts, self._indices, frame, strict=True)
        return self._concatenated(
            [part.from_peirce(part_frame, coordinates[at]) for part, at, part_frame in triples]
        )

    def products(self, values: FloatArray) -> FloatArray:
        """Return the products of the parts."""
        pairs = zip(self.parts, np.split(values, self._cuts), strict=True)
        return self._concatenated([part.products(part_values) for part, part_values in pairs])


def algebra_of(cone: Cone) -> JordanAlgebra:
    """Return the Jordan algebra whose cone of squares is the given cone.

    Raises
    ------
    InputError
        If a matrix block has a sparsity pattern: such matrices are not closed under products.
    """
    kinds: dict[object, list[tuple[Cone, slice]]] = {}
    for part, span in cone.blocks:
        kinds.setdefault(_group_key(part), []).append((part, span))
    # Blocks of one kind are stacked: numpy's batched eigh is far faster than a loop over blocks.
    parts = [_algebra_of_group([part for part, _ in blocks]) for blocks in kinds.values()]
    if len(parts) == 1:
        return parts[0]
    positions = [
        np.concatenate([np.arange(span.start, span.stop) for _, span in blocks])
        for blocks in kinds.values()
    ]
    return DirectSum(parts, positions)


def _group_key(cone: Cone) -> object:
    """Return a key that is equal for blocks of the same kind, order and pattern."""
    if isinstance(cone, Semidefinite):
        return cone.rank, cone.rows.tobytes(), cone.columns.tobytes()
    return type(cone)


def _algebra_of_group(cones: list[Cone]) -> JordanAlgebra:
    """Return the algebra of blocks of one kind."""
    first, sizes = cones[0], [cone.size for cone in cones]
    if isinstance(first, Orthant):
        return Entrywise(sum(sizes))
    if isinstance(first, SecondOrder):
        return SpinFactors(sizes)
    if isinstance(first, Semidefinite) and first.complete:
        return SymmetricMatrices(first.rank, len(cones), first.rows, first.columns)
    raise InputError(
        f"this {type(first).__name__} has no known Jordan algebra; orthants, second-order cones, "
        "matrix blocks with all entries (system.completed()) and their products have one"
    )
