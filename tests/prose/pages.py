"""README and the pages of docs as running text, and the numbers in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("docs", "docs/extending", "docs/notes", "docs/notes/existence", "docs/papers"),
    "docs/tutorial",
)
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *(p for f in FOLDERS for p in sorted((ROOT / f).glob("*.md")))]
}
"""Every page, by its path from the root; what a build writes into docs is in other folders."""

README = PAGES["README.md"]

NAMES = (
    r"\b(?:Tables?|Figures?|Algorithms?|Theorems?|Lemmas?|Propositions?|sections?|[Cc]hapters?) "
    r"\d+(?:\.\d+)*(?:(?:,| and| to) \d+(?:\.\d+)*)*",
    r"\bYuKilincCarbonell2014\b|\bKharechko2009\b|\bReuters-21578\b",
    r"\b(?:mcp|maxG|hinf)\d+(?:-\d)?\b",
    r"\d+ x \d+",  # dimension x rows, or rows x dimension
    r"\bmu_0\b",
)
"""Digits that name something, and measure nothing."""


def paragraphs(page: str) -> list[str]:
    """Return the paragraphs of a page as written, without blocks of code and indented formulae."""
    text = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
    return [part.strip("\n") for part in re.split(r"\n\s*\n", text) if part.strip()]


def section(page: str, heading: str) -> str:
    """Return the text under a heading, up to the next one of its level or above, in one line."""
    level = len(heading.split(" ")[0])
    start = f"\n{PAGES[page]}".index(f"\n{heading}\n") + len(heading) + 1
    rest = PAGES[page][start:]
    ends = [match.start() for match in re.finditer(rf"^#{{1,{level}}} ", rest, re.MULTILINE)]
    return plain(rest[: min(ends, default=len(rest))])


def paragraph(words: str) -> str:
    """Return the paragraph, of any page, that begins with some words, in one line."""
    (paragraph_,) = [part for page in PAGES for part in paragraphs(page) if part.startswith(words)]
    return plain(paragraph_)


def page(name: str) -> str:
    """Return a page of docs/notes without its indented formulae, in one line."""
    return plain("\n\n".join(paragraphs(f"docs/notes/{name}")))


def blocks(page: str, language: str = "") -> list[str]:
    """Return the blocks of code of a page in a language; without one, those of the shell."""
    fenced = re.findall(r"^```(.*)\n((?s:.*?))^```$", PAGES[page], re.MULTILINE)
    return [text for named, text in fenced if named == language]


def plain(text: str) -> str:
    """Return a text without code, pictures and the targets of links, in one line."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)|<img [^>]*>", "", text)
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
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e" in text else text


def spelt(count: int) -> str:
    """Return a count up to twelve in words."""
    return _WORDS[count]


_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
