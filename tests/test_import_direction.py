"""Imports point one way, from the command line down to the errors (scripts/import_graph.py)."""

from __future__ import annotations

import pytest

from scripts.import_graph import ROOT, cycles, imported_files, imports, modules, mutual_folders

LAYERS = [
    "core",
    "numerics",
    "cones",
    "certificates",
    "systems",
    "algorithms",
    "datasets",
    "solving",
    "problems",
    "exact",
    "estimators",
    "experiments",
    "reporting",
    "cli",
    "__main__",
]
HEIGHT = {name: height for height, name in enumerate(LAYERS)}
EAGER = tuple(
    f"{ROOT}.core.{name}" for name in ("former_paths", "missing_packages", "version.__version__")
)
TOP = len(LAYERS) - 1


def height(target: str) -> int:
    """Return a target's layer; a lazy public name may reach any, so it counts as the highest."""
    part = target.split(".")[1] if "." in target else ""
    return HEIGHT.get(part, TOP)


def violations(source: str, module: str, package: str) -> list[str]:
    imported = list(imports(source, module, package))
    if module == ROOT:
        late = [(line, target) for line, target in imported if target not in EAGER]
        return [f"{module}:{line} imports {target} eagerly" for line, target in late]
    part = module.split(".")[1]
    if part not in HEIGHT:
        return [f"{module} is in no layer; add it to LAYERS"]
    return [
        f"{module}:{line} imports {target}, which is in a later layer"
        for line, target in imported
        if height(target) > HEIGHT[part]
    ]


@pytest.mark.slow
def test_no_import_goes_to_a_later_layer() -> None:
    violations_ = [
        violation
        for path, module, package in modules()
        for violation in violations(path.read_text(encoding="utf-8"), module, package)
    ]
    assert not violations_, "\n".join(violations_)


def test_a_violating_package_is_detected() -> None:
    names = {module for _, module, _ in modules()}
    assert {ROOT, f"{ROOT}.core.errors", f"{ROOT}.reporting", f"{ROOT}.reporting.report"} <= names


@pytest.mark.parametrize(
    "source",
    [
        "import perceptron_lab.solving.driver",
        "from perceptron_lab import solve",
        "from perceptron_lab import run",
        "import perceptron_lab",
        "from perceptron_lab import __version__",
        "from perceptron_lab.solving.driver import solve",
        "def f():\n    from perceptron_lab.cli import main",
        "class A:\n    def f(self):\n        import perceptron_lab.solving.driver as s",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..system import System",
        "from .. import certificates",
        "from ..certificates.rows import prove",
        "from importlib import import_module\nimport_module('perceptron_lab.systems')",
    ],
)
def test_an_import_of_a_later_layer_is_caught(source: str) -> None:
    module, package = "perceptron_lab.cones.orthant", "perceptron_lab.cones"
    assert len(violations(source, module, package)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "from . import spectral",
        "from .spectral import softmin",
        "from .operators import matrix",
        "from .oracles.orthant import Cyclic",
        "import perceptron_lab.core.errors",
        "from perceptron_lab.core.version import __version__",
        "import numpy.linalg\nfrom solve import x",
        "target = 'perceptron_lab.cli.main:main'",
    ],
)
def test_an_import_of_the_same_or_an_earlier_layer_is_allowed(source: str) -> None:
    module, package = "perceptron_lab.cones.orthant", "perceptron_lab.cones"
    assert violations(source, module, package) == []


def test_a_module_in_no_layer_is_caught() -> None:
    assert "in no layer" in violations("", "perceptron_lab.helpers", ROOT)[0]


def test_only_lazy_names_are_exempt_in_the_package_itself() -> None:
    lazy = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from perceptron_lab import cli"
    assert violations(lazy, ROOT, ROOT) == []
    assert len(violations("from perceptron_lab.core.errors import PlabError", ROOT, ROOT)) == 1


@pytest.mark.slow
def test_no_files_import_each_other() -> None:
    assert cycles(imported_files()) == set()


def test_cycles_are_detected() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert cycles(graph) == {frozenset("abc")}


@pytest.mark.slow
def test_no_sibling_folders_import_each_other() -> None:
    mutual = mutual_folders()
    assert not mutual, "\n".join(mutual)
