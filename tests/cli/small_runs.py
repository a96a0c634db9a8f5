"""Shipped configurations, run at a small size."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from perceptron_lab.cli.main import main


def run_config(
    name: str, folder: Path, overrides: Iterable[str], *, in_own_folder: bool = False
) -> int:
    """Run a configuration with overrides, in a folder of its name if ``in_own_folder``."""
    settings = [*overrides, f"experiment={name}"] if in_own_folder else overrides
    words = [word for setting in settings for word in ("-s", setting)]
    return main(["run", name, "-q", "--output", str(folder), *words])
