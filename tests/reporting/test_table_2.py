"""Table 2 of Yu, Kilinc-Karzan and Carbonell: ratios to Mirror-Prox, ours beside the paper's."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.papers.yu.costs import paper_table
from perceptron_lab.reporting.printing.table import Table
from tests.reporting.artificial_runs import NOTHING, Row, make_row
from tests.reporting.latex_lines import balanced, body


def row(problem: str, label: str, seconds: float | None, **changes: Any) -> Row:
    shape = {"dimension": 100, "constraints": 5000} | changes
    return make_row(problem, label, seconds=seconds, **shape)


def table(*rows: Row) -> Table:
    return report.table("table_2", Evidence.of_runs(pd.DataFrame(list(rows))))


def lines(printable: Table) -> pd.DataFrame:
    return printable.frame.set_index(["problem", "label"])


LIMIT = {"status": "TIME_LIMIT", "proved": False}


def test_ratios_are_those_of_medians_on_the_same_problem() -> None:
    frame = lines(
        table(
            *(row("a", "MPLFP", s, seed=i, updates=u) for i, s, u in [(0, 2, 9), (1, 4, 5)]),
            *(row("a", "SPCT", s, seed=i) for i, s in enumerate((6.0, 12.0))),
            row("b", "MPLFP", 10.0, dimension=1000),
            row("b", "SPCT", 5.0, dimension=1000),
        )
    )
    assert frame["ratio"].tolist() == [1.0, 3.0, 1.0, 0.5]
    assert frame["seeds"].tolist() == [2, 2, 1, 1]
    assert frame.loc[("a", "MPLFP"), ["iterations", "seconds"]].tolist() == [7, 3]
    assert frame["dimension"].tolist() == [100, 100, 1000, 1000]
    assert frame["rows"].tolist() == [5000] * 4
    assert frame["status"].tolist() == [""] * 4


def test_a_label_of_few_instances_is_compared_with_these_instances() -> None:
    frame = lines(
        table(
            *(row("a", "MPLFP", s, seed=i) for i, s in enumerate((2.0, 8.0, 4.0))),
            row("a", "PCT", 40.0, seed=1, **LIMIT),
            row("a", "VN", 24.0, seed=1),
            row("a", "SPCT", 3.0, seed=7),
        )
    )
    assert frame["ratio"].fillna(0.0).tolist() == [1.0, 0.0, 3.0, 0.0]
    assert frame["ratio at least"].fillna(0.0).tolist() == [0.0, 5.0, 0.0, 0.0]


def test_the_paper_is_listed_with_problems_of_its_shapes_and_labels() -> None:
    rows = [
        row(f"{dimension}x{count}", label, 1.0, dimension=dimension, constraints=count)
        for dimension, count in [(100, 5000), (100, 50000), (100, 500000), (30, 90)]
        for label in ("MPLFP", "SPCT", "VN", "ISPVN")
    ]
    frame = lines(table(*rows))
    assert frame.loc["100x5000", "paper seconds"].tolist()[:3] == [1.3, 4.3, 127.3]
    assert frame.loc[("100x5000", "SPCT"), "paper ratio"] == pytest.approx(4.3 / 1.3)
    assert frame.loc[("100x50000", "VN"), "paper ending"] == "timeout"
    assert frame.loc[("100x500000", "SPCT"), "paper ending"] == "fail"
    assert pd.isna(frame.loc[("100x500000", "SPCT"), "paper ratio"])
    without = frame.loc["30x90", ["paper seconds", "paper ratio"]]
    assert without.isna().all(axis=None)
    assert frame.xs("ISPVN", level="label")["paper ratio"].isna().all()


def test_the_ratio_of_a_run_at_a_limit_is_a_lower_bound() -> None:
    printable = table(row("a", "MPLFP", 2.0), row("a", "PCT", 30.0, **LIMIT), row("a", "VN", 5.0))
    frame = lines(printable)
    assert frame["ratio at least"].tolist()[1] == 15.0
    assert frame["ratio"].isna().tolist() == [False, True, False]
    assert frame["ratio at least"].isna().tolist() == [True, False, True]
    assert frame.loc[("a", "PCT"), "status"] == "TIME_LIMIT"
    latex = printable.latex("T")
    assert balanced(latex)
    cells = {line[3]: line for line in body(latex)}
    assert cells["PCT"][7] == "$\\geq$ 15.0"
    assert cells["VN"][7] == "2.50"
    assert cells["MPLFP"][6] == "\\textbf{2.00}"
    assert "textbf" not in " ".join(cells["PCT"])


def test_failures_have_no_ratio_and_are_shown() -> None:
    failed = row("a", "PCT", None, **{k: v for k, v in NOTHING.items() if k != "seconds"})
    frame = lines(
        table(
            row("a", "MPLFP", 2.0),
            failed | {"status": "ERROR"},
            row("a", "VN", 5.0, status="UNVERIFIED", proved=False),
            row("b", "VN", 5.0),
        )
    )
    assert frame["ratio"].isna().tolist() == [False, True, True, True, True, True]
    assert frame["ratio at least"].isna().all()
    assert frame["status"].tolist() == ["", "ERROR", "UNVERIFIED", "not run", "not run", ""]


def test_without_proved_answers_of_mirror_prox_there_are_no_ratios() -> None:
    frame = lines(
        table(
            row("a", "MPLFP", 2.0),
            row("a", "MPLFP", 60.0, seed=1, **LIMIT),
            row("a", "VN", 5.0),
        )
    )
    assert frame["ratio"].isna().all()
    assert frame.loc[("a", "MPLFP"), "status"] == "FEASIBLE (1 of 2), TIME_LIMIT (1 of 2)"


def test_the_paper_table_is_complete() -> None:
    paper = paper_table()
    assert len(paper) == 24
    assert {label for _, label in paper} == {"MPLFP", "SPCT", "PCT", "VN"}
    assert all(entry.ratio == 1.0 for (_, label), entry in paper.items() if label == "MPLFP")
    # The paper's own finding: Mirror-Prox is faster than everything else.
    ratios = [e.ratio for (_, label), e in paper.items() if label != "MPLFP" and e.ratio]
    assert min(ratios) > 2.9
    endings = [entry.ending for entry in paper.values()]
    assert (endings.count("timeout"), endings.count("fail")) == (8, 2)
