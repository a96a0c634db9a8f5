"""Whatever a certificate names, a verification writes nothing and generates nothing large."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.datasets.generated.rows_on_disk import RowsOnDisk
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    identity_of,
    read_certificate,
    write_certificate,
)
from perceptron_lab.experiments.verification.claims import Verdict, Verified
from perceptron_lab.experiments.verify import verify
from tests.experiments.certified import SEPARABLE, certified

SMALL = {"dataset": "rows-on-disk", "dimension": 10, "rows": 100}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of somebody's, who verifies the certificate ``lab/given.npz`` of somebody else."""
    for name in ("temporary", "lab/rows", ".config", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lab" / "link").symlink_to(tmp_path / ".config")
    (tmp_path / "lab" / "up").symlink_to("..")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    return tmp_path


def solved_certificate(
    home: Path, problem: dict[str, Any], algorithm: str = "perceptron"
) -> Certificate:
    """Return the certificate of a cell that was run somewhere else."""
    with tempfile.TemporaryDirectory(dir=home / "elsewhere") as folder:
        return read_certificate(certified(Path(folder), problem, {"name": algorithm}))


def written_file(home: Path, certificate: Certificate, **problem: Any) -> Path:
    """Write the certificate with other words about its problem; its cell fits them."""
    changed = replace(certificate, problem=dict(certificate.problem) | problem)
    path = home / "lab" / "given.npz"
    write_certificate(path, replace(changed, cell=identity_of(changed)))
    return path


def judged(home: Path, path: Path, **options: Any) -> Verified:
    """Return the verdict; nothing but the certificate is anywhere before and after."""
    before = sorted(home.rglob("*"))
    (cell,) = verify(path, **options).cells
    assert sorted(home.rglob("*")) == before
    return cell


@pytest.mark.parametrize(
    "directory", ["rows", "../.config/x", "../../x", "link", "link/x", "up/x", "..", ".", None]
)
def test_rows_are_generated_in_a_folder_of_the_verification(
    directory: str | None, home: Path
) -> None:
    certificate = replace(
        solved_certificate(home, SMALL | {"directory": "rows"}), base=str(home / "lab")
    )
    parameters = dict(certificate.problem["parameters"]) | {"directory": directory}
    verdict = judged(home, written_file(home, certificate, parameters=parameters))
    assert (verdict.verdict, verdict.message) == (Verdict.PROVED, "")


def test_an_absolute_path_and_another_base(home: Path) -> None:
    certificate = solved_certificate(home, SMALL | {"directory": "rows"})
    parameters = dict(certificate.problem["parameters"]) | {"directory": str(home / ".config")}
    path = written_file(home, certificate, parameters=parameters)
    assert judged(home, path).verdict is Verdict.PROVED
    assert judged(home, path, base=home / "elsewhere").verdict is Verdict.PROVED


def test_large_data_are_generated_only_on_request(home: Path) -> None:
    certificate = solved_certificate(home, SMALL)
    parameters = dict(certificate.problem["parameters"]) | {"rows": 100_000_000}
    instance = RowsOnDisk(dimension=10, rows=100_000_000).names()[0]
    path = written_file(home, certificate, parameters=parameters, instance=instance)
    verdict = judged(home, path)
    assert verdict.verdict is Verdict.NOT_PROVED
    assert verdict.message.endswith("500 MB by default; run `plab verify --generate 4001MB`")


GENERATED: list[tuple[dict[str, Any], str, int]] = [
    (SMALL, "perceptron", 4000),
    ({"dataset": "margin-sets", "family": "exact", "dimension": 9, "rows": 40}, "auto", 8 * 360),
    ({"dataset": "conic-sets", "family": "mixed", "dimension": 5, "rows": 6}, "auto", 8 * 630),
    (SEPARABLE | {"training": 20, "test": 30}, "auto", 16 * 100),
    ({"dataset": "inverted-balls", "training": 20, "test": 30}, "auto", 8 * 200),
]


@pytest.mark.parametrize(("problem", "algorithm", "size"), GENERATED)
def test_the_size_limit_is_checked_before_data_are_generated(
    problem: dict[str, Any], algorithm: str, size: int, home: Path
) -> None:
    path = written_file(home, solved_certificate(home, problem | {"seeds": [0]}, algorithm))
    verdict = judged(home, path, generate=size - 1)
    assert (verdict.verdict, "--generate 1MB" in verdict.message) == (
        Verdict.NOT_PROVED,
        True,
    )
    assert judged(home, path, generate=2 * size).verdict is not Verdict.NOT_PROVED


def test_the_command_allows_more(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written_file(home, solved_certificate(home, SMALL))
    assert main(["verify", str(path), "--generate", "1kB"]) == 1
    assert "run `plab verify --generate 1MB`" in capsys.readouterr().out
    assert main(["verify", str(path), "--generate", "1MB"]) == 0
    assert main(["verify", str(path), "--generate", "much"]) == 2
    assert "give a size such as 64MB" in capsys.readouterr().err


def test_a_run_after_a_verification_uses_the_given_folder(home: Path) -> None:
    dataset = RowsOnDisk(dimension=10, rows=100, directory="rows")
    assert (
        judged(home, written_file(home, solved_certificate(home, SMALL))).verdict is Verdict.PROVED
    )
    dataset.load(dataset.names()[0], seed=0, base=home / "lab")
    assert len(list((home / "lab" / "rows").iterdir())) == 2
