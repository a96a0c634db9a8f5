"""Certificates of small cells, and a guard against running algorithms."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.core import registry
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.cell_run import run_cell
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.plan import plan
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.experiments.storage.certificate_files import certificate_of, write_certificate
from perceptron_lab.experiments.storage.stored import Planned
from perceptron_lab.solving import driver

ROWS = {"dataset": "margin-sets", "family": "gaussian"}
FEASIBLE = ROWS | {"dimension": 40, "rows": 20}
INFEASIBLE = ROWS | {"dimension": 10, "rows": 60}
KERNEL = {
    "dataset": "tabular",
    "source": "wine",
    "instances": ["wine-1-rest"],
    "scaling": "standard",
    "kernel": "rbf",
    "gamma": 0.5,
}
MIXED = {"dataset": "conic-sets", "family": "mixed", "dimension": 8, "rows": 10}
MAXCUT = {"dataset": "maxcut", "instances": ["random-8-12"]}
SEPARABLE = {"dataset": "ellipsoid-sets", "dimension": 2}
LEARNER = {
    "name": "ellipsoid-separation",
    "parameters": {"components": None, "solver": "clarabel"},
}

EMPTY = "2\n1\n2\n1.0 1.0\n0 1 1 1 1.0\n1 1 1 1 -1.0\n1 1 2 2 1.0\n2 1 1 2 1.0\n2 1 2 2 -0.5\n"
WHOLE = "2\n1\n3\n1.0 1.0\n0 1 1 1 -1.0\n1 1 1 1 1.0\n1 1 2 2 1.0\n2 1 3 3 1.0\n2 1 1 2 0.3\n"


def attempted(
    folder: Path, problem: dict[str, Any], algorithm: dict[str, Any], **more: Any
) -> Path | None:
    """Run one cell, and write its certificate; None if it has no result."""
    tree = {"experiment": "one", "problems": [problem], "algorithms": [algorithm]}
    (cell,) = plan(load_experiment(Source("", deepcopy(tree | more))).config)
    loaded = cell.load(folder)
    outcome = run_cell(cell, loaded)
    if outcome.result is None:
        assert outcome.status is Status.SKIPPED, outcome.message
        return None
    planned = Planned.of(cell, loaded.sha256)
    path = folder / f"{planned.cell}.npz"
    write_certificate(path, certificate_of(planned, outcome.result, folder))
    return path


def certified(
    folder: Path, problem: dict[str, Any], algorithm: dict[str, Any], **more: Any
) -> Path:
    """Run one cell that has a result, and write its certificate."""
    path = attempted(folder, problem, algorithm, **more)
    assert path is not None
    return path


def forbid_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whoever runs an algorithm from here on fail."""

    def refused(*arguments: object, **named: object) -> None:
        raise AssertionError("an algorithm was run")

    # Imported first: a module must not keep what stands in for `advance` now.
    kinds = (("algorithm", "step"), ("learner", "learn"))
    methods = [(registry.load(kind, name), m) for kind, m in kinds for name in registry.names(kind)]
    monkeypatch.setattr(driver, "drive", refused)
    monkeypatch.setattr(driver, "advance", refused)
    monkeypatch.setattr("perceptron_lab.experiments.cells.cell_run.drive", refused)
    monkeypatch.setattr("perceptron_lab.experiments.cells.cell_run.learn", refused)
    monkeypatch.setattr(f"{advance.__module__}.advance", refused)
    for record, method in methods:
        monkeypatch.setattr(record, method, refused)
    monkeypatch.setattr(
        "perceptron_lab.estimators.ellipsoid_separation.maximal_separation", refused
    )


SYSTEMS: list[dict[str, Any]] = [
    FEASIBLE,
    INFEASIBLE,
    KERNEL,
    MIXED,
    MIXED | {"infeasible": True},
    MAXCUT,
]
"""Rows, kernels, second-order blocks and matrices, with solutions and without."""

CELLS = {
    "rows": (FEASIBLE, {"name": "perceptron"}, {}, Status.FEASIBLE),
    "rows, none": (INFEASIBLE, {"name": "minimum-norm-point"}, {}, Status.INFEASIBLE),
    "rows, bounded": (
        INFEASIBLE,
        {"name": "mirror-prox"},
        {"goal": {"margin_upper": 0.2}},
        Status.MARGIN_BOUNDED,
    ),
    "rows, ratio": (
        FEASIBLE,
        {"name": "minimum-norm-point"},
        {"goal": {"margin_ratio": 0.5}},
        Status.FEASIBLE,
    ),
    "relaxed": (
        INFEASIBLE,
        {"name": "relaxed-perceptron", "parameters": {"sigma": 0.9}},
        {},
        None,
    ),
    "limit": (INFEASIBLE, {"name": "von-neumann"}, {"budget": {"updates": 7}}, Status.UPDATE_LIMIT),
    "kernel": (KERNEL, {"name": "smoothed-perceptron"}, {}, Status.FEASIBLE),
    "kernel in coordinates": (KERNEL, {"name": "minimum-norm-point"}, {}, Status.FEASIBLE),
    "mixed": (MIXED, {"name": "mirror-prox"}, {}, Status.FEASIBLE),
    "mixed, none": (
        MIXED | {"infeasible": True},
        {"name": "smoothed-von-neumann", "parameters": {"epsilon": 1e-4}},
        {"budget": {"updates": 3000}},
        None,
    ),
    "second-order": (
        {"dataset": "conic-sets", "family": "second-order", "dimension": 8}
        | {"blocks": 4, "block_size": 3},
        {"name": "rescaled-perceptron"},
        {},
        Status.FEASIBLE,
    ),
    "matrices": (MAXCUT, {"name": "ellipsoid"}, {}, Status.FEASIBLE),
    "whole matrices": (MAXCUT, {"name": "mirror-prox"}, {}, None),
    "whitened": (FEASIBLE, {"name": "whitened"}, {}, Status.FEASIBLE),
    "ellipsoid": (SEPARABLE, LEARNER, {}, Status.FEASIBLE),
    "no ellipsoid": (SEPARABLE | {"ratio": 0.5}, LEARNER, {}, None),
}
