"""All that a page says of an experiment, read from its store once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.certificate_files import path_of
from perceptron_lab.experiments.storage.exports import difference
from perceptron_lab.experiments.storage.reader import Reader, shown
from perceptron_lab.experiments.storage.stored import Planned, Stored
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.pages.sparkline import Sparkline
from perceptron_lab.reporting.report import cautions
from perceptron_lab.reporting.summary import ending


@dataclass(frozen=True)
class PageCell:
    """A cell: what was planned, what is stored, its row of runs.csv, and its history."""

    planned: Planned
    stored: Stored
    row: Row
    history: Sparkline | None
    filed: bool
    """Whether its certificate's file is there."""

    @property
    def ending(self) -> str:
        """How it ended; a claim without proof says so."""
        return ending(self.row["status"], bool(self.row["proved"]))


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
    amiss
        Sentences to be known before results are compared.
    evidence
        What tables and figures are made from.
    """

    folder: Path
    config: ExperimentConfig
    cells: Sequence[PageCell]
    planned: int
    environments: dict[str, Any]
    amiss: tuple[str, ...]
    evidence: Evidence

    @property
    def name(self) -> str:
        """That of its folder, as overrides have folders of their own."""
        return self.folder.name

    @property
    def title(self) -> str:
        """One line for readers."""
        return self.config.title or self.name


def read_experiment(folder: Path, config: ExperimentConfig) -> PageData:
    """Return the results in a folder; errors are those of a report."""
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
    amiss = (*cautions(folder, evidence), *filter(None, [difference(folder, rows)]))
    return PageData(folder, config, cells, planned, environments, amiss, evidence)
