import os
from pathlib import Path

import pytest

MIRROR = Path(os.environ.get("PLAB_DATA_MIRROR") or "/nonexistent")
"""Read once, since tests of the downloader change the environment."""


@pytest.fixture
def sdplib_mirror() -> Path:
    """The folder of SDPLIB files in the data mirror."""
    if not (MIRROR / "sdplib").is_dir():
        pytest.skip("needs SDPLIB: set PLAB_DATA_MIRROR to a folder with sdplib/NAME.dat-s")
    return MIRROR / "sdplib"
