"""``plab report``: tables and figures of results that are there already."""

from __future__ import annotations

from pathlib import Path

import click

from perceptron_lab.cli.options import complete_config, output_option, quiet_option
from perceptron_lab.cli.rendering import show_frame
from perceptron_lab.errors import DataError
from perceptron_lab.experiments.config import ExperimentConfig
from perceptron_lab.experiments.runner import load_config
from perceptron_lab.experiments.store import read_config_of
from perceptron_lab.reporting import Evidence, table_frame, write_report


@click.command("report")
@click.argument("targets", metavar="[CONFIG|FOLDER]...", nargs=-1, shell_complete=complete_config)
@output_option
@quiet_option
def report(targets: tuple[str, ...], output: Path, quiet: bool) -> int:
    """Rebuild the tables and figures of results.

    FOLDER holds results (its runs.csv); CONFIG stands for the results of its experiment, reported
    as it says now. Without either, every experiment in the folder of results is reported.
    """
    for folder, config in [_found(target, output) for target in targets] or _all(output):
        if not (folder / "runs.csv").is_file():
            raise DataError(f"{folder}: no results there; `plab run` makes them")
        written = write_report(folder, config.report.model_dump(), config.title)
        if quiet:
            continue
        evidence = Evidence.of_folder(folder)
        for name in config.report.tables:
            show_frame(config.title or name, table_frame(name, evidence))
        for path in written:
            click.echo(str(path))
        if not written:
            click.echo(f"{folder}: the configuration asks for no tables or figures")
    return 0


def _found(target: str, output: Path) -> tuple[Path, ExperimentConfig]:
    folder = Path(target)
    if folder.is_dir():
        return folder, read_config_of(folder)
    config, _ = load_config(target)
    return output / config.experiment, config


def _all(output: Path) -> list[tuple[Path, ExperimentConfig]]:
    folders = sorted(path.parent for path in output.glob("*/runs.csv"))
    if not folders:
        raise DataError(f"{output}: no results there; `plab run CONFIG` makes them")
    return [(folder, read_config_of(folder)) for folder in folders]
