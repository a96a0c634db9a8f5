"""Linear proofs in VIPR's format: the algebra in fractions, and viprchk where there is one."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.exact.checker import checker
from perceptron_lab.exact.weights import vipr_text
from perceptron_lab.experiments.certifying.certify import CertificationStatus, certify
from perceptron_lab.numerics.exact_texts import exact_text
from tests.exact.certificates_on_disk import CONES, SMALL, record_of
from tests.exact.viprchk import VARIABLE, accepted, viprchk, viprchk_output
from tests.experiments.certified import EMPTY, certified
from tests.repetitions import repeated

INFEASIBLE = {
    "rows": SMALL | {"dimension": 4, "rows": 20},
    "cones": CONES | {"infeasible": True},
}
NO_JUDGE = f"viprchk is not on PATH, and {VARIABLE} does not name it"


def claimed(kind: str, seed: int, folder: Path) -> tuple[Any, dict[str, Any]]:
    """Return the checker's system and the claim that it has no feasible point."""
    path = certified(folder, INFEASIBLE[kind], {"name": "auto"}, seeds=[seed])
    return proof_of(path, folder)


def proof_of(path: Path, folder: Path, data: Path | None = None) -> tuple[Any, dict[str, Any]]:
    (cell,) = certify(path, folder / "exact").cells
    assert cell.outcome is CertificationStatus.CERTIFIED, cell
    assert cell.path is not None
    record = record_of(Path(cell.path))
    data_record = record["data"]
    content = (data or Path(cell.path).with_name(data_record["file"])).read_bytes()
    reads = checker().sdpa_system if data_record["form"] == "sdpa" else checker().table_system
    return reads(content, data_record), record["claims"][0]


def judged(text: str | None, folder: Path) -> bool:
    """Return whether there is a proof that all judges at hand accept."""
    if text is None or not accepted(text):
        return False
    return not viprchk() or viprchk_output(text, folder) is not None


@pytest.mark.parametrize("seed", repeated(range(25), kept=1))
@pytest.mark.parametrize("kind", INFEASIBLE)
def test_infeasible_systems_have_linear_proofs(kind: str, seed: int, tmp_path: Path) -> None:
    system, claim = claimed(kind, seed, tmp_path)
    assert judged(vipr_text(system, claim), tmp_path)


def test_an_empty_program_has_a_proof_in_its_own_unknowns(tmp_path: Path) -> None:
    (tmp_path / "p.dat-s").write_text(EMPTY)
    problem = {"dataset": "sdpa", "files": ["p.dat-s"]}
    path = certified(tmp_path, problem, {"name": "auto"})
    system, claim = proof_of(path, tmp_path, tmp_path / "p.dat-s")
    assert claim["claim"] == "closed infeasible"
    text = vipr_text(system, claim)
    assert text is not None
    assert f"VAR {system.width - 1}\n" in text
    assert re.search(r"^C\d+ G -?\d+ ", text, re.MULTILINE)
    assert judged(text, tmp_path)


def test_an_objective_of_zeros_is_proved_by_a_point(tmp_path: Path) -> None:
    """VIPR derives no relation 0 >= 0: the file proves the upper bound alone."""
    (tmp_path / "p.lp").write_text("max\n 0 x\nst\n 3 x + 2 y >= 1\n x - y = 0.25\nend\n")
    command = [str(tmp_path / "p.lp"), "--optimum", "--save", str(tmp_path / "p.npz")]
    assert main(["solve", *command]) == 0
    (cell,) = certify(tmp_path / "p.npz", tmp_path / "exact").cells
    assert cell.claims[1:3] == ("closed objective at most", "objective at least")
    (cell,) = certify(tmp_path / "p.npz", tmp_path / "exact", form="vipr").cells
    assert cell.outcome is CertificationStatus.CERTIFIED
    assert cell.path is not None
    text = Path(cell.path).read_text()
    rows = re.findall(r"^C\d+ G (\S+) \d+(.*)$", text, re.MULTILINE)
    point = re.search(r"^SOL 1 x \d+(.*)$", text, re.MULTILINE)
    assert len(rows) == 5  # the row, the equation twice, and two bounds
    assert point is not None
    x = _sparse(point[1])
    for bound, row in rows:
        assert sum(a * x.get(j, 0) for j, a in _sparse(row).items()) >= Fraction(bound)
    assert "RTP range -inf 0" in text
    assert not viprchk() or viprchk_output(text, tmp_path) is not None


def _sparse(words: str) -> dict[int, Fraction]:
    places, values = words.split()[::2], words.split()[1::2]
    return {int(j): Fraction(value) for j, value in zip(places, values, strict=True)}


def test_the_program_of_sdplib_without_a_point(sdplib_folder: Path, tmp_path: Path) -> None:
    file = sdplib_folder / "infp1.dat-s"
    path = certified(tmp_path, {"dataset": "sdpa", "files": [str(file)]}, {"name": "auto"})
    system, claim = proof_of(path, tmp_path, file)
    assert judged(vipr_text(system, claim), tmp_path)


@pytest.mark.parametrize("digits", [1, 4299, 4301, 20_000])
def test_numbers_of_any_length_are_written(digits: int) -> None:
    written = exact_text(Fraction(-(10**digits) + 1, 7 * 10**digits))
    above, below = written.split("/")
    assert above == "-" + "9" * digits
    assert below == "7" + "0" * digits
    assert exact_text(10**digits) == "1" + "0" * digits


@pytest.mark.skipif(viprchk() is None, reason=NO_JUDGE)
def test_a_changed_digit_is_refused_by_both_judges(tmp_path: Path) -> None:
    """Each multiple of a row moved by one."""
    system, claim = claimed("rows", 0, tmp_path)
    text = vipr_text(system, claim)
    assert text is not None
    lines = text.splitlines()
    at = len(lines) - 1
    words = lines[at].split()
    first = words.index("lin") + 3
    assert int(words[first - 2]) > 1
    for i in range(first, len(words) - 2, 2):
        changed = [*words]
        changed[i] = str(int(changed[i]) + 1)
        forged = "\n".join([*lines[:at], " ".join(changed)]) + "\n"
        assert not accepted(forged)
        assert viprchk_output(forged, tmp_path) is None


def test_the_command_writes_one_file_per_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = certified(tmp_path, INFEASIBLE["rows"], {"name": "auto"})
    command = ["certify", str(path), "--into", str(tmp_path / "out"), "--format", "vipr"]
    assert main(command) == 0
    assert "infeasible" in capsys.readouterr().out
    (file,) = (tmp_path / "out").iterdir()
    assert judged(file.read_text(), tmp_path)


def test_claims_that_are_not_linear_have_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = certified(tmp_path, SMALL | {"dimension": 8, "rows": 6}, {"name": "perceptron"})
    system, claim = proof_of(path, tmp_path)
    assert claim["claim"] == "feasible"
    assert vipr_text(system, claim) is None
    out = tmp_path / "out"
    assert main(["certify", str(path), "--into", str(out), "--format", "vipr"]) == 1
    assert "VIPR's format is for claims that there is no point" in capsys.readouterr().out
    assert not list(out.iterdir())
