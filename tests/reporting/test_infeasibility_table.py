"""The table of programs of known answers: claims and proofs are counted apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from perceptron_lab.experiments.run import run
from perceptron_lab.reporting import Evidence, report


@pytest.mark.slow
def test_claims_and_proofs_are_counted(tmp_path: Path) -> None:
    overrides = [
        "problems=[{dataset: infeasible-sdp, family: gram, order: 4, kind: infeasible}, "
        "{dataset: infeasible-sdp, family: gram, order: 4, kind: feasible}]",
        "algorithms=[{name: auto}, {name: verified-solver, label: SCS, parameters: {solver: scs}}]",
        "seeds=[0, 1]",
    ]
    finished = run("infeasible_sdp", overrides=overrides, output=tmp_path)
    table = report.table("infeasible_programs", Evidence.of_folder(finished.folder)).frame
    names = ["problem", "label", "seeds", "claimed", "right", "proved", "false"]
    none, point = "gram-infeasible-4", "gram-feasible-4"
    assert table[names].to_numpy().tolist() == [
        [none, "auto", 2, 2, 2, 2, 0],
        [none, "SCS", 2, 2, 2, 2, 0],
        [point, "auto", 2, 0, 0, 2, 0],
        [point, "SCS", 2, 0, 0, 2, 0],
    ]
