"""The README's sections as running text, and the numbers in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

NAMES = (
    r"\b(?:Tables?|Figures?|Algorithms?|Theorems?|Lemmas?|Propositions?|sections?|[Cc]hapters?) "
    r"\d+(?:\.\d+)*(?:(?:,| and| to) \d+(?:\.\d+)*)*",
    r"\bYuKilincCarbonell2014\b|\bKharechko2009\b|\bReuters-21578\b",
    r"\b(?:mcp|maxG|hinf)\d+(?:-\d)?\b",
    r"\d+ x \d+",  # dimension x rows, or rows x dimension
    r"\bmu_0\b",
)
"""Digits that name something, and measure nothing."""


def section(heading: str) -> str:
    """Return the text under a heading, up to the next one of its level or above, in one line."""
    level = len(heading.split(" ")[0])
    start = README.index(f"\n{heading}\n") + len(heading) + 2
    rest = README[start:]
    ends = [found.start() for found in re.finditer(rf"^#{{1,{level}}} ", rest, re.MULTILINE)]
    return plain(rest[: min(ends, default=len(rest))])


def paragraph(words: str) -> str:
    """Return the paragraph that begins with some words, in one line."""
    (found,) = [part for part in README.split("\n\n") if part.startswith(words)]
    return plain(found)


def page(name: str) -> str:
    """Return a page of docs/notes without its indented formulae, in one line."""
    text = (ROOT / "docs" / "notes" / name).read_text(encoding="utf-8")
    return plain(re.sub(r"^    .*$", "", text, flags=re.MULTILINE))


def plain(text: str) -> str:
    """Return a text without code, pictures and the targets of links, in one line."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[`?results[^]]*\]|\]\([^)]*\)", "]", text)
    text = re.sub(r"`[^`]*`", "``", text)
    return " ".join(text.split())


def numbers(text: str) -> list[str]:
    """Return what is left of digits once names are taken out."""
    for pattern in NAMES:
        text = re.sub(pattern, "", text)
    return re.findall(r"\d[\d.,]*\d|\d", text)


def rounded(value: float, digits: int = 2) -> str:
    """Return a number to some significant digits, without an exponent."""
    shown = f"{value:.{digits}g}"
    return f"{float(shown):.0f}" if "e" in shown else shown


def spelt(count: int) -> str:
    """Return a count up to twelve in words."""
    return _WORDS[count]


_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
