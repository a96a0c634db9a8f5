"""MAXSEP at a fixed separation ratio as a conic system for every algorithm, and as a dataset.

With x^ = (x, 1), the program (7.9) of `Kharechko2009`,

    max t  subject to  x^'E^x^ <= 1 (positives),  x^'E^x^ >= 1 + t (negatives),  E^ >= 0,

asks for the largest ratio rho = (1 + t)^(1/2) of two concentric, similar ellipsoids, one around the
positives, the other excluding the negatives. Its constraints at a fixed rho, made homogeneous by a
level s in place of 1, are the system in y = (svec E^, s)

    E^ in int S_+,   s - x^'E^x^ > 0 (positives),   x^'E^x^ - rho^2 s > 0 (negatives).

It is feasible if and only if the largest ratio is above rho: a multiple of I can be added to E^
where the inequalities are strict. Otherwise Gordan's alternative holds: weights lambda and Z >= 0,
not all zero, with sum_+ lambda = rho^2 sum_- lambda and
sum_+ lambda x^x^' - sum_- lambda x^x^' = Z, a point of the dual (7.21) where t <= rho^2 - 1.

At rho = 1 the trivial E^ = e e', s = 1 lies on the boundary, and nothing could be proved of classes
that no ellipsoid separates. There E^ and s enter by the quadratic M = E^ - s e e' only, and any M
whose leading block A is positive definite becomes E^ >= 0 by a multiple of e e'. So the unknown is
y = svec M and the system A in int S_+, -x^'Mx^ > 0 (positives), x^'Mx^ > 0 (negatives).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError, did_you_mean
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.tabular import Tabular, instances_of
from perceptron_lab.datasets.dataset import Dataset, check_distinct, value_or_default
from perceptron_lab.datasets.generated.ellipsoid_sets import (
    Count,
    Dimension,
    EllipsoidSets,
    Ratio,
    check_training,
)
from perceptron_lab.datasets.generated.generator import one_thread, plain
from perceptron_lab.datasets.problem import Problem, sha256_of_arrays
from perceptron_lab.problems.ellipsoids.ellipsoid import (
    Ellipsoid,
    lifted,
    smat,
    squares,
    svec,
    two_classes,
)
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.systems import ConicSystem


@dataclass(frozen=True, eq=False)
class SeparationSystem:
    """The system of two classes at a separation ratio, and the ellipsoids of its points.

    Parameters
    ----------
    system
        A matrix block (E^, or A), then one row of norm 1 per example. Its data are the products of
        whitened coordinates as doubles; what is proved is proved of these.
    frame
        The whitened coordinates u of the examples, r of them.
    products
        svec(u^u^') of the positives and of the negatives in their affine hull.
    """

    system: ConicSystem
    frame: AffineFrame
    products: tuple[FloatArray, FloatArray]

    def ratio(self, point: FloatArray) -> float:
        """Return the separation ratio that the ellipsoid of a point attains, in doubles.

        It is 0 where the point has no ellipsoid, or all negatives are not outside of its centre.
        """
        try:
            quadratic, _, _, level = self._ellipsoid(point)
        except InputError:
            return 0.0
        inner, outer = (values @ svec(quadratic) + level for values in self.products)
        return float(np.sqrt(max(outer.min(), 0.0) / max(inner.max(), np.finfo(float).tiny)))

    def figures(self, point: FloatArray) -> dict[str, float | FloatArray]:
        """Return the metrics of a point: ``attained``, the separation ratio of its ellipsoid."""
        return {"attained": self.ratio(point)}

    def ellipsoid(self, point: FloatArray) -> Ellipsoid:
        """Return the ellipsoid {x : u^'Mu^ <= 0} of a point inside the system, M = E^ - s e e'.

        Raises
        ------
        InputError
            If A is not positive definite or the set is empty, as for points that are not inside.
        """
        _, root, offset, level = self._ellipsoid(point)
        factor = root.T @ self.frame.basis.T
        return Ellipsoid(self.frame.shift, factor, offset).scaled(1.0 / level)

    def _ellipsoid(self, point: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Return M, L, d and l > 0 such that A = LL' and u^'Mu^ = norm(L'u + d)^2 - l."""
        size = self.products[0].shape[1]
        quadratic = smat(point[:size])
        # M = E^ - s e e'; at ratio 1 the system has no level, and the sum is empty.
        quadratic[-1, -1] -= point[size:].sum()  # the level, where there is one
        try:
            root = np.linalg.cholesky(quadratic[:-1, :-1])
        except np.linalg.LinAlgError:
            raise InputError(
                "the point's matrix is not positive definite: it is not inside the system"
            ) from None
        offset = np.asarray(np.linalg.solve(root, quadratic[:-1, -1]))
        level = float(offset @ offset) - float(quadratic[-1, -1])
        if not level > 0.0:
            raise InputError("the point's quadratic is nowhere negative: it is not inside")
        return quadratic, np.asarray(root), offset, level


def separation_system(
    positives: npt.ArrayLike, negatives: npt.ArrayLike, ratio: float = 1.0
) -> SeparationSystem:
    """Return the system that is feasible if and only if MAXSEP's optimal ratio is above ``ratio``.

    Negatives off the affine hull of the positives restrict nothing and are left out.

    Parameters
    ----------
    positives, negatives
        Dense finite rows, shapes ``(m, k)`` with one k, at least one each.
    ratio
        rho, 1 or more; 1 asks whether any ellipsoid separates the classes.

    Raises
    ------
    InputError
        If the rows or the ratio are not as described, all positives are equal, or no negative
        is in their affine hull.
    """
    inner, outer = two_classes(positives, negatives)
    if not ratio >= 1.0:
        raise InputError(f"ratio {ratio:g}; give 1 or more: MAXSEP's optimum never is below 1")
    frame = AffineFrame.of(inner, outer)
    if frame.outside.all():
        raise InputError(
            "no negative lies in the affine hull of the positives: every ratio is reached, and "
            "there is nothing to decide; MaximalSeparation shows the direction"
        )
    if not frame.dimension:
        raise InputError("all positives are equal, and equal to a negative: nothing separates them")
    classes = (inner, outer[~frame.outside])
    within, without = (squares(lifted(frame.coordinates(part))) for part in classes)
    rows = np.vstack([-within, without])
    if ratio > 1.0:
        levels = [np.ones(len(within)), np.full(len(without), -(ratio * ratio))]
        rows = np.column_stack([rows, np.concatenate(levels)])
    # Norm 1, so that the margin of the system weighs all examples equally.
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    # the rows that pick the first entries of y as a matrix, in the order of np.triu_indices
    columns, lines = np.tril_indices(frame.dimension + (ratio > 1.0))
    block, order = np.zeros((len(lines), rows.shape[1])), np.lexsort((columns, lines))
    np.fill_diagonal(block, np.where(lines == columns, 1.0, np.sqrt(0.5)))
    cone = Semidefinite(frame.dimension + (ratio > 1.0), lines[order], columns[order])
    matrix = Matrix(np.vstack([block[order], rows]))
    system = ConicSystem(matrix, Product([cone, Orthant(len(rows))]))
    return SeparationSystem(system, frame, (within, without))


_PARAMETERS: dict[str, dict[str, Any]] = {
    "ellipsoid-sets": {"attained": 1.5, "dimension": 2, "training": 30},
    **{source: {"instances": None} for source in ("digits", "breast-cancer", "wine")},
}


def _check_pair(name: str, info: ValidationInfo) -> str:
    source = info.data.get("source", "ellipsoid-sets")
    names = [name] if source == "ellipsoid-sets" else list(instances_of(source, "pairs"))
    if name not in names:
        raise ValueError(f"no pair of classes is called {name!r}{did_you_mean(name, names)}")
    return name


@parameter_record
class EllipsoidSeparationSystems(Dataset):
    """Whether two concentric, similar ellipsoids of a given ratio separate two classes (MAXSEP).

    For x^ = (x, 1), sought are E^ and s with E^ positive definite, x^'E^x^ < s on the positives and
    x^'E^x^ > ratio^2 s on the negatives: the program (7.9) of `Kharechko2009`, max t subject to
    x^'E^x^ <= 1 and x^'E^x^ >= 1 + t, at 1 + t = ratio^2. The system has one matrix block and a row
    per example; it is feasible if the largest ratio is above ``ratio``, else infeasible.
    A point is measured by ``attained``, the ratio of its ellipsoid on the examples (0 where it
    has none).

    The examples are those of the datasets ellipsoid-sets (test: 200, same seed) and tabular
    (task: pairs), in coordinates in which they are white. The instance's name is that of the
    examples followed by the ratio, as in ``ellipsoid-2x30-200-1.5-above-1.2`` or
    ``wine-0-1-above-1``; the first class of a pair is the one inside.

    Parameters
    ----------
    source
        ``ellipsoid-sets`` (default), ``digits``, ``breast-cancer`` or ``wine``.
    ratio
        The required separation ratio, 1 (default: whether any ellipsoid separates) to 100.
    dimension
        Of ellipsoid-sets, 1 to 50 (default 2).
    attained
        Of ellipsoid-sets, the largest ratio, 0.01 to 100, not 1 (default 1.5); below 1 no ellipsoid
        separates the classes.
    training
        Of ellipsoid-sets, examples of each class, dimension + 1 or more (default 30).
    instances
        Of the others, some of the pairs of classes, such as ``wine-0-1``; by default all.
    """

    source: Literal["ellipsoid-sets", "digits", "breast-cancer", "wine"] = "ellipsoid-sets"
    ratio: Annotated[float, Field(ge=1.0, le=100.0)] = 1.0
    dimension: Dimension | None = None
    attained: Ratio | None = None
    training: Count | None = None
    instances: (
        Annotated[list[Annotated[str, AfterValidator(_check_pair)]], AfterValidator(check_distinct)]
        | None
    ) = None

    @field_validator("dimension", "attained", "training", "instances")
    @classmethod
    def _check_parameter_of_source(cls, value: object, info: ValidationInfo) -> Any:
        return value_or_default(value, info, "source", _PARAMETERS)

    @field_validator("training")
    @classmethod
    def _check_training(cls, training: int | None, info: ValidationInfo) -> int | None:
        return None if training is None else check_training(training, info)

    def names(self) -> list[str]:
        """Return the names of the instances, examples and ratio; no data is loaded."""
        return list(self._examples())

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return the system of one pair of classes."""
        self.check_name(name)
        if self.source == "ellipsoid-sets":
            task = self._generated().sample(seed).task
            rows, positive = np.asarray(task.examples), task.labels > 0
        else:
            first, second = instances_of(self.source, "pairs")[self._examples()[name]]
            pair = None if second is None else (first, second)
            examples = Tabular(self.source).examples(pair)
            rows, positive = examples.train, examples.labels == first
        with one_thread():
            separation = separation_system(rows[positive], rows[~positive], self.ratio)
        sha256 = sha256_of_arrays(rows[positive], rows[~positive])
        return Problem(
            name, separation.system, sha256, separation.system.facts(), separation.figures
        )

    def _generated(self) -> EllipsoidSets:
        return EllipsoidSets(self.attained or 1.5, self.dimension or 2, self.training or 30)

    def _examples(self) -> dict[str, str]:
        """Return the instances' names -> the names of their examples."""
        if self.source == "ellipsoid-sets":
            sets = [self._generated().name]
        else:
            sets = self.instances or list(instances_of(self.source, "pairs"))
        return {f"{set_name}-above-{plain(self.ratio)}": set_name for set_name in sets}
