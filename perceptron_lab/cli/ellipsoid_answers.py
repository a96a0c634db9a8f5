"""The answer to "does an ellipsoid separate the classes of this file?", either class inside."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_lab.cli.file_answers import FileAnswer
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.outward_rounding import bracket_text
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import seconds_left, time_is_up, time_limit
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.formats.file_contents import read_contents, with_path
from perceptron_lab.numerics.input_checks import refuse_rounded
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.problems.ellipsoids.hard.separation import Separation
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOUND = (Status.FEASIBLE, Status.UNBOUNDED)


@dataclass(frozen=True)
class EllipsoidAnswer(FileAnswer):
    """The separations of two classes by ellipsoids, by the class that is inside.

    Parameters
    ----------
    examples, classes
        Shape ``(m, k)``, and a label each, shape ``(m,)``.
    features
        The names of the coordinates; None where the file has none.
    separations
        Class inside -> its separation from the other one; the larger label first, and it alone
        where no time is left for the other.
    reading, notes
        How a text was read, in a sentence, and sentences on what was left out.
    """

    examples: FloatArray
    classes: Any
    features: list[str] | None
    separations: dict[Any, Separation]
    reading: str = ""
    notes: tuple[str, ...] = ()

    def text(self, *, verbose: bool = False) -> str:
        """Return the separations for a reader; if verbose, with the solver and the proof."""
        lines = self.reading_line(self.reading, self.notes).splitlines()
        for inside in set(self.classes.tolist()) - self.separations.keys():
            lines.append(f"{self.file}: no time is left for an ellipsoid with {inside!r} inside")
        for inside, separation in self.separations.items():
            sentence = f"whether an ellipsoid with {inside!r} inside separates the classes is open"
            if separation.status in (*_FOUND, Status.INFEASIBLE):
                which = "no" if separation.status is Status.INFEASIBLE else "an"
                proved = "proved" if separation.proved else "not proved"
                sentence = (
                    f"{which} ellipsoid with {inside!r} inside separates the classes ({proved})"
                )
            bracket = bracket_text(separation.ratio_lower, separation.ratio_upper)
            lines += [
                f"{self.file}: {sentence}",
                f"  {separation.status}: t = (ratio of half-axes)^2 - 1 in {bracket}"
                + (f"; {separation.message}" if verbose else ""),
            ]
        words = "classify new examples with EllipsoidSeparationClassifier().fit(X, y)"
        return "\n".join([*lines, f"  {words}; classes that overlap with SoftEllipsoidClassifier"])

    def as_json(self) -> dict[str, Any]:
        """Return the separations as JSON values; an infinite ratio is null."""
        return {
            "file": self.file.name,
            "features": self.features,
            "reading": self.reading,
            "notes": list(self.notes),
            "separations": [
                {
                    "inside": inside,
                    "status": separation.status.value,
                    "proved": separation.proved,
                    "ratio": _finite(separation.ratio),
                    "ratio_lower": _finite(separation.ratio_lower),
                    "ratio_upper": _finite(separation.ratio_upper),
                    "centre": None
                    if separation.ellipsoid is None
                    else separation.ellipsoid.centre.tolist(),
                    "message": separation.message,
                }
                for inside, separation in self.separations.items()
            ],
        }

    def plot(self) -> Figure:
        """Return a figure of examples of two features and the ellipses that separate them."""
        from perceptron_lab.core.trace_figure import InlineFigure  # matplotlib takes half a second

        if self.examples.shape[1] != 2:
            raise InputError(
                f"{self.file}: a figure shows two features, here are {self.examples.shape[1]}; "
                "leave --plot out"
            )
        figure = InlineFigure(figsize=(4.5, 4.0), layout="constrained")
        axes = figure.add_subplot()
        colours = ("#0072B2", "#D55E00")
        for (inside, separation), colour in zip(self.separations.items(), colours, strict=True):
            at = self.examples[self.classes == inside]
            axes.plot(*at.T, "o" if colour == colours[0] else "s", ms=3, color=colour, label=inside)
            if separation.status in _FOUND and separation.ellipsoid is not None:
                low, high = self.examples.min(axis=0), self.examples.max(axis=0)
                pad = 0.1 * (high - low)
                grid = np.meshgrid(
                    *(np.linspace(low[j] - pad[j], high[j] + pad[j], 300) for j in range(2))
                )
                points = np.column_stack([coordinates.ravel() for coordinates in grid])
                values = separation.decision_values(points).reshape(grid[0].shape)
                axes.contour(*grid, values, levels=[0.0], colors=colour, linewidths=1)
        names = self.features or ["x_1", "x_2"]
        axes.set_xlabel(names[0])
        axes.set_ylabel(names[1])
        figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
        return figure


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def ellipsoid_answer(
    file: Path,
    columns: Columns | None = None,
    *,
    seconds: float | None = None,
    stop: Callable[[], object] | None = None,
) -> EllipsoidAnswer:
    """Separate the two classes of a file by ellipsoids, as ``plab solve --ellipsoid`` does.

    Parameters
    ----------
    file, columns
        As for :func:`~perceptron_lab.datasets.collections.problem_files.read_problem`.
    seconds
        At most, after the file is read: half of them at least for either class; None for no limit.
    stop
        Asked again and again whether to end: a true value ends the work as the time does.
    """
    with with_path(file):
        contents = read_contents(file, columns)
        if contents.classes is None:
            raise InputError(
                "--ellipsoid needs two classes; name the column of labels with --labels COLUMN"
            )
        examples = refuse_rounded(contents.in_memory().values).values
        dense = dense_array(examples)
        two = contents.two_classes()
        signs, positive, negative = two.signs, two.positive, two.negative
        classes = np.where(signs > 0, np.array(positive, object), np.array(negative, object))
        separations: dict[Any, Separation] = {}
        with time_limit(math.inf if seconds is None else seconds, stop):
            # The first has half of the time, the other one all that is left
            for inside, sign, share in ((positive, 1.0, 0.5), (negative, -1.0, 1.0)):
                rows = dense[sign * signs > 0], dense[sign * signs < 0]
                # The first is tried in any case, so that there is an answer
                if separations and time_is_up():
                    break
                most = share * seconds_left()
                separations[inside] = maximal_separation(*rows, max_seconds=most)
    told_of = contents.reading, tuple(contents.notes)
    return EllipsoidAnswer(file, dense, classes, contents.features, separations, *told_of)
