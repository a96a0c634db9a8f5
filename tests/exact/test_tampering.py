"""Certificates that were tampered with are accepted only where they still prove their claim."""

from __future__ import annotations

import hashlib
import json
import random
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.exact.checker import checker
from tests.exact.certificates_on_disk import (
    as_number,
    certificates,
    content_of,
    record_of,
    rows_of,
)
from tests.exact.mutations import at_path
from tests.exact.second_checker.check import PROVED, answers
from tests.exact.second_checker.numbers import Refuted, Unreadable
from tests.repetitions import parts

Record = dict[str, Any]


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return certificates(tmp_path_factory.mktemp("certificates"))


def accepted(path: Path, record: Record) -> list[Record]:
    """Return the claims of a record that the checkers accept, beside a certificate's data."""
    other = path.with_name("tampered.json")
    other.write_text(json.dumps(record))
    try:
        report = checker().check(str(other))
    except Exception:  # as for the checker's own command line, it is unreadable
        return []
    pairs = zip(record["claims"], report, strict=True)
    claims = [claim for claim, (_, reason) in pairs if not reason]
    assert claims == by_the_second(other, record)
    return claims


def by_the_second(path: Path, record: Record) -> list[Record]:
    """Return the claims of a record that the second checker accepts."""
    content = path.with_name(record["data"]["file"]).read_bytes()
    try:
        verdicts = answers(path.read_bytes(), content)
    except (Refuted, Unreadable):
        return []
    return [
        claim
        for claim, verdict in zip(record["claims"], verdicts, strict=True)
        if verdict == PROVED
    ]


def numbers_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the places of all whole numbers in a claim."""
    if isinstance(value, dict):
        return [at for name, child in value.items() for at in numbers_in(child, (*path, name))]
    if isinstance(value, list):
        return [at for k, child in enumerate(value) for at in numbers_in(child, (*path, k))]
    full = type(value) is int or (type(value) is str and value.lstrip("-").startswith("0x"))
    return [path] if full else []


def replaced(record: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        record = record[step]
    record[path[-1]] = value


def other_digit(value: int, rng: random.Random) -> int:
    digits = list(str(abs(value)))
    at = rng.randrange(len(digits))
    digits[at] = rng.choice([digit for digit in "0123456789" if digit != digits[at]])
    return int("".join(digits)) * (-1 if value < 0 else 1)


def tampered(record: Record, rng: random.Random) -> Record:
    """Return a record with a digit, a sign or two numbers of a claim changed."""
    copy = deepcopy(record)
    claim = rng.choice(copy["claims"])
    indices = numbers_in(claim)
    index = rng.choice(indices)
    value = as_number(at_path(claim, index))
    kind = rng.choice(("digit", "sign", "swap", "one"))
    if kind == "digit":
        replaced(claim, index, other_digit(value, rng))
    elif kind == "sign":
        replaced(claim, index, -value)
    elif kind == "one":
        replaced(claim, index, value + rng.choice((-1, 1)))
    else:
        other = rng.choice(indices)
        first, second = at_path(claim, index), at_path(claim, other)
        replaced(claim, index, second)
        replaced(claim, other, first)
    return copy


@pytest.mark.parametrize("seeds", parts(10_000, kept=50))
def test_a_tampered_certificate_is_accepted_only_with_a_valid_proof(
    on_disk: dict[str, Path], seeds: range
) -> None:
    names = list(on_disk)
    still_proved = 0
    for seed in seeds:
        rng = random.Random(seed)
        name = names[seed % len(names)]
        path, record = on_disk[name], record_of(on_disk[name])
        changed = tampered(record, rng)
        for claim in accepted(path, changed):
            still_proved += claim not in record["claims"]
    assert still_proved  # some changes leave a proof that is one


@pytest.mark.parametrize("seeds", parts(1000, kept=20))
def test_other_data_with_a_matching_sha256_are_judged_on_their_content(
    on_disk: dict[str, Path], seeds: range, tmp_path: Path
) -> None:
    names, refused = list(on_disk), 0
    for seed in seeds:
        rng = random.Random(seed)
        name = names[seed % len(names)]
        rows, record = rows_of(on_disk[name]), record_of(on_disk[name])
        first = record["data"]["form"] == "sdpa"  # the row x_0 > 0 is not in the file
        position = rng.randrange(first, rows.shape[0]), rng.randrange(rows.shape[1])
        if rng.random() < 0.5:
            rows[position] = -rows[position]
        else:
            remaining = [k for k in range(first, rows.shape[0]) if k != position[0]]
            other = rng.choice(remaining)
            rows[[position[0], other]] = rows[[other, position[0]]]
        content = content_of(rows, record["data"]["form"])
        (tmp_path / "data").write_bytes(content)
        path = tmp_path / "x.json"
        record["data"]["file"] = "data"
        same = hashlib.sha256(content).hexdigest() == record["data"]["sha256"]
        assert same or not accepted(path, record)  # the sha256 is that of the data meant
        record["data"]["sha256"] = hashlib.sha256(content).hexdigest()
        refused += len(accepted(path, record)) < len(record["claims"])
    assert refused


@pytest.mark.parametrize("seeds", parts(1000, kept=15))
def test_no_claim_that_is_false_by_one_unit_in_the_last_place_is_accepted(
    seeds: range, tmp_path: Path
) -> None:
    # rows (3, 4) c, whose margin along (3, 4) is 1, and whose scores are known exactly
    for seed in seeds:
        rng = random.Random(seed)
        scale = rng.randrange(1, 2**50)
        rows = np.array([[3.0, 4.0], [4.0, 3.0], [3.0, 4.0]])
        rows[2] *= float(scale)
        (tmp_path / "d").unlink(missing_ok=True)
        np.save(tmp_path / "d.npy", rows)
        content = (tmp_path / "d.npy").read_bytes()
        data = {"file": "d.npy", "sha256": hashlib.sha256(content).hexdigest()}
        data |= {"form": "cone", "blocks": [["rows", 3]]}
        record = {"format": "plab-certificate", "version": 2, "data": data}
        unit = Fraction(24, 25)  # cos of the angle between (3, 4) and (4, 3)
        q = 2 ** rng.randrange(53, 200)
        below = unit.numerator * q // unit.denominator
        least = {"claim": "margin at least", "margin": "unit", "factors": [], "point": [3, 4]}
        for p, true in ((below, True), (below + 1, False)):
            forged = record | {"claims": [least | {"bound": [p, q]}]}
            assert bool(accepted(tmp_path / "x", forged)) is true
        # 4 (3, 4) - 3 (4, 3) has norm 7; opposite weights make a bound that is known exactly
        rows[1] *= -1.0
        np.save(tmp_path / "d.npy", rows)
        content = (tmp_path / "d.npy").read_bytes()
        record["data"]["sha256"] = hashlib.sha256(content).hexdigest()
        ray = {"claim": "margin at most", "margin": "unit", "weights": [[[0, 1], [4, 3]]]}
        above = 7 * q // 35 + 1
        for p, true in ((above, True), (above - 1, False)):
            forged = record | {"claims": [ray | {"bound": [p, q]}]}
            assert bool(accepted(tmp_path / "x", forged)) is true
