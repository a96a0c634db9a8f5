"""Answers of the checker and of the second one to certificates that seeds draw, counted."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perceptron_lab.exact.checker import checker
from tests.exact.mutations import forgery, mutated
from tests.exact.second_checker.check import PROVED, answer, system_of
from tests.exact.second_checker.numbers import parsed
from tests.exact.small_certificates import small_certificate
from tests.exact.truth import is_true

WORDS = ("accepted", "refuted", "unreadable")


@dataclass
class Counts:
    """Pairs of answers, by the checker and by the second one; and the seeds that show a fault.

    `apart` are seeds of certificates that one of them accepts and the other does not; `false` are
    those of accepted claims that are not true, and `refused` those of valid certificates, or ones
    with harmless changes, that are not accepted.
    """

    answers: Counter[tuple[int, int]] = field(default_factory=Counter)
    apart: list[int] = field(default_factory=list)
    false: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    decided: int = 0  # accepted claims whose truth linear programs decide

    def __str__(self) -> str:
        pairs = sorted(self.answers.items())
        listed = ", ".join(f"{WORDS[a]}/{WORDS[b]}: {count}" for (a, b), count in pairs)
        return f"{listed}; {self.decided} claims decided by linear programs"


def answer_of(
    certificate: bytes, content: bytes, folder: Path, module: Any = None
) -> tuple[int, str]:
    """Return the exit code of the checker, and what it prints."""
    data, path = folder / "data", folder / "x.certificate.json"
    for file, written in ((data, content), (path, certificate)):
        file.unlink(missing_ok=True)  # some file systems wait for the disk where it is truncated
        file.write_bytes(written)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = (module or checker()).main([str(path), str(data)])
    return int(code), printed.getvalue()


def valid(rng: random.Random) -> tuple[bytes, bytes, bool]:
    example = small_certificate(rng)
    return json.dumps(example.record).encode(), example.content, True


def forged(rng: random.Random) -> tuple[bytes, bytes, bool]:
    return *forgery(rng), False


KINDS: dict[str, Callable[[random.Random], tuple[bytes, bytes, bool]]] = {
    "valid": valid,
    "forgeries": forged,
    "mutated": mutated,
}


def counted(kind: str, seeds: Iterable[int], folder: Path) -> Counts:
    """Ask both checkers about a certificate of each seed, and for the truth of what is accepted."""
    counts = Counts()
    for seed in seeds:
        certificate, content, harmless = KINDS[kind](random.Random(seed))
        first, second = answer_of(certificate, content, folder)[0], answer(certificate, content)
        counts.answers[first, second] += 1
        if (first == PROVED) != (second == PROVED):
            counts.apart.append(seed)
        if harmless and first != PROVED:
            counts.refused.append(seed)
        if first == PROVED:
            record = parsed(certificate)
            system = system_of(record["data"], content)
            truths = [is_true(system, claim) for claim in record["claims"]]
            counts.decided += sum(truth is not None for truth in truths)
            if False in truths:
                counts.false.append(seed)
    return counts
