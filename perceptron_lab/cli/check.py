"""``plab check``: a configuration with its report, before anything is run."""

from __future__ import annotations

import click

from perceptron_lab.cli.echo import echo
from perceptron_lab.cli.options import (
    configs_argument,
    override_option,
    plugin_option,
    quiet_option,
)
from perceptron_lab.core.errors import ConfigError, PlabError, counted
from perceptron_lab.experiments.check import checked_with_report
from perceptron_lab.experiments.configuration.plan import plan


@click.command("check")
@configs_argument
@override_option
@plugin_option
@quiet_option
def check(configs: tuple[str, ...], overrides: tuple[str, ...], quiet: bool) -> int:
    """Check configurations; nothing is downloaded or run.

    CONFIG is a file or the name of a shipped configuration. Every fault of every file is listed;
    a table or figure that the experiment does not suit is one. Your own files are read, if they
    are not larger than 20 MB. Cells of plugins that are not loaded are counted, not checked.
    """
    faults = []
    for name in configs:
        try:
            experiment = checked_with_report(name, overrides)
            cells = plan(experiment)
        except PlabError as error:
            faults.append(str(error))
            continue
        if not quiet:
            plugins = ", ".join(experiment.config.plugins)
            left = f"; not checked, of plugins {plugins}: {', '.join(experiment.unchecked)}"
            left += " (add --plugin FILE.py)"
            number = counted(len(cells) + experiment.unchecked_cells, "cell")
            echo(f"{name}: ok, {number}{left if experiment.unchecked else ''}")
        for warning in experiment.warnings:
            echo(f"warning: {warning}", err=True)
    if faults:
        raise ConfigError("\n".join(faults))
    return 0
