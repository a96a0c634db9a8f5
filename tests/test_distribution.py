"""The source distribution holds the package, its tests and no results."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_source_distribution_leaves_out_results() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    targets = project["tool"]["hatch"]["build"]["targets"]
    assert targets["sdist"]["exclude"] == ["/results"]
    assert targets["wheel"]["packages"] == ["perceptron_lab"]
