"""Verdict, partition and classes of coefficients equal those of a judge in fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import count

import numpy as np
import pytest

from perceptron_lab import separation
from perceptron_lab.problems.separation.pair_verification import faults
from perceptron_lab.problems.separation.verdict import SeparationVerdict
from tests.problems.separation.konis import konis_separates
from tests.problems.separation.labelled_systems import KINDS, Labelled, Truth, labelled, truth
from tests.repetitions import parts

SMALL = (16, 4)


@cache
def small_truth(kind: str, seed: int) -> Truth:
    return truth(labelled(kind, seed, SMALL))


def checked(system: Labelled, expected: Truth) -> None:
    """The answer is the judge's, and proved."""
    verdict = separation(system.examples, system.labels, affine=system.affine)
    assert verdict.proved
    assert verdict.verdict == expected.verdict
    assert verdict.overlap_rows.tolist() == expected.overlap
    assert list(verdict.coefficients.values()) == expected.classes
    assert proved_upper_with(verdict)


def proved_upper_with(verdict: SeparationVerdict) -> bool:
    assert verdict.pair is not None
    return faults(verdict.rows, verdict.pair, verdict.proofs) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", parts(20, kept=4))
def test_systems_of_every_kind(seeds: range, kind: str) -> None:
    for seed in seeds:
        checked(labelled(kind, seed, SMALL), small_truth(kind, seed))


@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_decision_alone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "perceptron_lab.problems.separation.separation.logistic_proposals", lambda _: iter(())
    )
    monkeypatch.setattr(
        "perceptron_lab.problems.separation.coefficients.cone_proposal", lambda *_: None
    )
    for seed in range(6):
        checked(labelled(kind, seed, SMALL), small_truth(kind, seed))


def test_every_kind_and_every_class_occurs() -> None:
    truths = [small_truth(kind, seed) for kind in KINDS for seed in range(20)]
    kinds = Counter(answer.verdict for answer in truths)
    classes = Counter(name for answer in truths for name in answer.classes)
    assert min(kinds[kind] for kind in KINDS) >= 10
    assert len(classes) == 4
    assert min(classes.values()) >= 10


def test_separated_rows_whose_columns_were_conditioned_first() -> None:
    """No row overlaps: the null vectors are unit vectors, also after other columns were used."""
    system = labelled("overlap", 5023)
    verdict = separation(system.examples, system.labels, affine=system.affine, max_seconds=60)
    assert verdict.pair is not None
    assert verdict.pair.span.nulls == tuple(map(tuple, np.eye(5, dtype=int).tolist()))
    checked(system, truth(system))


def test_a_constant_among_the_examples_is_left_out_for_the_column_of_ones() -> None:
    """The fifth column is constant; the third, of zeros, has a coefficient in both cases."""
    examples = np.array([[0, -2, 0, 1, -1, 2], [1, 2, 0, -1, -1, 0]])
    for affine in (True, False):
        system = Labelled(examples, [-1, 1], affine)
        assert len(system.rows()[0]) == 6
        checked(system, truth(system))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_300_systems_of_each_kind_up_to_60_rows_and_8_columns(
    kind: str, part: int, record_property: Callable[[str, object], None]
) -> None:
    """Konis's program in doubles is asked beside; disagreements are its errors."""
    hits, disagreements = 0, 0
    for number in count(1):
        system = labelled(kind, 1000 * (part + 1) + number)
        expected = truth(system)
        checked(system, expected)
        verdict = expected.verdict
        hits += verdict == kind
        disagreements += konis_separates(system) == (verdict == "overlap")
        if hits == 30:
            break
    record_property("Konis's program in doubles disagrees on", f"{disagreements} of {number}")
    assert hits == 30
