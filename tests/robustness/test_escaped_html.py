"""Texts of a configuration, and messages of an algorithm, are no markup in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from perceptron_lab.experiments.run import Results

MARKUP = '<script>alert("1")</script><img src=x onerror=alert(1)>&lt;b&gt;'
ALLOWED = {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}


class Seen(HTMLParser):
    """The tags of a page, and its text as a browser shows it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attributes if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def row(**changes: object) -> dict[str, object]:
    plain = {"cell": "0" * 16, "problem": "one", "algorithm": "perceptron", "label": "P"}
    ended = {"seed": 0, "status": "FEASIBLE", "proved": True, "message": "done", "updates": 3}
    return {**plain, **ended, **changes}


@pytest.mark.parametrize("column", ["problem", "label", "message"])
def test_markup_in_a_row_is_shown_as_text(column: str) -> None:
    page = Seen(Results(Path("results/one"), [row(**{column: MARKUP})])._repr_html_())
    assert page.tags <= ALLOWED
    assert MARKUP in page.text


def test_markup_in_title_and_folder_is_shown_as_text() -> None:
    for results in (Results(Path("one"), [row()], MARKUP), Results(Path(MARKUP), [row()])):
        page = Seen(results._repr_html_())
        assert page.tags <= ALLOWED
        assert 'alert("1")' in page.text


def test_markup_is_cut_nowhere_that_opens_it() -> None:
    long = "a" * 45 + MARKUP * 20
    assert Seen(Results(Path("one"), [row(message=long)])._repr_html_()).tags <= ALLOWED
