"""Imports point one way, from the command line down to the errors.

Every import counts: absolute or relative, inside a function, under ``if TYPE_CHECKING`` (a type
is a dependency as well), or ``import_module`` of a literal. The one exemption is the list of
lazy public names in the package's own ``__init__``, which stands under ``if TYPE_CHECKING``.
Registries hold names as text, which is how lower layers stay ignorant of higher ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "perceptron_lab"
ROOT = PACKAGE.name
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
EAGER = f"{ROOT}.core.former_paths"
TOP = len(LAYERS) - 1

Import = tuple[int, str]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def walk(node: ast.AST, skip_types: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not (skip_types and is_type_checking(child)):
            yield child
            yield from walk(child, skip_types)


def last_name(function: ast.expr) -> str:
    """Return ``f`` for ``f`` and for ``a.b.f``."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def targets(node: ast.AST, package: str) -> list[str]:
    """Return the full names that an import asks for; none for any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        parents = package.split(".")[: -(node.level - 1) or None] if node.level else []
        base = ".".join([*parents, *([node.module] if node.module else [])])
        return [f"{base}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and last_name(node.func).endswith("import_module"):
        return [str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant)]
    return []


def imports(source: str, module: str, package: str) -> Iterator[Import]:
    """Yield line and full name of everything that a module imports from this package."""
    for node in walk(ast.parse(source), skip_types=module == ROOT):
        for target in targets(node, package):
            if target.split(".")[0] == ROOT:
                yield getattr(node, "lineno", 0), target


def height(target: str) -> int:
    """Return a target's layer; a lazy public name may reach any, so it counts as the highest."""
    part = target.split(".")[1] if "." in target else ""
    return 0 if part == "__version__" else HEIGHT.get(part, TOP)


def violations(source: str, module: str, package: str) -> list[str]:
    found = list(imports(source, module, package))
    if module == ROOT:
        late = [(line, target) for line, target in found if target != EAGER]
        return [f"{module}:{line} imports {target} eagerly" for line, target in late]
    part = module.split(".")[1]
    if part not in HEIGHT:
        return [f"{module} is in no layer; add it to LAYERS"]
    return [
        f"{module}:{line} imports {target}, which is in a later layer"
        for line, target in found
        if height(target) > HEIGHT[part]
    ]


def modules() -> Iterator[tuple[Path, str, str]]:
    """Yield each file with its module's name and the package that relative imports start from."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = [ROOT, *path.relative_to(PACKAGE).with_suffix("").parts]
        if parts[-1] == "__init__":
            yield path, ".".join(parts[:-1]), ".".join(parts[:-1])
        else:
            yield path, ".".join(parts), ".".join(parts[:-1])


@pytest.mark.slow
def test_no_import_goes_to_a_later_layer() -> None:
    found = [
        violation
        for path, module, package in modules()
        for violation in violations(path.read_text(encoding="utf-8"), module, package)
    ]
    assert not found, "\n".join(found)


def test_the_package_is_found() -> None:
    names = {module for _, module, _ in modules()}
    assert {ROOT, f"{ROOT}.core.errors", f"{ROOT}.reporting", f"{ROOT}.reporting.report"} <= names


@pytest.mark.parametrize(
    "source",
    [
        "import perceptron_lab.solving.driver",
        "from perceptron_lab import solve",
        "from perceptron_lab import run",
        "import perceptron_lab",
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
        "from perceptron_lab import __version__",
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


# Cycles that are left: a system of conditions is a conic system, and a verdict loads itself.
CYCLES = {
    frozenset(
        f"{ROOT}.systems.{name}"
        for name in (
            *("conic_system", "cvxpy_blocks", "cvxpy_problem", "eliminated_system"),
            "linear_system",
        )
    ),
    frozenset(
        f"{ROOT}.problems.separation.{name}"
        for name in ("kept_proofs", "saved_verdicts", "verdict")
    ),
}


def imported_files() -> dict[str, set[str]]:
    """Return module -> the modules that it imports; a name stands for the module that has it."""
    known = {module for _, module, _ in modules()}
    found: dict[str, set[str]] = {}
    for path, module, package in modules():
        targets = [name for _, name in imports(path.read_text(encoding="utf-8"), module, package)]
        files = {one if one in known else one.rpartition(".")[0] for one in targets}
        found[module] = (files & known) - {module, ROOT}
    return found


def cycles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of modules that import each other, directly or through others."""
    reached = {module: set(targets) for module, targets in graph.items()}
    for middle in graph:
        for module in graph:
            if middle in reached[module]:
                reached[module] |= reached[middle]
    return {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in graph
        if module in reached[module]
    }


@pytest.mark.slow
def test_no_files_import_each_other() -> None:
    graph = {module: found for module, found in imported_files().items() if module != ROOT}
    assert cycles(graph) == CYCLES


def test_cycles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert cycles(graph) == {frozenset("abc")}


def folders(module: str, packages: set[str]) -> list[str]:
    """Return the folders that a module is in, the outermost first."""
    parts = module.split(".")
    inside = parts if module in packages else parts[:-1]
    return [".".join(inside[:size]) for size in range(1, len(inside) + 1)]


@pytest.mark.slow
def test_no_sibling_folders_import_each_other() -> None:
    packages = {module for path, module, _ in modules() if path.name == "__init__.py"}
    pairs: dict[tuple[str, str], str] = {}
    for module, targets in imported_files().items():
        for target in targets if module != ROOT else ():
            ours, theirs = folders(module, packages), folders(target, packages)
            level = next(
                (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None
            )
            if level is not None:
                pairs[ours[level], theirs[level]] = f"{module} imports {target}"
    mutual = [said for (ours, theirs), said in pairs.items() if (theirs, ours) in pairs]
    assert not mutual, "\n".join(mutual)
