"""The page on saved answers has the fields that the code has."""

from __future__ import annotations

from from_code import saved_answers


def test_the_tables_are_current() -> None:
    written = saved_answers.PAGE.read_text(encoding="utf-8")
    assert written == saved_answers.page(), "run python docs/from_code/saved_answers.py"


def test_every_field_has_a_line_in_its_table() -> None:
    for fields in saved_answers.TITLES.values():
        table = saved_answers._table(fields)
        assert all(f"`{field.path}`" in table for field in fields)
