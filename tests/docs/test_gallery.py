"""Every example of the gallery is listed, uses documented names alone, and asserts its claims."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest
from from_code.gallery_order import ORDER, InReadingOrder
from from_code.reference import BEYOND, TOPICS, public_names

import perceptron_lab

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
OTHERS = {"cvxpy", "matplotlib", "numpy", "pandas", "sklearn"}
STANDARD = {"dataclasses", "fractions", "json", "math", "pathlib", "subprocess", "sys", "tempfile"}
STANDARD |= {"time", "typing"}


def imports(tree: ast.Module) -> list[tuple[str, str]]:
    """Return module and name of each import; an empty name for a whole module."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names += [(node.module or "", name.name) for name in node.names]
        elif isinstance(node, ast.Import):
            names += [(name.name, "") for name in node.names]
    return names


def undocumented(tree: ast.Module) -> list[str]:
    """Return what a file uses of the package beside the names of the Python reference."""
    public = public_names()
    faults = [
        f"{module}.{name}"
        for module, name in imports(tree)
        if module.startswith("perceptron_lab") and name and name not in public.get(module, ())
    ]
    aliases = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
        if name.name == "perceptron_lab"
    }
    return faults + [
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in aliases
        and node.attr not in (*public["perceptron_lab"], "__file__")
    ]


def test_every_example_is_listed_once() -> None:
    assert sorted(ORDER) == sorted(path.name for path in EXAMPLES.glob("*.py"))
    assert len(ORDER) >= 15
    key = InReadingOrder(str(EXAMPLES))
    assert sorted(ORDER, key=key) == list(ORDER)


@pytest.mark.parametrize("name", ORDER)
def test_an_example_uses_documented_names_and_proves_something(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    tree = ast.parse(text)
    compile(text, name, "exec")
    assert undocumented(tree) == []
    roots = {module.partition(".")[0] for module, _ in imports(tree)}
    assert roots <= OTHERS | STANDARD | {"perceptron_lab"}
    assert any(isinstance(node, ast.Assert) for node in tree.body + loops(tree))
    assert (ast.get_docstring(tree) or "").splitlines()[1].strip("=") == ""


def loops(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements of the loops of a file, which run as often as the loops do."""
    return [statement for node in tree.body if isinstance(node, ast.For) for statement in node.body]


def test_undocumented_names_in_examples_are_detected() -> None:
    sources = [
        "from perceptron_lab.solving.driver import drive",
        "from perceptron_lab import solves",
    ]
    sources += ["import perceptron_lab as lab\nlab.driver.drive(1)"]
    assert [len(undocumented(ast.parse(source))) for source in sources] == [1, 1, 1]
    right = "from perceptron_lab.cones.operators.kernels import Rbf\n"
    right += "import perceptron_lab as lab\nlab.run"
    assert undocumented(ast.parse(right)) == []


def test_the_reference_has_every_public_name_once() -> None:
    topics = [name for names in TOPICS.values() for name in names]
    assert sorted([*topics, "__version__"]) == sorted(perceptron_lab.__all__)
    for module, names in BEYOND.items():
        assert [name for name in names if not hasattr(import_module(module), name)] == []
