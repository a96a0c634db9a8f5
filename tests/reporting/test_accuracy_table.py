"""The table of accuracy claimed and accuracy proved."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from perceptron_lab.algorithms.external.largest_margin import ERRORS, SIZE
from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting import Evidence, report
from tests.reporting.artificial_runs import NOTHING, make_row


def stated(*errors: float, size: float = 1.0) -> dict[str, Any]:
    figures = dict(zip(ERRORS, errors, strict=True)) | {SIZE: size}
    return {f"measure.{name}": value for name, value in figures.items()}


def lines(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    table = report.table("accuracy", Evidence.of_runs(pd.DataFrame(list(rows))))
    return [dict(line) for line in table.frame.to_dict("records")]


def test_the_claimed_error_is_the_largest_and_the_proved_gap_that_of_the_bracket() -> None:
    claims = stated(1e-9, 0.0, 2e-9, 0.0, -3e-8, 0.0)
    (line,) = lines(make_row("a", "scs", margin_lower=0.2, margin_upper=0.3, **claims))
    assert line["claimed"] == 3e-8
    assert line["error 5"] == -3e-8
    assert line["proved"] == pytest.approx(0.1 / 1.5)
    assert line["proves"] == "a feasible point"


def test_an_unverified_answer_is_marked_however_accurate_it_looks() -> None:
    claims = stated(*[1e-12] * 6, size=2.0)
    unverified = make_row(
        "a", "x", status="UNVERIFIED", proved=False, margin_lower=-1.0, margin_upper=0.5, **claims
    )
    bare = make_row(
        "b", "x", status="UNVERIFIED", proved=False, margin_lower=None, margin_upper=None, **claims
    )
    skipped = make_row("c", "x", **(NOTHING | {"status": "SKIPPED"}))
    first, second, third = lines(unverified, bare, skipped)
    assert first["proved"] == pytest.approx(0.5 / 2.5)  # y = 0 has the margin 0
    assert second["proved"] == math.inf
    assert first["proves"] == second["proves"] == "nothing"
    assert third["proves"] == ""
    assert pd.isna(third["claimed"])


def test_weights_that_refute_have_no_gap() -> None:
    claims = stated(*[1e-7] * 6)
    row = make_row("a", "x", status="INFEASIBLE", margin_lower=-0.1, margin_upper=0.0, **claims)
    (line,) = lines(row)
    assert (line["proved"], line["proves"]) == (0.0, "no feasible point")


def test_it_needs_a_solver_that_states_errors() -> None:
    with pytest.raises(
        DataError, match="no label is a solver that states the errors of its answer"
    ):
        lines(make_row("a", "auto"))
