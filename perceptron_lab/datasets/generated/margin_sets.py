"""Generated linear systems, feasible and infeasible, with known or bounded margins.

The margin of unit rows a_i is rho = max over unit y of min_i a_i'y. Where a family gives a point,
its margin is a lower bound of rho; where it gives weights w in the simplex, norm(sum w_i a_i) is an
upper bound, 0 to rounding. All constructions hold in exact arithmetic; in floating point each entry
is off by a few units of 1e-16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import Field, ValidationInfo, field_validator
from scipy.linalg.blas import dger

from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.dataset import defaulted_with, value_or_default
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.infeasible_margin import negative_margin


@dataclass(frozen=True)
class MarginSet:
    """Rows, or labelled examples, with the solutions known by construction.

    Parameters
    ----------
    rows
        Unit rows a_i where ``labels`` is None, else examples; shape ``(m, dimension)``.
    labels
        +1 or -1 for each example, shape ``(m,)``; their system is that of affine separators.
    point, weights
        A feasible point, or a convex combination of the rows that is 0, shape ``(m,)``; or None.
    """

    rows: FloatArray
    labels: FloatArray | None = None
    point: FloatArray | None = None
    weights: FloatArray | None = None


def exact(rng: Generator, *, dimension: int, rows: int, margin: float) -> MarginSet:
    """Unit rows of margin exactly rho, with the centre y*.

    Of an orthonormal basis w_i of the complement of a random unit y*, the 2 (n - 1) rows
    +-sqrt(1 - rho^2) w_i + rho y* are placed among others with a'y* = rho + (1 - rho) h, where h is
    distributed as the absolute height of a uniform point of the sphere. A unit vector
    y = alpha y* + v, v orthogonal to y*, has at most the score rho alpha <= rho on one row of every
    pair +-w_i, so that the margin is rho and y* attains it; n is the dimension.
    """
    basis = _orthonormal(rng, dimension)
    centre, complement = basis[:, 0], basis[:, 1:].T
    data = above_margin(rng, centre, rows, margin)
    tight = rng.choice(rows, 2 * (dimension - 1), replace=False)
    # 1 - rho^2 without cancellation for rho near 1.
    across = math.sqrt((1.0 - margin) * (1.0 + margin)) * np.vstack([complement, -complement])
    data[tight] = across + margin * centre
    return MarginSet(data, point=centre)


def reflected(rng: Generator, *, dimension: int, rows: int, difficulty: float) -> MarginSet:
    """Unit rows uniform on a half-sphere, flattened towards its boundary.

    A uniform point of the sphere is reflected into y*'a >= 0 for a random unit y*, its component
    along y* is multiplied by the difficulty f, and the row is normalised again: rows of height h
    get the height f h / sqrt(1 - h^2 + f^2 h^2). The smaller f, the smaller the margin, roughly in
    proportion; a lower bound of it is min_i a_i'y*.

    This is the synthetic data of `YuKilincCarbonell2014` (section 7.1) as far as it is known: f
    stands in for kappa, of which the paper says only that the margin grows with it. By the ratios
    of the paper's running times its kappa = 1 is about f = 0.3.
    """
    centre = random_unit(rng, dimension)
    return MarginSet(half_sphere(rng, centre, rows, difficulty), point=centre)


def thin(rng: Generator, *, dimension: int, rows: int, margin: float) -> MarginSet:
    """Unit rows of an elliptic cone with log-spaced axes: ill-conditioned, of margin exactly rho.

    In an orthonormal basis (z, w_2, .., w_n) the rows z + c, with c uniform on the unit sphere of
    the complement of z, describe a circular cone of half-angle 45 degrees. The diagonal map
    diag(1, 1/s_2, .., 1/s_n), with s log-spaced from 1 down to s_n = rho / sqrt(1 - rho^2), turns
    it into a_i = z + sum_j c_ij w_j / s_j, then normalised. (In dimension 2, or where s_n > 1, all
    s_j are s_n.) Since norm(a_i) <= 1 / rho, a_i'z / norm(a_i) >= rho; two rows belong to
    c = +-w_n, and no unit y has more than rho on both. So the margin is rho, attained by z.
    """
    basis = _orthonormal(rng, dimension)
    narrowest = margin / math.sqrt((1.0 - margin) * (1.0 + margin))
    # Log-spaced axes make the system ill-conditioned in many directions, not only in one.
    axes = np.geomspace(max(1.0, narrowest), narrowest, dimension - 1)
    axes[-1] = narrowest
    inside = rng.standard_normal((rows, dimension))
    inside[:, 0] = 0.0
    tight = rng.choice(rows, 2, replace=False)
    inside[tight] = 0.0
    inside[tight, -1] = 1.0, -1.0
    inside /= _norms(inside)[:, None]
    inside[:, 1:] /= axes
    inside[:, 0] = 1.0
    inside /= _norms(inside)[:, None]
    return MarginSet(inside @ basis.T, point=np.ascontiguousarray(basis[:, 0]))


def convex_combination(rng: Generator, *, dimension: int, rows: int) -> MarginSet:
    """Infeasible unit rows, 0 being a known convex combination of them.

    All rows but the last are uniform on a half-sphere. The last one is -s / norm(s) for
    s = sum_j x_j a_j with x_j uniform in [0.5, 1.5]; x and norm(s), divided by their sum, are the
    weights. They are all positive and the rows span the space, so that 0 lies inside the hull, and
    rounding cannot make the system feasible.
    """
    data = np.empty((rows, dimension))
    centre = random_unit(rng, dimension)
    data[:-1] = half_sphere(rng, centre, rows - 1, 1.0)
    weights = rng.uniform(0.5, 1.5, rows)
    total = weights[:-1] @ data[:-1]
    # The last row balances the others exactly: sum x_j a_j = norm(s) times its negative.
    weights[-1] = np.linalg.norm(total)
    data[-1] = -total / weights[-1]
    return MarginSet(data, weights=weights / weights.sum())


def gaussian(rng: Generator, *, dimension: int, rows: int) -> MarginSet:
    """Rows of independent standard normal entries.

    By Cover's function counting theorem m rows in dimension n are feasible with probability

        2^(1 - m) sum_{k < n} binomial(m - 1, k),

    which is 1 for m <= n, 1/2 for m = 2 n and nearly 0 well beyond: there the system is infeasible,
    and near m = 2 n the margin, or the distance of 0 from the hull's boundary, is tiny.
    """
    return MarginSet(rng.standard_normal((rows, dimension)))


def classes(rng: Generator, *, dimension: int, rows: int, separation: float) -> MarginSet:
    """Two classes of equal size, normal with unit covariance, a distance apart.

    x_i = s_i (d / 2) u + noise in dimension - 1 features, labels s_i = +-1 in random order (the
    odd example is positive), u a random unit vector, d the separation; the affine separator (w, b)
    is sought. Where (u, 0) separates the examples it is the known point; otherwise nothing is
    known: a fraction of Phi(-d / 2) of the examples lies on the wrong side of it.
    """
    direction = random_unit(rng, dimension - 1)
    # Balanced classes in random order: an algorithm cannot profit from sorted labels.
    labels = rng.permutation(np.where(np.arange(rows) % 2 == 0, 1.0, -1.0))
    examples = rng.standard_normal((rows, dimension - 1))
    _add(examples, labels * (separation / 2.0), direction)
    separates = bool((labels * (examples @ direction) > 0.0).all())
    return MarginSet(examples, labels, np.append(direction, 0.0) if separates else None)


def worst_case(rng: Generator, *, steepness: int) -> MarginSet:
    """The four rows on which the perceptron takes long (`PerceptronNotes`, section 3.1).

    The positive examples (1, 1), (1, 0), (1/K, 1) and the negative one (0, 1) give the rows (1, 1),
    (1, 0), (1/K, 1), (0, -1). The bisector of the last two normalised rows, (cos t, -sin t) with
    tan t = 1 / (K + sqrt(K^2 + 1)), is the best point: the margin is sin t, about 1 / (2 K). The
    input takes O(log K) bits; the perceptron without normalisation makes exactly 2 K^2 - 2 K + 5
    updates in the order of the notes (:func:`perceptron_lab.problems.streams.perceptron.worst_case`
    proves it) and at least K in whatever order; other orders measured take about 2 K^2 as well.
    """
    data = np.array([[1.0, 1.0], [1.0, 0.0], [1.0 / steepness, 1.0], [0.0, -1.0]])
    point = _unit(np.array([steepness + math.hypot(steepness, 1.0), -1.0]))
    return MarginSet(data, point=point)


def random_unit(rng: Generator, dimension: int) -> FloatArray:
    """Return a point that is uniform on the unit sphere."""
    return _unit(rng.standard_normal(dimension))


def above_margin(rng: Generator, axis: FloatArray, rows: int, margin: float) -> FloatArray:
    """Return unit rows with a'axis >= margin: margin + (1 - margin) h, h as in :func:`exact`.

    Shape ``(rows, len(axis))``; uniform in the other directions.
    """
    heights = margin + (1.0 - margin) * _heights(rng, len(axis), rows)
    return _rows_at(rng, axis, heights)


def _unit(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / np.linalg.norm(vector))


def _norms(rows: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _orthonormal(rng: Generator, dimension: int) -> FloatArray:
    """Return a random orthonormal basis as columns."""
    return np.asarray(np.linalg.qr(rng.standard_normal((dimension, dimension)))[0])


def _add(rows: FloatArray, heights: FloatArray, direction: FloatArray) -> None:
    # In place: the data may fill half of the memory
    dger(1.0, direction, heights, a=rows.T, overwrite_a=1)


def _heights(rng: Generator, dimension: int, rows: int) -> FloatArray:
    # |u_1| of points u uniform on the sphere: u_1^2 is Beta(1/2, (dimension - 1)/2)
    return np.sqrt(rng.beta(0.5, (dimension - 1) / 2.0, rows))


def _rows_at(rng: Generator, axis: FloatArray, heights: FloatArray) -> FloatArray:
    """Return unit rows with a_i'axis = heights_i, uniform in the other directions."""
    rows = rng.standard_normal((len(heights), len(axis)))
    for _ in range(2):  # the second pass removes the rounding error of the first
        _add(rows, -(rows @ axis), axis)
    # The component along the axis is set afterwards, so that its height is exact.
    rows *= (np.sqrt(1.0 - heights**2) / _norms(rows))[:, None]
    _add(rows, heights, axis)
    return rows


def half_sphere(rng: Generator, axis: FloatArray, rows: int, difficulty: float) -> FloatArray:
    """Return the unit rows of :func:`reflected` around an axis, shape ``(rows, len(axis))``."""
    heights = _heights(rng, len(axis), rows)
    lifted = difficulty * heights
    return _rows_at(rng, axis, lifted / np.hypot(np.sqrt(1.0 - heights**2), lifted))


# Numbers in a generated matrix: 4 gigabytes
MOST_ENTRIES = 500_000_000

Family = Literal[
    "exact", "reflected", "thin", "convex-combination", "gaussian", "classes", "worst-case"
]

_SIZES = {"dimension": 100, "rows": 5000}


class _Construction(NamedTuple):
    """The construction of a family of rows, with its parameters and least number of rows."""

    make: Callable[..., MarginSet]
    defaults: Mapping[str, object]
    fewest_rows: Callable[[int], int] = lambda dimension: 1


_FAMILIES = {
    "exact": _Construction(exact, _SIZES | {"margin": 1e-3}, lambda n: 2 * (n - 1)),
    "reflected": _Construction(reflected, _SIZES | {"difficulty": 0.3}),
    "thin": _Construction(thin, _SIZES | {"margin": 1e-3}, lambda n: 2),
    "convex-combination": _Construction(convex_combination, _SIZES, lambda n: n + 1),
    "gaussian": _Construction(gaussian, {"dimension": 100, "ratio": None, "rows": 5000}),
    "classes": _Construction(classes, _SIZES | {"separation": 8.0}, lambda n: 2),
    "worst-case": _Construction(worst_case, {"steepness": 100}),
}
_DEFAULTS = {name: family.defaults for name, family in _FAMILIES.items()}


@parameter_record
class MarginSets(GeneratedDataset):
    """Generated rows of known margin, infeasible rows, labelled classes; one instance per entry.

    Find y with a_i'y > 0 for all rows a_i. The instance's name holds all its parameters, as in
    ``reflected-100x5000-0.3`` (dimension x rows); name and seed determine it. Sweeps are written
    with ``grid:``. A parameter that the family does not have is refused.

    ``exact``: margin exactly ``margin``, rows in all directions. ``thin``: margin exactly
    ``margin``, an elliptic cone with log-spaced axes (ill-conditioned). ``reflected``: rows uniform
    on a half-sphere, flattened by the factor ``difficulty``; the synthetic data of
    `YuKilincCarbonell2014` as far as it is known; a lower bound of the margin is known.
    ``convex-combination``: infeasible, 0 is a known convex combination of the rows. ``gaussian``:
    normal rows, infeasible for rows > 2 dimension with high probability and near-critical around
    that; ``ratio`` gives the rows as a multiple of 2 dimension. ``classes``: two labelled normal
    classes, sought is an affine separator (dimension - 1 features). ``worst-case``: four rows in
    the plane on which the perceptron takes about 2 ``steepness``^2 updates (`PerceptronNotes`,
    section 3.1).

    Parameters
    ----------
    family
        One of the above.
    dimension
        Number of unknowns, 2 or more (default 100); not of worst-case.
    margin
        Of exact and thin, 1e-10 to 0.9 (default 1e-3).
    difficulty
        Of reflected, > 0, at most 1000 (default 0.3); smaller is harder, 1 is the half-sphere.
    separation
        Of classes, >= 0: the distance of the two means, in standard deviations (default 8).
    steepness
        Of worst-case, the notes' K, 1 or more (default 100).
    ratio
        Of gaussian, > 0, instead of ``rows``: rows = 2 dimension ratio, rounded.
    rows
        Number of rows, or of examples (default 5000); not of worst-case.
    bracket
        Whether to prove how negative the margin is, where no separator is known, so that
        certificates have bounds in terms of it (default false). It takes 2 dimension linear
        programs: a second for 125 rows of dimension 50, half a dozen for 1000.
    measured
        The margin that is sought, as for :meth:`.ConicSystem.from_labelled`: ``unit`` (default),
        ``directional``, or ``geometric``, of classes only.
    """

    family: Family
    dimension: Annotated[int, Field(ge=2, le=1_000_000)] | None = None
    margin: Annotated[float, Field(ge=1e-10, le=0.9)] | None = None
    difficulty: Annotated[float, Field(gt=0, le=1000)] | None = None
    separation: Annotated[float, Field(ge=0, le=1000)] | None = None
    steepness: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    ratio: Annotated[float, Field(gt=0, le=1000)] | None = None
    rows: Count | None = None
    bracket: bool = False
    measured: Literal["unit", "directional", "geometric"] = "unit"

    _of_the_family = defaulted_with(
        "family", _DEFAULTS, "dimension", "margin", "difficulty", "separation", "steepness", "ratio"
    )

    @field_validator("ratio")
    @classmethod
    def _possible_ratio(cls, ratio: float | None, info: ValidationInfo) -> float | None:
        if ratio is not None and info.data.get("dimension") is not None:
            _check_rows(_rows(info.data["dimension"], ratio), info)
        return ratio

    @field_validator("rows")
    @classmethod
    def _possible_rows(cls, rows: int | None, info: ValidationInfo) -> int | None:
        if info.data.get("ratio") is None:
            return _check_rows(value_or_default(rows, info, "family", _DEFAULTS), info)
        if rows is not None:
            raise ValueError("ratio determines the number of rows; keep one of the two")
        return None

    @field_validator("measured")
    @classmethod
    def _of_classes(cls, measured: str, info: ValidationInfo) -> str:
        if measured == "geometric" and info.data.get("family", "classes") != "classes":
            raise ValueError("the geometric margin is that of classes; choose unit or directional")
        return measured

    @property
    def name(self) -> str:
        """The instance's name, which holds the parameters of its data."""
        values = self._values()
        sizes = [f"{values.pop('dimension')}x{values.pop('rows')}"] if "rows" in values else []
        return "-".join([self.family, *sizes, *map(plain, values.values())])

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        generated = self.generate(seed)
        if generated.labels is None:
            system = ConicSystem.from_rows(generated.rows, margin=self.measured)
            arrays = [generated.rows]
        else:
            system = ConicSystem.from_labelled(
                generated.rows, generated.labels, margin=self.measured
            )
            arrays = [generated.rows, generated.labels]
        # A known point already gives a margin; the linear programs are for the others.
        problem = self.stated(system, *arrays, point=generated.point)
        if not self.bracket or generated.point is not None:
            return problem
        return replace(problem, facts=negative_margin(system).with_radius(problem.facts))

    def generate(self, seed: int) -> MarginSet:
        """Return the rows, with the solutions known by construction."""
        values = self._values()
        size = 8 * values.get("rows", 4) * values.get("dimension", 2)
        with self.random(seed, size) as rng:
            return _FAMILIES[self.family].make(rng, **values)

    def _values(self) -> dict[str, Any]:
        """Return the arguments of the generator."""
        values = {name: getattr(self, name) for name in _DEFAULTS[self.family]}
        ratio = values.pop("ratio", None)
        if ratio is not None:
            values["rows"] = _rows(values["dimension"], ratio)
        return values


def _rows(dimension: int, ratio: float) -> int:
    """Return the number of Gaussian rows for a multiple of 2 dimension."""
    return max(1, round(2 * dimension * ratio))


def _check_rows(rows: int | None, info: ValidationInfo) -> int | None:
    """Return the number of rows if the family and the memory allow it, or raise a ValueError."""
    family, dimension = info.data.get("family"), info.data.get("dimension")
    if rows is None or family is None or dimension is None:
        return rows
    fewest, most = _FAMILIES[family].fewest_rows(dimension), MOST_ENTRIES // dimension
    if not fewest <= rows <= most:
        raise ValueError(
            f"{rows} rows in dimension {dimension}; the family {family} allows {fewest} to {most}"
        )
    return rows
