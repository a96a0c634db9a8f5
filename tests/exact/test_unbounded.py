"""Unbounded linear programs: certificates by a point and a ray, and what is left when changed."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.exact.checker import checker
from tests.exact.agreement import answer_of
from tests.exact.certificates_on_disk import record_of
from tests.exact.mutations import with_value
from tests.exact.second_checker.check import PROVED, answer, system_of
from tests.exact.small_certificates import unbounded_program
from tests.exact.truth import is_true
from tests.repetitions import parts

PROGRAM = "minimize\n -x - 2 y + 0.5\nsubject to\n c1: x - y <= 1.5\n c2: x + z = 2\nend\n"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Solve an unbounded program by the command line, and save the answer."""
    (tmp_path / "p.lp").write_text(PROGRAM)
    path = tmp_path / "p.npz"
    assert main(["solve", str(tmp_path / "p.lp"), "--optimum", "--save", str(path)]) == 0
    return path


def test_the_checker_proves_that_an_objective_is_unbounded(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certify", str(saved), "--into", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "CERTIFIED  p  auto  UNBOUNDED  closed feasible, closed objective unbounded" in printed
    assert main(["verify", str(saved), "--exact"]) == 0
    assert "EXACTLY" in capsys.readouterr().out
    answers = checker().check(tmp_path / "p.certificate.json")
    assert [reason for _, reason in answers] == ["", ""]
    assert answers[1][0].startswith("c'x is unbounded below, F(x) =")


@pytest.mark.parametrize(("cost", "status"), [("x", "UNBOUNDED"), ("0 x", "FEASIBLE")])
def test_a_program_without_conditions_is_certified(
    cost: str, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.lp").write_text(f"min\n {cost}\nst\nbounds\n x free\nend\n")
    saved = str(tmp_path / "p.npz")
    assert main(["solve", str(tmp_path / "p.lp"), "--optimum", "--save", saved]) == 0
    assert main(["certify", saved, "--into", str(tmp_path)]) == 0
    assert f"CERTIFIED  p  auto  {status}  closed feasible" in capsys.readouterr().out
    assert checker().main([str(tmp_path / "p.certificate.json")]) == 0


@pytest.mark.parametrize(
    ("right", "claims"),
    [
        (-1, "FEASIBLE  feasible, closed objective at most, objective at least"),
        (0, "FEASIBLE  closed feasible, closed objective at most, objective at least"),
        (1, "INFEASIBLE  closed infeasible"),
    ],
)
def test_a_program_without_variables_is_certified(
    right: int, claims: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The condition is 0 >= right; the written program has a variable that occurs nowhere."""
    program = tmp_path / "p.mps"
    program.write_text(f"ROWS\n N c\n G r\nCOLUMNS\nRHS\n b r {right}\nENDATA\n")
    saved = str(tmp_path / "p.npz")
    assert main(["solve", str(program), "--optimum", "--save", saved]) == 0
    assert main(["certify", saved, "--into", str(tmp_path)]) == 0
    assert f"CERTIFIED  p  auto  {claims}\n" in capsys.readouterr().out
    certificate = tmp_path / "p.certificate.json"
    assert checker().main([str(certificate)]) == 0
    assert answer(certificate.read_bytes(), (tmp_path / "p.data").read_bytes()) == PROVED


@pytest.mark.parametrize("direction", ["shorter", "backwards", "level"])
def test_another_ray_is_refused(saved: Path, tmp_path: Path, direction: str) -> None:
    assert main(["certify", str(saved), "--into", str(tmp_path)]) == 0
    path = tmp_path / "p.certificate.json"
    record = record_of(path)
    ray = record["claims"][1]["ray"]
    rays = {
        "shorter": ray[:-1],
        "backwards": [-entry for entry in ray],
        "level": [0 for _ in ray],
    }
    path.write_text(json.dumps(with_value(record, ("claims", 1, "ray"), rays[direction])))
    assert checker().main([str(path)]) == (2 if direction == "shorter" else 1)


@pytest.mark.parametrize("seeds", parts(2000, kept=100))
def test_a_changed_certificate_is_accepted_only_if_its_claim_is_true(
    seeds: range, tmp_path: Path
) -> None:
    """One number of the point, the ray or the data is changed; both checkers answer."""
    answers: Counter[int] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        example = unbounded_program(rng)
        claim = example.record["claims"][0]
        field = rng.choice(("point", "ray", "claim"))
        if field == "claim":
            content = bytearray(example.content)
            digits = [at for at, byte in enumerate(content) if chr(byte) in "123456789"]
            content[rng.choice(digits)] = ord(rng.choice("0123456789-"))
            changed = example.with_content(bytes(content))
        else:
            at = rng.randrange(len(claim[field]))
            value = rng.choice((-claim[field][at], claim[field][at] + rng.choice((-1, 1)), 0))
            record = with_value(example.record, ("claims", 0, field, at), value)
            changed = type(example)(record, example.content)
        certificate = json.dumps(changed.record).encode()
        code = answer_of(certificate, changed.content, tmp_path)[0]
        answers[code] += 1
        assert (code == PROVED) == (answer(certificate, changed.content) == PROVED), seed
        if code == PROVED:
            system = system_of(changed.record["data"], changed.content)
            assert is_true(system, changed.record["claims"][0]), seed
    assert answers[1] > len(seeds) // 4
    assert answers[PROVED]
