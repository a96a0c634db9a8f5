"""``plab verify`` from the command line: lines, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.experiments.storage.certificate_files import FOLDER
from perceptron_lab.solving.entry import solve

pytestmark = pytest.mark.slow

CONFIG = """\
experiment: small
problems:
  - {dataset: margin-sets, family: gaussian, dimension: 12, rows: 6}
algorithms:
  - {name: perceptron, label: P}
  - {name: von-neumann, label: V, budget: {updates: 3}}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    (folder / "small.yaml").write_text(CONFIG)
    assert main(["run", str(folder / "small.yaml"), "-q", "--output", str(folder)]) == 0
    return folder / "small"


def test_a_run_that_holds(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(results)]) == 0
    printed = capsys.readouterr()
    first, second, last = printed.out.splitlines()
    assert first.startswith("PROVED  gaussian-12x6  P  FEASIBLE  margin in [0.")
    assert second.startswith("PROVED  gaussian-12x6  V  ")
    assert last == f"{results}: 2 PROVED"
    assert not printed.err


def test_one_certificate(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (results / FOLDER).glob("*.npz"):
        assert main(["verify", str(path), "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_one_certificate_that_does_not_hold(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.npz"
    content = next((results / FOLDER).glob("*.npz")).read_bytes()
    path.write_bytes(content[:-40])
    assert main(["verify", str(path), "--quiet"]) == 1
    assert capsys.readouterr().out.startswith(f"DAMAGED  {path}: not a certificate that can be")
    assert main(["verify", str(path), "--json"]) == 1
    (cell,) = json.loads(capsys.readouterr().out)
    assert cell["verdict"] == "DAMAGED"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.npz"], "none.npz: no such file or folder in the current folder; give a folder of"),
        (["."], "no results there; `plab run CONFIG` makes them"),
        (["none.npz", "--base", "none"], "Directory 'none' does not exist"),
        ([], "Missing argument 'RUN|FILE'"),
    ],
)
def test_a_target_that_is_not_there_is_exit_code_2(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["verify", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_files_that_are_no_certificates_differ_from_damaged_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("1,2\n3,-1\n")
    solve("rows.csv").save("result.npz")  # it does not say of which data it is
    for name, reason in (("rows.csv", "it is no .npz file"), ("result.npz", "no data recorded")):
        assert main(["verify", name]) == 1
        output = capsys.readouterr().out
        assert reason in output
        assert "pickle" not in output
