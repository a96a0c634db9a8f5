"""The page on the packages: their order, and the sentences of their docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scripts import draw_packages
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


@pytest.mark.slow
def test_the_picture_places_every_package_above_its_imports() -> None:
    graph = draw_packages.packages()
    heights = draw_packages.levels(graph)
    assert set(graph) == set(LAYERS) - {"__main__"}
    assert all(
        heights[name] > heights[target] for name, targets in graph.items() for target in targets
    )
    (axes,) = draw_packages.draw().axes
    positions = {text.get_text(): text.get_position() for text in axes.texts}
    assert set(positions) == set(graph)
    assert len(set(positions.values())) == len(positions)
    (beside,) = [
        {package for package in graph if heights[package] == h}
        for h in set(heights.values())
        if list(heights.values()).count(h) > 1
    ]
    assert beside == set(re.findall(r"Only\n`(\w+)` and `(\w+)`", PAGE.read_text())[0])


def test_lines_lead_to_direct_imports_alone() -> None:
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"b", "a"}, "e": {"c", "d", "a"}}
    direct = {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"b"}, "e": {"c", "d"}}
    assert draw_packages.direct(graph) == direct
    assert draw_packages.levels(graph) == {"a": 0, "b": 1, "c": 2, "d": 2, "e": 3}
