"""Reports of results that are there already, found by their folder or their configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from perceptron_lab.errors import DataError
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.running.output_folder import folders_with_results
from perceptron_lab.experiments.running.runner import RESULTS
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.reader import read_config_of
from perceptron_lab.reporting.report import write_report


def report(
    target: str | Path | ExperimentConfig | None = None, *, output: str | Path = RESULTS
) -> list[Path]:
    """Rebuild the tables and figures of results; ``plab report`` in Python.

    Parameters
    ----------
    target
        A folder of results; or a configuration (a file, the name of a shipped one, or the object),
        which stands for the results of its experiment, reported as it says now; None for every
        experiment in ``output``.
    output
        The folder of all results.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ConfigError
        If the configuration is wrong.
    DataError
        If there are no results, or no report can be made of them.
    StoreError
        If a file cannot be written.
    """
    targets = [] if target is None else [target]
    return [
        path
        for folder, config in found_results(targets, Path(output))
        for path in write_report(folder, config.report.model_dump(), config.title)
    ]


def found_results(
    targets: Sequence[str | Path | ExperimentConfig], output: Path
) -> list[tuple[Path, ExperimentConfig]]:
    """Return the folders that targets stand for, each with the configuration to report it by.

    Parameters
    ----------
    targets, output
        As for :func:`report`; no targets stand for every experiment in ``output``.
    """
    if not targets:
        return [(folder, read_config_of(folder)) for folder in folders_with_results(output)]
    found = []
    for target in targets:
        if not isinstance(target, ExperimentConfig) and Path(target).is_dir():
            found.append((Path(target), read_config_of(Path(target))))
        else:
            config = load_experiment(target).config
            found.append((output / config.experiment, config))
    for folder, _ in found:
        if not (folder / schema.NAME).is_file():
            raise DataError(f"{folder}: no results there; `plab run` makes them")
    return found
