"""Proved answers of every kind of system become certificates that the checker accepts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import solve
from perceptron_lab.cli.main import main
from perceptron_lab.exact.checker import checker, compiled_checker
from perceptron_lab.exact.row_weights import balanced
from perceptron_lab.exact.whole_numbers import exactly, rounded
from perceptron_lab.experiments.certifying.certify import (
    CertificationStatus,
    CertifiedCell,
    certify,
)
from perceptron_lab.experiments.verify import verify
from tests.exact.certificates_on_disk import as_number
from tests.experiments.certified import CELLS, EMPTY, FEASIBLE, WHOLE, attempted, certified

KINDS = ["rows", "rows, none", "rows, bounded", "relaxed", "limit", "mixed", "second-order"]
KINDS += ["matrices", "whole matrices"]


def certified_cell(path: Path) -> CertifiedCell:
    (cell,) = certify(path, path.parent / "exact").cells
    return cell


def assert_accepted(cell: CertifiedCell, *claims: str) -> dict[str, Any]:
    """Assert that a cell is certified by these claims, and its file accepted; return its record."""
    assert cell.outcome is CertificationStatus.CERTIFIED, cell
    assert cell.claims == claims, cell
    assert cell.path is not None
    record: dict[str, Any] = json.loads(Path(cell.path).read_bytes())
    return record


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_answer_is_certified(name: str, tmp_path: Path) -> None:
    problem, algorithm, more, _ = CELLS[name]
    path = attempted(tmp_path, problem, algorithm, **more)
    assert path is not None
    cell = certified_cell(path)
    assert cell.outcome is CertificationStatus.CERTIFIED, cell
    assert not cell.message
    status = {"FEASIBLE": "feasible", "INFEASIBLE": "infeasible"}.get(cell.status)
    assert status is None or status in cell.claims
    assert cell.path is not None
    assert not [reason for _, reason in checker().check(cell.path) if reason]


def test_a_maxcut_optimum_is_enclosed_exactly(tmp_path: Path) -> None:
    problem = {"dataset": "maxcut", "instances": ["torus-5x5-unit"]}
    path = certified(tmp_path, problem, {"name": "low-rank"}, goal={"width": 1e-8})
    cell = certified_cell(path)
    record = assert_accepted(cell, "objective at most", "objective at least")
    assert not cell.message
    upper, lower = (Fraction(*map(as_number, claim["bound"])) for claim in record["claims"])
    assert 0 <= upper - lower <= Fraction(12, 10**9) * upper
    system = verify(path).cells[0]
    assert system.optimum_lower is not None
    assert abs(lower - Fraction(system.optimum_lower)) <= Fraction(upper) / 10**9


def test_large_matrices_are_factorised_on_their_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perceptron_lab.exact.whole_numbers.LARGEST_DENSE", 4)
    monkeypatch.setattr("perceptron_lab.exact.whole_numbers._dense", None)  # which is not called
    problem = {"dataset": "maxcut", "instances": ["random-100-150"]}
    path = certified(tmp_path, problem, {"name": "auto"})
    record = assert_accepted(certified_cell(path), "feasible", "margin at least", "margin at most")
    columns = record["claims"][0]["factors"][0][1:]
    assert sum(len(indices) for indices, _ in columns) < 100 * 101 / 4


def test_a_damaged_answer_is_reported_and_the_others_are_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = certified(tmp_path, FEASIBLE, {"name": "perceptron"})
    monkeypatch.setattr(
        "perceptron_lab.experiments.certifying.exact_claims.feasible",
        lambda *_: exec("raise ZeroDivisionError('a test')"),
    )
    assert "a test" in certified_cell(path).message
    path.write_bytes(path.read_bytes()[:100])
    cell = certified_cell(path)
    assert cell.outcome is CertificationStatus.NOT_CERTIFIED
    assert "not a certificate" in cell.message


@pytest.mark.parametrize(("text", "claim"), [(EMPTY, "closed infeasible"), (WHOLE, "feasible")])
def test_programs_are_certified_next_to_their_file(text: str, claim: str, tmp_path: Path) -> None:
    (tmp_path / "p.dat-s").write_text(text)
    problem = {"dataset": "sdpa", "files": ["p.dat-s"]}
    path = certified(tmp_path, problem, {"name": "auto"})
    cell = certified_cell(path)
    assert claim in cell.claims, cell
    assert cell.path is not None
    record = json.loads(Path(cell.path).read_bytes())
    assert record["data"]["file"] == "p.dat-s"
    assert not Path(cell.path).with_name("p.dat-s").exists()
    assert checker().main([cell.path, str(tmp_path / "p.dat-s")]) == 0
    assert checker().main([cell.path]) == 2  # the data are where they were


TABLE = "name,b,class\n1.1,0.5,yes\n-0.7,0.3,no\n2.25,-1,yes\n"


@pytest.mark.parametrize("margin", ["unit", "directional", "geometric"])
def test_a_saved_answer_on_a_text_is_about_the_decimals(
    margin: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    saved, out = tmp_path / "t.npz", tmp_path / "out"
    command = ["solve", str(tmp_path / "t.csv"), "--labels", "class", "--margin", margin]
    algorithm = ["--algorithm", "minimum-norm-point"]
    assert main([*command, *algorithm, "--save", str(saved), "--json"]) == 0
    capsys.readouterr()
    assert main(["certify", str(saved), "--into", str(out), "--json"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)
    assert cell["claims"] == ["feasible", "margin at least", "margin at most"]
    record = json.loads(Path(cell["path"]).read_bytes())
    labels = {"column": 2, "negative": "no", "positive": "yes"}
    assert labels.items() <= record["data"].items()
    assert {claim.get("margin", margin) for claim in record["claims"]} == {margin}
    assert checker().main([cell["path"], str(tmp_path / "t.csv")]) == 0


def test_decided_by_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = certified(tmp_path, FEASIBLE, {"name": "perceptron"})
    code = main(["certify", str(path), "--into", str(tmp_path / "out")])
    assert code == 0
    assert "1 CERTIFIED" in capsys.readouterr().out
    assert main(["certify", str(tmp_path / "none"), "--into", str(tmp_path / "out")]) == 2


OCCURS, EXCLUDED = "sign occurs", "sign excluded"
VERDICTS = {
    "complete": ("0,0\n1,0\n2,1\n3,1\n", ["feasible", OCCURS, EXCLUDED, EXCLUDED, OCCURS]),
    "quasi-complete": ("0,0\n1,0\n1,1\n3,1\n", ["partition", OCCURS, EXCLUDED, EXCLUDED, OCCURS]),
    "overlap": ("0,0\n2,0\n1,1\n3.3,1\n", ["partition", *[EXCLUDED] * 4]),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_saved_verdicts_are_certified(name: str, tmp_path: Path) -> None:
    text, claims = VERDICTS[name]
    (tmp_path / "v.csv").write_text(text)
    saved = tmp_path / "v.npz"
    command = ["solve", str(tmp_path / "v.csv"), "--labels", "2", "--verdict", "--json"]
    assert main([*command, "--save", str(saved)]) == 0
    cell = certified_cell(saved)
    assert cell.status == name
    record = assert_accepted(cell, *claims)
    assert record["data"]["form"] == "labelled"
    assert [claim.get("sign") for claim in record["claims"]] == [None, 1, -1, 1, -1]
    assert cell.path is not None
    assert checker().main([cell.path, str(tmp_path / "v.csv")]) == 0


def test_verify_counts_the_exactly_certified_claims(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = certified(tmp_path, FEASIBLE, {"name": "perceptron"})
    assert main(["verify", str(path), "--exact"]) == 0
    assert "1 of 1 proved exactly as well" in capsys.readouterr().out
    (cell,) = verify(path, exact=True).cells
    assert cell.exact is True
    assert verify(path).cells[0].exact is None


def test_verify_reports_claims_without_exact_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = certified(tmp_path, FEASIBLE, {"name": "perceptron"})
    verdicts = [("feasible", "a reason")]
    monkeypatch.setattr(compiled_checker(), "check", lambda *_: verdicts)
    (cell,) = verify(path, exact=True).cells
    assert (cell.exact, cell.verdict.value) == (False, "PROVED")
    assert "the checker refuses feasible: a reason" in cell.message
    assert main(["verify", str(path), "--exact", "-q"]) == 1


@pytest.mark.parametrize("seed", range(10))
def test_weights_are_balanced_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimension, count = 5, int(rng.integers(6, 30))
    rows = rng.standard_normal((count, dimension)) * 10.0 ** rng.integers(-8, 8, (count, 1))
    guess = rng.random(count)
    rows[-1] = -(guess[:-1] @ rows[:-1]) / guess[-1]
    vectors = [exactly(row, 200) for row in rows]
    graph = balanced(vectors, guess)
    assert graph is not None
    assert min(graph) >= 0
    assert any(graph)
    sums = [sum(w * v[j] for w, v in zip(graph, vectors, strict=True)) for j in range(dimension)]
    assert not any(sums)


def test_a_solvable_system_has_no_balanced_weights() -> None:
    assert balanced([[1, 0], [1, 5], [2, -3]], np.ones(3)) is None


def test_dependent_rows_are_balanced() -> None:
    vectors = [[1, 2, 3], [-1, -2, -3], [2, 4, 6], [0, 0, 0]]
    graph = balanced(vectors, np.array([1.0, 3.0, 1.0, 0.5]))
    assert graph is not None
    assert graph[0] + 2 * graph[2] == graph[1] > 0


def test_doubles_are_converted_to_integers_exactly() -> None:
    values = np.array([0.1, -3.0, 2.0**-70, 0.0])
    assert [integer / 2**122 for integer in exactly(values, 122)] == values.tolist()
    assert rounded(np.array([1.0, -0.49, 0.0]), 3) == [4, -2, 0]


def test_a_point_is_certified_however_it_was_computed(tmp_path: Path) -> None:
    rows = np.array([[1.0, 1e-9], [-1.0, 1e-9]])  # feasible by (0, 1) alone, nearly
    result = solve(rows, "auto")
    assert result.status.value == "FEASIBLE"
    np.save(tmp_path / "r.npy", rows)
    code = main(
        ["solve", str(tmp_path / "r.npy"), "--rows", "--save", str(tmp_path / "s.npz"), "--json"]
    )
    assert code == 0
    cell = certified_cell(tmp_path / "s.npz")
    record = assert_accepted(cell, "feasible", "margin at least", "margin at most")
    assert record["data"]["file"] == "r.npy"
