"""The contents of a page on an experiment, read once from its store, without absolute paths."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path, PureWindowsPath
from typing import Any, Final

from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.certificate_files import path_of
from perceptron_lab.experiments.storage.exports import difference
from perceptron_lab.experiments.storage.reader import Reader, shown
from perceptron_lab.experiments.storage.stored import Planned, Stored
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.report import cautions
from perceptron_lab.reporting.summary import status_text

# An absolute path of two parts or more; not that of an address, and no fraction such as a/b.
_PATHS = re.compile(
    r"(?<![\w.:/\\<])(?:(?:/[\w.@+~-]+){2,}/?|[A-Za-z]:(?:\\[^\s\\/:*?\"<>|,;]+){2,}\\?)"
)


def without_paths(tree: object) -> Any:
    """Return a text, or a tree of JSON values, in which absolute paths have their last part alone.

    Examples
    --------
    >>> without_paths("/srv/data/a.csv, line 3: 1/2 is no number")
    'a.csv, line 3: 1/2 is no number'
    >>> without_paths({"file": ["/srv/data/a.csv", 1]})
    {'file': ['a.csv', 1]}
    """
    if isinstance(tree, dict):
        return {key: without_paths(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [without_paths(value) for value in tree]
    if not isinstance(tree, str):
        return tree
    # A path of Windows takes both kinds of slashes
    return _PATHS.sub(lambda match: PureWindowsPath(match[0]).name, tree)


WIDTH: Final = 90
HEIGHT: Final = 18
MOST: Final = 24
"""Points of a line: more would not be seen."""


@dataclass(frozen=True)
class Sparkline:
    """A quantity along a run.

    Parameters
    ----------
    name
        Of the quantity: ``margin``, of the point as computed, or ``bound``, norm(A w) / <e, w>.
    updates, values
        Where it is known, and its values there.
    named
        Whether a page says the words to those who do not see the line.
    """

    name: str
    updates: Sequence[int]
    values: Sequence[float]
    named: bool = True

    @classmethod
    def of(
        cls, updates: Sequence[int] = (), margin: Sequence[float] = (), upper: Sequence[float] = ()
    ) -> Sparkline | None:
        """Return the margin of a run's point along its updates, or else the bound by its weights.

        None where neither is known at two records. The lists are those of a trace, see
        :class:`~perceptron_lab.core.results.Trace`.
        """
        # The margin first, as most methods have a point; methods of the dual side have weights
        # alone
        for name, values in (("margin", margin), ("bound", upper)):
            pairs = zip(updates, values, strict=True)
            finite = [(at, value) for at, value in pairs if math.isfinite(value)]
            # One value is no line
            if len(finite) > 1:
                positions, heights = zip(*finite, strict=True)
                return cls(name, positions, heights)
        return None

    @property
    def unnamed(self) -> Sparkline:
        """The line for eyes alone."""
        return replace(self, named=False)

    @property
    def words(self) -> str:
        """The first and the last value of the history, as text."""
        ends = f"{self.values[0]:.2g} to {self.values[-1]:.2g}"
        return f"{self.name} {ends}, update {self.updates[0]} to {self.updates[-1]}"

    @property
    def path(self) -> str:
        """The line as the path of an SVG.

        Updates have a logarithmic axis. So have values, on both sides of 0: it is the inverse
        hyperbolic sine of ten times the value over the last one.
        """
        across, up = self._drawn
        left, width = across[0], across[-1] - across[0] or 1.0
        # Whole pixels: neighbouring points fall together, which keeps pages small
        columns = [round((WIDTH - 2) * (position - left) / width + 1) for position in across]
        points = zip(columns, map(self._row, up), strict=True)
        first, *rest = [point for point, _ in groupby(points)]
        steps = [f"{x - a} {y - b}" for (a, b), (x, y) in pairwise([first, *rest])]
        return f"M{first[0]} {first[1]}" + f"l{' '.join(steps)}".replace(" -", "-") * bool(steps)

    @property
    def zero(self) -> int | None:
        """The row of a margin's zero, if it is in sight."""
        _, up = self._drawn
        return self._row(0.0) if self.name == "margin" and min(up) < 0.0 < max(up) else None

    @cached_property
    def _drawn(self) -> tuple[list[float], list[float]]:
        """Places and heights of the points that are drawn, the first and the last among them."""
        # Relative to the last value, so that lines of any magnitude fill their height
        scale = abs(self.values[-1]) or max(map(abs, self.values)) or 1.0
        last = len(self.values) - 1
        step = max(1.0, last / (MOST - 1))
        indices = [round(number * step) for number in range(min(last + 1, MOST))]
        across = [math.log1p(self.updates[index]) for index in indices]
        return across, [math.asinh(10.0 * self.values[index] / scale) for index in indices]

    def _row(self, height: float) -> int:
        low, high = min(self._drawn[1]), max(self._drawn[1])
        return round((HEIGHT - 2) * (high - height) / (high - low or 1.0) + 1)


@dataclass(frozen=True)
class PageCell:
    """A cell with its plan, its stored result, its row of runs.csv, and its convergence history."""

    planned: Planned
    stored: Stored
    row: Row
    history: Sparkline | None
    filed: bool
    """Whether its certificate's file is there."""

    @property
    def status_text(self) -> str:
        """The status of a cell, marked if it is a claim without proof."""
        return status_text(self.row["status"], bool(self.row["proved"]))


@dataclass(frozen=True)
class PageData:
    """An experiment's results.

    Parameters
    ----------
    folder
        Where they are.
    config
        As the report is asked for.
    cells
        Those that have a row, in the order of the plan.
    planned
        How many are planned.
    environments
        Name -> description.
    warnings
        Sentences to be known before results are compared.
    evidence
        What tables and figures are made from.
    """

    folder: Path
    config: ExperimentConfig
    cells: Sequence[PageCell]
    planned: int
    environments: dict[str, dict[str, object]]
    warnings: tuple[str, ...]
    evidence: Evidence

    @property
    def name(self) -> str:
        """The name of its folder; overrides have separate folders."""
        return self.folder.name

    @property
    def title(self) -> str:
        """One line for readers."""
        return self.config.title or self.name


def read_experiment(folder: Path, config: ExperimentConfig) -> PageData:
    """Return the results in a folder; raise the errors that a report raises."""
    with Reader.open(folder) as reader:
        cells = [
            PageCell(
                planned,
                stored,
                shown(planned, stored),
                Sparkline.of(*(reader.lists(planned.cell, "updates", "margin", "upper") or ())),
                stored.certificate is not None and path_of(folder, planned.cell).is_file(),
            )
            for planned, stored in reader.whole_runs()
        ]
        planned, environments = len(reader.plan()), reader.environments()
    rows = [cell.row for cell in cells]
    evidence = Evidence.of_rows(rows, folder)
    warnings = (*cautions(folder, evidence), *filter(None, [difference(folder, rows)]))
    return PageData(folder, config, cells, planned, environments, warnings, evidence)
