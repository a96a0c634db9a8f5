"""``plab check``: what ``plab run`` would say of a configuration before it loads any data."""

from __future__ import annotations

import click

from perceptron_lab.cli.options import configs_argument, override_option, quiet_option
from perceptron_lab.errors import ConfigError, PlabError
from perceptron_lab.experiments.plan import plan
from perceptron_lab.experiments.runner import load_config


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
            cells = plan(load_config(name, overrides)[0])
        except PlabError as error:
            faults.append(str(error))
            continue
        if not quiet:
            click.echo(f"{name}: ok, {len(cells)} cells")
    if faults:
        raise ConfigError("\n".join(faults))
    return 0
