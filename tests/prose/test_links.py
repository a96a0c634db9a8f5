"""Every link to a file, a picture or a heading leads somewhere, in README, docs and beside them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.prose.pages import PAGES, ROOT

OTHERS = (
    *("CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "ROADMAP.md"),
    *("data/README.md", "results/sample/README.md"),
)
LINK = re.compile(r"(?:(?<=\]\()|(?<=<img src=\"))[^)\s\"]+")
ELSEWHERE = re.compile(r"[a-z]+:|(?:gallery|generated)/")
"""Other sites, and pages that `make docs` makes, which looks after links to them itself."""


def prose_of(path: Path) -> str:
    """Return a page without its blocks of code and quoted code."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.sub(r"`[^`]*`", lambda quoted: quoted[0].strip("`").replace("](", ""), text)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", prose_of(path), re.MULTILINE)
    bare = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in bare}


def faults(path: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    messages = []
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        destination = (path.parent / target).resolve() if target else path
        if ELSEWHERE.match(link):
            continue
        if ROOT not in (destination, *destination.parents) or not destination.exists():
            messages.append(f"{link}: no such file")
        elif anchor and (destination.suffix != ".md" or anchor not in anchors(destination)):
            messages.append(f"{link}: no such heading")
    return messages


@pytest.mark.parametrize("page", [*PAGES, *OTHERS])
def test_every_link_leads_somewhere(page: str) -> None:
    path = ROOT / page
    assert faults(path, prose_of(path)) == []


def test_every_page_can_be_reached_from_readme() -> None:
    reached, new = set(), {ROOT / "README.md"}
    while new:
        reached |= new
        new = {
            (path.parent / link.partition("#")[0]).resolve()
            for path in new
            for link in LINK.findall(prose_of(path))
            if link.partition("#")[0].endswith(".md")
        } - reached
    site = {
        ROOT / "docs" / name
        for name in ("index.md", "start.md", "components.md", "notes.md", "problems.md", "use.md")
    }
    assert {ROOT / page for page in PAGES} - site <= reached


def test_broken_links_are_detected() -> None:
    page = ROOT / "docs" / "faq.md"
    for link, message in {
        "nothing.md": "no such file",
        "../../outside.md": "no such file",
        "proofs.md#nothing": "no such heading",
    }.items():
        assert faults(page, f"[one]({link})") == [f"{link}: {message}"]
    assert faults(page, '<img src="a.png">') == ["a.png: no such file"]
    assert faults(page, "[one](proofs.md#exact-certificates) [two](https://a.b)") == []
