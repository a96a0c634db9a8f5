"""`plab solve` of linear programs: names in answers and proofs, `--save` and `plab verify`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from perceptron_lab.cli.main import main

MPS = """NAME          DIET
ROWS
 N  COST
 G  ENERGY
 L  WEIGHT
 E  MIX
COLUMNS
    BREAD     COST         1.0   ENERGY       2.5
    BREAD     WEIGHT       1.0   MIX          1
    MILK      COST         2.0   ENERGY       0.6
    MILK      WEIGHT       1.0   MIX          -3
    SALT      WEIGHT       1.0
RHS
    RHS       ENERGY       20   WEIGHT        6
BOUNDS
 UP BND       BREAD        LIMIT
ENDATA
"""


class Said(NamedTuple):
    exit_code: int
    output: str


Plab = Callable[..., Said]


@pytest.fixture
def plab(capsys: pytest.CaptureFixture[str]) -> Plab:
    def run(*words: str | Path) -> Said:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Said(code, captured.out + captured.err)

    return run


def file(folder: Path, limit: str) -> Path:
    path = folder / "diet.mps"
    path.write_text(MPS.replace("LIMIT", limit))
    return path


def test_a_contradiction_is_told_by_the_names_of_rows_and_bounds(
    tmp_path: Path, plab: Plab
) -> None:
    completed = plab("solve", file(tmp_path, "4"))
    assert completed.exit_code == 0
    assert "there is no point that satisfies all conditions (proved)" in completed.output
    assert (
        "2 rows and 1 bound contradict each other, none of which can be left out"
        in completed.output
    )
    assert "ENERGY, MIX, BREAD <= 4" in completed.output


def test_a_point_is_told_by_the_names_of_columns(tmp_path: Path, plab: Plab) -> None:
    path = file(tmp_path, "10")
    path.write_text(path.read_text().replace("ENERGY       20", "ENERGY       9"))
    data = json.loads(plab("solve", path, "--json").output)
    assert (data["status"], data["proved"], data["goal_reached"]) == ("FEASIBLE", True, True)
    assert data["features"] == ["BREAD", "MILK", "SALT"]
    assert (data["constraints"], data["dimension"]) == (7, 3)
    assert data["certificate"]["notes"][0].startswith("the objective is left out")
    assert data["margin_lower"] is None
    text = plab("solve", path).output
    assert "point: BREAD " in text
    assert "margin" not in text


@pytest.mark.parametrize("limit", ["4", "10"])
def test_a_saved_answer_is_verified_and_a_changed_one_is_not(
    limit: str, tmp_path: Path, plab: Plab
) -> None:
    path, saved = file(tmp_path, limit), tmp_path / "answer.npz"
    path.write_text(path.read_text().replace("ENERGY       20", "ENERGY       11"))
    assert plab("solve", path, "--save", saved).exit_code == 0
    verified = plab("verify", saved)
    assert verified.exit_code == 0, verified.output
    assert "1 PROVED" in verified.output
    with np.load(saved) as arrays:
        content = dict(arrays)
    record = json.loads(str(content["json"]))
    proof = record["certificate"]["linear"]
    key = "point" if proof["point"] else "weights"
    proof[key] = ["0"] * 3 if key == "point" else {"0": "1"}
    np.savez(saved, **(content | {"json": np.array(json.dumps(record))}))
    changed = plab("verify", saved)
    assert changed.exit_code == 1
    assert "NOT PROVED" in changed.output


TWO_CONFLICTS = """NAME          DIET
ROWS
 N  cost
 G  energy
 L  fat
 E  mix
 G  salty
COLUMNS
    bread     cost         1.0   energy       2.5
    bread     fat          0.5   mix          1
    milk      energy       0.6   fat          1.5
    milk      mix          -3
    salt      salty        1
RHS
    RHS       energy       20   fat           2.5
    RHS       salty        3
BOUNDS
 UP BND       salt         2
ENDATA
"""


def test_all_conflicts_and_the_smallest_relaxation_are_said_by_name(
    tmp_path: Path, plab: Plab
) -> None:
    path = tmp_path / "diet.mps"
    path.write_text(TWO_CONFLICTS)
    said = plab("solve", path, "--conflict", "all", "--relax").output
    assert "conflict 1: 1 row and 1 bound contradict each other" in said
    assert "conflict 2: 3 rows contradict each other, none of which can be left out: energy" in said
    assert "outside of these conflicts have a point (proved)" in said
    assert "smallest total change of right-hand sides: " in said
    assert "lower row salty by 1" in said
    assert "raise row fat by " in said
    answer = json.loads(plab("solve", path, "--conflict", "all", "--relax", "--json").output)
    assert answer["conflicts"]["names"] == [["salty", "salt <= 2"], ["energy", "fat", "mix"]]
    assert answer["relaxation"]["proved"]
    assert answer["relaxation"]["changes"]["salty"] == "-1"
    path.write_text(TWO_CONFLICTS.replace("salty        3", "salty        1").replace("20 ", "1 "))
    assert "relaxation" not in json.loads(plab("solve", path, "--relax", "--json").output)
    table = tmp_path / "rows.csv"
    table.write_text("1,2\n3,4\n")
    refused = plab("solve", table, "--relax")
    assert refused.exit_code == 2
    assert "--relax on a problem that is no linear program" in " ".join(refused.output.split())
    for question in ("--verdict", "--optimum", "--ellipsoid"):
        refused = plab("solve", path, "--relax", question)
        assert f"--relax does not apply to {question}" in " ".join(refused.output.split())


def test_the_convention_on_negative_upper_bounds_is_an_option_and_is_saved(
    tmp_path: Path, plab: Plab
) -> None:
    path, saved = file(tmp_path, "-1"), tmp_path / "answer.npz"
    path.write_text(path.read_text().replace("G  ENERGY", "L  ENERGY"))
    assert "its lower bound is taken as -infinity" in plab("solve", path).output
    zero = plab("solve", path, "--negative-upper", "zero", "--save", saved)
    assert "BREAD >= 0, BREAD <= -1" in zero.output
    assert plab("verify", saved).exit_code == 0
    optimum = plab("solve", path, "--optimum", "--negative-upper", "zero", "--json")
    assert json.loads(optimum.output)["status"] == "INFEASIBLE"
    refused = plab("solve", saved, "--negative-upper", "zero")
    assert refused.exit_code == 2
    assert "is about bounds in .mps and .lp files" in " ".join(refused.output.split())


def test_a_program_without_columns_is_decided_and_verified(tmp_path: Path, plab: Plab) -> None:
    path, saved = tmp_path / "none.mps", tmp_path / "answer.npz"
    for kind, status in (("L", "FEASIBLE"), ("G", "INFEASIBLE")):
        path.write_text(f"ROWS\n {kind} R1\nCOLUMNS\nRHS\n RHS R1 3\nENDATA\n")
        assert plab("solve", path, "--save", saved).output.splitlines()[1].startswith(status)
        assert plab("verify", saved).exit_code == 0


def test_options_that_mean_nothing_here_are_refused(tmp_path: Path, plab: Plab) -> None:
    path = file(tmp_path, "4")
    for words, message in [
        (["--labels", "last"], "labels are a column of"),
        (["--algorithm", "perceptron"], "seeks strict solutions"),
        (["--goal", "margin_ratio=0.5"], "a closed set, which has no margin"),
    ]:
        refused = plab("solve", path, *words)
        assert refused.exit_code == 2
        assert message in " ".join(refused.output.split())
