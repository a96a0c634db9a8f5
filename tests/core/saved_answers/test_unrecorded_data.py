"""Answers saved from Python record no data; `--data` names them."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from perceptron_lab import separation, solve
from perceptron_lab.cli.main import main

SAID = "no data recorded; pass --data FILE"


@pytest.fixture(autouse=True)
def _answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("1,2\n2,1\n")
    Path("other.csv").write_text("1,2\n-2,-4\n")
    Path("labelled.csv").write_text("x,z,y\n1,2,0\n2,1,1\n0,1,1\n")
    solve(np.array([[1.0, 2.0], [2.0, 1.0]]), "perceptron").save("rows.npz")
    separation(np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]]), [0, 1, 1]).save("verdict.npz")


@pytest.mark.parametrize("name", ["rows.npz", "verdict.npz"])
def test_without_data_they_are_missing_and_not_damaged(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", name]) == 1
    output = capsys.readouterr().out
    assert output.startswith("MISSING")
    assert SAID in output
    assert main(["certify", name, "--into", "proofs"]) == 1
    assert SAID in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        (("rows.npz", "--data", "rows.csv", "--exact"), 0, "PROVED  EXACTLY  rows"),
        (("rows.npz", "--data", "other.csv"), 1, "NOT PROVED  other"),
        (("verdict.npz", "--data", "labelled.csv", "--labels", "y"), 0, "PROVED  labelled.csv"),
        (("verdict.npz", "--data", "labelled.csv"), 1, "NOT PROVED  "),
    ],
)
def test_the_data_that_are_named_decide(
    words: tuple[str, ...], code: int, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *words]) == code
    assert capsys.readouterr().out.startswith(verdict)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("own.npz", "--data", "rows.csv"), "--data with own.npz, which records its data"),
        ((".", "--data", "rows.csv"), "--data with the folder .; its certificates record"),
        (("rows.npz", "--labels", "y"), "--labels without --data"),
    ],
)
def test_data_are_named_once(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["solve", "rows.csv", "--save", "own.npz"])
    assert main(["verify", *words]) == 2
    assert message in capsys.readouterr().err


def test_the_printed_command_checks_the_certificate_and_refuses_other_data(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["certify", "rows.npz", "--data", "rows.csv", "--into", "proofs"]) == 0
    (command,) = [line for line in capsys.readouterr().out.splitlines() if "plab_check" in line][:1]
    words = [sys.executable, *shlex.split(command)[1:]]
    assert Path(words[-1]).name == "rows.csv"
    assert subprocess.run(words, check=False, capture_output=True).returncode == 0
    words[-1] = "other.csv"
    refused = subprocess.run(words, check=False, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "it is about 'rows.csv', sha256" in refused.stdout
