"""JSON and the whole numbers of certificates, read strictly."""

from __future__ import annotations

import json
import re
from typing import Any

from flint import fmpq

LARGEST, LARGEST_SHORT = 2 ** (2**20), 2 ** (2**13)  # of any number; of margins and of factors
LONGEST_DECIMAL = 4300  # digits of a JSON integer
HEXADECIMAL = re.compile(r"-?0x[0-9a-f]+")


class Unreadable(Exception):
    """The certificate or its data are not as the format says."""


class Refuted(Exception):
    """The certificate is well-formed, and does not prove its claim."""


def require_form(condition: bool, message: str) -> None:
    if not condition:
        raise Unreadable(message)


def require_proof(condition: bool, message: str) -> None:
    if not condition:
        raise Refuted(message)


def parsed(content: bytes) -> Any:
    """Return the value of a JSON text in UTF-8 whose keys are distinct."""
    try:
        return json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_distinct,
            parse_int=_short,
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON: {error}") from None


def _short(text: str) -> int:
    require_form(len(text.lstrip("-")) <= LONGEST_DECIMAL, "a long JSON integer")
    return int(text)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    require_form(len(set(names)) == len(names), "a key comes twice")
    return dict(pairs)


def with_keys(value: Any, *names: str) -> dict[str, Any]:
    require_form(type(value) is dict and set(value) == set(names), f"keys other than {names}")
    return dict(value)


def integer(value: Any, least: int | None = None, most: int | None = None) -> int:
    """Return a whole number within a range, written in decimals or in hexadecimal digits."""
    if type(value) is str:
        require_form(bool(HEXADECIMAL.fullmatch(value)), f"no hexadecimal number: {value[:40]}")
        value = int(value, 16)
    require_form(type(value) is int, "no whole number")
    require_form(abs(value) <= LARGEST, "a number of too many bits")
    require_form(least is None or value >= least, "a number that is too small")
    require_form(most is None or value <= most, "a number that is too large")
    return int(value)


def integers(value: Any, count: int | None = None, most: int = LARGEST) -> list[int]:
    require_form(type(value) is list, "no list of numbers")
    require_form(count is None or len(value) == count, f"not {count} numbers")
    return [integer(entry, -most, most) for entry in value]


def sparse(value: Any, size: int, most: int = LARGEST) -> dict[int, int]:
    """Return {place: number} of [places, numbers], the places increasing."""
    require_form(type(value) is list and len(value) == 2, "no pair of places and numbers")
    indices = integers(value[0])
    numbers = integers(value[1], len(indices), most)
    require_form(sorted(set(indices)) == indices, "places that do not increase")
    require_form(all(0 <= index < size for index in indices), "a place outside of its block")
    return dict(zip(indices, numbers, strict=True))


def ratio(value: Any, most: int = LARGEST, infinite: bool = False) -> tuple[int, int]:
    """Return p and q > 0 of a bound, or (1, 0) where that is a bound."""
    p, q = integers(value, 2, most)
    require_form(q > 0 or (infinite and (p, q) == (1, 0)), "a denominator that is not positive")
    return p, q


def choice(value: Any, *allowed: str) -> str:
    require_form(type(value) is str and value in allowed, f"none of {allowed}")
    return str(value)


def dot(left: list[fmpq], right: list[fmpq]) -> fmpq:
    return sum((a * b for a, b in zip(left, right, strict=True)), fmpq(0))
