"""What a fork server and its parent say to each other; it imports nothing that takes time."""

from __future__ import annotations

import struct
from typing import Final

LAUNCH, KILL = range(2)
"""Kinds of requests."""
READY, STARTED, ENDED, REFUSED = range(4)
"""Kinds of reports."""
REQUEST: Final = struct.Struct("=3q")
"""Kind, number of the cell's process, bytes of memory; a launch comes with three open files."""
REPORT: Final = struct.Struct("=4q")
"""Kind, number of the cell's process, and two more.

STARTED: its process id, 0. ENDED: its wait status, the most bytes of memory that it has held.
REFUSED, if no process could be started: the number of the error, 0. READY: all 0.
"""

CORE: Final = ("oracles", "cones", "operators", "certificates")
"""The packages that every server has loaded, since any cell may need them.

Algorithms, learners and datasets are named by configurations, and come one by one.
"""
