"""Tests of processes, which count those that there are."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _no_other_server(shared_server: Any) -> None:
    shared_server.close()
