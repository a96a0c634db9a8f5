"""Geometric and directional margin against the appended feature (`TsampoukaShaweTaylor`, 2.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import cells, counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import Look, looks_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import Summary, summaries

_DATASET = "offset-classes"


def offset_classes(outline: Outline) -> None:
    """Refuse outlines with other data, whose geometric margin is not known."""
    strangers = [name for name in outline.problems() if not name.startswith("offset-")]
    if strangers:
        raise DataError(
            f"{strangers[0]} has no known geometric margin; take the dataset {_DATASET} alone"
        )


@dataclass(frozen=True)
class Augmented:
    """The augmentation of a problem: rho, gamma, and the verified bounds of gamma_d, or None."""

    rho: float
    gamma: float
    lower: float | None
    upper: float | None

    @property
    def longest(self) -> float:
        """R, of examples in the unit ball."""
        # R^2 = rho^2 + R_x^2 with R_x = 1
        return math.hypot(1.0, self.rho)

    @property
    def ratios(self) -> tuple[float | None, float | None]:
        """Verified bounds of gamma / gamma_d."""
        # Bounds of a quotient: the larger gamma_d, the smaller the ratio
        low = None if not self.upper else self.gamma / self.upper
        return low, None if not self.lower or self.lower <= 0.0 else self.gamma / self.lower


def augmented(evidence: Evidence) -> dict[str, Augmented]:
    """Return problem -> its augmentation, with the best bounds of gamma_d that a label verified."""
    augmentations = {}
    for problem in evidence.problems():
        parameters = evidence.parameters(problem)
        runs = evidence.frame[evidence.frame["problem"] == problem]
        lower, upper = runs["margin_lower"].dropna(), runs["margin_upper"].dropna()
        augmentations[problem] = Augmented(
            float(parameters["augment"]),
            float(parameters["margin"]),
            # gamma_d depends on gamma, the offset and rho alone: bounds from any seed and label
            # hold for it
            None if lower.empty else float(lower.max()),
            None if upper.empty else float(upper.min()),
        )
    return augmentations


_NOTE = (
    "$\\rho$: the appended feature; $R^{2} = \\rho^{2} + R_{x}^{2}$ with $R_{x} = 1$. Geometric "
    "over directional margin: at least and at most, verified; at least 1 and at most $R/\\rho$ by "
    "(2.67) of TsampoukaShaweTaylor. Medians over the seeds. Epochs: products with all rows."
)


@needs(offset_classes)
def augmentation_table(evidence: Evidence) -> Table:
    """Ratio of the margins, updates and time against rho / R and the number of rows.

    Columns: ``problem``, ``dimension``, ``rows``, ``label``, ``seeds``; ``rho``, ``rho over R``;
    ``ratio least`` and ``ratio most``, verified bounds of gamma / gamma_d, ``R over rho``; medians
    over the seeds of ``updates``, their ``bound``, ``epochs`` and ``seconds``; ``status``.
    """
    entries = summaries(evidence.frame)
    augmentations = augmented(evidence)
    rows = [augmentations[entry.problem] for entry in entries]
    columns = [
        *cells(evidence.frame, entries),
        numbers("rho", [row.rho for row in rows]),
        numbers("rho over R", [row.rho / row.longest for row in rows]),
        numbers("ratio least", [row.ratios[0] for row in rows], lower_bound),
        numbers("ratio most", [row.ratios[1] for row in rows], upper_bound),
        numbers("R over rho", [row.longest / row.rho for row in rows], upper_bound),
        counts("updates", [entry.median("updates") for entry in entries]),
        numbers("bound", [entry.median("bound") for entry in entries]),
        numbers("epochs", [entry.median("products") for entry in entries]),
        seconds("seconds", [entry.median("seconds") for entry in entries]),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    return Table("augmentation", columns, keys=4, notes=[_NOTE], long=True)


@needs(offset_classes)
def augmentation_figure(evidence: Evidence) -> Figure:
    """Ratio of the margins (left) and updates (middle) against rho / R; seconds (right) by rows.

    Left: verified bounds of gamma / gamma_d, and its bound R / rho, (2.67), dashed. Left and middle
    have the problems of the number of rows that occurs most often, right has those of the rho that
    occurs most often; a dashed line there is linear in the rows.
    """
    entries, augmentations = summaries(evidence.frame), augmented(evidence)
    looks = looks_of(evidence, dict.fromkeys(entry.label for entry in entries))
    rows = {entry.problem: float(entry.median("constraints") or 0.0) for entry in entries}
    # Problems of one size only: otherwise the updates would differ for two reasons
    usual = _most_frequent(list(rows.values()))
    shares = {problem: item.rho / item.longest for problem, item in augmentations.items()}
    rho = _most_frequent([augmentations[problem].rho for problem in rows])
    figure = drawing.canvas(7.0, 2.8)
    ratio, updates, time = figure.subplots(1, 3)
    swept = sorted(
        (item for problem, item in augmentations.items() if rows[problem] == usual),
        key=lambda item: item.rho,
    )
    ratios_of_rho = [item.rho / item.longest for item in swept]
    ratio.plot(
        ratios_of_rho, [item.ratios[1] or math.nan for item in swept], marker="o", markersize=3
    )
    ratio.plot(
        ratios_of_rho, [item.longest / item.rho for item in swept], color="0.4", linestyle="--"
    )
    ratio.set(ylabel=r"$\gamma / \gamma_d$, and $R / \rho$ (dashed)", xlabel=r"$\rho / R$")
    ratio.set(xscale="log", yscale="log")
    for label, look in looks.items():
        of_label = [entry for entry in entries if entry.label == label]
        at_usual = [entry for entry in of_label if rows[entry.problem] == usual]
        at_rho = [entry for entry in of_label if augmentations[entry.problem].rho == rho]
        _draw(updates, [(shares[entry.problem], entry) for entry in at_usual], "updates", look)
        _draw(time, [(rows[entry.problem], entry) for entry in at_rho], "seconds", look)
    updates.set(xlabel=r"$\rho / R$", ylabel="updates")
    time.set(xlabel="rows", ylabel="seconds")
    least, most = min(rows.values()), max(rows.values())
    # Any line of slope 1 tells what linear growth is; this one begins at the lower corner
    low = time.get_ylim()[0]
    time.plot([least, most], [low, low * most / least], color="0.4", linestyle="--", linewidth=0.8)
    for axes in (ratio, updates, time):
        drawing.rule_logarithmic(axes, "both")
    drawing.legend_above(figure, drawing.handles(looks))
    return figure


def _most_frequent(values: Sequence[float]) -> float:
    return max(values, key=values.count)


def _draw(axes: Axes, pairs: Sequence[tuple[float, Summary]], column: str, look: Look) -> None:
    curve = sorted((x, value) for x, entry in pairs if (value := entry.median(column)))
    axes.plot([x for x, _ in curve], [y for _, y in curve], markersize=3, linewidth=0.8, **look)
    axes.set(xscale="log", yscale="log")
