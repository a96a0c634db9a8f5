"""What workers of dask do to a block of rows: this module loads nothing that they do not need."""

from __future__ import annotations

import os
import signal
import time
from typing import Any


def waiting(block: Any) -> Any:
    time.sleep(0.05)
    return block


def number_of(block_info: Any) -> int:
    return int(block_info[0]["chunk-location"][0])


def fatal(block: Any, block_info: Any) -> Any:
    if number_of(block_info) == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return block
