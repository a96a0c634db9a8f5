"""Certificates of data in parts that are meant, as in :mod:`.targeted`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from tests.exact.small_certificates import saved
from tests.exact.targeted import COMMAS, LABELLED, Claim, feasible, rows

Parts = dict[str, bytes]
INFEASIBLE = {"claim": "infeasible", "weights": [[[0, 2], [1, 1]]]}


def record_of(form: Any, parts: Parts, claim: Claim) -> dict[str, Any]:
    """Return a certificate of parts."""
    digests = {name: sha256(content).hexdigest() for name, content in parts.items()}
    data = {"file": "folder", "sha256": digests} | form
    return {"format": "plab-certificate", "version": 2, "data": data, "claims": [claim]}


def listed() -> Iterator[tuple[str, dict[str, Any], Parts]]:
    """Yield names, certificates and the files of their folders."""
    texts = {"b": b"1\n2\n", "a": b"-1\n"}
    plain = record_of(COMMAS, texts, INFEASIBLE)
    yield "PROVED parts in another order than their names", plain, texts
    yield "PROVED parts beside others", plain, texts | {"_a": b"", ".b": b""}
    odd = {"a_": texts["b"], "b.": texts["a"]}
    yield "PROVED parts that end so", record_of(COMMAS, odd, INFEASIBLE), odd
    yield "another order", record_of(COMMAS, dict(reversed(texts.items())), INFEASIBLE), texts
    yield "a changed part", plain, texts | {"a": b"-2\n"}
    yield "a missing part", plain, {"b": texts["b"]}
    yield "an additional part", plain, texts | {"c": b"1\n"}
    yield "an additional part of no rows", plain, texts | {"c": b""}
    named = {"a": b"x,y\n1,0\n", "b": b"x,y\n", "c": b"x,y\n2,1\n"}
    yield "PROVED names in each part", record_of(COMMAS, named, feasible(1, 0)), named
    for second in (b"y,x\n1,0\n", b"1,0\n", b"", b"x,y,z\n1,0,0\n", b"1,0\nx,y\n"):
        parts = {"a": named["a"], "b": second}
        yield f"other names {second!r}", record_of(COMMAS, parts, feasible(1, 0)), parts
    unnamed = {"a": b"1,0\n", "b": b"x,y\n"}
    yield "names in the second part", record_of(COMMAS, unnamed, feasible(1, 0)), unnamed
    classes = {"a": b"u,v,k\n1,0,+\n", "b": b"u,v,k\n-2,1,-\n"}
    yield "PROVED parts of one class", record_of(LABELLED, classes, feasible(1, 0, 0)), classes
    arrays = {"a": saved([[1.0, 0.5]]), "b": saved([[1.0, 0.25], [0.5, 0.0]])}
    yield "PROVED arrays", record_of(rows(3), arrays, feasible(1, 0)), arrays
    wide = {"a": saved([[1.0, 0.5]]), "b": saved([[1.0, 0.25, 1.0]])}
    yield "arrays of two widths", record_of(rows(2), wide, feasible(1, 0)), wide
    yield "no parts", record_of(COMMAS, {}, feasible(1)), {}


def written() -> Iterator[tuple[str, bytes, Parts]]:
    """Yield names, certificates as texts and files."""
    for name, record, parts in listed():
        yield name, json.dumps(record).encode(), parts
