"""Certificates of tables in parts: each part has its sha256, and every change is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.exact.checker import checker
from perceptron_lab.experiments.certifying.certify import CertificationStatus, certify
from perceptron_lab.experiments.verification.claims import Verdict
from perceptron_lab.experiments.verify import verify

ROWS = [[-1.5, 0.25], [2.5, 0.5], [3.0, -0.25], [-2.0, 0.5], [1.25, 0.1]]
LABELS = ["no", "yes", "yes", "no", "yes"]


def texts(folder: Path) -> None:
    """Write three parts of labelled texts, the last one without rows."""
    for number, span in enumerate((slice(0, 2), slice(2, 5), slice(5, 5))):
        lines = [f"{a},{b},{c}" for (a, b), c in zip(ROWS[span], LABELS[span], strict=True)]
        (folder / f"part-{number}.csv").write_text("\n".join(["a,b,kind", *lines]) + "\n")


def arrays(folder: Path) -> None:
    """Write two parts of rows of one class in numpy's format."""
    np.save(folder / "part-1.npy", np.array(ROWS[1:3]))
    np.save(folder / "part-2.npy", np.array(ROWS[2:3]))


def answered(folder: Path, kind: str) -> Path:
    """Solve the parts, and return the saved answer."""
    data = folder / "data"
    data.mkdir()
    {".csv": texts, ".npy": arrays}[kind](data)
    saved = folder / "answer.npz"
    labels = ["--labels", "kind"] if kind == ".csv" else []
    arguments = ["solve", str(data), *labels, "--save", str(saved)]
    assert main(arguments) == 0
    return saved


def checked(*paths: Path | str) -> tuple[int, str]:
    """Return the exit code and the words of the checker on a certificate and data."""
    try:
        answers = checker().check(*map(str, paths))
    except AssertionError as refuted:
        return 1, str(refuted)
    return int(any(reason for _, reason in answers)), answers[0][0]


@pytest.fixture(params=[".csv", ".npy"])
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return answered(tmp_path, request.param)


def certificate(saved: Path) -> Path:
    (cell,) = certify(saved, saved.parent / "exact").cells
    assert cell.outcome is CertificationStatus.CERTIFIED, cell
    assert cell.path is not None
    return Path(cell.path)


def test_a_folder_or_its_parts_are_accepted(saved: Path) -> None:
    path, data = certificate(saved), saved.parent / "data"
    digests = json.loads(path.read_bytes())["data"]["sha256"]
    assert list(digests) == sorted(part.name for part in data.iterdir())
    code, words = checked(path, data)
    assert code == 0
    assert f"{len(digests)} parts of 'data', of sha256" in words
    assert checked(path, *sorted(data.iterdir(), reverse=True))[0] == 0
    shutil.copytree(data, path.parent / "data")
    (path.parent / "data" / "_SUCCESS").touch()
    assert checked(path)[0] == 0
    (verified,) = verify(saved, exact=True).cells
    assert verified.verdict is Verdict.PROVED
    assert verified.exact


CHANGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "changed": (lambda part: part.write_bytes(part.read_bytes() + b"\n"), "part-1{}"),
    "missing": (lambda part: part.unlink(), "part-1{}"),
    "renamed": (lambda part: part.rename(part.with_stem("part-01")), "part-1{}"),
    "additional": (lambda part: shutil.copy(part, part.with_stem("part-9")), "part-9{}"),
}
WORDS = {"renamed": "missing"}


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_part_that_is_not_the_same_is_refused_by_name(change: str, saved: Path) -> None:
    path, data = certificate(saved), saved.parent / "data"
    (part,) = data.glob("part-1.*")
    alter, name = CHANGES[change]
    alter(part)
    code, words = checked(path, data)
    named = f"the part {name.format(part.suffix)!r}"
    assert (code, words) == (1, f"{named} of 'data' is {WORDS.get(change, change)}")
    assert checked(path, *data.iterdir()) == (code, words)
    (verified,) = verify(saved).cells
    assert verified.verdict is not Verdict.PROVED
    assert verified.message.startswith(named)
    (cell,) = certify(saved, saved.parent / "again").cells
    assert cell.outcome is CertificationStatus.NOT_CERTIFIED
    assert named in cell.message


def test_a_pattern_is_the_parts_that_it_matches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answered(tmp_path, ".csv")
    saved, data = tmp_path / "pattern.npz", tmp_path / "data"
    arguments = ["solve", str(data / "part-*.csv"), "--labels", "kind", "--save", str(saved)]
    assert main(arguments) == 0
    (data / "notes.md").write_text("no part")
    (verified,) = verify(saved, exact=True).cells
    assert verified.verdict is Verdict.PROVED
    assert verified.exact
    path = certificate(saved)
    assert checked(path, *data.glob("*.csv"))[0] == 0
    assert checked(path, data)[1] == "the part 'notes.md' of 'part-*.csv' is additional"
    capsys.readouterr()
    assert main(["certify", str(saved), "--into", str(tmp_path / "into")]) == 0
    assert str(data / "part-2.csv") in capsys.readouterr().out


def test_the_current_folder_may_be_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(tmp_path, ".csv")
    monkeypatch.chdir(tmp_path / "data")
    assert main(["solve", ".", "--labels", "kind", "--save", "../here.npz"]) == 0
    assert main(["verify", "../here.npz"]) == 0


def test_the_order_of_the_parts_is_that_of_the_certificate(saved: Path) -> None:
    """Weights and rows are numbered through the parts."""
    path = certificate(saved)
    record = json.loads(path.read_bytes())
    digests = record["data"]["sha256"]
    record["data"]["sha256"] = dict(reversed(digests.items()))
    path.write_text(json.dumps(record))
    words = checked(path, saved.parent / "data")[1]
    assert "parts of 'data'" in words
    record["data"]["sha256"] = digests
    path.write_text(json.dumps(record))
    assert words != checked(path, saved.parent / "data")[1]


def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    saved = answered(tmp_path, ".csv")
    part = tmp_path / "data" / "part-1.csv"
    part.rename(tmp_path / "elsewhere.csv")
    part.symlink_to(tmp_path / "elsewhere.csv")
    (verified,) = verify(saved).cells
    assert "is a link to a file in another folder" in verified.message
