"""Made-up tables of runs."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.reporting.artificial_runs import NOTHING, MakeRuns, Row, make_row


@pytest.fixture(name="make_runs")
def _make_runs() -> MakeRuns:
    """Rows by default: mcp100 and mcp124-1 by PRA and EA, exactly as in the thesis."""

    def make(*rows: Row) -> pd.DataFrame:
        default = [
            make_row(problem, label)
            for problem in ("mcp100", "mcp124-1")
            for label in ("PRA", "EA")
        ]
        return pd.DataFrame(list(rows) or default)

    return make


@pytest.fixture
def runs(make_runs: MakeRuns) -> pd.DataFrame:
    return make_runs()


@pytest.fixture
def troubled(make_runs: MakeRuns) -> pd.DataFrame:
    """One proved cell, a limit, an error without numbers, a claim without proof; one not run."""
    return make_runs(
        make_row("mcp100", "PRA"),
        make_row("mcp100", "EA", status="UPDATE_LIMIT", proved=False, updates=9, queries=10),
        make_row("mcp124-1", "PRA", status="ERROR", dimension=None, **NOTHING),
        make_row("mcp124-1", "EA", proved=False),
        make_row("other_1", "PRA"),
    )
