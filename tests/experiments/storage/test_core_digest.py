"""One hash of the numeric core: every edit that may change a number changes it, no other does."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.experiments.storage.core_digest import (
    OUTSIDE,
    PACKAGE,
    core_digest,
    digest_of,
    tree_digest,
)
from perceptron_lab.oracles.orthant import Random
from tests.repetitions import repeated

SOURCE = '''"""A module."""
import math


def step(x: float) -> float:
    """Return a step."""
    # a comment
    return math.sqrt(x) + 1.0


class Step:
    """A step."""

    size = 1
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', ""),
        ('"""Return a step."""', '"""Return another step."""'),
        ('"""A step."""', "'''A longer text.\n\n    In two parts.'''"),
        ("    # a comment\n", ""),
        ("math.sqrt(x) + 1.0", "(\n        math.sqrt(x)\n        + 1.0)  # laid out"),
        ("def step(x: float)", "def step(\n    x: float,\n)"),
        ("import math\n\n\n", "import math\n"),
        ("1.0", "1.00"),
    ],
)
def test_comments_docstrings_and_layout_change_nothing(old: str, new: str) -> None:
    assert old in SOURCE
    assert tree_digest(SOURCE.replace(old, new)) == tree_digest(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.0", "1.0000000000000002"),
        ("1.0", "1"),
        (" + ", " - "),
        ("sqrt", "cbrt"),
        ("x: float", "x: int"),
        ("x: float", "x: float = 0"),
        ("size = 1", "size = True"),
        ("import math", "import math as math"),
        ("return math", "x\n    return math"),
        ("    # a comment\n", '    "no docstring"\n'),
        ("class Step:", "class Step(object):"),
        ("    size = 1", "    size = None"),
    ],
)
def test_every_other_edit_changes_it(old: str, new: str) -> None:
    assert old in SOURCE
    assert tree_digest(SOURCE.replace(old, new)) != tree_digest(SOURCE)


def test_a_function_that_is_its_docstring_alone_is_hashed() -> None:
    assert tree_digest("def f():\n    '''a'''") == tree_digest("def f():\n    '''b'''")
    assert tree_digest("def f():\n    '''a'''") != tree_digest("def g():\n    '''a'''")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("copy") / PACKAGE.name
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def digest(folder: Path) -> str:
    return core_digest.__wrapped__(folder)


@pytest.mark.slow
def test_the_digest_of_a_copy_is_that_of_the_package(copy: Path) -> None:
    assert digest(copy) == core_digest()
    assert len(core_digest()) == 64


@pytest.mark.slow
@pytest.mark.parametrize("part", OUTSIDE)
def test_what_makes_no_number_does_not_count(copy: Path, part: str) -> None:
    path = copy / part / "added.py"
    path.write_text("x = 1\n")
    assert digest(copy) == core_digest()
    path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    repeated(
        [
            "certificates/margin.py",
            "driver.py",
            "learners/precision.py",
            "peers/svc.py",
            "goals.py",
        ],
        kept=2,
    ),
)
def test_an_edit_anywhere_in_the_core_counts(copy: Path, name: str) -> None:
    path = copy / name
    source = path.read_text(encoding="utf-8")
    path.write_text(f"{source}\n# a comment\n", encoding="utf-8")
    assert digest(copy) == core_digest()
    path.write_text(f"{source}\nadded = 1\n", encoding="utf-8")
    assert digest(copy) != core_digest()
    path.write_text(source, encoding="utf-8")


@pytest.mark.slow
def test_files_that_come_go_or_are_renamed_count(copy: Path) -> None:
    path = copy / "oracles" / "added.py"
    path.write_text("")
    added = digest(copy)
    path = path.rename(copy / "oracles" / "renamed.py")
    assert len({digest(copy), added, core_digest()}) == 3
    path.unlink()


def test_components_of_the_package_add_nothing() -> None:
    assert digest_of(Perceptron(), Random()) == digest_of() == core_digest()


def test_the_module_of_another_component_counts_for_its_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for number, body in enumerate(("size = 1", "size = 2", "size = 1  # the same")):
        name = f"someones_{number}"
        (tmp_path / f"{name}.py").write_text(f"class Mine:\n    pass\n\n\n{body}\n")
        found.append(digest_of(import_module(name).Mine(), Perceptron()))
        monkeypatch.delitem(sys.modules, name)
    assert found[0] == found[2]
    assert len({*found, core_digest()}) == 3


def test_a_class_without_a_source_is_told_by_what_it_was_compiled_to() -> None:
    def compiled(body: str) -> str:
        space: dict[str, Any] = {"__name__": "nowhere"}
        exec(f"class Mine:\n    def step(self, x):\n        {body}", space)
        return digest_of(space["Mine"]())

    body = "return [y for y in x if y in {'a', 'b'}]"
    assert compiled(body) == compiled(body)
    assert compiled(body) != compiled(body.replace("'b'", "'c'"))
    assert compiled("return x + 1") != compiled("return x - 1")
