"""The documents of Reuters-21578 from the mirror, whose words are counted once for all tests."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from perceptron_lab.datasets.collections.reuters import Reuters

MIRROR = Path(os.environ.get("PLAB_DATA_MIRROR") or "/nonexistent")


def require_documents() -> None:
    """Skip a test without the documents."""
    if not (MIRROR / "reuters21578").is_dir():
        pytest.skip(
            "needs Reuters-21578: set PLAB_DATA_MIRROR to a folder with reuters21578/reut2-0NN.sgm"
        )


@contextmanager
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reuters]:
    """Provide the real documents, with a folder of counts that all processes of a run share."""
    require_documents()
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reuters-counts"
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAB_DATA_DIR", str(folder))
        patch.setenv("PLAB_DATA_MIRROR", str(MIRROR))
        patch.setenv("PLAB_OFFLINE", "1")
        dataset = Reuters()
        with (folder / "lock").open("w") as lock:  # released when it is closed
            fcntl.flock(lock, fcntl.LOCK_EX)
            dataset.task("corn", seed=0, base=Path())  # later tasks find the counts in memory
        yield dataset
