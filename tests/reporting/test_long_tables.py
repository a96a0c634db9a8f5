"""Tables of one line per problem and label, as numbers and for LaTeX."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.reporting.printing.columns import (
    Column,
    counts,
    in_bold,
    numbers,
    seconds,
    texts,
)
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import real
from tests.reporting.latex_lines import balanced, body, head

NASTY = "50% & a_b #1 {x} $y$ ^~\\end{longtable}"


def test_numbers_keep_their_precision_in_the_frame_and_are_rounded_in_print() -> None:
    table = Table(
        "t",
        [
            texts("problem", ["a", "b", "c"]),
            counts("seeds", [20, 3, None]),
            counts("iterations", [1.5, 2, None]),
            seconds("seconds", [1 / 3, 1e-5, None]),
            numbers("bound", [123456789.0, 0.0012345, None]),
            Column("paper ending", ["", "fail", None], None, align="l"),
            Column("shown", None, ["1", "2", "3"]),
        ],
    )
    frame = table.frame
    assert list(frame.columns) == [
        "problem",
        "seeds",
        "iterations",
        "seconds",
        "bound",
        "paper ending",
    ]
    assert frame["seeds"].tolist()[:2] == [20, 3]
    assert frame["seeds"].dtype == "Int64"
    assert frame["seconds"].tolist()[:2] == [1 / 3, 1e-5]
    assert frame["iterations"].tolist()[0] == 1.5
    assert frame.iloc[2, 1:5].isna().all()
    assert frame["paper ending"].tolist() == ["", "fail", ""]
    latex = table.latex("T")
    assert head(latex) == ["problem", "seeds", "iterations", "seconds", "bound", "shown"]
    assert body(latex) == [
        ["a", "20", "1.5", "0.333", "$1.23\\cdot10^{8}$", "1"],
        ["b", "3", "2", "$<$0.001", "0.00123", "2"],
        ["c", "--", "--", "--", "--", "3"],
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (9.996, "10.0"),
        (99.96, "100"),
        (3.14159, "3.14"),
        (123456.0, "123456"),
        (1e6, "$1.00\\cdot10^{6}$"),
        (-0.00951, "-0.00951"),
        (2.5e-7, "$2.50\\cdot10^{-7}$"),
        (float("inf"), "$\\infty$"),
        (None, "--"),
    ],
)
def test_three_digits_of_a_number(value: float | None, message: str) -> None:
    assert real(value) == message


def test_repeated_cells_are_left_blank_and_groups_are_separated() -> None:
    columns = [
        texts("problem", ["a", "a", "b", "b"]),
        counts("rows", [5, 5, 5, 6]),
        texts("label", ["L", "M", "L", "M"]),
    ]
    latex = Table("t", columns, keys=2, long=True).latex("T")
    assert body(latex) == [["a", "5", "L"], ["", "", "M"], ["b", "5", "L"], ["b", "6", "M"]]
    assert latex.count("\\addlinespace") == 1


def test_the_least_counted_value_of_a_group_is_bold() -> None:
    column = seconds("seconds", [1.501, 1.499, 0.1, 3.0, None, 5.0])
    groups = ["a", "a", "a", "b", "b", "c"]
    counted = [True, True, False, True, True, True]
    bold = in_bold(column, groups, counted)
    assert bold.bold == [True, True, False, False, False, False]
    assert bold.shown == ["1.50", "1.50", "0.100", "3.00", "--", "5.00"]
    table = Table("t", [texts("group", groups), bold])
    assert [line[1] for line in body(table.latex("T"))][:3] == [
        "\\textbf{1.50}",
        "\\textbf{1.50}",
        "0.100",
    ]
    assert "| a | **1.50** |\n| a | **1.50** |\n| a | 0.100 |" in table.markdown("T")
    assert table.html("T").count("#T_t_row") == 2
    assert bold.values == column.values


@given(name=st.text(max_size=30), title=st.text(max_size=30))
def test_any_text_is_well_formed(name: str, title: str) -> None:
    latex = Table("t", [texts("problem", [name, NASTY]), counts("n", [1, 2])]).latex(title)
    assert balanced(latex)
    assert len(body(latex)) == 2


def test_an_empty_column_is_a_column_of_nothing() -> None:
    frame = Table("t", [texts("problem", ["a"]), numbers("bound", [None])]).frame
    assert frame["bound"].isna().all()
    assert pd.api.types.is_numeric_dtype(frame["bound"])
