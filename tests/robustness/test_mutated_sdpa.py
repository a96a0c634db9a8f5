"""Damaged semidefinite programs: each is one that reads back the same, or a DataError."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.formats.sdpa import parse_sdpa, read_sdpa
from perceptron_lab.systems.pencil import format_sdpa
from tests.datasets.test_sdpa_reader import SPELLINGS
from tests.repetitions import examples, repeated
from tests.robustness.mutations import EXAMPLES, SHORT, bounded, mutated, outcome

PROGRAMS = [
    "3\n2\n{3, -4}\n{+1.0,-2.5e-3, 0}\n"
    + "".join(f"{{{k}, 1, {i}, {i}, {k + i}.25}}\n" for k in range(4) for i in range(1, 4))
    + "".join(f"{k} 2 {i} {i} -{i}e{k}\n" for k in range(4) for i in range(1, 5)),
    '"A comment.\n* Another.\n 124 =mDIM\n1 =nBLOCK\n 124 = bLOCKsTRUCT\n'
    + " ".join(["1.000000000000000e+00"] * 124)
    + "\n"
    + "".join(f"{i} 1 {i} {i} 1\n" for i in range(1, 125)),
]
SEEDS = [text.encode() for text in (*SPELLINGS.values(), *PROGRAMS)]
PIECES = [
    *(b"{", b"}", b"(", b",", b'"', b"*", b"=", b"1D+400", b"d", b"0 1 1 1 0.0\n", b"-0"),
    *(b"1 1 1 1 1 1\n", b"1000001", b"999999999999999999", b"2 2 1 2 7\n", b"-2", b"# x\n"),
    *(b"* late\n", b"1.5", b"1e300", b"NaN", b"0x1p3", b"<html>", b"0 1 2 1 1.0\n", b"\x1f\x8b"),
]


def check(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    data, message = outcome(DataError, read_sdpa, path)
    if not message:
        assert parse_sdpa(format_sdpa(data)) == data
        return
    assert re.match(r":[1-9][0-9]*: ", message[len(str(path)) :]), message
    assert message.startswith(str(path))
    assert len(message) < len(str(path)) + 300
    assert "\n" not in message


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sdpa") / "damaged.dat-s"


@settings(max_examples=examples(SHORT, few=50))
@given(content=mutated(SEEDS, PIECES))
@example(content=b"\x1f\x8b" + SEEDS[0])
@example(content=gzip.compress(SEEDS[0])[:-9])
def test_damaged_programs(path: Path, content: bytes) -> None:
    check(content, path)


@pytest.mark.slow
@settings(max_examples=examples(-(-EXAMPLES // 3)))
@given(content=mutated(SEEDS, PIECES))
def test_many_damaged_programs(path: Path, content: bytes) -> None:
    """A third of the examples that PLAB_FUZZ_EXAMPLES says (10000 by default)."""
    check(content, path)


@pytest.mark.slow
@pytest.mark.parametrize("first", repeated(range(7), kept=1))
def test_every_flipped_bit_of_a_program(path: Path, first: int) -> None:
    """Every seventh bit, from one of the first seven."""
    content = SPELLINGS["braces, commas and signs"].encode()
    for bit in range(first, 8 * len(content), 7):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        check(bytes(flipped), path)


FLOODS = [
    *("1 ", "1\n", "9", "0 1 1 1 1\n", "* x\n", " ", "\n", ",", "{", "a", "1e999 ", "-", "\x00"),
    *("1\n1000000\n", "1 1 1 1 1 1\n", "\x0c", "\x85", "\u2028", "0 1 2 2 3\n", "= ", "\r"),
]


@pytest.mark.parametrize(
    "before",
    repeated(["", "2\n2\n2 2\n10 20\n", "1\n", "2\n2\n", "50000\n1\n2\n", "1\n50000\n"], kept=1),
)
def test_floods_end(before: str) -> None:
    for flood in FLOODS:
        text = before + flood * (200_000 // len(flood))
        data, message = outcome(DataError, parse_sdpa, text, memory=2**27)
        assert message.startswith("<text>:") or data.value.all()
        assert len(message) < 300


@pytest.mark.parametrize("count", ["99999999999", "999999999999999999", "9" * 20, "1e9"])
def test_memory_is_not_allocated_from_stated_counts(count: str) -> None:
    for text in (f"{count}\n1\n2\n1\n0 1 1 1 1\n", f"1\n{count}\n2\n1\n0 1 1 1 1\n"):
        with bounded(memory=2**24), pytest.raises(DataError, match=r"allowed|the whole file"):
            parse_sdpa(text)
