"""Shipped configurations, run at a small size."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from perceptron_lab.cli.main import main
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.reporting import Evidence
from perceptron_lab.reporting.printing.figure_files import render, screen_png
from perceptron_lab.reporting.report import figure_asked
from tests.repetitions import left_out

UNDRAWN = "report.figures=[]"
"""An override: figures take longer than all else."""


def run_config(
    name: str, folder: Path, overrides: Iterable[str], *, in_own_folder: bool = False
) -> int:
    """Run a configuration with overrides, in a folder of its name if ``in_own_folder``."""
    settings = [*overrides, f"experiment={name}"] if in_own_folder else overrides
    words = [word for setting in settings for word in ("-s", setting)]
    return main(["run", name, "-q", "--output", str(folder), *words])


def shipped_figures(name: str) -> list[Any]:
    """Return the figures that a configuration lists."""
    return list(load_experiment(gallery()[name]).config.report.model_dump()["figures"])


def drawn_sizes(folder: Path, *figures: Any) -> dict[str, int]:
    """Draw figures from runs in a folder, and return the bytes of each as PNG.

    They are drawn as for a page. In the long run they are also drawn as for a report, in files of
    three kinds, which takes three times as long.
    """
    evidence = Evidence.of_folder(folder)
    sizes = {}
    for name, draw in map(figure_asked, figures):
        sizes[name] = len(screen_png(partial(draw, evidence))[0])
        if not left_out():
            assert min(map(len, render(draw, evidence, "T").values())) > 1000
    return sizes
