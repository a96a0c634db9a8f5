"""Exact numbers survive being written, and readers see few of their digits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction

import pytest

from perceptron_lab.numerics.exact_texts import exact_text, read_exact, shown_text

NUMBERS = [
    *(Fraction(0), Fraction(-7), Fraction(22, 7), Fraction(2**2000 - 1), Fraction(-(2**2000))),
    *(Fraction(10**5000 + 7), Fraction(-1, 10**5000 + 7), Fraction(3**9000, 2**16000)),
    *(Fraction(5e-324), Fraction(1.7e308), Fraction(1, 3) * Fraction(5e-324)),
]


@pytest.fixture
def fewest_digits() -> Iterator[None]:
    """Let Python convert as few decimal digits as it can be told to."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("fewest_digits")
@pytest.mark.parametrize("number", NUMBERS, ids=range(len(NUMBERS)))
def test_a_text_is_read_as_the_number_it_was_written_of(number: Fraction) -> None:
    assert read_exact(exact_text(number)) == number


def test_numbers_are_written_in_the_format_of_python() -> None:
    for number in (Fraction(-7), Fraction(22, 7), Fraction(10**4000, 3)):
        assert exact_text(number) == str(number)


def test_hexadecimal_digits_are_read_too() -> None:
    assert read_exact("-0x1f/0x2") == Fraction(-31, 2)
    assert read_exact(f"{7**9000:#x}/3") == Fraction(7**9000, 3)


WRONG = (
    *("", "-", "x", "1.5", "1e9", "1e999999999", "nan", "inf", "1/0", "1/-2", "+1", " 1", "1_0"),
    *("0x", "0xG", "0b1", "\N{ARABIC-INDIC DIGIT ONE}", "1/2/3", "1/0x0", "0X1F", "1\n"),
    *(None, 1.5, 3, ["1"], "1" * (2**20 + 1)),
)


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_other_texts_are_refused_at_once(text: object) -> None:
    with pytest.raises(ValueError, match=r"exact number|denominator 0"):
        read_exact(text)


@pytest.mark.usefixtures("fewest_digits")
@pytest.mark.parametrize("number", NUMBERS, ids=range(len(NUMBERS)))
def test_displayed_numbers_are_short_and_close(number: Fraction) -> None:
    text = shown_text(number)
    assert len(text) <= 40
    approximate = Fraction(text.removeprefix("~"))
    assert abs(approximate - number) * 10**14 <= abs(number)
    assert text.startswith("~") or approximate == number
