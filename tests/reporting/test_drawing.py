"""Looks, legends and nested curves: labels are told apart, and acronyms spelt out."""

from __future__ import annotations

from io import BytesIO
from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.printing.drawing import (
    STYLE,
    canvas,
    entitle,
    rule_logarithmic,
    spelt_out,
)
from perceptron_lab.reporting.printing.figure_files import saved
from perceptron_lab.reporting.printing.looks import (
    GREY,
    MOST_COLOURED,
    distinct_looks,
    looks_of,
    nested,
)
from perceptron_lab.reporting.printing.problem_titles import in_words
from tests.reporting.artificial_runs import MakeRuns, make_row

LABELS = [f"label {number}" for number in range(168)]


def test_twenty_one_labels_have_a_colour_each_and_more_differ_in_line_or_marker() -> None:
    looks_of_labels = list(distinct_looks(LABELS).values())
    assert len({look["color"] for look in looks_of_labels[:21]}) == 21
    assert len({(look["color"], look["linestyle"]) for look in looks_of_labels[:84]}) == 84
    assert len({(look["color"], look["marker"]) for look in looks_of_labels}) == 168


def test_no_two_colours_are_similar() -> None:
    colours = [to_rgb(look["color"]) for look in distinct_looks(LABELS[:21]).values()]
    pairs = [
        max(abs(a - b) for a, b in zip(first, second, strict=True))
        for first, second in combinations(colours, 2)
    ]
    assert min(pairs) > 0.1


def test_an_algorithm_has_one_colour_in_every_figure(make_runs: MakeRuns) -> None:
    methods = {"VN": "von-neumann", "MP": "mirror-prox", "own": "own-method", "MP 2": "mirror-prox"}
    rows = [make_row("p", label, algorithm=name) for label, name in methods.items()]
    first, second = (looks_of(Evidence.of_runs(make_runs(*some))) for some in (rows, rows[:0:-1]))
    assert first["MP"]["color"] == second["MP"]["color"] == first["MP 2"]["color"]
    assert len({look["color"] for look in first.values()}) == 3
    assert first["MP"]["linestyle"] != first["MP 2"]["linestyle"]
    alone = looks_of(Evidence.of_runs(make_runs(rows[1], rows[3])))
    assert alone["MP"]["color"] != alone["MP 2"]["color"]
    (single,) = looks_of(Evidence.of_runs(make_runs(rows[0]))).values()
    assert single["color"] == first["VN"]["color"]


def test_labels_with_fewest_answers_are_grey_and_last(make_runs: MakeRuns) -> None:
    rows = [
        make_row(problem, f"L{number}", seconds=9.0 - number, proved=problem == "p" or number != 3)
        for number in range(8)
        for problem in ("p", "q")
    ]
    styles = looks_of(Evidence.of_runs(make_runs(*rows)))
    grey = [label for label, look in styles.items() if look["color"] == GREY]
    assert grey == list(styles)[MOST_COLOURED:] == ["L0", "L3"]


def test_titles_of_generated_problems_are_words_only_where_the_parameters_agree() -> None:
    parameters = {"family": "thin", "rows": 400, "dimension": 20.0, "margin": "0.1", "noise": 0}
    words = "planted, 400 rows, dimension 20, margin 0.1, noise 0"
    assert in_words("planted-20x400-0.1-0", parameters) == words
    for title in ("planted-21x400-0.1-0", "planted-20x400-0.2-0", "planted-20x400-0.1 a b"):
        assert in_words(title, parameters) == title
    assert in_words("planted-20x400 a=b", parameters, "rows") == "planted, dimension 20, a b"
    blocks = {"blocks": 2, "infeasible": True, "rows": None, "margin": float("nan")}
    assert in_words("second-order-2-infeasible", blocks) == "second-order, blocks 2, infeasible"


@pytest.mark.parametrize("beside", [1, 3])
def test_titles_of_adjacent_panels_do_not_overlap(beside: int) -> None:
    figure = canvas(7.0, 3.0)
    panels = figure.subplots(1, beside, squeeze=False)[0]
    for axes in panels:
        entitle(axes, "classes-20x5000-10 measured=directional")
    assert panels[0].get_title(loc="left").count("\n") == (beside > 1)
    figure.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in panels]
    assert all(first.x1 < second.x0 for first, second in pairwise(boxes))


def test_a_title_breaks_after_a_comma_and_not_before_a_number() -> None:
    panels = canvas(7.0, 3.0).subplots(1, 3)
    entitle(panels[0], "reflected, 5000 rows, dimension 100")
    assert panels[0].get_title(loc="left") == "reflected, 5000 rows,\ndimension 100"


def test_later_labels_are_thinner_so_that_equal_curves_are_visible() -> None:
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


def _logarithmic_panels() -> Figure:
    """Panels that share axes, with minor ticks, aligned names and long tick labels."""
    figure = canvas(5.0, 4.0)
    panels = figure.subplots(2, 1, sharex=True)
    for index, axes in enumerate(panels):
        axes.plot([1.0, 4e4], [0.02, 3.0 * 10.0 ** (5 * index)])
        axes.set(xscale="log", yscale="log", ylabel="margin")
        rule_logarithmic(axes, "y")
        entitle(axes, f"panel {index}")
    panels[1].set_xlabel("queries")
    figure.align_ylabels()
    return figure


def _label_positions(figure: Figure) -> list[list[float]]:
    """Where the names of the vertical axes are, as parts of their panels."""
    names = [(axes, axes.yaxis.label) for axes in figure.axes]
    return [
        axes.transAxes.inverted().transform(name.get_transform().transform(name.get_position()))
        for axes, name in names
    ]


def _saved_and_plain() -> tuple[Figure, bytes, Figure, bytes]:
    """A saved figure and its picture, then those that matplotlib alone makes."""
    drawn: list[Figure] = []

    def make() -> Figure:
        drawn.append(_logarithmic_panels())
        return drawn[-1]

    files = saved(make, "t")
    buffer = BytesIO()
    with style.context(STYLE):
        plain = _logarithmic_panels()
        plain.set_dpi(300.0)
        layout = plain.get_layout_engine()
        assert layout is not None
        layout.execute(plain)
        plain.set_layout_engine("none")
        FigureCanvasAgg(plain).print_png(buffer, metadata={"Title": "t", "Software": None})
    return drawn[0], files["png"], plain, buffer.getvalue()


@pytest.mark.slow
def test_a_saved_figure_is_unchanged_and_its_labels_stay_in_position() -> None:
    """No blank tick is measured, and no file after the first measures where names are."""
    drawn, picture, plain, expected = _saved_and_plain()
    assert picture == expected
    for first, second in zip(drawn.axes, plain.axes, strict=True):
        assert first.get_position().bounds == second.get_position().bounds
        assert first.yaxis.get_minorticklocs().tolist() == second.yaxis.get_minorticklocs().tolist()
    indices = _label_positions(plain)
    with style.context(STYLE):
        drawn.set_dpi(72.0)
        drawn.draw_without_rendering()
    np.testing.assert_allclose(_label_positions(drawn), indices, rtol=0, atol=1e-6)
