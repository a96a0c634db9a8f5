"""The separations that figures draw: their examples, and level curves of their quadratics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.generated.ellipsoid_sets import EllipsoidSets
from perceptron_lab.datasets.problem import Task
from perceptron_lab.problems.ellipsoids.hard.separation import NEGLIGIBLE
from perceptron_lab.problems.ellipsoids.hard.separation import SUPPORT as SUPPORTING
from perceptron_lab.reporting.evidence import WITHOUT_RESULT, Evidence
from perceptron_lab.reporting.needs import Need, Outline

_TURN = np.linspace(0.0, 2.0 * np.pi, 361)
CIRCLE = np.column_stack([np.cos(_TURN), np.sin(_TURN)])
"""Points of the unit circle, a closed curve."""


@dataclass(frozen=True)
class Ellipse:
    """{centre + root u : norm(u) <= 1}, (7.1) of `Kharechko2009`.

    ``root`` is A = E^(-1/2), symmetric positive definite.
    """

    centre: FloatArray
    root: FloatArray

    def boundary(self) -> FloatArray:
        """Return points of the boundary of a planar ellipse, shape ``(361, 2)``."""
        return np.asarray(self.centre + CIRCLE @ self.root)

    def axes(self) -> tuple[FloatArray, FloatArray]:
        """Return the half-lengths, longest first, and the directions as rows."""
        lengths, directions = np.linalg.eigh(self.root)
        return lengths[::-1], directions.T[::-1]


@dataclass(frozen=True)
class Separated:
    """The solution of ``ellipsoid-separation`` on the examples of a task.

    f(x) = threshold - (x, 1)' homogeneous (x, 1); ``ratio`` is t, 0 where no ellipsoid separates
    the classes; ``support`` are the training examples with positive weights.
    """

    problem: str
    label: str
    task: Task
    homogeneous: FloatArray
    threshold: float
    ratio: float
    support: IntArray

    @property
    def separable(self) -> bool:
        """Whether an ellipsoid separates the classes."""
        return self.ratio > NEGLIGIBLE

    @property
    def bounds(self) -> tuple[float, float]:
        """The largest value on positives and the least on negatives that the solution allows.

        1 and 1 + t; in the limit of the central path, where q < 0 on positives and q > -s on
        negatives, 0 and -s: the other way round.
        """
        return (1.0, 1.0 + self.ratio) if self.separable else (0.0, 2.0 * self.threshold)

    def ellipse(self, level: float) -> Ellipse:
        """Return {x : (x, 1)' homogeneous (x, 1) <= level}, if that is an ellipse."""
        shape, linear = self.homogeneous[:-1, :-1], self.homogeneous[:-1, -1]
        values, vectors = np.linalg.eigh(shape)
        if values[0] <= 0.0:
            raise DataError(
                f"{self.problem}, {self.label}: the solution is no ellipse, as C has the "
                f"eigenvalue {values[0]:g}; where no ellipsoid separates the classes, the solver "
                "central-path finds one"
            )
        # The square completed: (x - c)'C(x - c) = level - (the value at the centre)
        centre = -vectors @ ((vectors.T @ linear) / values)
        squared = level - self.homogeneous[-1, -1] - float(linear @ centre)
        if squared <= 0.0:
            raise DataError(f"{self.problem}, {self.label}: no point has a value below {level:g}")
        root = (vectors * np.sqrt(squared / values)) @ vectors.T
        return Ellipse(centre, root)


def separations(evidence: Evidence, dimension: int) -> list[Separated]:
    """Return the first run of each problem and label on sets of known ratio in this dimension.

    A DataError says what to run if there is none that kept its ellipsoid.
    """
    first = evidence.frame.drop_duplicates(["problem", "label"])
    first = first[~first["status"].isin(WITHOUT_RESULT)]
    found = []
    for cell, problem, label, seed in first[["cell", "problem", "label", "seed"]].to_numpy():
        record, trace = evidence.dataset(problem), evidence.trace(cell)
        if not isinstance(record, EllipsoidSets) or record.dimension != dimension:
            continue
        if trace is not None and "homogeneous" in trace.measures:
            kept = {name: values[0] for name, values in trace.measures.items()}
            weights = np.concatenate([kept["positive_weights"], kept["negative_weights"]])
            support = np.flatnonzero(weights > SUPPORTING * weights.max(initial=0.0))
            threshold, ratio = (float(kept[name][0]) for name in ("threshold", "ratio"))
            task, homogeneous = record.sample(int(seed)).task, kept["homogeneous"]
            found.append(Separated(problem, label, task, homogeneous, threshold, ratio, support))
    if not found:
        raise _without_ellipsoid(dimension)
    return found


def first_separable(evidence: Evidence, dimension: int) -> Separated:
    """Return the first separation by an ellipsoid; otherwise as :func:`separations`."""
    separable = [one for one in separations(evidence, dimension) if one.separable]
    if not separable:
        raise _without_separable(dimension)
    return separable[0]


def planned_in(dimension: int, *, separable: bool = False) -> Need:
    """Return the check that a plan has separations in a dimension, if asked for by an ellipsoid."""

    def check(plan: Outline) -> None:
        records = [plan.dataset(problem) for problem in plan.problems()]
        sets = [one for one in records if isinstance(one, EllipsoidSets)]
        ratios = [one.ratio for one in sets if one.dimension == dimension]
        learnt = any(
            method.algorithm == "ellipsoid-separation" and method.parameters["components"] is None
            for method in plan.methods().values()
        )
        if not ratios or not learnt:
            raise _without_ellipsoid(dimension)
        if separable and max(ratios) <= 1.0:
            raise _without_separable(dimension)

    return check


def _without_ellipsoid(dimension: int) -> DataError:
    return DataError(
        f"no run has an ellipsoid in dimension {dimension}; needed are ellipsoid-separation "
        f"with components: null on the dataset ellipsoid-sets with dimension: {dimension}"
    )


def _without_separable(dimension: int) -> DataError:
    return DataError(
        f"in dimension {dimension} no ellipsoid separates any of the classes; add the dataset "
        "ellipsoid-sets with a ratio above 1"
    )
