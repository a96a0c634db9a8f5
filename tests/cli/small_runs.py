"""Shipped configurations, run at a small size."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from perceptron_lab.cli.main import main


def run_config(name: str, folder: Path, overrides: Iterable[str], *, own: bool = False) -> int:
    """Run a configuration with overrides; ``own``: its folder has its name, whatever they say."""
    given = [*overrides, f"experiment={name}"] if own else overrides
    words = [word for one in given for word in ("-s", one)]
    return main(["run", name, "-q", "--output", str(folder), *words])
