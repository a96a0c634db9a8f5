"""The table by family: every cell is counted once, and only proved answers as answers."""

from __future__ import annotations

import pandas as pd
import pytest

from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.studies.answers import family
from tests.reporting.artificial_runs import NOTHING, make_row


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("mcp124-1", "mcp"),
        ("maxG11", "maxG"),
        ("infd1.recession", "infd recession"),
        ("random-7000-17148", "random"),
        ("7th", "7th"),
    ],
)
def test_a_family_is_the_letters_that_a_name_begins_with(name: str, letters: str) -> None:
    assert family(name) == letters


def test_cells_are_counted_once_and_claims_only_where_they_are_proved() -> None:
    skipped = NOTHING | {"status": "SKIPPED", "constraints": None, "dimension": None}
    rows = [
        make_row("mcp100", "auto", seconds=1.0),
        make_row("mcp500", "auto", constraints=501, seconds=3.0),
        make_row("mcp250", "auto", **skipped),
        make_row("infp1", "auto", status="INFEASIBLE", margin_upper=0.0),
        make_row("infp2", "auto", status="INFEASIBLE", margin_upper=0.0, proved=False),
        make_row("infp3", "auto", status="TIME_LIMIT", proved=False),
        make_row("infp4", "auto", status="MARGIN_BOUNDED", margin_upper=1e-9),
    ]
    table = report.table("families", Evidence.of_runs(pd.DataFrame(rows)))
    mcp, infp = table.frame.to_dict("records")
    counted = ("family", "problems", "order", "skipped", "feasible", "infeasible", "undecided")
    assert [mcp[name] for name in counted] == ["mcp", 3, 501, 1, 2, 0, ""]
    assert (mcp["seconds"], mcp["slowest"]) == (3.0, "mcp500")
    assert [infp[name] for name in counted[:6]] == ["infp", 4, 200, 0, 0, 1]
    assert infp["undecided"] == "1 INFEASIBLE (unproved), 1 TIME_LIMIT, 1 MARGIN_BOUNDED"
    assert "Of 6 cells that were run, 3 are decided" in table.notes[0]
