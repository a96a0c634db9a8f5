"""Looks, legends and nested curves: labels are told apart, and acronyms spelt out."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from matplotlib.colors import to_rgb

from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.printing.drawing import canvas, entitle, looks, nested, spelt_out
from tests.reporting.made_runs import MakeRuns, make_row

LABELS = [f"label {number}" for number in range(168)]


def test_twenty_one_labels_have_a_colour_each_and_more_differ_in_line_or_marker() -> None:
    found = list(looks(LABELS).values())
    assert len({look["color"] for look in found[:21]}) == 21
    assert len({(look["color"], look["linestyle"]) for look in found[:84]}) == 84
    assert len({(look["color"], look["marker"]) for look in found}) == 168


def test_no_two_of_the_colours_are_nearly_one() -> None:
    colours = [to_rgb(look["color"]) for look in looks(LABELS[:21]).values()]
    pairs = [
        max(abs(a - b) for a, b in zip(one, other, strict=True))
        for one, other in combinations(colours, 2)
    ]
    assert min(pairs) > 0.1


@pytest.mark.parametrize("beside", [1, 3])
def test_titles_of_panels_beside_each_other_do_not_meet(beside: int) -> None:
    figure = canvas(7.0, 3.0)
    panels = figure.subplots(1, beside, squeeze=False)[0]
    for axes in panels:
        entitle(axes, "classes-20x5000-10 measured=directional")
    assert panels[0].get_title(loc="left").count("\n") == (beside > 1)
    figure.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in panels]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


def test_later_labels_are_thinner_so_that_equal_curves_are_both_seen() -> None:
    factors = list(nested(LABELS[:4]).values())
    assert factors == sorted(factors, reverse=True)
    assert len(set(factors)) == 4
    assert all(factor > 0.5 for factor in factors)
    assert len(nested(["one"])) == 1


def test_equal_profiles_have_lines_of_different_width(make_runs: MakeRuns) -> None:
    runs = make_runs(*(make_row("a", label, seconds=1.0) for label in ("x", "y")))
    first, second = report.figure("profile", Evidence.of_runs(runs)).axes[0].get_lines()
    assert first.get_xydata().tolist() == second.get_xydata().tolist()
    assert first.get_linewidth() > second.get_linewidth()
    assert first.get_zorder() == second.get_zorder()


def test_an_acronym_is_explained_where_it_occurs_first() -> None:
    names = spelt_out({"VN": "von-neumann", "VN 2": "von-neumann", "PRA": "rescaled-perceptron"})
    assert list(names.values()) == ["VN (von-neumann)", "VN 2", "PRA (rescaled-perceptron)"]
    same = {"SCS": "scs", "auto": "auto", "Winnow": "winnow", "SVC": "svc"}
    assert spelt_out(same) == {label: label for label in same}


def test_legends_spell_acronyms_out(make_runs: MakeRuns) -> None:
    rows = [make_row("a", "VN", algorithm="von-neumann"), make_row("a", "x", algorithm="svc")]
    figure = report.figure("profile", Evidence.of_runs(make_runs(*rows)))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["VN (von-neumann)", "x"]
