"""Answers of `solve` without the search for constraints in conflict, which takes most of the time.

For tests of what proves that there is no solution. The conflict has tests of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def _unnamed(_system: Any, result: Any, _run: Any, **_limits: Any) -> Any:
    return result


@contextmanager
def without_conflict() -> Iterator[None]:
    """Let `solve` name no conflict."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("perceptron_lab.systems.conflicts.with_conflict", _unnamed)
        yield
