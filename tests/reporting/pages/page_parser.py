"""Pages read as HTML: whether tags are balanced, and what a reader meets."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "br", "input", "hr", "img"}
# element -> those open elements that its start ends, as HTML allows their end tags to be left out
ENDED_BY_START = {
    "td": {"td", "th"},
    "th": {"td", "th"},
    "tr": {"td", "th", "tr"},
    "tbody": {"td", "th", "tr", "thead"},
    "li": {"li"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "p": {"p"},
    "ul": {"p"},
    "h3": {"p"},
    "h4": {"p"},
    "pre": {"p"},
    "div": {"p"},
    "section": {"p"},
    "details": {"p"},
    "figure": {"p"},
}
OPTIONAL = {"td", "th", "tr", "tbody", "thead", "li", "dt", "dd", "p"}
WITHIN = {"td": "tr", "th": "tr", "tr": "t", "li": "ul", "dt": "dl", "dd": "dl"}


class ParsedPage(HTMLParser):
    """A page; ``faults`` are tags that do not fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.references: list[str] = []
        self.nameless: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.details = 0
        self._open: list[str] = []
        self._heading = ""
        self._line: list[str] | None = None
        self._rows: list[list[str]] = []
        self._caption: str | None = None
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not ended" for tag in self._open if tag not in OPTIONAL]
        styles = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
        self.references += re.findall(r"url\(([^)]*)\)", styles)
        self.faults += ["@import"] if "@import" in styles else []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if len(attributes) < len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice")
        ended = ENDED_BY_START.get(tag, set())
        while self._open and self._open[-1] in ended:
            self._open.pop()
        parent = WITHIN.get(tag)
        if parent and not (self._open and self._open[-1].startswith(parent)):
            self.faults.append(f"<{tag}> in <{self._open[-1] if self._open else ''}>")
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.references += [
            attributes[name] for name in ("href", "src", "action") if name in attributes
        ]
        image = tag == "img" or (tag == "svg" and "aria-hidden" not in attributes)
        if image and not (attributes.get("alt") or attributes.get("aria-label")):
            self.nameless.append(self.get_starttag_text() or tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((int(tag[1]), ""))
        if tag == "tr":
            self._rows.append([])
        if tag in ("td", "th") and self._rows:
            self._rows[-1] += [""] * int(attributes.get("colspan", "1"))
        if tag == "table":
            self._rows = []
        if tag == "caption":
            self._caption = ""
        self.details += tag == "details"
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open[-1] != tag and self._open[-1] in OPTIONAL:
            self._open.pop()
        if not self._open or self._open[-1] != tag:
            self.faults.append(f"</{tag}> ends <{self._open[-1] if self._open else ''}>")
            return
        self._open.pop()
        if tag == "table" and self._caption is not None:
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        within = self._open[-1] if self._open else ""
        if re.fullmatch("h[1-6]", within):
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)
        elif within == "caption":
            self._caption = (self._caption or "") + data
        elif self._rows and self._rows[-1] and any(tag in ("td", "th") for tag in self._open):
            self._rows[-1][-1] += data.strip()

    def faults_of_order(self) -> list[str]:
        """Return headings that skip a level, and whether there is not exactly one of the first."""
        levels = [level for level, _ in self.headings]
        skips = [
            f"h{level} after h{before}" for before, level in pairwise(levels) if level > before + 1
        ]
        return skips + ([] if levels.count(1) == 1 and levels[0] == 1 else ["h1"])
