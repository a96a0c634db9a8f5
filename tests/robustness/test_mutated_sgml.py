"""Damaged SGML of Reuters-21578: documents that read back the same, or a DataError."""

from __future__ import annotations

import re
from html import escape

import pytest
from hypothesis import given, settings

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.collections.reuters_corpus import Document, read_documents
from tests.datasets.test_reuters_text import FILE, HEAD, STORY
from tests.repetitions import examples
from tests.robustness.mutations import EXAMPLES, SHORT, mutated, outcome

BRIEF = (
    HEAD
    + '<TOPICS></TOPICS><TEXT TYPE="BRIEF">\n&#2;A title alone &#252; \xfc\n</TEXT></REUTERS>\n'
)
SEEDS = [
    text.encode("latin-1") for text in (FILE, FILE + STORY.replace('"1"', '"2"'), BRIEF, BRIEF * 3)
]
PIECES = [
    *(
        HEAD.encode(),
        b"</REUTERS>",
        b"<TOPICS>",
        b"</TOPICS>",
        b"<D>",
        b"</D>",
        b"<TEXT>",
        b"</TEXT>",
    ),
    *(
        b"<BODY>",
        b"</BODY>",
        b"<",
        b">",
        b"&",
        b"&#",
        b"&#x",
        b"&#1114112;",
        b"&#xD800;",
        b"&#128;",
    ),
    *(
        b"&#" + b"9" * 5000 + b";",
        b"&lt;",
        b"&amp;lt;",
        b"&nosuch;",
        b"<!DOCTYPE",
        b"<![CDATA[",
        b'="',
    ),
    *(
        b"&#0;",
        b"<!ENTITY a 'aaaa'>",
        b'NEWID="1000000000"',
        b'TOPICS="MAYBE"',
        b"<TEXT",
        b"&notit;",
    ),
]


def rendered(document: Document) -> bytes:
    """Write a document as the collection would, all its text outside of a body."""
    topics = "".join(f"<D>{topic}</D>" for topic in sorted(document.topics))
    text = (
        f'<REUTERS TOPICS="{document.has_topics}" LEWISSPLIT="{document.split}" '
        f'NEWID="{document.number}"><TOPICS>{topics}</TOPICS>'
        f"<TEXT>{escape(document.text)}</TEXT></REUTERS>"
    )
    return text.encode("latin-1", "xmlcharrefreplace")


def check(content: bytes) -> None:
    documents, message = outcome(DataError, read_documents, content, "reut2-000.sgm")
    if not message:
        written = b"\n".join(map(rendered, documents))
        again = read_documents(written, "again")
        assert [(document.text, document.topics) for document in again] == [
            (document.text, document.topics) for document in documents
        ]
        assert [rendered(document) for document in again] == [
            rendered(document) for document in documents
        ]
        return
    assert re.match(r"reut2-000\.sgm, byte [0-9]+: ", message), message
    assert message.endswith("; fetch the file again")
    assert len(message) < 300


@settings(max_examples=examples(SHORT, few=50))
@given(content=mutated(SEEDS, PIECES))
def test_damaged_stories(content: bytes) -> None:
    check(content)


@pytest.mark.slow
@settings(max_examples=examples(-(-EXAMPLES // 3)))
@given(content=mutated(SEEDS, PIECES))
def test_many_damaged_stories(content: bytes) -> None:
    """A third of the examples that PLAB_FUZZ_EXAMPLES says (10000 by default)."""
    check(content)


def test_every_flipped_bit_of_a_story() -> None:
    content = FILE.encode("latin-1")
    for bit in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        check(bytes(flipped))


def test_a_file_cut_off_at_any_byte() -> None:
    content = (FILE + BRIEF).encode("latin-1")
    for end in range(len(content)):
        check(content[:end])
