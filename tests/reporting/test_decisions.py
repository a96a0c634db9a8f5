"""The table of decided linear systems, and the experiment that it belongs to."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab import check, verify
from perceptron_lab.cli.main import main
from perceptron_lab.core.findings import NOTHING, Finding
from perceptron_lab.reporting.studies.answers import answered

SMALL = [
    "problems.0={dataset: linear-systems, variables: 3, inequalities: 5, equations: 1}",
    "problems.1={dataset: linear-systems, kind: tight, variables: 3, inequalities: 5}",
    "problems.2={dataset: linear-systems, kind: infeasible, gap: 20, variables: 3}",
    *("problems.3=" + "{dataset: linear-systems, kind: dependent}",),
]


@pytest.mark.parametrize(
    ("status", "finding", "answer"),
    [
        ("FEASIBLE", NOTHING, True),
        ("INFEASIBLE", NOTHING, False),
        ("UNVERIFIED", Finding(claimed_feasible=True), True),
        ("UNVERIFIED", Finding(claimed_feasible=False), False),
        ("TIME_LIMIT", NOTHING, None),
    ],
)
def test_decided_runs_have_a_deciding_status_or_finding(
    status: str, finding: Finding, answer: bool | None
) -> None:
    assert answered(status, finding) is answer


@pytest.mark.slow
def test_the_experiment_runs_to_its_table_and_is_verified(tmp_path: Path) -> None:
    assert check("lp_feasibility")
    words = [word for setting in [*SMALL, "seeds=[0]", "experiment=lp"] for word in ("-s", setting)]
    rest = ["-s", "problems.4.inequalities=6", "-s", "problems.5.inequalities=6"]
    sizes = [f"problems.{i}.variables=4" for i in range(4, 9)]
    rest += [word for size in sizes for word in ("-s", size)]
    code = main(["run", "lp_feasibility", "-q", "--output", str(tmp_path), *words, *rest])
    assert code == 1  # HiGHS's answers are not all exact
    table = pd.read_csv(tmp_path / "lp" / "lp_feasibility.csv")
    exact = table[table["label"] == "exact"]
    assert (exact["decided"] == exact["seeds"]).all()
    assert (exact["false"].dropna() == 0).all()
    thin = table[(table["label"] == "HiGHS") & table["problem"].str.endswith("-20")]
    assert (thin["false"] == thin["seeds"]).all()
    assert table["false"].isna().sum() == 2 * 2  # of the files nobody knows
    assert not verify(tmp_path / "lp").failed


@pytest.mark.slow
@pytest.mark.long  # the same table of other data
def test_linear_programs_run_to_their_table(tmp_path: Path) -> None:
    assert check("linear_programs")
    sizes = [f"problems.{i}.size=6" for i in range(1, 12)]
    words = ["problems.0.instances=[afiro]", *sizes, "seeds=[0, 1]", "experiment=lp"]
    options = [word for assignment in words for word in ("-s", assignment)]
    main(["run", "linear_programs", "-q", "--output", str(tmp_path), *options])
    table = pd.read_csv(tmp_path / "lp" / "lp_feasibility.csv")
    others = ~table["label"].isin(["exact", "HiGHS"])  # which may not be there
    generated = table[~others & ~table["problem"].isin(["afiro", "diet"])]
    assert len(generated) == 2 * 11
    exact = generated[generated["label"] == "exact"]
    assert (exact["decided"] == 2).all()
    assert (generated["false"].notna()).all()
    assert (exact["false"] == 0).all()
    thin = generated[(generated["label"] == "HiGHS") & generated["problem"].str.endswith("-30")]
    assert (thin["false"] == 2).all()
    assert not verify(tmp_path / "lp").failed
