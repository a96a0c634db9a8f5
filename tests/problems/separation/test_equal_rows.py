"""Equal rows are decided once, and share the weight of their distinct row."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import maximum_support, separation
from perceptron_lab.problems.separation import equal_rows
from perceptron_lab.problems.separation.equal_rows import merged
from perceptron_lab.problems.separation.labelled import labelled
from perceptron_lab.problems.separation.pair_verification import faults
from tests.problems.separation.labelled_systems import KINDS
from tests.problems.separation.labelled_systems import labelled as system_of

SMALL = (16, 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("proposed", [True, False])
def test_repeated_rows_change_nothing(
    kind: str, proposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not proposed:  # the exact decision has fractions for weights
        monkeypatch.setattr(
            "perceptron_lab.problems.separation.separation.logistic_proposals", lambda _: iter(())
        )
    for seed in range(4):
        system = system_of(kind, seed, SMALL)
        order = np.random.default_rng(seed).integers(0, len(system.labels), 60)
        order = np.r_[np.arange(len(system.labels)), order]
        examples = np.array(system.examples, dtype=object)
        once = separation(examples, system.labels, affine=system.affine)
        often = separation(examples[order], np.array(system.labels)[order], affine=system.affine)
        assert often.verdict == once.verdict
        assert often.coefficients == once.coefficients
        overlaps = np.isin(order, once.overlap_rows)
        np.testing.assert_array_equal(often.overlap_rows, np.flatnonzero(overlaps))
        assert often.pair is not None
        assert faults(often.rows, often.pair, often.proofs) == []


def test_distinct_rows_are_in_the_order_of_their_first_occurrences() -> None:
    table = np.array([[1.0, 0.0], [-0.0, 2.0], [1.0, -0.0], [0.0, 2.0], [3.0, 3.0]])
    rows = labelled(table, [1, 0, 1, 0, 1], affine=False).rows
    distinct = merged(rows)
    assert distinct.first.tolist() == [0, 1, 4]
    assert distinct.positions.tolist() == [0, 1, 0, 1, 2]
    np.testing.assert_array_equal(distinct.rows.doubles, rows.doubles[[0, 1, 4]])


def test_rows_that_share_a_hash_alone_are_not_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_rows, "_hashes", lambda table: np.zeros(len(table), dtype=np.uint64))
    rows = labelled([[1.0], [2.0], [1.0]], [0, 1, 1]).rows
    assert merged(rows).first.tolist() == [0, 1, 2]


def test_numbers_that_share_a_double_are_not_equal() -> None:
    near = [[Fraction(1, 3)], [Fraction(1, 3) + Fraction(1, 10**30)], [Fraction(4, 3)]]
    rows = labelled(near, [0, 0, 1]).rows
    assert rows.doubles[0, 0] == rows.doubles[1, 0]
    assert len(merged(rows).first) == 3


def test_sparse_rows_have_the_hashes_of_dense_ones() -> None:
    table = np.random.default_rng(0).integers(-1, 2, size=(40, 6)) * 0.5
    np.testing.assert_array_equal(
        equal_rows._hashes(table), equal_rows._hashes(sp.csr_array(table))
    )


def test_more_copies_than_parts_of_a_weight() -> None:
    """Weights 1 of 40 opposite copies are no whole numbers for each of them."""
    support = maximum_support(np.array([[1.0]] * 40 + [[-(2.0**50)]]))
    assert support.support.tolist() == []
    assert min(support.weights.values()) > 0
    assert sum(support.weights[k] for k in range(40)) == support.weights[40] * 2**50
