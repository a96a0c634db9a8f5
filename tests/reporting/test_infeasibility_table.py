"""The table of programs of known answers: claims and proofs are counted apart."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.core.findings import Finding
from perceptron_lab.experiments.configuration.rows import finding_text
from perceptron_lab.experiments.run import run
from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.studies.answers import _wrong_kinds


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
    names = ["problem", "label", "seeds", "claimed", "right", "proved", "false", "kinds"]
    none, point = "gram-infeasible-4", "gram-feasible-4"
    assert table[names].to_numpy().tolist() == [
        [none, "auto", 2, 2, 2, 2, 0, "2 strong"],
        [none, "SCS", 2, 2, 2, 2, 0, ""],
        [point, "auto", 2, 0, 0, 2, 0, ""],
        [point, "SCS", 2, 0, 0, 2, 0, ""],
    ]


def test_kinds_that_contradict_the_construction_are_wrong() -> None:
    kinds = ["strong", "weak", "boundary only", "weak", "strong", "no point"]
    texts = [finding_text(Finding(infeasibility=kind)) for kind in kinds]
    runs = pd.DataFrame({"finding": texts, "measure.known_weak": [1.0, 0.0, None, 1.0, None, 1.0]})
    assert _wrong_kinds(runs).tolist() == [True, True, True, False, False, False]
