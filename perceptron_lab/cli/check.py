"""``plab check``: the checks that ``plab run`` makes of a configuration before it loads data."""

from __future__ import annotations

import click

from perceptron_lab.cli.options import configs_argument, override_option, quiet_option
from perceptron_lab.errors import ConfigError, PlabError, counted
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.running.plan import check as cells_of


@click.command("check")
@configs_argument
@override_option
@quiet_option
def check(configs: tuple[str, ...], overrides: tuple[str, ...], quiet: bool) -> int:
    """Check configurations; nothing is downloaded or run.

    CONFIG is a file or the name of a shipped configuration. Every fault of every file is listed.
    """
    faults = []
    for name in configs:
        try:
            experiment = load_experiment(name, overrides, without_plugins=True)
            cells = cells_of(experiment)
        except PlabError as error:
            faults.append(str(error))
            continue
        if not quiet:
            plugins = ", ".join(experiment.config.plugins)
            left = f"; not checked, of plugins {plugins}: {', '.join(experiment.unchecked)}"
            click.echo(
                f"{name}: ok, {counted(len(cells), 'cell')}{left if experiment.unchecked else ''}"
            )
        for warning in experiment.warnings:
            click.echo(f"warning: {warning}", err=True)
    if faults:
        raise ConfigError("\n".join(faults))
    return 0
