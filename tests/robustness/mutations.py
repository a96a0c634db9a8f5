"""Valid files, damaged at random: bytes flipped, cut out, repeated, moved, and put in."""

from __future__ import annotations

import os
import re
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from perceptron_lab.core.errors import PlabError

EXAMPLES = int(os.environ.get("PLAB_FUZZ_EXAMPLES", "10000"))
"""Examples of the three long tests together; PLAB_FUZZ_EXAMPLES=1000000 for a night."""
SHORT = 300
"""Examples of each short test."""
MEMORY = 2**28
"""Bytes that a reader may take for a file of some kilobytes, and for one of a megabyte."""
SECONDS = 60
"""A reader that has not ended after so long is taken to hang; most end in milliseconds."""

COMMON_PIECES = [
    *(b"\x00", b"\xff", b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\x85"),
    *(b"\r", b"\n", b"\t", b" ", b"\x0c", b"\x1b", b"\x7f", b"\\", b"-", b"+", b"."),
    *(b"9" * 5000, b"1e999", b"-1e999", b"1e-999", b"nan", b"-inf", b"0x" + b"f" * 300),
    *(b"18446744073709551616", b"-1", b"0", b"1_000", "١".encode()),
    *(b"a" * 5000, b"\n" * 500, b" " * 5000, b"[" * 1000, b"{" * 1000, b"(" * 1000),
]
"""What no reader should stumble over."""
_DIGITS = re.compile(rb"[0-9]+")


class Edit(NamedTuple):
    """One damage: its kind, two places (in 65536ths of the length), and bytes to put in."""

    kind: int
    first: int
    second: int
    piece: bytes

    def applied_to(self, content: bytes, other: bytes) -> bytes:
        """Return the content with the damage; ``other`` is a second valid file."""
        at = self.first * (len(content) + 1) // 65536
        length = 1 + self.second % 60
        head, middle, tail = content[:at], content[at : at + length], content[at + length :]
        match self.kind:
            case 0:
                flipped = bytes(byte ^ (1 << self.second % 8) for byte in middle[:1])
                return head + flipped + middle[1:] + tail
            case 1:
                return head + tail
            case 2:
                return head + middle * (2 + self.second // 2048) + tail
            case 3:
                there = self.second * (len(other) + 1) // 65536
                return head + other[there:]
            case 4:
                return head
            case 5:
                numbers = list(_DIGITS.finditer(content))
                if numbers:
                    start, end = numbers[self.first % len(numbers)].span()
                    return content[:start] + self.piece + content[end:]
        return head + self.piece + middle + tail


def mutated(seeds: Sequence[bytes], pieces: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return a strategy of seeds with one to four damages each."""
    position = st.integers(0, 65535)
    edits = st.lists(
        st.builds(
            Edit, st.integers(0, 7), position, position, st.sampled_from([*COMMON_PIECES, *pieces])
        ),
        min_size=1,
        max_size=4,
    )

    def damaged(seed: bytes, other: bytes, edits: list[Edit]) -> bytes:
        for edit in edits:
            seed = edit.applied_to(seed, other)
        return seed

    return st.builds(damaged, st.sampled_from(seeds), st.sampled_from(seeds), edits)


def outcome(
    documented: type[PlabError], read: Callable[..., Any], *arguments: Any, memory: int = MEMORY
) -> tuple[Any, str]:
    """Return what a reader returns, or the message of its documented error; others pass."""
    with bounded(memory):
        try:
            return read(*arguments), ""
        except documented as error:
            return None, str(error)


@contextmanager
def bounded(memory: int = MEMORY, seconds: int = SECONDS) -> Iterator[None]:
    """End with MemoryError or TimeoutError what takes more than is allowed."""

    def hangs(signal_number: int, frame: object) -> None:
        raise TimeoutError(f"no end after {seconds} s")

    former = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(seconds)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    statistics = Path("/proc/self/statm")
    if statistics.exists():  # on Linux; elsewhere only the time is bounded
        pages = int(statistics.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (pages + memory, limits[1]))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)
        resource.setrlimit(resource.RLIMIT_AS, limits)
