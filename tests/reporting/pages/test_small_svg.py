"""Small SVG draws what matplotlib drew, with a tenth of the bytes."""

from __future__ import annotations

import re
from io import StringIO
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import style

from perceptron_lab.reporting.pages.small_svg import relative_path, small_svg
from perceptron_lab.reporting.printing.drawing import STYLE, canvas

points = st.lists(st.tuples(st.floats(-500, 500), st.floats(-500, 500)), min_size=1, max_size=30)


def corners(path: str) -> list[tuple[float, float]]:
    """Return where a relative path goes, in its own numbers."""
    at, found = (0.0, 0.0), []
    for command, text in re.findall("([Mlhv])([^Mlhvz]*)", path):
        numbers = [float(one) for one in re.findall(r"-?(?:\d+\.\d+|\.\d+|\d+)", text)]
        x, y = {"h": (*numbers, 0.0), "v": (0.0, *numbers)}.get(command, tuple(numbers))
        at = (x, y) if command == "M" else (at[0] + x, at[1] + y)
        found.append(at)
    return found


@given(points)
def test_every_corner_is_met_within_half_a_tenth(given_points: list[tuple[float, float]]) -> None:
    path = "M" + "L".join(f"{x} {y}" for x, y in given_points).replace("e", "e")
    met = np.array(corners(relative_path(path)))
    for x, y in (given_points[0], given_points[-1]):
        assert np.abs(met - (x, y)).max(axis=1).min() < 0.051


def test_points_on_a_straight_line_are_left_out_but_turns_are_kept() -> None:
    assert relative_path("M 0 0 L 5 0 L 9 0 L 3 0 L 3 3 L 3 4") == "M0 0h9h-6v4"


@pytest.fixture(scope="module")
def drawn() -> tuple[str, str]:
    """A figure with all kinds of elements, as matplotlib writes it, and small."""
    text = StringIO()
    with style.context([*STYLE, {"svg.fonttype": "none"}]):
        figure = canvas(3.0, 2.0)
        axes = figure.subplots()
        axes.plot([1, 10, 100], [1, 3, 2], marker="o", label="a < b & c")
        axes.fill_between([1, 10, 100], [1, 2, 1], [2, 4, 3], alpha=0.2)
        axes.scatter([2, 20], [2, 3], marker="x")
        axes.set(xscale="log", ylabel="margin", title="$10^{-3}$ of it")
        axes.annotate("beside", (5, 2), rotation=90)
        axes.legend()
        figure.savefig(text, format="svg")
    return text.getvalue(), small_svg(text.getvalue(), "one", 'It shows "a" <b>')


def test_it_is_one_element_with_all_texts_and_its_alternative(drawn: tuple[str, str]) -> None:
    large, small = drawn
    root = ElementTree.fromstring(small)
    assert root.attrib["aria-label"] == 'It shows "a" <b>'
    shown = {"".join(one.itertext()).strip() for one in root.iter("text")}
    given_texts = {
        "".join("".join(one.itertext()).split())
        for one in ElementTree.fromstring(large).iter("{http://www.w3.org/2000/svg}text")
    }
    assert {"".join(one.split()) for one in shown} == given_texts
    assert {"a < b & c", "margin", "beside"} <= shown
    assert len(small) < len(large) / 4


def test_its_references_are_within_it_and_differ_from_those_of_others(
    drawn: tuple[str, str],
) -> None:
    large, small = drawn
    names = re.findall(' id="([^"]*)"', small)
    assert len(names) == len(set(names))
    assert set(re.findall(r"(?:href=\"#|url\(#)([^\")]*)", small)) <= set(names)
    other = re.findall(' id="([^"]*)"', small_svg(large, "two", ""))
    assert not set(names) & set(other)
    assert small == small_svg(large, "one", 'It shows "a" <b>')
