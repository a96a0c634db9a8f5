"""The table of docs/guarantees.md has every algorithm and every oracle that is registered."""

from __future__ import annotations

import re

from perceptron_lab.core.registry import names
from tests.prose.pages import PAGES, paragraphs

PAGE = "docs/guarantees.md"


def test_every_algorithm_has_its_line() -> None:
    (table,) = [part for part in paragraphs(PAGE) if part.startswith("| name |")]
    firsts = " ".join(line.split("|")[1] for line in table.splitlines()[2:])
    listed = re.findall(r"`([^`]+)`", firsts)
    assert sorted(listed) == sorted(names("algorithm"))


def test_every_oracle_is_named() -> None:
    oracles = PAGES[PAGE].partition("## Oracles")[2]
    assert set(names("oracle")) <= set(re.findall(r"`([^`]+)`", oracles))
