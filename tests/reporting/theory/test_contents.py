"""Every numbered item of the papers has a place, a test and a sample, or the reason why not."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import pytest

from perceptron_lab.core import registry
from perceptron_lab.reporting.theory.contents import OPEN, Item, items
from perceptron_lab.reporting.theory.refutations.statements import ALL

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "results" / "sample"
NUMBERED: Mapping[str, Mapping[str, str | Iterable[int]]] = {
    "Kharechko2009": {
        "Algorithm": range(1, 9),
        "Theorem": "2.7 2.9 2.10 3.2 3.4 4.1 4.2 4.4 5.6 5.7 5.8 5.9 6.3 6.4 6.5 7.3 7.5 A.2 A.6 "
        "A.8 A.12 A.15 A.17 A.20 A.21 A.22 A.24",
        "Lemma": "3.3 3.5 4.3",
        "Corollary": "4.5 7.4",
        "Proposition": "6.1 6.2",
        "Table": "6.1 8.1",
        "Figure": "3.1 3.2 4.1 6.1 7.1 7.2 7.3 7.4 8.1",
        "open problem": range(1, 9),
    },
    "RamdasPena2014": {
        "Algorithm": range(1, 8),
        "Theorem": range(1, 5),
        "Lemma": range(1, 10),
        "open problem": range(1, 5),
    },
    "PerceptronNotes": {"Theorem": range(1, 3)},
    "YuKilincCarbonell2014": {
        "Algorithm": [1],
        "Theorem": range(1, 4),
        "Lemma": [1],
        "Table": range(1, 3),
        "Figure": range(1, 3),
        "open problem": range(1, 3),
    },
    "TsampoukaShaweTaylor": {},
}
"""What the papers number, by kinds; the last one numbers only sections and equations."""


def listed(numbers: str | Iterable[int]) -> list[str]:
    return numbers.split() if isinstance(numbers, str) else list(map(str, numbers))


def test_everything_that_the_papers_number_has_one_entry() -> None:
    wanted = Counter(
        (paper, f"{kind} {number}")
        for paper, kinds in NUMBERED.items()
        for kind, numbers in kinds.items()
        for number in listed(numbers)
    )
    found = Counter((item.paper, item.item) for item in items())
    assert wanted <= found
    assert set(found.values()) == {1}
    others = [item for _, item in found - wanted]
    assert all(re.match(r"section \d|worst case", item) for item in others)
    papers = [paper for paper, _ in groupby(items(), lambda item: item.paper)]
    assert papers == list(NUMBERED)


@pytest.mark.parametrize("item", items(), ids=lambda item: f"{item.paper} {item.item}")
def test_no_entry_is_empty_and_all_that_it_names_is_there(item: Item) -> None:
    assert all(vars(item).values())
    test, sample, is_open = item.test, item.sample, item.location == OPEN
    assert is_open == (item.module == OPEN) == (test == "none: open") == (sample == "none: open")
    assert is_open or find_spec(item.module) is not None
    if test.startswith("none:"):
        assert test.removeprefix("none:").strip()
    else:
        assert (ROOT / test).is_file()
        assert Path(test).name.startswith("test_")
    if sample.startswith("theory "):
        assert sample.removeprefix("theory ") in registry.names("theory")
    elif not sample.startswith("none: "):
        assert (SAMPLES / sample).is_dir()


RUN = [
    item
    for item in items()
    if item.location.startswith(("algorithm ", "optimiser ", "oracle ", "dataset ", "table "))
    and not item.sample.startswith(("theory ", "none:"))
]


@pytest.mark.parametrize("item", RUN, ids=lambda item: f"{item.paper} {item.item}")
def test_the_sample_is_a_run_of_what_the_registry_names(item: Item) -> None:
    config = (SAMPLES / item.sample / "config.json").read_text(encoding="utf-8")
    assert json.dumps(item.location.split(" ", 1)[1]) in config


def test_every_refuted_claim_about_a_numbered_item_is_at_its_item() -> None:
    shown = {claim.place for item in items() for claim in item.refuted}
    numbered = re.compile(r"^(?:Algorithm|Theorem|Lemma|Corollary|Proposition|Figure|Table) ")
    assert {claim.place for claim in ALL if numbered.match(claim.place)} <= shown
