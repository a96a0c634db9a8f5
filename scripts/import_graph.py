"""Imports between the files of the package, by reading their source.

Every import counts: absolute or relative, inside a function, under ``if TYPE_CHECKING`` (a type
is a dependency as well), or ``import_module`` of a literal. The one exemption is the list of
lazy public names in the package's own ``__init__``, which stands under ``if TYPE_CHECKING``.
Registries hold names as text, which is how lower layers stay ignorant of higher ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = "perceptron_lab"
PACKAGE = Path(__file__).parents[1] / ROOT
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""Where statements contain statements (and handlers of errors, and cases)."""


class Module(NamedTuple):
    """A file, the name of its module and the package that its relative imports start from."""

    path: Path
    name: str
    package: str


def modules(package: Path = PACKAGE) -> Iterator[Module]:
    """Yield the modules of a package folder."""
    for path in sorted(package.rglob("*.py")):
        parts = [ROOT, *path.relative_to(package).with_suffix("").parts]
        folder = ".".join(parts[:-1])
        yield Module(path, folder if parts[-1] == "__init__" else ".".join(parts), folder)


@cache
def imports(source: str, module: str, package: str) -> tuple[tuple[int, str], ...]:
    """Return line and full name of everything that a module imports from this package."""
    tree = ast.parse(source)
    nodes = list(_statements(tree, skip_types=module == ROOT))
    if "import_module" in source:
        nodes += (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return tuple(
        (getattr(node, "lineno", 0), target)
        for node in nodes
        for target in _targets(node, package)
        if target.split(".")[0] == ROOT
    )


def _statements(tree: ast.AST, *, skip_types: bool) -> Iterator[ast.AST]:
    """Yield the statements below a node, with those inside others; imports are among them."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        parts = [part for block in _BLOCKS for part in getattr(node, block, ())]
        left += [part for part in parts if not (skip_types and _is_type_checking(part))]


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _targets(node: ast.AST, package: str) -> list[str]:
    """Return the full names that an import asks for; none for any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        parents = package.split(".")[: -(node.level - 1) or None] if node.level else []
        base = ".".join([*parents, *([node.module] if node.module else [])])
        return [f"{base}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and _last_name(node.func).endswith("import_module"):
        return [str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant)]
    return []


def _last_name(function: ast.expr) -> str:
    """Return ``f`` for ``f`` and for ``a.b.f``."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


@cache
def imported_files(package: Path = PACKAGE) -> dict[str, set[str]]:
    """Return module -> the modules that it imports; a name stands for the module that has it."""
    files = list(modules(package))
    names_of_files = {module.name for module in files}
    graph: dict[str, set[str]] = {}
    for path, module, parent in files:
        names = [name for _, name in imports(path.read_text(encoding="utf-8"), module, parent)]
        targets = {name if name in names_of_files else name.rpartition(".")[0] for name in names}
        graph[module] = (targets & names_of_files) - {module}
    return graph


def cycles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
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


def mutual_folders(package: Path = PACKAGE) -> list[str]:
    """Return an import for each direction of two sibling folders that import each other."""
    packages = {module.name for module in modules(package) if module.path.name == "__init__.py"}
    pairs: dict[tuple[str, str], str] = {}
    for module, targets in imported_files(package).items():
        for target in targets if module != ROOT else ():
            ours, expected = _folders(module, packages), _folders(target, packages)
            levels = enumerate(zip(ours, expected, strict=False))
            level = next((i for i, (a, b) in levels if a != b), None)
            if level is not None:
                pairs[ours[level], expected[level]] = f"{module} imports {target}"
    return [text for (ours, expected), text in pairs.items() if (expected, ours) in pairs]


def _folders(module: str, packages: set[str]) -> list[str]:
    """Return the folders that a module is in, the outermost first."""
    parts = module.split(".")
    inside = parts if module in packages else parts[:-1]
    return [".".join(inside[:size]) for size in range(1, len(inside) + 1)]
