"""The names of the package itself: all there, and none loaded before it is asked for."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import perceptron_lab as lab

HEAVY = ("numpy", "scipy", "pandas", "matplotlib", "numba", "sklearn", "cvxpy", "pydantic")


@pytest.mark.parametrize("name", lab.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(lab, name)
    assert name in dir(lab)
    if name != "__version__":
        assert inspect.getdoc(value)
        assert value.__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'slove'"):
        lab.slove  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import perceptron_lab, sys; print([n for n in {HEAVY!r} if n in sys.modules])"
    root = Path(lab.__file__).parents[1]
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True
    )
    assert (completed.returncode, completed.stdout) == (0, "[]\n"), completed.stderr


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(lab.__file__).read_text(encoding="utf-8"))
    (types,) = [node for node in tree.body if isinstance(node, ast.If)]
    names = {
        alias.asname: node.module
        for node in types.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert names == lab._PUBLIC


def test_names_are_in_alphabetical_order() -> None:
    assert list(lab._PUBLIC) == sorted(lab._PUBLIC)


def test_the_classifiers_are_public() -> None:
    model = lab.SoftEllipsoidClassifier(rank=1)
    assert model.fit([[0.0], [1.0], [4.0], [-4.0]], [1, 1, 0, 0]).score([[0.5]], [1]) == 1.0
