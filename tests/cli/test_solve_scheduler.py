"""`plab solve --scheduler`: workers read the parts, and the answer is that of one process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.exact.checker import checker
from perceptron_lab.experiments.cells import dask_executor
from tests.experiments.cells.clusters import cluster_of
from tests.families import infeasible, planted

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


def written(parts: Path, *, feasible: bool, labelled: bool) -> Path:
    """Write parts of rows, or of decimals with labels in the column y, and return their folder."""
    parts.mkdir()
    rng = np.random.default_rng(0)
    rows = planted(4, 900, 0.05, rng)[0] if feasible else infeasible(4, 900, rng)
    labels = rng.choice([-1.0, 1.0], size=(900, 1))
    examples = np.hstack([(rows * labels).round(9), labels])
    for number, at in enumerate(np.split(np.arange(900), 3)):
        if labelled:
            file = parts / f"p-{number}.csv"
            np.savetxt(file, examples[at], "%.9g", ",", header="a,b,c,d,y", comments="")
        else:
            np.save(parts / f"p-{number}.npy", rows[at])
    return parts


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code = main(["solve", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("feasible", [True, False])
def test_workers_give_the_answer_of_one_process_and_a_certificate(
    feasible: bool, labelled: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "parts", feasible=feasible, labelled=labelled)
    problem, saved = [folder, *["--labels", "y"][: 2 * labelled]], tmp_path / "answer.npz"
    with cluster_of(1, processes=False) as cluster:
        address = cluster.scheduler_address
        parallel = answer(capsys, *problem, "--scheduler", address, "--save", saved)
    serial = answer(capsys, *problem, "--memory", "1MB")
    assert parallel[0] == serial[0] == 0
    assert parallel[1]["status"] == ("FEASIBLE" if feasible else "INFEASIBLE")
    assert parallel[1].keys() == serial[1].keys()
    different = {name for name, value in serial[1].items() if parallel[1][name] != value}
    assert different <= {"seconds", "proof_seconds", "total_seconds"}
    assert main(["verify", str(saved)]) == 0
    into = tmp_path / "certificates"
    assert main(["certify", str(saved), "--into", str(into)]) == 0
    (certificate,) = into.glob("*.certificate.json")
    assert checker().main([str(certificate), str(folder)]) == 0


def test_a_scheduler_that_does_not_answer_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "CONNECTION_SECONDS", 0.2)
    # The pattern matches no file, which reading would say
    silent = ["--scheduler", "tcp://127.0.0.1:9"]
    assert main(["solve", str(tmp_path / "*.npy"), *silent]) == 2
    assert "dask's scheduler tcp://127.0.0.1:9 does not answer" in capsys.readouterr().err
    assert main(["solve", str(tmp_path / "rows.npy"), *silent]) == 2
    assert "rows.npy, which is one file; workers read a folder" in capsys.readouterr().err
