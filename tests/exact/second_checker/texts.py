"""Tables of decimals, with labels or without."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from flint import fmpq

from tests.exact.second_checker.numbers import choice, integer, require_form
from tests.exact.second_checker.systems import Row, System

DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eEdD]([+-]?[0-9]{1,3}))?")
LONGEST = 4300  # digits of a decimal
MISSING = ("", "na", "nan", "n/a", "inf", "infinity", "null", "none")


def decimal(text: str) -> tuple[fmpq, int]:
    """Return the value of a decimal as printed, and its digits behind the point less exponent."""
    match = DECIMAL.fullmatch(text)
    require_form(match is not None, f"no decimal: {text[:40]!r}")
    assert match is not None
    sign, before, behind, exponent = (group or "" for group in match.groups())
    require_form(0 < len(before + behind) <= LONGEST, "no digits, or too many")
    value = int(before + behind) * (-1 if sign == "-" else 1)
    digits = len(behind) - int(exponent or 0)
    return fmpq(value * 10 ** max(-digits, 0), 10 ** max(digits, 0)), digits


def scale_of(decimals: Iterable[tuple[fmpq, int]]) -> int:
    """Return D, 10 to the largest number of digits behind the point of all that are not 0."""
    return int(10 ** max([0, *(digits for value, digits in decimals if value)]))


def is_name(text: str) -> bool:
    """Return whether a field begins with a letter, signs aside, and is no missing number."""
    if any(character < " " and character != "\t" for character in text):
        return False
    while text and not (text[0].isalnum() or text[0] == "_"):
        text = text[1:]
    while text and not (text[-1].isalnum() or text[-1] == "_"):
        text = text[:-1]
    return not text[:1].isdecimal() and text.lower() not in MISSING


def fields_of(content: bytes, separator: str) -> list[list[str]]:
    """Return the fields of all lines that are not empty, without the blanks around them."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        require_form(False, "no UTF-8")
    *lines, last = text.removeprefix("\ufeff").split("\n")
    lines = [*(line.removesuffix("\r") for line in lines), last]
    split = [[field.strip(" \t") for field in line.split(separator)] for line in lines if line]
    require_form(len({len(line) for line in split}) == 1, "lines of different lengths, or none")
    return split


def _without_names(data: dict[str, Any], content: bytes) -> list[list[str]]:
    separator = choice(data["separator"], ",", ";", "\t", " ")
    lines = fields_of(content, separator)
    data_lines = lines[1:] if all(map(is_name, lines[0])) else lines
    require_form(bool(data_lines), "no rows")
    return data_lines


def _system(form: str, lines: list[list[tuple[fmpq, int]]]) -> System:
    rows: list[Row] = [{j: entry for j, (entry, _) in enumerate(line) if entry} for line in lines]
    scale = scale_of(value for line in lines for value in line)
    return System(form, rows, len(lines[0]), [("rows", len(rows))], scale)


def table(data: dict[str, Any], content: bytes) -> System:
    return _system("table", [list(map(decimal, line)) for line in _without_names(data, content)])


def labelled(data: dict[str, Any], content: bytes) -> System:
    lines = _without_names(data, content)
    column = integer(data["column"], 0, len(lines[0]) - 1)
    labels = data["negative"], data["positive"]
    require_form(all(type(label) is str for label in labels), "a label that is no text")
    require_form({line[column] for line in lines} == set(labels), "other labels")
    require_form(labels[0] != labels[1], "equal labels")
    rows = []
    for line in lines:
        sign = 2 * labels.index(line.pop(column)) - 1
        example = [*map(decimal, line), (fmpq(1), 0)]
        rows.append([(sign * value, digits) for value, digits in example])
    return _system("labelled", rows)
