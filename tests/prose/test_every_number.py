"""Every number of README and docs is tied to a sample by a test, or is listed with its reason."""

from __future__ import annotations

import importlib.util
import re

import pytest

from tests.prose.listed import ARGUMENTS, TIED, UNTIED, Listed
from tests.prose.pages import PAGES, numbers, paragraphs, plain

MEASURED = re.compile(
    r"\d (?:%|s|ms|[KMG]B|seconds|minutes|hours|times|faster|slower|queries|updates|iterations|"
    r"instances)(?!\w)"
)
"""What a measurement looks like, in plain text."""


def entries(page: str) -> list[str]:
    """Return the beginnings of paragraphs that are listed for a page."""
    return [words for listed in (TIED, UNTIED) for words in listed.get(page, {})]


def unlisted(page: str, parts: list[str]) -> list[str]:
    """Return those of a page's paragraphs that no entry, or more than one, stands for."""
    expected = MEASURED.search if page in ARGUMENTS else numbers
    return [
        part
        for part in parts
        if expected(plain(part)) and sum(map(part.startswith, entries(page))) != 1
    ]


@pytest.mark.parametrize("page", PAGES)
def test_every_paragraph_with_numbers_is_listed_once(page: str) -> None:
    assert [part[:80] for part in unlisted(page, paragraphs(page))] == []


@pytest.mark.parametrize("listed", [TIED, UNTIED])
def test_every_entry_has_its_paragraph(listed: Listed) -> None:
    for page, paragraphs_of_page in listed.items():
        for words in filter(None, paragraphs_of_page):
            (paragraph_,) = [part for part in paragraphs(page) if part.startswith(words)]
            assert numbers(plain(paragraph_)), (page, words)


def test_only_pages_that_are_there_are_listed() -> None:
    assert {*TIED, *UNTIED, *ARGUMENTS} <= set(PAGES)


@pytest.mark.parametrize(
    "module", sorted({value for modules in TIED.values() for value in modules.values()})
)
def test_every_module_is_there(module: str) -> None:
    assert importlib.util.find_spec(f"tests.prose.{module}") is not None


def test_an_unlisted_number_is_detected() -> None:
    assert unlisted("README.md", ["It takes 7 steps."]) == ["It takes 7 steps."]
    assert unlisted("README.md", ["Both need Python 3.11 and 7 cores.", "None."]) == []
    note = ARGUMENTS[0]
    assert unlisted(note, ["Let k >= 2 be even.", "It took 7 s."]) == ["It took 7 s."]
