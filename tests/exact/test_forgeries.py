"""No forgery is accepted that is false, and the second checker agrees with the first on all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exact.agreement import counted
from tests.repetitions import parts


@pytest.mark.parametrize("seeds", parts(10_000, kept=100))
def test_valid_certificates_are_accepted_by_both(seeds: range, tmp_path: Path) -> None:
    counts = counted("valid", seeds, tmp_path)
    assert (counts.apart, counts.false, counts.refused) == ([], [], []), counts
    assert counts.answers == {(0, 0): len(seeds)}
    assert counts.decided > len(seeds) / 2


@pytest.mark.parametrize("seeds", parts(100_000, kept=300))
def test_no_forgery_is_accepted_that_is_false(seeds: range, tmp_path: Path) -> None:
    counts = counted("forgeries", seeds, tmp_path)
    assert (counts.apart, counts.false) == ([], []), counts
    assert min(counts.answers[code, code] for code in range(3)) > len(seeds) / 50
    assert counts.decided


@pytest.mark.parametrize("seeds", parts(20_000, kept=200))
def test_both_agree_on_mutated_certificates(seeds: range, tmp_path: Path) -> None:
    counts = counted("mutated", seeds, tmp_path)
    assert (counts.apart, counts.false, counts.refused) == ([], [], []), counts
    assert counts.answers[0, 0] > len(seeds) / 5  # harmless changes
    assert min(counts.answers[code, code] for code in range(3)) > len(seeds) / 50
