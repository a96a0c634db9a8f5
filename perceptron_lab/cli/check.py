"""``plab check``: check configurations before anything is run."""

from __future__ import annotations

from typing import Any

import click

from perceptron_lab.cli.echo import echo, print_json
from perceptron_lab.cli.options import (
    answer_options,
    configs_argument,
    override_option,
    plugin_option,
)
from perceptron_lab.core.errors import ConfigError, PlabError, counted
from perceptron_lab.experiments.check import checked_with_report
from perceptron_lab.experiments.configuration.plan import plan


@click.command("check")
@configs_argument
@override_option
@plugin_option
@answer_options(": an object per configuration")
def check(configs: tuple[str, ...], overrides: tuple[str, ...], as_json: bool) -> int:
    """Check configurations without downloading data or running anything.

    CONFIG is a file or the name of a shipped configuration. All errors in all files are listed. It
    is an error if a table or figure does not suit the experiment. Your own data files are read if
    they are at most 20 MB. Cells that need a plugin which is not loaded are counted, not checked.
    """
    checked = [_checked(name, overrides) for name in configs]
    faults = [fault for record in checked for fault in record["faults"]]
    if as_json:
        # The faults are among the JSON values; the exit code is the same as for text
        print_json(checked)
        return 2 if faults else 0
    for configuration in checked:
        if not configuration["faults"]:
            plugins, names = (
                ", ".join(configuration["plugins"]),
                ", ".join(configuration["unchecked"]),
            )
            left = f"; not checked, of plugins {plugins}: {names} (add --plugin FILE.py)"
            number = counted(configuration["cells"], "cell")
            echo(f"{configuration['config']}: ok, {number}{left if names else ''}")
        for warning in configuration["warnings"]:
            echo(f"warning: {warning}", err=True)
    if faults:
        raise ConfigError("\n".join(faults))
    return 0


def _checked(name: str, overrides: tuple[str, ...]) -> dict[str, Any]:
    """Return the number of cells of a configuration, or its faults."""
    try:
        experiment = checked_with_report(name, overrides)
        cells = len(plan(experiment)) + experiment.unchecked_cells
    # Kept, not raised: the errors in all files are listed at once
    except PlabError as error:
        return {"config": name, "cells": None, "faults": [str(error)], "warnings": []}
    return {
        "config": name,
        "cells": cells,
        "faults": [],
        "warnings": list(experiment.warnings),
        "plugins": list(experiment.config.plugins),
        "unchecked": list(experiment.unchecked),
    }
