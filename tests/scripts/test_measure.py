"""The measures of a small package that has one of everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import measure
from scripts.measure import main, measures

SOURCES = {
    "__init__.py": '"""The package."""\n',
    "core/__init__.py": '"""Shared parts."""\n',
    "core/one.py": '''"""A cycle with two.

Three lines of a docstring.
"""
from typing import Any
from perceptron_lab.core import two

class Twice:
    """Defined here as well."""

def _helper(value: Any) -> bool:
    """Return a comparison."""
    # a comment
    return isinstance(
        value, int
    )

called = _helper(two)
''',
    "core/two.py": """
import perceptron_lab.core.one
import perceptron_lab.cli.three

class Twice: ...
""",
    "cli/three.py": "def f():\n    from perceptron_lab.core.two import Twice\n",
}


def test_everything_is_counted_and_compared_with_another_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, source in SOURCES.items():
        path = tmp_path / "perceptron_lab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    assert measures(tmp_path / "perceptron_lab") == {
        "names at top level": 2,
        "files": 5,
        "code lines": 13,
        "functions": 2,
        "lines of a function, median": 2,
        "lines of a function, 90 %": 2,
        "lines of a function, most": 3,
        "private functions used once": 1,
        "modules with one importer": 2,
        "of these below 80 lines": 2,
        "files in import cycles": 3,
        "pairs of sibling folders in cycles": 1,
        "Any": 1,
        "isinstance": 1,
        "class names that occur more than once": 1,
    }
    monkeypatch.setattr(measure, "__file__", str(tmp_path / "scripts" / "measure.py"))
    assert main([str(tmp_path)]).splitlines()[0].split() == ["before", "after"]
