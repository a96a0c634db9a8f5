import os
from pathlib import Path

import pytest

from perceptron_lab.datasets.download import fetching, transfer

MIRROR = Path(os.environ.get("PLAB_DATA_MIRROR") or "/nonexistent")
"""Read once, since tests of the downloader change the environment."""


@pytest.fixture
def sdplib_mirror() -> Path:
    """The folder of SDPLIB files in the data mirror."""
    if not (MIRROR / "sdplib").is_dir():
        pytest.skip("needs SDPLIB: set PLAB_DATA_MIRROR to a folder with sdplib/NAME.dat-s")
    return MIRROR / "sdplib"


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty cache; no mirror, and no waiting between attempts."""
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PLAB_DATA_MIRROR", raising=False)
    monkeypatch.delenv("PLAB_OFFLINE", raising=False)
    monkeypatch.setattr(transfer, "TIMEOUT", (2.0, 2.0))
    monkeypatch.setattr(fetching, "_unreachable", {})
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    return tmp_path / "cache"
