"""Counts of Table 6.1 in a process under a factor: this module loads nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perceptron_lab import solve
from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.cones.oracles.semidefinite import PivotedCholesky
from perceptron_lab.core.results import Status
from tests.processors.factors import FACTORS
from tests.processors.processor import in_force

ALGORITHMS: Mapping[str, Any] = {
    "PRA": RescaledPerceptron(preset="thesis"),
    "EA": Ellipsoid(),
}

Counts = dict[str, int]
"""`problem label` -> queries."""


def queries(problem: str, label: str) -> int:
    """Return the queries of a cell of `configs/maxcut.yaml`, proved feasible."""
    file = Path(os.environ["PLAB_DATA_MIRROR"], "sdplib", f"{problem}.dat-s")
    result = solve(file, ALGORITHMS[label], oracle=PivotedCholesky(mode="thesis"))
    assert result.status is Status.FEASIBLE, f"{problem} {label}: {result.message}"
    return result.queries


def counts(problems: Sequence[str]) -> Counts:
    """Return the queries of both algorithms on some problems."""
    return {
        f"{problem} {label}": queries(problem, label)
        for problem in problems
        for label in ALGORITHMS
    }


def main(name: str, *problems: str) -> None:
    """Print the counts under a factor as JSON."""
    amiss = FACTORS[name].amiss(in_force())
    if amiss:
        sys.exit(f"{name} is not in force: {amiss}")
    sys.stdout.write(json.dumps(counts(problems)))


if __name__ == "__main__":
    main(*sys.argv[1:])
