"""A judge of certificates, written from the description of their format alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.exact.second_checker.arrays import cone, gram, squares
from tests.exact.second_checker.claims import check_claim
from tests.exact.second_checker.numbers import (
    Refuted,
    Unreadable,
    choice,
    integer,
    parsed,
    require_form,
    with_keys,
)
from tests.exact.second_checker.programs import sdpa
from tests.exact.second_checker.systems import System
from tests.exact.second_checker.texts import labelled, table

PROVED, REFUTED, UNREADABLE = 0, 1, 2
FORMS: dict[str, Callable[[dict[str, Any], bytes], System]] = {
    "sdpa": sdpa,
    "table": table,
    "labelled": labelled,
    "cone": cone,
    "gram": gram,
    "squares": squares,
}
KEYS = {
    "sdpa": "question",
    "table": "separator",
    "labelled": "separator column negative positive",
    "cone": "blocks",
    "gram": "",
    "squares": "inside",
}


def answer(certificate: bytes, content: bytes) -> int:
    """Return 0 if all claims of a certificate are proved, 1 if some is not, 2 if none can be."""
    try:
        return max(answers(certificate, content))
    except Unreadable:
        return UNREADABLE
    except Refuted:
        return REFUTED


def answers(certificate: bytes, content: bytes) -> list[int]:
    """Return the answer to each claim; raise `Refuted` if the data are others."""
    record = with_keys(parsed(certificate), "format", "version", "data", "claims")
    choice(record["format"], "plab-certificate")
    require_form(integer(record["version"]) == 2, "another version")
    require_form(type(record["claims"]) is list and bool(record["claims"]), "no claims")
    system = system_of(record["data"], content)
    return [_of_claim(system, claim) for claim in record["claims"]]


def system_of(data: Any, content: bytes) -> System:
    require_form(type(data) is dict, "no data")
    for name in ("file", "sha256", "form"):
        require_form(type(data.get(name)) is str, f"no {name}")
    read = FORMS[choice(data["form"], *FORMS)]
    with_keys(data, "file", "sha256", "form", *KEYS[data["form"]].split())
    if hashlib.sha256(content).hexdigest() != data["sha256"]:
        raise Refuted("other data")
    return read(data, content)


def _of_claim(system: System, claim: Any) -> int:
    try:
        check_claim(system, claim)
    except Unreadable:
        return UNREADABLE
    except Refuted:
        return REFUTED
    return PROVED


def answer_on_disk(path: Path, data: Path | None = None) -> int:
    certificate = path.read_bytes()
    try:
        record = parsed(certificate)
        file = data or path.parent / str(record["data"]["file"])
        return answer(certificate, file.read_bytes())
    except (Unreadable, OSError, KeyError, TypeError):
        return UNREADABLE
