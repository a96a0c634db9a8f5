"""Verdict, classes and rows of every family equal those of a judge on the literal conditions."""

from __future__ import annotations

from collections import Counter

import pytest

from perceptron_lab import separation
from perceptron_lab.core.errors import InputError
from perceptron_lab.problems.separation.pair_verification import faults
from perceptron_lab.problems.separation.verdict import SeparationVerdict
from tests.problems.separation.labelled_systems import KINDS
from tests.problems.separation.model_systems import (
    FAMILIES,
    ModelSystem,
    model_system,
    model_truth,
)
from tests.repetitions import parts


def verdict_on(system: ModelSystem) -> SeparationVerdict:
    options = {"affine": system.affine, "family": system.family, **system.options}
    return separation(system.X, system.y, **options)


def checked(system: ModelSystem) -> SeparationVerdict | None:
    """The verdict, which is the judge's; None without a likelihood, or with a constant one."""
    try:
        verdict = verdict_on(system)
    except InputError:
        return None
    expected, separated = model_truth(system)
    assert verdict.proved
    assert verdict.verdict == expected.verdict
    assert list(verdict.coefficients.values()) == expected.classes
    assert verdict.separated_rows.tolist() == separated
    assert verdict.overlap_rows.tolist() == sorted({*system.included} - {*separated})
    assert verdict.pair is not None
    assert faults(verdict.rows, verdict.pair, verdict.proofs) == []
    return verdict


@pytest.mark.parametrize("seeds", parts(450, kept=3))
@pytest.mark.parametrize("family", FAMILIES)
def test_designs_of_every_family(family: str, seeds: range) -> None:
    """Of 450 designs at least 300 have a likelihood that is not constant."""
    verdicts = [checked(model_system(family, seed)) for seed in seeds]
    number = sum(verdict is not None for verdict in verdicts)
    assert number >= len(seeds) / 3
    kinds = Counter(verdict.verdict for verdict in verdicts if verdict is not None)
    if len(seeds) > 12:
        assert number >= 300
        assert set(kinds) == set(KINDS)
