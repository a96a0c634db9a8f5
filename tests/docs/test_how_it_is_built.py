"""The page on the packages: their order, and the sentences of their docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from scripts.import_graph import PACKAGE
from tests.test_import_direction import LAYERS

PAGE = Path(__file__).parents[2] / "docs" / "how-it-is-built.md"


def test_the_table_lists_the_packages_in_order_with_their_first_sentences() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == [name for name in LAYERS if name != "__main__"]
    for name, sentence in rows:
        source = (PACKAGE / name / "__init__.py").read_text(encoding="utf-8")
        stated = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
        assert sentence == stated.replace("``", "`"), name


def test_there_are_no_other_names_in_the_package() -> None:
    names = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert names == {*LAYERS, "__init__.py", "__main__.py", "py.typed"} - {"__main__"}
