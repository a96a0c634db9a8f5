"""The SGML of Reuters-21578: what a document says, and files that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.collections.reuters_corpus import (
    LONGEST_TEXT,
    Document,
    read_documents,
)

HEAD = '<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="1">'
STORY = (
    HEAD
    + "\n<DATE>26-FEB-1987</DATE>\n<TOPICS><D>veg-oil</D><D>corn</D></TOPICS>\n"
    + "<PLACES><D>usa</D></PLACES>\n<UNKNOWN>&#5;&#5;C T\nreute</UNKNOWN>\n"
    + "<TEXT>&#2;\n<TITLE>OIL &lt;XYZ> &amp; CORN</TITLE>\n<DATELINE>  SALVADOR, Feb 26 - "
    + "</DATELINE><BODY>Z\xfcrich rose 2 &lt; 3.\n REUTER\n&#3;</BODY></TEXT>\n</REUTERS>\n"
)
FILE = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + STORY


def read(text: str) -> list[Document]:
    return read_documents(text.encode("latin-1"), "reut2-000.sgm")


def changed(old: str, new: str, count: int = 1) -> str:
    assert FILE.count(old) >= count
    return FILE.replace(old, new, count)


def test_a_story_by_hand() -> None:
    (story,) = read(FILE)
    assert story.number == 1
    assert story.split == "TRAIN"
    assert story.has_topics == "YES"
    assert story.topics == {"veg-oil", "corn"}
    assert " ".join(story.text.split()) == (
        "OIL <XYZ> & CORN SALVADOR, Feb 26 - Z\xfcrich rose 2 < 3. REUTER"
    )
    assert story.body == "Z\xfcrich rose 2 < 3.\n REUTER\n"


def test_a_tag_separates_words() -> None:
    (story,) = read(changed("- </DATELINE><BODY>Z", "one</DATELINE><BODY>two Z"))
    assert "one" in story.text.split()


def test_stories_come_in_the_order_of_the_file() -> None:
    second = STORY.replace('NEWID="1"', 'NEWID="7"').replace("TRAIN", "TEST", 1)
    assert [story.number for story in read(FILE + second + "\n\n")] == [1, 7]


def test_a_story_without_body_or_topics() -> None:
    brief = HEAD + '<TOPICS></TOPICS><TEXT TYPE="BRIEF">\nA title alone\n</TEXT></REUTERS>'
    (story,) = read(brief)
    assert story.topics == frozenset()
    assert story.text.split() == ["A", "title", "alone"]
    assert story.body == ""


def test_a_story_without_any_text() -> None:
    (story,) = read(HEAD + "<TOPICS></TOPICS><TEXT></TEXT></REUTERS>")
    assert story.text == ""


def test_a_topic_that_is_named_twice_counts_once() -> None:
    (story,) = read(changed("<D>veg-oil</D>", "<D>corn</D>"))
    assert story.topics == {"corn"}


@pytest.mark.parametrize("text", ["", "\n", '<!DOCTYPE lewis SYSTEM "lewis.dtd">'])
def test_a_file_without_stories(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (changed('LEWISSPLIT="TRAIN"', 'LEWISSPLIT="TRIAN"'), "LEWISSPLIT is 'TRIAN'; allowed: TR"),
        (changed('LEWISSPLIT="TRAIN"', ""), "LEWISSPLIT is 'nothing'; allowed: TRAIN, TEST, NOT-"),
        (changed('TOPICS="YES"', 'TOPICS="MAYBE"'), "TOPICS is 'MAYBE'; allowed: YES, NO, BYPASS"),
        (changed('NEWID="1"', 'NEWID="one"'), "NEWID is not a number"),
        (changed('NEWID="1"', 'NEWID="' + "1" * 500 + '"'), "NEWID is not a number"),
        (changed("</REUTERS>", ""), "a <REUTERS> without </REUTERS>"),
        (changed("</TEXT>", ""), "a <TEXT> without </TEXT>"),
        (changed("</BODY>", ""), "a <BODY> without </BODY>"),
        (changed("</TOPICS>", ""), "a <TOPICS> without </TOPICS>"),
        (changed("<TOPICS>", ""), "a <REUTERS> without <TOPICS"),
        (changed("<TEXT>", ""), "a <REUTERS> without <TEXT"),
        (
            changed("<D>corn</D>", "corn"),
            r"received '<D>veg-oil</D>corn' in <TOPICS>; allowed: <D>",
        ),
        (changed("<D>corn</D>", "<D>Corn!</D>"), "in <TOPICS>; allowed: <D>name</D>, repeated"),
        (changed("<DATE>", "<TOPICS></TOPICS><DATE>"), "a second <TOPICS> in one <REUTERS>"),
        (changed("</TEXT>", "</TEXT><TEXT></TEXT>"), "a second <TEXT> in one <REUTERS>"),
        (changed(HEAD, HEAD[:-1] + "A" * 2000), "the head of a <REUTERS> without >"),
        (changed("REUTER\n", "&#" + "1" * 5000 + ";"), "a character reference that is no char"),
        (FILE + "<html>please log in</html>", "received '<html>please log in<' where a <REUTERS"),
        ("\x00\x01", "where a <REUTERS ...> begins"),
        (changed("REUTER\n", "x" * LONGEST_TEXT), "allowed: 1000000 at most"),
    ],
)
def test_files_of_another_form(text: str, reason: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text)
    assert reason in str(caught.value)
    assert str(caught.value).startswith("reut2-000.sgm, byte ")
    assert str(caught.value).endswith("; fetch the file again")
    assert len(str(caught.value)) < 250


def test_the_message_states_the_byte_offset() -> None:
    with pytest.raises(DataError, match=f"byte {len(FILE)}: received 'XYZ'"):
        read(FILE + "XYZ")


@pytest.mark.parametrize("length", range(1, len(FILE) - 1, 17))
def test_a_file_that_is_cut_off(length: int) -> None:
    """Either nothing but the head of the file is left, or the cut is noticed."""
    if length >= FILE.index(HEAD) + 9 or length < 35:
        with pytest.raises(DataError):
            read(FILE[:length])


@given(st.binary(max_size=500))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        documents = read_documents(content, "any.sgm")
    except DataError:
        return
    assert all(isinstance(document, Document) for document in documents)


PIECES = st.sampled_from(
    [
        *(HEAD, "</REUTERS>", "<TOPICS>", "</TOPICS>", "<D>", "</D>", "corn", "<TEXT>", "</TEXT>"),
        *("<BODY>", "</BODY>", "&", "&#", "&#5;", "&lt;", "&#x", "9" * 5000, "<", ">", '"', "\xff"),
    ]
)


@given(st.lists(PIECES, max_size=30), st.integers(0, len(FILE)))
def test_pieces_of_the_form_are_read_or_refused(pieces: list[str], at: int) -> None:
    for text in ("".join(pieces), FILE[:at] + "".join(pieces) + FILE[at:]):
        try:
            documents = read(text)
        except DataError:
            continue
        assert all("<D>" not in topic for document in documents for topic in document.topics)


@pytest.mark.slow
@pytest.mark.parametrize(
    "flood",
    ["<", "<D>", "&", "&#", "&#1", "A", 'A="', "<TEXT>", "<BODY>", "<REUTERS ", HEAD, "</TEXT>"],
)
def test_floods_end(flood: str) -> None:
    """Characters that would take half an hour in quadratic time."""
    many = flood * (500_000 // len(flood))
    inside = [changed("<D>corn</D>", many), changed("REUTER\n", many[:225_000])]
    for text in [many, FILE + many, *inside]:
        try:
            documents = read(text)
        except DataError:
            continue
        assert len(documents) == 1
