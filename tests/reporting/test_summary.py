"""Cells as reports speak of them."""

from __future__ import annotations

import pandas as pd
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting.evidence import checked_runs
from perceptron_lab.reporting.summary import Summary, shape_of, summaries
from tests.reporting.artificial_runs import NOTHING, Row, make_row


def only(*rows: Row) -> Summary:
    (summary,) = summaries(checked_runs(pd.DataFrame(list(rows))))
    return summary


def test_every_pair_is_there_in_the_order_of_the_runs() -> None:
    rows = [make_row("b", "M"), make_row("a", "L"), make_row("b", "L")]
    listed = summaries(checked_runs(pd.DataFrame(rows)))
    assert [(s.problem, s.label, s.seeds) for s in listed] == [
        ("b", "M", 1),
        ("b", "L", 1),
        ("a", "M", 0),
        ("a", "L", 1),
    ]
    absent = listed[2]
    assert (absent.status_counts, absent.answered, absent.feasible) == ("not run", False, False)
    assert absent.median("seconds") is None
    assert absent.largest("margin_upper") is None


@pytest.mark.parametrize(
    ("endings", "message", "answered", "feasible"),
    [
        ([("FEASIBLE", True)], "FEASIBLE", True, True),
        ([("FEASIBLE", True)] * 3, "FEASIBLE", True, True),
        ([("FEASIBLE", False)], "FEASIBLE (unproved)", False, False),
        ([("INFEASIBLE", True)], "INFEASIBLE", True, False),
        ([("TIME_LIMIT", False)] * 2, "TIME_LIMIT", False, False),
        (
            [("FEASIBLE", True), ("TIME_LIMIT", False), ("FEASIBLE", True)],
            "FEASIBLE (2 of 3), TIME_LIMIT (1 of 3)",
            False,
            False,
        ),
        (
            [("MARGIN_BOUNDED", True), ("FEASIBLE", True)],
            "MARGIN_BOUNDED (1 of 2), FEASIBLE (1 of 2)",
            True,
            False,
        ),
    ],
)
def test_endings(
    endings: list[tuple[str, bool]], message: str, answered: bool, feasible: bool
) -> None:
    rows = [
        make_row("a", "L", seed=i, status=status, proved=proved)
        for i, (status, proved) in enumerate(endings)
    ]
    summary = only(*rows)
    assert (summary.status_counts, summary.answered, summary.feasible) == (
        message,
        answered,
        feasible,
    )


def test_a_median_is_over_the_cells_that_have_a_number() -> None:
    failed = make_row("a", "L", seed=3, **NOTHING | {"status": "ERROR"})
    rows = [make_row("a", "L", seed=i, seconds=s) for i, s in enumerate((4.0, 1.0, 2.0))]
    assert only(*rows, failed).median("seconds") == 2.0
    assert only(failed).median("seconds") is None


def test_a_largest_number_needs_every_cell() -> None:
    rows = [make_row("a", "L", seed=i, margin_upper=m) for i, m in enumerate((0.1, 0.3, 0.2))]
    assert only(*rows).largest("margin_upper") == 0.3
    without = make_row("a", "L", seed=3, margin_upper=None)
    assert only(*rows, without).largest("margin_upper") is None


def test_a_problem_has_one_shape() -> None:
    rows = [make_row("a", "L"), make_row("a", "M"), make_row("b", "L", dimension=None)]
    assert shape_of(checked_runs(pd.DataFrame(rows))) == {"a": (101, 200)}
    rows[1]["constraints"] = 7
    with pytest.raises(DataError, match=r"'a' has several shapes \(\(101, 200\) and \(101, 7\)\)"):
        shape_of(checked_runs(pd.DataFrame(rows)))
