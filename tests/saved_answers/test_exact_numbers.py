"""Exact numbers of files are read within bounds, and nothing else is taken for one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.saved_answers.exact_numbers import LONGEST, fraction_of, is_fraction, is_place


@given(st.fractions())
def test_what_python_writes_is_read(number: Fraction) -> None:
    assert fraction_of(str(number)) == number
    p, q = number.as_integer_ratio()
    assert fraction_of(f"{hex(p)}/{hex(q)}") == number


def test_long_numbers_are_read_whatever_python_allows() -> None:
    digits = "7" * 100_000
    assert fraction_of(digits) % 10**9 == 777_777_777
    assert fraction_of(f"1/{digits}").denominator.bit_length() == 332_193


@pytest.mark.parametrize(
    "text",
    [
        *("1e999999999", "1e5", "0.5", "nan", "inf", "-inf", "", " 1", "1 ", "1\n", "+1", "1_000"),
        *("1/0", "0x1/0x0", "1/0x2", "0x1/2", "1/-2", "--1", "1/2/3", "0X1F", "0xg", "/2", "1/"),
        *("١٢", "１", "1" * (LONGEST + 1), 1, 1.5, True, None, [], b"1"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_anything_else_is_refused(text: Any) -> None:
    assert not is_fraction(text)
    with pytest.raises(ValueError, match="is no exact number"):
        fraction_of(text)


def test_places_are_written_in_one_way() -> None:
    assert [text for text in ("0", "7", "120") if not is_place(text)] == []
    assert [text for text in ("07", "-1", "1_0", "٣", "", "9" * 19, 3) if is_place(text)] == []
