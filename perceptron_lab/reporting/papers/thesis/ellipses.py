"""Figures 7.1 to 7.3 of `Kharechko2009`: ellipses, and the classes that they separate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.generated.ellipsoid_sets import EllipsoidSets
from perceptron_lab.datasets.problem import Task
from perceptron_lab.problems.ellipsoids.hard.separation import NEGLIGIBLE
from perceptron_lab.problems.ellipsoids.hard.separation import SUPPORT as SUPPORTING
from perceptron_lab.reporting.evidence import WITHOUT_RESULT, Evidence
from perceptron_lab.reporting.needs import Need, Outline, needs, problems_of
from perceptron_lab.reporting.printing.drawing import canvas
from perceptron_lab.reporting.printing.looks import Style

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
        # eigh gives the shortest first
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
        # By eigenvalues, which tell an ellipse from other conics and give the root as well
        values, vectors = np.linalg.eigh(shape)
        if values[0] <= 0.0:
            raise DataError(
                f"{self.problem}, {self.label}: the solution is not an ellipse, because C has the "
                f"eigenvalue {values[0]:g}; use the solver central-path, which finds an ellipse "
                "where no ellipsoid separates the classes"
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

    A DataError names the experiment to run if no run stored its ellipsoid.
    """
    # A figure draws one data set of each kind; seeds differ in nothing that it is about
    first = evidence.frame.drop_duplicates(["problem", "label"])
    first = first[~first["status"].isin(WITHOUT_RESULT)]
    separated = []
    for cell, problem, label, seed in first[["cell", "problem", "label", "seed"]].to_numpy():
        record, trace = evidence.dataset(problem), evidence.trace(cell)
        if not isinstance(record, EllipsoidSets) or record.dimension != dimension:
            continue
        if trace is not None and "homogeneous" in trace.measures:
            arrays = {name: values[0] for name, values in trace.measures.items()}
            weights = np.concatenate([arrays["positive_weights"], arrays["negative_weights"]])
            support = np.flatnonzero(weights > SUPPORTING * weights.max(initial=0.0))
            threshold, ratio = (float(arrays[name][0]) for name in ("threshold", "ratio"))
            task, homogeneous = record.sample(int(seed)).task, arrays["homogeneous"]
            separated.append(
                Separated(problem, label, task, homogeneous, threshold, ratio, support)
            )
    if not separated:
        raise _without_ellipsoid(dimension)
    return separated


def first_separable(evidence: Evidence, dimension: int) -> Separated:
    """Return the first separation by an ellipsoid; otherwise as :func:`separations`."""
    separable = [
        separation for separation in separations(evidence, dimension) if separation.separable
    ]
    if not separable:
        raise _without_separable(dimension)
    return separable[0]


def planned_in(dimension: int, *, separable: bool = False) -> Need:
    """Return the check that a plan has (separable) ellipsoid separations in a dimension."""

    def check(plan: Outline) -> None:
        sets = problems_of(plan, EllipsoidSets).values()
        ratios = [point_set.ratio for point_set in sets if point_set.dimension == dimension]
        learnt = any(
            method.algorithm == "ellipsoid-separation" and method.parameters["components"] is None
            for method in plan.methods().values()
        )
        if not ratios or not learnt:
            raise _without_ellipsoid(dimension)
        # The classes are built with this separation ratio: at 1 or less no ellipsoid lies between
        # them
        if separable and max(ratios) <= 1.0:
            raise _without_separable(dimension)

    return check


def _without_ellipsoid(dimension: int) -> DataError:
    return DataError(
        f"no run has an ellipsoid in dimension {dimension}; add ellipsoid-separation with "
        f"components: null on the dataset ellipsoid-sets with dimension: {dimension}"
    )


def _without_separable(dimension: int) -> DataError:
    return DataError(
        f"in dimension {dimension} no ellipsoid separates any of the classes; add the dataset "
        "ellipsoid-sets with a ratio above 1"
    )


_MARK: Style = {"markeredgewidth": 0.7, "linestyle": "none"}
_POSITIVES = _MARK | {"color": "#0072B2", "marker": "*", "markersize": 4.5, "fillstyle": "full"}
_NEGATIVES = _MARK | {"color": "#D55E00", "marker": "o", "markersize": 3.0, "fillstyle": "none"}
_SUPPORT = _MARK | {"color": "black", "marker": "o", "markersize": 8.0, "fillstyle": "none"}
_SOLID: Style = {"color": "black", "linewidth": 1.1, "linestyle": "-"}
_DASHED: Style = {"color": "black", "linewidth": 0.7, "linestyle": "--"}

_INK = "#0072B2"
# Points between a place of Figure 7.1 and its name
_APART = 12.0
# The members of Figure 7.3's family other than the canonical one, eta = 1, by colour
_ETAS = {0.3: "#009E73", 0.6: "#CC79A7", 0.9: "#E69F00"}
# The augmented coordinate of Figure 7.3 is shown up to this
_HEIGHT = 2.2


@needs(of_plan=[planned_in(2, separable=True)])
def figure_7_1(evidence: Evidence) -> Figure:
    """The middle ellipse of the first separation in the plane, with centre and axes.

    It is {A u + c : norm(u) <= 1}, (7.1): the arrows from the centre c are the eigenvectors of A,
    as long as their eigenvalues.
    """
    separated = first_separable(evidence, 2)
    ellipse = separated.ellipse(separated.threshold)
    centre = ellipse.centre
    # As high as the ellipse asks for, so that no blank is left above and below
    across, up = np.ptp(ellipse.boundary(), axis=0)
    figure = canvas(3.4, 0.5 + 2.85 * float(up / across))
    axes = figure.subplots()
    axes.fill(*ellipse.boundary().T, color=_INK, alpha=0.08, linewidth=0)
    axes.plot(*ellipse.boundary().T, color=_INK, linewidth=1.1, label="ellipse")
    lengths, directions = ellipse.axes()
    arrow = {"arrowstyle": "-|>", "color": "black", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
    offset: Style = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": 9}
    for number, (length, direction) in enumerate(zip(lengths, directions, strict=True), 1):
        end, middle = centre + length * direction, centre + 0.55 * length * direction
        axes.annotate("", xy=end.tolist(), xytext=centre.tolist(), arrowprops={**arrow})
        across = _APART * np.array([-direction[1], direction[0]])
        name = rf"$\lambda_{number}\,\mathbf{{v}}_{number}$"
        axes.annotate(name, xy=middle.tolist(), xytext=across.tolist(), **offset)
    axes.plot(*centre, color="black", marker="o", markersize=3, label="centre")
    # Opposite to both arrows, where nothing is drawn
    away = -directions.sum(axis=0)
    beside = _APART * (away / np.linalg.norm(away))
    axes.annotate(r"$\mathbf{c}$", xy=centre.tolist(), xytext=beside.tolist(), **offset)
    axes.margins(0.1)
    axes.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    return figure


@needs(of_plan=[planned_in(2)])
def figure_7_2(evidence: Evidence) -> Figure:
    """Planar data sets with their separating ellipses, one panel each.

    Positives are asterisks, negatives circles, support examples have a ring. The classifier, f = 0
    of (8.2), is solid; dashed are the ellipse that holds all positives and the one that holds no
    negative. Where no ellipse separates the classes, t = 0, the optimum is degenerate; drawn is the
    direction in which the central path approaches it. The two dashed ellipses have changed places
    there, and every example has a weight, so that none is marked.
    """
    separations_2d = separations(evidence, 2)
    figure = canvas(3.3 * len(separations_2d), 3.6)
    panels = figure.subplots(1, len(separations_2d), squeeze=False)[0]
    for axes, separated in zip(panels, separations_2d, strict=True):
        points, labels = np.asarray(separated.task.examples), separated.task.labels
        axes.plot(*points[labels > 0].T, label="positives", **_POSITIVES)
        axes.plot(*points[labels < 0].T, label="negatives", **_NEGATIVES)
        if separated.separable:
            axes.plot(*points[separated.support].T, label="support examples", **_SUPPORT)
        for level, name in zip(separated.bounds, ("positives", "negatives"), strict=True):
            curve = separated.ellipse(level).boundary()
            axes.plot(*curve.T, label=f"bound of {name}", **_DASHED)
        classifier = separated.ellipse(separated.threshold).boundary()
        axes.plot(*classifier.T, label="classifier", **_SOLID)
        # A square around the examples
        low, high = points.min(axis=0), points.max(axis=0)
        reach, middle = 0.53 * float((high - low).max()), (low + high) / 2.0
        limits = np.column_stack([middle - reach, middle + reach])
        axes.set(aspect="equal", xlim=limits[0], ylim=limits[1], xlabel="$x_1$", ylabel="$x_2$")
        separable = f"separation ratio $\\rho = {np.sqrt(1.0 + separated.ratio):.4g}$"
        axes.set_title(separable if separated.separable else "no ellipse separates, $t = 0$")
    named = {
        "positives": _POSITIVES,
        "negatives": _NEGATIVES,
        "support examples": _SUPPORT,
        "classifier, $f = 0$": _SOLID,
        "bounds of the classes": _DASHED,
    }
    handles = [Line2D([], [], label=name, **style) for name, style in named.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, frameon=False)
    return figure


@needs(of_plan=[planned_in(1, separable=True)])
def figure_7_3(evidence: Evidence) -> Figure:
    """Ellipses about the origin of (x, x_2) that meet the line x_2 = 1 in one interval.

    The interval is the ellipsoid that the first separation on a line found to hold the positives.
    With its canonical form E^ of (7.8), all eta E^ + (1 - eta) e e', 0 < eta <= 1, have the section
    (x - c)'E(x - c) <= 1: eta (x - c)'E(x - c) + 1 - eta <= 1. The one with eta = 1, dashed, is
    of infinite length in one direction: the solution of (7.9). Examples lie on the line.
    """
    separated = first_separable(evidence, 1)
    interval = separated.ellipse(1.0)
    centre, half = float(interval.centre[0]), float(interval.root[0, 0])
    black: Style = {"color": "black"}
    figure = canvas(4.4, 3.4)
    axes = figure.subplots()
    canonical = np.array([[1.0, -centre], [-centre, centre * centre]]) / (half * half)
    for eta, colour in _ETAS.items():
        # The boundary of {z : z' (eta E^ + (1 - eta) e e') z <= 1}, z = (x, x_2)
        matrix = eta * canonical
        matrix[1, 1] += 1.0 - eta
        # With M = L L', z = L^(-T) u has z'Mz = norm(u)^2
        curve = CIRCLE @ np.linalg.inv(np.linalg.cholesky(matrix))
        axes.plot(*curve.T, color=colour, linewidth=0.9, label=f"$\\eta = {eta:g}$")
    # The two lines abs(x - c x_2) = half
    heights = np.array([-2.0 * _HEIGHT, 2.0 * _HEIGHT])
    for sign, name in ((-1.0, "$\\eta = 1$"), (1.0, "_")):
        line = centre * heights + sign * half
        axes.plot(line, heights, linestyle="--", linewidth=1.0, label=name, **black)
    axes.axhline(1.0, color="0.6", linewidth=0.6, zorder=0)
    ends = [centre - half, centre + half]
    axes.plot(ends, [1.0, 1.0], linewidth=2.2, label="section", **black)
    coordinates, labels = np.asarray(separated.task.examples)[:, 0], separated.task.labels
    for sign, name, mark in ((1.0, "positives", _POSITIVES), (-1.0, "negatives", _NEGATIVES)):
        class_coordinates = coordinates[labels == sign]
        axes.plot(class_coordinates, np.ones(len(class_coordinates)), label=name, **mark)
    axes.plot(0.0, 0.0, marker="+", markersize=6, linestyle="none", label="origin", **black)
    reach = 2.0 * half + abs(centre)
    # Both signs of x_2: the ellipses are symmetric about the origin
    axes.set(xlim=(-reach, reach), ylim=(-_HEIGHT, _HEIGHT))
    axes.set(xlabel="$x$", ylabel="added coordinate $x_2$")
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure
