"""Reading the SGML of Reuters-21578, Distribution 1.0: documents, their topics, their text.

A file is a line ``<!DOCTYPE ...>`` and then documents, each ``<REUTERS attributes> ... </REUTERS>``
with exactly one ``<TOPICS>`` of ``<D>name</D>`` and one ``<TEXT ...>``, in which ``<TITLE>``,
``<AUTHOR>``, ``<DATELINE>`` and ``<BODY>`` may stand. The bytes are latin-1; ``<`` and ``&`` in
text are character references, and so are control characters, which no XML would allow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import NoReturn

from perceptron_lab.core.errors import DataError

# Characters of one document, and of `<REUTERS attributes>`, at most
LONGEST_TEXT = 1_000_000
LONGEST_HEAD = 1000

_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"<>]*)"')
_TAG = re.compile(r"<[^<>]*>")
_TOPIC = re.compile(r"<D>([a-z][a-z0-9-]*)</D>")
_NUMBER = re.compile(r"[0-9]{1,9}")
_ALLOWED = {"LEWISSPLIT": ("TRAIN", "TEST", "NOT-USED"), "TOPICS": ("YES", "NO", "BYPASS")}
# Patterns that need linear time, but for _ATTRIBUTE: hence LONGEST_HEAD.
_BEFORE = re.compile(r"\s*(?:<!DOCTYPE[^<>]*>\s*)?")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Document:
    """One news story.

    Parameters
    ----------
    number, split
        NEWID, 1 to 21578 in the collection; LEWISSPLIT: ``TRAIN``, ``TEST`` or ``NOT-USED``.
    has_topics
        The attribute TOPICS: ``YES``, ``NO`` or ``BYPASS``. It says whether the story was indexed;
        a story with YES may have no topic.
    topics
        The categories; two documents of the collection name one twice, which counts once.
    text, body
        All that stands in ``<TEXT>``, tags removed, character references resolved; and the
        ``<BODY>`` alone, empty where there is none.
    """

    number: int
    split: str
    has_topics: str
    topics: frozenset[str]
    text: str
    body: str


def read_documents(content: bytes, where: str) -> list[Document]:
    """Return the documents of a file, in its order, in time linear in its length.

    ``where`` names the file in messages, which say at which byte it is cut off or not of this form.
    """
    text = content.decode("latin-1")
    source = _Source(where, text)
    documents, at = [], source.match(_BEFORE, 0)
    while at < len(text):
        if not text.startswith("<REUTERS ", at):
            received = text[at : at + 20]
            source.refuse(at, f"received {received!r} where a <REUTERS ...> begins")
        end = source.find("</REUTERS>", at, len(text), "a <REUTERS>")
        documents.append(_document(source, at, end))
        at = source.match(_SPACE, end + len("</REUTERS>"))
    return documents


@dataclass(frozen=True)
class _Source:
    """A file's name and text; one character is one byte."""

    where: str
    text: str

    def refuse(self, at: int, message: str) -> NoReturn:
        raise DataError(f"{self.where}, byte {at}: {message}; fetch the file again")

    def find(self, mark: str, start: int, end: int, of: str) -> int:
        """Return where a mark begins between two places; refuse the file without one."""
        at = self.text.find(mark, start, end)
        if at < 0:
            self.refuse(start, f"{of} without {mark}")
        return at

    def match(self, pattern: re.Pattern[str], at: int) -> int:
        """Return the end of a pattern that matches everywhere, if only the empty string."""
        found = pattern.match(self.text, at)
        return found.end() if found else at


def _document(source: _Source, start: int, end: int) -> Document:
    if end - start > LONGEST_TEXT:
        source.refuse(
            start, f"a <REUTERS> of {end - start} characters; allowed: {LONGEST_TEXT} at most"
        )
    head = source.find(">", start, min(end, start + LONGEST_HEAD), "the head of a <REUTERS>")
    attributes = dict(_ATTRIBUTE.findall(source.text, start, head))
    for name, allowed in _ALLOWED.items():
        if attributes.get(name) not in allowed:
            received = attributes.get(name, "nothing")[:20]
            source.refuse(start, f"{name} is {received!r}; allowed: {', '.join(allowed)}")
    if not _NUMBER.fullmatch(attributes.get("NEWID", "")):
        source.refuse(start, "NEWID is not a number of 1 to 9 digits")
    first, last = _element(source, "TEXT", head, end)
    start, stop = _element(source, "TOPICS", head, end)
    topics = _TOPIC.findall(source.text, start, stop)
    # What the pattern did not take is not a list of topics.
    if sum(len(f"<D>{topic}</D>") for topic in topics) != stop - start:
        received = source.text[start:stop][:40]
        source.refuse(start, f"received {received!r} in <TOPICS>; allowed: <D>name</D>, repeated")
    text, body = _plain(source, first, last), ""
    opening = source.text.find("<BODY>", first, last)
    if opening >= 0:
        start = opening + len("<BODY>")
        body = _plain(source, start, source.find("</BODY>", start, last, "a <BODY>"))
    split, has_topics = attributes["LEWISSPLIT"], attributes["TOPICS"]
    return Document(int(attributes["NEWID"]), split, has_topics, frozenset(topics), text, body)


def _element(source: _Source, name: str, start: int, end: int) -> tuple[int, int]:
    """Return where the content of an element that must occur once begins and ends."""
    opening = source.find(f"<{name}", start, end, "a <REUTERS>")
    first = source.find(">", opening, end, f"a <{name}") + 1
    last = source.find(f"</{name}>", first, end, f"a <{name}>")
    if source.text.find(f"<{name}", last, end) >= 0:
        source.refuse(last, f"a second <{name}> in one <REUTERS>")
    return first, last


def _plain(source: _Source, first: int, last: int) -> str:
    """Return text without its tags; each is a boundary between words."""
    try:
        return unescape(_TAG.sub(" ", source.text[first:last]))
    except ValueError:  # a reference to a number of thousands of digits
        source.refuse(first, "a character reference that is no character")
