"""Matrix blocks on patterns, products of blocks, and the oracles that they run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.cones.oracles.semidefinite import Cholesky, Eigenvector, PivotedCholesky
from perceptron_lab.cones.orthant import Cyclic, FirstViolated, MostViolated, Orthant, Random
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import NumericalError
from tests.cones.sample_cones import arrow, complete
from tests.repetitions import examples

PROPERTY = settings(deadline=None, max_examples=examples(60), derandomize=True)
RNG = np.random.default_rng


@PROPERTY
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_weights_and_scores_multiply_to_the_trace(order: int, seed: int) -> None:
    rng = RNG(seed)
    for cone in (complete(order), arrow(order)):
        scores, direction = rng.standard_normal(cone.size), rng.standard_normal(order)
        full = cone.matrix(scores)
        np.testing.assert_array_equal(full, full.T)
        np.testing.assert_array_equal(full[cone.rows, cone.columns], scores)
        assert np.count_nonzero(full) <= 2 * cone.size - order
        atom = cone.outer(direction)
        assert atom @ scores == pytest.approx(direction @ full @ direction, abs=1e-12)
        assert atom @ cone.identity == pytest.approx(direction @ direction, abs=1e-12)


@pytest.mark.parametrize("cone", [complete(4), arrow(4)], ids=["complete", "arrow"])
def test_a_used_buffer_gives_the_same_matrix(cone: Semidefinite) -> None:
    scores = RNG(0).standard_normal(cone.size)
    buffer = cone.matrix(scores)
    buffer[buffer != 0] = np.nan  # what is outside the pattern stays 0
    assert cone.matrix(scores, buffer) is buffer
    np.testing.assert_array_equal(buffer, cone.matrix(scores))


@pytest.mark.parametrize("oracle", [PivotedCholesky(), Cholesky(), Eigenvector()])
def test_queries_do_not_disturb_each_other(oracle: object) -> None:
    """An oracle may overwrite the matrix that it is given; the next query must not see that."""
    for blank in (complete(5), arrow(5)):
        cone = blank.started({"semidefinite": oracle}, RNG(0))
        rng = RNG(1)
        for _ in range(20):
            scores = rng.standard_normal(cone.size) + 2 * cone.identity
            fresh = blank.started({"semidefinite": oracle}, RNG(0))
            ours, expected = cone.separate(scores), fresh.separate(scores)
            assert (ours is None) == (expected is None)
            if ours is not None and expected is not None:
                np.testing.assert_array_equal(ours.values, expected.values)


def test_a_sparse_pattern_and_the_dense_matrix_have_the_same_cuts() -> None:
    pattern, full = arrow(5), complete(5)
    rng = RNG(2)
    for _ in range(60):
        scores = rng.standard_normal(pattern.size) + 1.5 * pattern.identity
        dense = pattern.matrix(scores)
        ours, expected = pattern.separate(scores), full.separate(dense[np.triu_indices(5)])
        assert (ours is None) == (expected is None)
        if ours is not None and expected is not None:
            lifted = full.matrix(expected.values / full.multiplicity)
            entries = lifted[pattern.rows, pattern.columns] * pattern.multiplicity
            np.testing.assert_allclose(ours.values, entries, atol=1e-15)


def test_slack_is_absolute() -> None:
    cone = complete(2)
    scores = np.array([1.0, 1.5, 1.0])  # eigenvalues -0.5 and 2.5
    for slack, passes in ((0.0, False), (0.49, False), (0.51, True)):
        assert (cone.separate(scores, slack) is None) == passes
    inside = np.array([1.0, 0.5, 1.0])  # eigenvalues 0.5 and 1.5
    for slack, passes in ((0.0, True), (-0.49, True), (-0.51, False)):
        assert (cone.separate(inside, slack) is None) == passes


@pytest.mark.parametrize("oracle", [PivotedCholesky(), Cholesky(), Eigenvector()])
def test_atoms_of_badly_scaled_matrices_have_trace_1(oracle: object) -> None:
    """The direction has entries of the order 1e300, whose squares overflow."""
    cone = complete(2).started({"semidefinite": oracle}, RNG(0))
    with np.errstate(over="ignore"):
        atom = cone.separate(np.array([1e-300, 1.0, 1e-301]))
    assert atom is not None
    assert atom.values @ cone.identity == pytest.approx(1.0, abs=1e-12)


def test_completeness() -> None:
    assert complete(3).complete
    assert complete(1).complete
    assert not arrow(3).complete
    assert arrow(2).complete


@pytest.mark.parametrize("order", [1, 2, 3, 5, 8])
def test_a_completed_pattern_has_the_same_matrix_in_other_entries(order: int) -> None:
    rng = RNG(order)
    for _ in range(20):
        mask = np.triu(rng.random((order, order)) < 0.5) | np.eye(order, dtype=bool)
        rows, columns = np.nonzero(mask)
        shuffled = rng.permutation(len(rows))
        pattern = Semidefinite(order, rows[shuffled], columns[shuffled])
        full, indices = pattern.completed()
        assert full.complete
        assert len(np.unique(indices)) == pattern.size
        np.testing.assert_array_equal(full.rows[indices], pattern.rows)
        np.testing.assert_array_equal(full.columns[indices], pattern.columns)
        scores = rng.standard_normal(pattern.size) + 1.5 * pattern.identity
        filled = np.zeros(full.size)
        filled[indices] = scores
        np.testing.assert_array_equal(full.matrix(filled), pattern.matrix(scores))
        ours, expected = pattern.separate(scores), full.separate(filled)
        assert (ours is None) == (expected is None)
        if ours is not None and expected is not None:
            np.testing.assert_allclose(expected.values[indices], ours.values, atol=1e-15)


def test_a_completed_pattern_keeps_the_oracle_of_the_pattern() -> None:
    selected = arrow(4).started({"semidefinite": Cholesky()}, RNG(0))
    assert selected.completed()[0].oracles == {"semidefinite": Cholesky()}
    assert arrow(4).completed()[0].oracles == {"semidefinite": PivotedCholesky()}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_matrix_that_is_not_finite_is_refused(bad: float) -> None:
    """LAPACK may find the eigenvalue 0, or never end."""
    cone = complete(2)
    for ask in (cone.separate, cone.deepest, cone.eigenvalues, cone.spectrum):
        for index in range(3):
            scores = np.ones(3)
            scores[index] = bad
            with pytest.raises(NumericalError, match="not finite"):
                ask(scores)


def test_a_product_is_slices_of_one_vector() -> None:
    product = Product([Orthant(2), complete(2), Orthant(1)])
    assert product.spans == [slice(0, 2), slice(2, 5), slice(5, 6)]
    assert (product.size, product.rank) == (6, 5)
    assert product.identity.tolist() == [1, 1, 1, 0, 1, 1]
    scores = np.array([4.0, -1.0, 2.0, 1.0, 2.0, 7.0])
    np.testing.assert_allclose(product.eigenvalues(scores), [4.0, -1.0, 1.0, 3.0, 7.0])


def test_the_first_violated_block_answers() -> None:
    product = Product([Orthant(2), complete(2), Orthant(1)])
    inside = product.identity
    for spoilt, span in (([1, 2, 5], slice(1, 2)), ([2, 5], slice(2, 5)), ([5], slice(5, 6))):
        scores = inside.copy()
        scores[spoilt] = -1.0
        atom = product.separate(scores)
        assert atom is not None
        assert atom.span == span
    assert product.separate(inside) is None
    atom = product.separate(np.array([-0.1, 1.0, 1.0, 0.0, 1.0, -5.0]))
    assert atom is not None
    assert atom.span == slice(0, 1)


def test_a_product_of_one_is_its_part() -> None:
    part, product = complete(3), Product([complete(3)])
    scores = RNG(5).standard_normal(part.size)
    np.testing.assert_array_equal(part.eigenvalues(scores), product.eigenvalues(scores))
    ours, expected = product.separate(scores), part.separate(scores)
    assert ours is not None
    assert expected is not None
    assert ours.span == expected.span
    np.testing.assert_array_equal(ours.values, expected.values)


def test_started_takes_the_given_oracles_and_else_the_defaults() -> None:
    product = Product([Orthant(2), complete(2)])
    selected = product.started({"orthant": FirstViolated(), "semidefinite": Cholesky()}, RNG(0))
    assert selected.oracles == {"orthant": FirstViolated(), "semidefinite": Cholesky()}
    defaults = {"orthant": MostViolated(), "semidefinite": PivotedCholesky()}
    assert selected.started({}, RNG(0)).oracles == defaults
    assert product.oracles == defaults
    assert product.started({"orthant": Cyclic()}, RNG(0)).oracles["semidefinite"] == (
        PivotedCholesky()
    )


def test_started_oracles_are_fresh() -> None:
    everything = -np.ones(4)
    cone = Orthant(4).started({"orthant": Cyclic()}, RNG(0))
    visited = [cone.separate(everything), cone.separate(everything)]
    assert [atom.span.start for atom in visited if atom is not None] == [0, 1]
    again = cone.started({"orthant": Cyclic()}, RNG(0)).separate(everything)
    assert again is not None
    assert again.span.start == 0
    onward = cone.separate(everything)
    assert onward is not None
    assert onward.span.start == 2


def test_started_oracles_draw_from_the_generator_given() -> None:
    def drawn(seed: int) -> list[int]:
        cone = Product([Orthant(30), complete(2)]).started({"orthant": Random()}, RNG(seed))
        atoms = [cone.separate(-cone.identity) for _ in range(10)]
        return [atom.span.start for atom in atoms if atom is not None]

    assert drawn(4) == drawn(4)
    assert drawn(4) != drawn(5)


def test_strict_refuses_the_boundary_and_leaves_the_original_alone() -> None:
    thesis = {"semidefinite": PivotedCholesky(mode="thesis"), "orthant": Cyclic()}
    product = Product([Orthant(1), complete(2)]).started(thesis, RNG(0))
    exchange = np.array([1.0, 0.0, 1.0, 0.0])
    assert product.separate(exchange) is None
    strict = product.strict()
    assert strict.oracles["semidefinite"] == PivotedCholesky(mode="strict")
    assert strict.oracles["orthant"] == Cyclic()
    assert strict.separate(exchange) is not None
    assert product.separate(exchange) is None
    assert (strict.size, strict.rank) == (product.size, product.rank)


@pytest.mark.parametrize("oracle", [PivotedCholesky(), Cholesky(), Eigenvector()])
def test_strict_keeps_an_oracle_that_refuses_the_boundary_anyway(oracle: object) -> None:
    cone = complete(3).started({"semidefinite": oracle}, RNG(0))
    assert cone.strict().oracles == {"semidefinite": oracle}
