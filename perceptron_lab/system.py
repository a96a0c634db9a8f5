"""A conic system: find y with A*y strictly inside K. What every algorithm runs on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.enclosures.rounding import UNIT_ROUNDOFF, normalised
from perceptron_lab.certificates.feasibility import prove_point
from perceptron_lab.certificates.infeasibility import InfeasibilityProof, prove_infeasible
from perceptron_lab.certificates.margin import prove_weights
from perceptron_lab.certificates.norms import known_bound, norm_bound
from perceptron_lab.certificates.rows.kernel_matrices import semidefinite
from perceptron_lab.cones.base import Atom, Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.spectral import lowest
from perceptron_lab.doubles import Doubles
from perceptron_lab.errors import InputError, NumericalError
from perceptron_lab.facts import Facts
from perceptron_lab.inputs import (
    check_kernel,
    checked_rows,
    doubles_of_rows,
    refuse_empty,
    refuse_extreme_rows,
    refuse_not_finite,
    signs_of,
)
from perceptron_lab.operators.base import Operator
from perceptron_lab.operators.gram import Coordinates, Gram
from perceptron_lab.operators.kernel_matrix import KernelMatrix, kernel_matrix
from perceptron_lab.operators.kernels import Kernel, symmetrised
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.operators.row_source import ArrayRows, LabelledRows, RowSource
from perceptron_lab.operators.whitening import TOLERANCE, Whitening
from perceptron_lab.results import FloatArray

SMALL = 1e-290
"""Squares below this are not trusted: their terms may have underflowed."""


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


@dataclass(frozen=True)
class ConicSystem:
    """The system A*y in int K, or a view of it.

    Parameters
    ----------
    operator, cone
        A* and K, of one ``size``.
    origin
        The system that this one is a normalised view of, or None. Answers are proved on the
        innermost one.
    interior
        A point known to lie inside, shape ``(dimension,)``, by which an answer on the boundary can
        be moved; or None.
    unit_rows
        Whether the margin is that of the rows divided by their norms.
    multiple
        What the data as given were multiplied by, a positive number: whole numbers in place of
        decimals, which doubles do not hold.
    homogenised
        Whether coordinate 0 of the point is the homogenising variable x_0 of F(x) = sum x_i F_i -
        F_0, and the first block says x_0 > 0.
    caution
        0, or what a point must clear at slack 0: <atom, A*y> > caution * max |scores| for every
        atom. Raised when a point inside to rounding error could not be proved to be inside.
    target
        0, or an upper bound of the margin whose proof would end the run; it takes the place of
        whatever bound an algorithm would claim otherwise.
    counters
        What algorithms have asked of the system.

    See Also
    --------
    from_rows, from_labelled, from_kernel, second_order
    """

    operator: Operator
    cone: Cone
    origin: ConicSystem | None = None
    interior: FloatArray | None = None
    unit_rows: bool = False
    multiple: float = 1.0
    homogenised: bool = False
    caution: float = 0.0
    target: float = 0.0
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        if self.operator.size != self.cone.size:
            raise InputError(
                f"the operator has {self.operator.size} scores, the cone {self.cone.size} "
                "coordinates; they must agree"
            )

    @classmethod
    def from_rows(cls, rows: Any, *, memory: int | None = None) -> ConicSystem:
        """Return the homogeneous system a_i'y > 0 of rows a_i, seen through rows of norm 1.

        Parameters
        ----------
        rows
            Shape ``(m, dimension)``, dense or scipy.sparse, or a
            :class:`~perceptron_lab.operators.row_source.RowSource`; data in double or single
            precision in C order (CSR without repeated entries) are used as they are, memory-mapped
            ones among them. Only 1 / norms are stored beside them. Integers, fractions, decimals
            and extended precision that no double is equal to are rounded once; proofs are about the
            numbers given all the same.
        memory
            Bytes that a pass over a dense array may take, 1 MB or more; None: whatever is fastest.
            A source has a memory of its own.

        Raises
        ------
        InputError
            If the rows are not a finite, non-empty matrix without zero rows, or the memory is not
            possible.
        """
        return cls._of_doubles(_data_of(rows, memory))

    @classmethod
    def _of_doubles(cls, given: Doubles) -> ConicSystem:
        """Return the system of rows seen through unit rows; proved on whole numbers if known."""
        data, cone = given.values, Orthant(given.values.shape[0])
        original = Matrix(data, roundings=given.roundings)
        norms = original.row_norms()
        refuse_extreme_rows(data, norms)
        multiple = 1.0 if given.whole is None else given.multiple
        proved_on = original if given.whole is None else Matrix(given.whole)
        origin = cls(proved_on, cone, unit_rows=True, multiple=multiple)
        view = Matrix(data, 1.0 / norms, given.roundings)
        return cls(view, cone, origin, unit_rows=True)

    @classmethod
    def from_labelled(
        cls, examples: Any, labels: Any, *, affine: bool = True, memory: int | None = None
    ) -> ConicSystem:
        """Return the system y_i (w'x_i + b) > 0 of two labelled classes, the point being (w, b).

        Parameters
        ----------
        examples
            x_i as rows, shape ``(m, features)``, dense or scipy.sparse (copied, in their own
            precision), or a source of rows.
        labels
            Two different values, shape ``(m,)``; the larger one is the positive class.
        affine
            Whether to append the constant feature 1 (lifting, `PerceptronNotes`); without it b = 0.
        memory
            As for :meth:`from_rows`; if given, dense examples are not copied.

        Raises
        ------
        InputError
            As :meth:`from_rows`, and if the labels are not one per example, of exactly two classes.
        """
        given = _data_of(examples, memory)
        data, whole = given.values, given.whole
        signs = signs_of(labels, data.shape[0])
        if isinstance(data, RowSource):
            return cls.from_rows(LabelledRows(data, signs, affine=affine))
        if whole is not None:
            whole = _signed(whole, signs, affine, given.multiple)
        rows = _signed(data, signs.astype(data.dtype), affine)
        return cls._of_doubles(replace(given, values=rows, whole=whole))

    @classmethod
    def from_kernel(
        cls, kernel: Kernel | Literal["precomputed"], examples: Any, labels: Any
    ) -> ConicSystem:
        """Return the system s_i f(x_i) > 0 of two classes, f in the kernel's function space.

        s_i = +1 for the larger label. The point is f = sum_j c_j s_j K(x_j, .); an answer's is the
        vector of the coefficients c, shape ``(m,)``. The margin is that of the normalised features
        phi(x) / sqrt(K(x, x)) (`RamdasPena2014`, (5)); there is no bias.

        Proofs are about the kernel, whose values are enclosed; about the values themselves if they
        are given or come from a kernel of a user's own. Such a matrix that is not positive
        semidefinite to the last bit gets a larger diagonal (``certificate["data"]`` says by how
        much).

        Parameters
        ----------
        kernel
            A record of :mod:`perceptron_lab.operators.kernels`, or ``"precomputed"``.
        examples
            x_i as rows, shape ``(m, features)``; if precomputed, the matrix K(x_i, x_j) itself, or
            a :class:`~perceptron_lab.operators.kernel_matrix.KernelMatrix`.
        labels
            Two different values, shape ``(m,)``.

        Raises
        ------
        InputError
            If the examples are not a finite matrix, the labels not of exactly two classes, or the
            kernel matrix not symmetric positive semidefinite to rounding, with a positive diagonal.
        """
        matrix = _kernel_matrix_of(kernel, examples)
        signs, cone = signs_of(labels, len(matrix.values)), Orthant(len(matrix.values))
        origin = cls(Gram(matrix.values, signs, matrix=matrix), cone, unit_rows=True)
        scale = 1.0 / np.sqrt(matrix.values.diagonal())
        return cls(Gram(matrix.values, signs, scale, matrix), cone, origin, unit_rows=True)

    @classmethod
    def second_order(cls, matrix: Any, sizes: Sequence[int]) -> ConicSystem:
        """Return the system norm(u_k) < t_k, (u_k, t_k) = M_k y, of second-order blocks.

        Parameters
        ----------
        matrix
            The blocks M_k below one another, each with its t in its last row, shape
            ``(sum(sizes), dimension)``, dense or scipy.sparse.
        sizes
            The number of rows of each block; a block of one row is the inequality t > 0.

        Raises
        ------
        InputError
            If the matrix is not finite, or the sizes are not positive numbers with its rows as sum.
        """
        found = doubles_of_rows(matrix)
        data = found.values
        refuse_not_finite(data)
        given = np.atleast_1d(np.asarray(sizes))
        if given.dtype.kind not in "iu" or given.min() < 1 or given.sum() != data.shape[0]:
            raise InputError(
                f"blocks of sizes {sizes} for {data.shape[0]} rows; give whole numbers, 1 or more, "
                "that sum to the number of rows"
            )
        orders: list[int] = given.tolist()
        cones: list[Cone] = [Orthant(1) if size == 1 else SecondOrder(size) for size in orders]
        double = data.astype(float, copy=False)
        operator = Matrix(double, roundings=found.roundings)
        return cls(operator, cones[0] if len(cones) == 1 else Product(cones))

    @property
    def dimension(self) -> int:
        """Number of coordinates of a point."""
        return self.operator.dimension

    def started(self, oracles: Mapping[str, Any], rng: np.random.Generator) -> ConicSystem:
        """Return this system with fresh oracles (by kind of cone) and fresh counters."""
        return replace(self, cone=self.cone.started(oracles, rng), counters=Counters())

    def stricter(self) -> ConicSystem:
        """Return this system with oracles that refuse the boundary, and ten times the caution."""
        return replace(self, cone=self.cone.strict(), caution=max(1e-15, 10.0 * self.caution))

    def with_operator(self, operator: Operator) -> ConicSystem:
        """Return the same cone, oracles and counters on other data of the same size."""
        return replace(self, operator=operator)

    def unnormalised(self) -> ConicSystem:
        """Return the system on the data as given, with the same points, oracles and counters."""
        return replace(self, operator=self.operator.unscaled())

    def in_coordinates(self) -> ConicSystem:
        """Return a system whose points are plain vectors: a Gram system in an orthonormal basis.

        The basis is that of a pivoted Cholesky factor, so that the dimension is the rank of the
        Gram matrix. Other systems are returned as they are.
        """
        if not isinstance(self.operator, Gram):
            return self
        return replace(self, operator=Coordinates(self.operator))

    def completed(self, *, required: bool = True) -> ConicSystem:
        """Return the same system with all entries of its matrix blocks, so that weights are whole.

        Off the pattern the scores are zero.

        Parameters
        ----------
        required
            Whether blocks that are too large for it are refused; else they keep their pattern.

        Raises
        ------
        InputError
            If it is required of a block that is too large.
        """
        cone, places = self.cone.completed(required=required)
        if cone is self.cone:
            return self
        assert isinstance(self.operator, Matrix)
        entries = (np.ones(len(places)), (places, np.arange(len(places))))
        spread = sp.csr_array(entries, shape=(cone.size, len(places)))
        entries_of = sp.csr_array(spread @ sp.csr_array(self.operator.data))
        operator = Matrix(entries_of, roundings=self.operator.roundings)
        return replace(self, operator=operator, cone=cone)

    def whitened(self, tolerance: float = TOLERANCE) -> ConicSystem:
        """Return the system in coordinates in which A A* = I, its rows then of norm 1.

        See :class:`~perceptron_lab.operators.whitening.Whitening`. Margins are others; answers are
        proved on the original data. Gram systems are first given coordinates, and matrix blocks
        all entries; rows of other cones keep their lengths.

        Raises
        ------
        InputError
            If there are more than 2000 unknowns, or the whitened data would take more than 1 GB.
        """
        base = self.in_coordinates().completed()
        assert isinstance(base.operator, Matrix)
        unit = isinstance(base.cone, Orthant)
        operator = Whitening(base.operator, base.cone.multiplicity, unit=unit, tolerance=tolerance)
        inside = None if base.interior is None else operator.from_base(base.interior)
        origin = base if base.origin is None else base.origin
        return replace(base, operator=operator, origin=origin, interior=inside)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return A*point, shape ``(size,)``; counts one product."""
        self.counters.products += self.operator.scores_cost
        return self.operator.scores(point)

    def priced(self, point: FloatArray) -> FloatArray:
        """Return A*point to the precision of the data; counts one product."""
        operator = self.operator
        if not isinstance(operator, Matrix):
            return self.scores(point)
        self.counters.products += operator.scores_cost
        return operator.priced(point)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return A weights, shape ``(dimension,)``; counts one product."""
        self.counters.products += 1
        return self.operator.combine(weights)

    def cut(self, point: FloatArray, slack: float = 0.0) -> Cut | None:
        """Ask the oracle about a point: a cut, or None if it passes; counts one query.

        Parameters
        ----------
        point
            Shape ``(dimension,)``.
        slack
            0: A*point must lie inside K (by the system's caution). s > 0: A*point + s e must lie in
            K (absolute).

        Raises
        ------
        NumericalError
            If the scores are not finite.
        """
        self.counters.queries += 1
        scores = self.scores(point)
        if self.caution and not slack:
            slack = -self.caution * float(np.abs(scores).max())
        atom = self.cone.separate(scores, slack)
        seen = scores if atom is None else scores[atom.span]
        if not np.isfinite(seen).all():
            raise NumericalError("the scores of the point are not finite (overflow)")
        if atom is None:
            return None
        return self._cut(atom)

    def _cut(self, atom: Atom) -> Cut:
        self.counters.products += self.operator.normal_cost
        normal = self.operator.normal(atom)
        return Cut(normal, atom, self.norm(normal))

    def deepest(self, point: FloatArray) -> Deepest:
        """Return the constraint of least score at a point; counts one query.

        Raises
        ------
        NumericalError
            If the scores are not finite.
        """
        self.counters.queries += 1
        scores = self.scores(point)
        atom, score = self.cone.deepest(scores)
        _check_finite(score)
        return Deepest(self._cut(atom), score, scores)

    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, Any]:
        """Return the eigenvalues of scores and their frame; counts one query.

        Raises
        ------
        NumericalError
            If the scores are not finite.
        """
        self.counters.queries += 1
        values, frame = self.cone.spectrum(scores)
        _check_finite(float(values.min()))
        return values, frame

    def lowest(self, scores: FloatArray) -> float:
        """Return the lowest eigenvalue of scores; counts one query.

        Raises
        ------
        NumericalError
            If it is not finite.
        """
        self.counters.queries += 1
        score = lowest(self.cone, scores)
        _check_finite(score)
        return score

    def inside(self, score: float, scores: FloatArray) -> bool:
        """Return whether scores with this lowest eigenvalue lie inside K, by the caution."""
        return score > 0.0 and score > self.caution * float(np.abs(scores).max())

    @property
    def resolution(self) -> float:
        """An upper bound of the margin below which nothing can be proved in double precision.

        0 for rows and matrices. With inner products alone, norm(A w)^2 = w'Sw is known to about
        2 (m + 2) u only, and to the errors of the kernel's values or what was added to its
        diagonal; its root to the root of that.
        """
        system = self if self.origin is None else self.origin
        if not isinstance(system.operator, Gram):
            return 0.0
        matrix = system.operator.matrix
        rounding = 2.0 * (self.cone.size + 2) * UNIT_ROUNDOFF
        return 2.0 * math.sqrt(rounding + matrix.spread + matrix.raised)

    def worth(self, epsilon: float) -> float:
        """Return the largest norm(A w) that is worth a claim: epsilon, or the run's own target."""
        return max(self.target or epsilon, self.resolution)

    def norm(self, point: FloatArray) -> float:
        """Return the norm of a point, also where its square leaves the range of doubles."""
        square = max(self.operator.inner(point, point), 0.0)
        if SMALL < square < math.inf:
            return math.sqrt(square)
        ray = normalised(point)
        if ray is None:
            return math.sqrt(square)
        power = float(np.abs(point).max()) / float(np.abs(ray).max())
        return math.sqrt(max(self.operator.inner(ray, ray), 0.0)) * power

    def margin(self, point: FloatArray) -> float:
        """Return the computed (not proved) margin of a point; -inf if it is 0 or not finite.

        Counts nothing.
        """
        ray = normalised(point)
        if ray is None:
            return -math.inf
        length = self.norm(ray)
        return lowest(self.cone, self.operator.scores(ray)) / length if length else -math.inf

    def upper(self, weights: FloatArray) -> float:
        """Return the computed (not proved) bound norm(A w) / <e, w> of the margin, or NaN.

        It is that of the cuts as this view has them. Counts nothing.
        """
        mass = float(weights @ self.cone.identity)
        return self.norm(self.operator.combine(weights)) / mass if mass > 0.0 else math.nan

    def weights_to_origin(self, weights: FloatArray) -> FloatArray:
        """Return what weights of this view are on the original data: w_i / norm(a_i) for rows."""
        return weights if self.operator.scale is None else weights * self.operator.scale

    def _innermost(self) -> tuple[Operator, Cone]:
        system = self if self.origin is None else self.origin
        return system.operator, system.cone

    def prove_point(self, point: FloatArray) -> PointProof:
        """Prove the margin of a point on the original data."""
        operator, cone = self._innermost()
        return prove_point(operator, cone, self.operator.compact(point), unit_rows=self.unit_rows)

    def prove_weights(self, weights: FloatArray) -> float | None:
        """Prove an upper bound of the margin on the original data; None if nothing is proved."""
        operator, cone = self._innermost()
        return prove_weights(
            operator, cone, self.weights_to_origin(weights), unit_rows=self.unit_rows
        )

    def prove_infeasible(self, weights: FloatArray) -> InfeasibilityProof | None:
        """Prove that exact weights with A w = 0 exist near these; None where that fails."""
        operator, cone = self._innermost()
        return prove_infeasible(operator, cone, self.weights_to_origin(weights))

    @property
    def provenance(self) -> str:
        """What proofs on this system are about: ``exact``, or how the data given are enclosed."""
        return self._innermost()[0].provenance

    def facts(self, margin: float | None = None) -> Facts:
        """Return what a bound may use; ``margin`` is a known (lower bound of the) margin."""
        operator, cone = self._innermost()
        multiple = self.multiple if self.origin is None else self.origin.multiple
        norm = norm_bound(operator, cone, "atoms") / multiple
        unit = raw = margin
        if margin is not None and self.unit_rows:
            raw = margin * float(_row_norms(operator).min()) / multiple
        elif margin is not None:
            unit = margin / norm
        return Facts(
            dimension=min(self.operator.dimension, self.operator.unknowns),
            rank=cone.rank,
            margin=margin,
            unit_margin=unit,
            raw_margin=raw,
            norm=norm,
            unit_rows=self.unit_rows,
            spectral=known_bound(self.operator, self.cone, "euclidean"),
        )

    def spectral_norm(self) -> float:
        """Return an upper bound of norm(A)_2 of the cuts as this view has them (trace norm)."""
        return norm_bound(self.operator, self.cone, "euclidean")

    def atom_norm(self) -> float:
        """Return an upper bound of norm(A(atom)) of the cuts as this view has them."""
        return 1.0 if self.unit_rows else norm_bound(self.operator, self.cone, "atoms")


def _data_of(rows: Any, memory: int | None) -> Doubles:
    """Return a source of rows as it is, and other rows as a matrix or, with a memory, a source."""
    if isinstance(rows, RowSource):
        if memory is not None:
            raise InputError("these rows have a memory of their own; leave memory out")
        return Doubles(rows)
    given = rows if isinstance(rows, Doubles) else doubles_of_rows(rows)
    refuse_empty(given.values.shape)
    if memory is None:
        return given
    if not isinstance(given.values, np.ndarray):
        raise InputError("sparse rows are in memory already; leave memory out")
    return Doubles(ArrayRows(given.values, memory, given.roundings))


def _kernel_matrix_of(kernel: Any, examples: Any) -> KernelMatrix:
    """Return the matrix of a kernel on examples, or the one given; checked in any case."""
    if kernel == "precomputed":
        given = examples if isinstance(examples, KernelMatrix) else None
        values = checked_rows(examples) if given is None else given.values
        matrix = given or KernelMatrix(symmetrised(_dense(values)))
    else:
        if isinstance(kernel, type) or not hasattr(kernel, "matrix"):
            raise InputError(
                f"received {kernel!r} as a kernel; give a record such as Rbf(gamma=0.5) of "
                "perceptron_lab.operators.kernels, or 'precomputed'"
            )
        found = doubles_of_rows(examples)
        refuse_not_finite(found.values)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            matrix = kernel_matrix(kernel, _dense(found.values), found.roundings)
    check_kernel(matrix.values)
    if matrix.definite:
        return matrix
    values, part = semidefinite(matrix.values)
    said = f"kernel matrix, its diagonal raised by {part:.1e} of itself" if part else None
    provenance = said or matrix.provenance
    return replace(matrix, values=values, provenance=provenance, definite=True, raised=part)


def _dense(data: FloatArray | sp.csr_array) -> FloatArray:
    return np.asarray(data if isinstance(data, np.ndarray) else data.toarray(), dtype=float)


def _signed(
    examples: FloatArray | sp.csr_array, signs: FloatArray, affine: bool, one: float = 1.0
) -> FloatArray | sp.csr_array:
    """Return s_i x_i, or s_i (x_i, 1), in the precision of the examples; 1 may be a multiple."""
    ones = np.full((len(signs), 1), one, signs.dtype)
    if isinstance(examples, np.ndarray):
        lifted = np.hstack([examples, ones]) if affine else examples
        return np.asarray(lifted * signs[:, None])
    wide = sp.hstack([examples, sp.csr_array(ones)]) if affine else examples
    return sp.csr_array(sp.diags_array(signs) @ wide)


def _check_finite(score: float) -> None:
    if not math.isfinite(score):
        raise NumericalError("the scores of the point are not finite (overflow)")


def _row_norms(operator: Operator) -> FloatArray:
    assert isinstance(operator, Matrix | Gram)
    return operator.row_norms()
