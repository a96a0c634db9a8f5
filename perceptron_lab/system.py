"""A conic system: find y with A*y strictly inside K. What every algorithm runs on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.feasibility import PointProof, prove_point
from perceptron_lab.certificates.margin import prove_weights
from perceptron_lab.certificates.rounding import normalised
from perceptron_lab.cones.base import Atom, Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.spectral import lowest
from perceptron_lab.errors import InputError, NumericalError
from perceptron_lab.facts import Facts
from perceptron_lab.operators.base import Operator
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.operators.norms import norm_bound
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
    caution
        0, or what a point must clear at slack 0: <atom, A*y> > caution * max |scores| for every
        atom. Raised when a point inside to rounding error could not be proved to be inside.
    counters
        What algorithms have asked of the system.

    See Also
    --------
    from_rows, from_labelled
    """

    operator: Operator
    cone: Cone
    origin: ConicSystem | None = None
    interior: FloatArray | None = None
    unit_rows: bool = False
    caution: float = 0.0
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        if self.operator.size != self.cone.size:
            raise InputError(
                f"the operator has {self.operator.size} scores, the cone {self.cone.size} "
                "coordinates; they must agree"
            )

    @classmethod
    def from_rows(cls, rows: Any) -> ConicSystem:
        """Return the homogeneous system a_i'y > 0 of rows a_i, seen through rows of norm 1.

        Parameters
        ----------
        rows
            Shape ``(m, dimension)``, dense or scipy.sparse; float64 data in C order (CSR) are used
            as they are. Only 1 / norms are stored beside them.

        Raises
        ------
        InputError
            If the rows are not a finite, non-empty matrix without zero rows.
        """
        data = _checked_rows(rows)
        origin = cls(Matrix(data), Orthant(data.shape[0]), unit_rows=True)
        norms = Matrix(data).row_norms()
        _refuse_extreme_rows(data, norms)
        return cls(Matrix(data, 1.0 / norms), Orthant(data.shape[0]), origin, unit_rows=True)

    @classmethod
    def from_labelled(cls, examples: Any, labels: Any, *, affine: bool = True) -> ConicSystem:
        """Return the system y_i (w'x_i + b) > 0 of two labelled classes, the point being (w, b).

        Parameters
        ----------
        examples
            x_i as rows, shape ``(m, features)``, dense or scipy.sparse.
        labels
            Two different values, shape ``(m,)``; the larger one is the positive class.
        affine
            Whether to append the constant feature 1 (lifting, `PerceptronNotes`); without it b = 0.

        Raises
        ------
        InputError
            As :meth:`from_rows`, and if the labels are not one per example, of exactly two classes.
        """
        data: Any = _checked_rows(examples)
        count = data.shape[0]
        signs = _signs(labels, count)
        if affine and isinstance(data, sp.csr_array):
            data = sp.csr_array(sp.hstack([data, sp.csr_array(np.ones((count, 1)))]))
        elif affine:
            data = np.column_stack([data, np.ones(count)])
        signed = (
            data * signs[:, None] if isinstance(data, np.ndarray) else sp.diags_array(signs) @ data
        )
        return cls.from_rows(signed)

    @property
    def dimension(self) -> int:
        """Number of unknowns."""
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
        """Return the system on the data as given, with the same oracles and counters."""
        return self if self.origin is None else replace(self, operator=self.origin.operator)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return A*point, shape ``(size,)``; counts one product."""
        self.counters.products += 1
        return self.operator.scores(point)

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
        normal = self.operator.normal(atom)
        return Cut(normal, atom, math.sqrt(max(self.operator.inner(normal, normal), 0.0)))

    def margin(self, point: FloatArray) -> float:
        """Return the computed (not proved) margin of a point; -inf if it is 0 or not finite.

        Counts nothing.
        """
        ray = normalised(point)
        if ray is None:
            return -math.inf
        length = math.sqrt(self.operator.inner(ray, ray))
        return lowest(self.cone, self.operator.scores(ray)) / length

    def weights_to_origin(self, weights: FloatArray) -> FloatArray:
        """Return what weights of this view are on the original data: w_i / norm(a_i) for rows."""
        if self.origin is None or not isinstance(self.operator, Matrix):
            return weights
        return weights if self.operator.scale is None else weights * self.operator.scale

    def _innermost(self) -> tuple[Matrix, Cone]:
        system = self if self.origin is None else self.origin
        if not isinstance(system.operator, Matrix):
            raise TypeError("the innermost system must hold its data as a matrix")
        return system.operator, system.cone

    def prove_point(self, point: FloatArray) -> PointProof:
        """Prove the margin of a point on the original data."""
        operator, cone = self._innermost()
        return prove_point(operator, cone, point, unit_rows=self.unit_rows)

    def prove_weights(self, weights: FloatArray) -> float | None:
        """Prove an upper bound of the margin on the original data; None if nothing is proved."""
        operator, cone = self._innermost()
        return prove_weights(
            operator, cone, self.weights_to_origin(weights), unit_rows=self.unit_rows
        )

    def facts(self, margin: float | None = None) -> Facts:
        """Return what a bound may use; ``margin`` is a known (lower bound of the) margin."""
        operator, cone = self._innermost()
        norm = norm_bound(operator, cone)
        unit = raw = margin
        if margin is not None and self.unit_rows:
            raw = margin * float(operator.row_norms().min())
        elif margin is not None:
            unit = margin / norm
        return Facts(self.dimension, cone.rank, margin, unit, raw, norm, self.unit_rows)


def _checked_rows(rows: Any) -> FloatArray | sp.csr_array:
    """Return rows as a float64 array in C order, or a float64 CSR array."""
    try:
        data: Any = rows if sp.issparse(rows) else np.asarray(rows)
    except ValueError as error:
        raise InputError(f"rows must be a matrix of real numbers: {error}") from None
    if np.ma.is_masked(rows):
        raise InputError("rows are a masked array with missing entries; fill or remove them")
    if data.dtype.kind not in "buif":
        raise InputError(f"rows of type {data.dtype}; give a matrix of real numbers")
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(
            f"rows have shape {data.shape}; give a non-empty matrix, one row per constraint"
        )
    if sp.issparse(rows):
        data = sp.csr_array(cast("Any", rows), dtype=float)
    else:
        data = np.ascontiguousarray(data, dtype=float)
    finite = np.isfinite(data.data if sp.issparse(rows) else data)
    if not finite.all():
        entry = int(np.flatnonzero(~finite.ravel())[0])
        row = np.searchsorted(data.indptr, entry, "right") - 1 if sp.issparse(rows) else None
        where = entry // data.shape[1] if row is None else row
        raise InputError(
            f"row {where} holds NaN or infinity ({(~finite).sum()} such entries); remove or "
            "replace them"
        )
    checked: FloatArray | sp.csr_array = data
    return checked


def _refuse_extreme_rows(data: FloatArray | sp.csr_array, norms: FloatArray) -> None:
    extreme = np.flatnonzero(~((norms > 1e-150) & (norms < 1e150)))
    if not len(extreme):
        return
    first: Any = data[extreme[:1]]
    if abs(first).max() > 0:
        raise InputError(
            f"row {extreme[0]} has a norm outside 1e-150 .. 1e150 ({len(extreme)} such rows); "
            "rescale them"
        )
    raise InputError(
        f"row {extreme[0]} is zero ({len(extreme)} such rows); a zero row can never be strictly "
        "positive: remove it"
    )


def _signs(labels: Any, count: int) -> FloatArray:
    """Return +1 for the larger of two labels, -1 for the other, shape ``(count,)``."""
    given = np.asarray(labels)
    if given.shape == (count, 1):
        given = given[:, 0]
    if given.shape != (count,):
        raise InputError(
            f"{count} examples, but {given.size} labels of shape {given.shape}; give one each"
        )
    missing = [label for label in given.tolist() if label is None or label != label]
    if missing:
        raise InputError(f"{len(missing)} labels are missing (None or NaN); give every one")
    classes = np.unique(given)
    if len(classes) != 2:
        raise InputError(f"labels take {len(classes)} values {classes[:5]}; give two classes")
    return np.where(given == classes[1], 1.0, -1.0)
