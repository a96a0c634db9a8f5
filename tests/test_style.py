"""What the linters do not hold: documented, short functions, telling names, no loose ends."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.syntax_nodes import Nodes

PACKAGE = Path(__file__).parents[1] / "perceptron_lab"
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 70
LOOSE_ENDS = re.compile(r"\b(?:TODO|FIXME)\b|/(?:home|root|work)/")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public(scope: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """Yield what a reader can reach: no leading underscore on the way, not inside a function."""
    for node in scope.body:
        if isinstance(node, DEFINITIONS) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


def undocumented(tree: ast.Module) -> list[str]:
    missing = [node.name for node in public(tree) if not ast.get_docstring(node)]
    return missing if ast.get_docstring(tree) else ["the module", *missing]


def length(function: Definition) -> int:
    """Return the lines of a function without its docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def too_long(nodes: Nodes) -> list[str]:
    functions = nodes.of(ast.FunctionDef, ast.AsyncFunctionDef)
    return [f"{node.name}: {length(node)} lines" for node in functions if length(node) > LONGEST]


def loose_ends(source: str, nodes: Nodes) -> list[str]:
    called = ((node, node.func) for node in nodes.of(ast.Call))
    prints = [
        f"line {node.lineno}: print("
        for node, function in called
        if isinstance(function, ast.Name) and function.id == "print"
    ]
    return prints + [match[0] for match in LOOSE_ENDS.finditer(source)]


def findings(source: str) -> list[str]:
    tree = ast.parse(source)
    nodes = Nodes(tree)
    return [
        *(f"undocumented: {finding}" for finding in undocumented(tree)),
        *(f"too long: {finding}" for finding in too_long(nodes)),
        *(f"loose end: {finding}" for finding in loose_ends(source, nodes)),
    ]


@pytest.mark.slow
def test_the_package_has_documented_short_functions_and_no_loose_ends() -> None:
    assert len(FILES) > 5
    faults = [
        f"{path.relative_to(PACKAGE.parent)}: {finding}"
        for path in FILES
        for finding in findings(path.read_text(encoding="utf-8"))
    ]
    assert not faults, "\n".join(faults)


def test_no_module_has_a_meaningless_name() -> None:
    vague = re.compile(r"_?(utils?|common|helpers?|misc)")
    assert not [path for path in FILES if vague.fullmatch(path.stem)]
    assert not [path for path in FILES if vague.fullmatch(path.parent.name)]


def test_the_checks_see_what_they_look_for() -> None:
    short = '"""M."""\n'
    assert findings("class A:\n    def f(self): ...") == [
        *("undocumented: the module", "undocumented: A", "undocumented: f")
    ]
    assert findings(f"{short}def _f(): ...") == []
    long = "    x = 1\n" * LONGEST
    assert findings(f"{short}def _f():\n{long}") == [f"too long: _f: {LONGEST + 1} lines"]
    documented = "def f():\n    '''A" + "\n" * 80 + "    '''\n    return 1\n"
    assert findings(f"{short}{documented}") == []
    assert findings(f"{short}print(1)") == ["loose end: line 2: print("]
    assert findings(f"{short}console.print(1)  # FIXME") == ["loose end: FIXME"]
    assert findings(f"{short}path = '/home" + "/me/x'") == ["loose end: /home/"]
    assert findings(f"{short}# the work/life of a root/leaf") == []
