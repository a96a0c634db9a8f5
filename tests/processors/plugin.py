"""A run of pytest under one factor: `--processor NAME` fails where it is not in force."""

from __future__ import annotations

import pytest

from tests.processors.factors import FACTORS
from tests.processors.processor import in_force


def pytest_addoption(parser: pytest.Parser) -> None:
    description = "fail unless this factor is in force (tests.processors.run asks for it)"
    parser.addoption("--processor", choices=sorted(FACTORS), help=description)


def pytest_sessionstart(session: pytest.Session) -> None:
    """In this process and in each worker of xdist, before the first test."""
    name = session.config.option.processor
    if name is None:
        return
    amiss = FACTORS[name].amiss(in_force())
    if amiss:
        raise pytest.UsageError(f"--processor {name} is not in force: {amiss}")


def pytest_report_header(config: pytest.Config) -> str | None:
    name = config.option.processor
    return None if name is None else f"processor: {name}; {in_force()}"
