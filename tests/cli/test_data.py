import hashlib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from perceptron_lab.cli.data import data
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, Collection, DataFile

CONTENT = b"1\n1\n2\n1.0\n0 1 1 1 1.0\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror folder with one of the two files of the only collection; no network."""
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    files = {name: DataFile(f"{name}.dat-s", sha256, ()) for name in ("here", "lacking")}
    small = Collection("small", "a test", "nowhere", "none", "nobody", files)
    monkeypatch.setattr(
        "perceptron_lab.datasets.download.fetching.COLLECTIONS", {"small": lambda: small}
    )
    monkeypatch.setitem(COLLECTIONS, "small", lambda: small)
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PLAB_DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "here.dat-s").write_bytes(CONTENT)
    return tmp_path / "small"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(data, arguments)


def test_fetch_prints_where_files_are(folder: Path) -> None:
    result = run("fetch", "small", "here")
    assert result.exit_code == 0
    assert result.output == f"small/here: {folder / 'here.dat-s'}\n"


def test_fetch_without_names_takes_everything(folder: Path) -> None:
    result = run("fetch")
    assert "small/here: " in result.output
    assert isinstance(result.exception, DataError)
    assert "small/lacking.dat-s" in str(result.exception)
    (folder / "lacking.dat-s").write_bytes(CONTENT)
    assert run("fetch").exit_code == 0


def test_fetch_checks_all_names_first() -> None:
    result = run("fetch", "small", "here", "hera")
    assert isinstance(result.exception, ConfigError)
    assert "did you mean 'here'?" in str(result.exception)
    assert result.output == ""


def test_unknown_collection() -> None:
    for command in ("fetch", "verify"):
        result = run(command, "smal")
        assert isinstance(result.exception, ConfigError)
        assert "did you mean 'small'?" in str(result.exception)


def test_verify_lists_states() -> None:
    result = run("verify", "small")
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "small/here: present",
        "small/lacking: missing",
        "small: 1 present, 1 missing, 0 wrong hash",
    ]


def test_verify_fails_on_a_wrong_hash(folder: Path) -> None:
    (folder / "lacking.dat-s").write_bytes(CONTENT[:-2])
    result = run("verify")
    assert result.exit_code == 1
    assert "small/lacking: wrong hash" in result.output
    assert "replace" in result.output
