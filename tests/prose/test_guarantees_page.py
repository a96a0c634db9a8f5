"""The table of docs/guarantees.md has every algorithm and every oracle that is registered."""

from __future__ import annotations

import re

from from_code.guarantees import page

from perceptron_lab.core.registry import names
from tests.prose.pages import PAGES

PAGE = "docs/guarantees.md"


def test_every_algorithm_has_its_line() -> None:
    lines = [line for line in PAGES[PAGE].splitlines() if line.startswith("| `")]
    listed = re.findall(r"`([^`]+)`", " ".join(line.split("|")[1] for line in lines))
    assert sorted(listed) == sorted(names("algorithm"))


def test_the_tables_state_the_guarantees_of_the_code() -> None:
    assert page() == PAGES[PAGE]


def test_every_oracle_is_named() -> None:
    oracles = PAGES[PAGE].partition("## Oracles")[2]
    assert set(names("oracle")) <= set(re.findall(r"`([^`]+)`", oracles))
