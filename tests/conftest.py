"""Shared fixtures: the mirror with the real data files, where the user names one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # as `plab` does; must precede the first import of numpy

settings.register_profile("plab", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "plab"))


@pytest.fixture(scope="session")
def sdplib_folder() -> Path:
    """The folder of SDPLIB files in the mirror; skips without one."""
    mirror = os.environ.get("PLAB_DATA_MIRROR", "")
    folder = Path(mirror) / "sdplib"
    if not mirror or not folder.is_dir():
        pytest.skip("needs the real SDPLIB files: set PLAB_DATA_MIRROR to a folder with sdplib/")
    return folder
