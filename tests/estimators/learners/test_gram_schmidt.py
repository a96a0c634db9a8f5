from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures
from tests.estimators.learners.pivot_starts import pivot_starts

KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "poly": Polynomial(2, 1.0, 0.7),
    "rbf": Rbf(0.7),
}
seeds = st.integers(0, 2**32 - 1)
kernels = st.sampled_from(sorted(KERNELS))


def documents(seed: int, count: int = 40, columns: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Sparse-looking non-negative rows of norm 1, and labels of both kinds."""
    rng = np.random.default_rng(seed)
    rows = rng.random((count, columns)) * (rng.random((count, columns)) < 0.2)
    rows[:, 0] += 0.1
    labels = np.where(rng.random(count) < 0.3, 1, -1)
    labels[:2] = 1, -1
    return rows / np.linalg.norm(rows, axis=1)[:, None], labels


def features(most: int, kernel: str = "linear", **rest: Any) -> GramSchmidtFeatures:
    return GramSchmidtFeatures(most, kernel=kernel, gamma=0.7, **rest)  # type: ignore[arg-type]


@given(seeds, kernels, st.integers(1, 50))
def test_features_approximate_the_kernel(seed: int, kernel: str, most: int) -> None:
    rows, labels = documents(seed)
    transformer = features(most, kernel)
    image = transformer.fit_transform(rows, labels)
    matrix = KERNELS[kernel].matrix(rows, rows)
    gap = matrix - image @ image.T
    assert (
        image.shape
        == (40, transformer.n_components_)
        == (40, min(most, 40, transformer.n_components_))
    )
    np.testing.assert_allclose(gap.diagonal(), transformer.residuals_, atol=1e-11)
    np.testing.assert_allclose(gap[transformer.pivots_], 0.0, atol=1e-11)
    assert (transformer.residuals_[transformer.pivots_] == 0.0).all()
    assert (transformer.residuals_ >= 0.0).all()
    assert np.linalg.eigvalsh(gap).min() >= -1e-10
    assert len(set(transformer.pivots_.tolist())) == transformer.n_components_


@given(seeds, kernels)
def test_directions_are_orthonormal(seed: int, kernel: str) -> None:
    rows, labels = documents(seed)
    model = features(12, kernel).fit(rows, labels)
    triangle = model.pivot_features_
    matrix = KERNELS[kernel].matrix(rows, rows)[np.ix_(model.pivots_, model.pivots_)]
    # The j-th direction is sum_i C_ij phi(pivot_i) with C the inverse transposed: C' K C = I.
    inverse = np.linalg.inv(triangle)
    np.testing.assert_allclose(inverse @ matrix @ inverse.T, np.eye(12), atol=1e-9)
    assert not np.triu(triangle, 1).any()
    assert (triangle.diagonal() > 0.0).all()


@given(seeds, st.sampled_from([*sorted(KERNELS), "precomputed"]))
def test_new_examples_are_mapped_as_the_training_examples(seed: int, kernel: str) -> None:
    rows, labels = documents(seed)
    given_rows = rows @ rows.T if kernel == "precomputed" else rows
    transformer = features(15, kernel)
    np.testing.assert_allclose(
        transformer.fit_transform(given_rows, labels), transformer.transform(given_rows), atol=1e-11
    )


@given(seeds, kernels)
def test_sparse_dense_and_precomputed_agree(seed: int, kernel: str) -> None:
    rows, labels = documents(seed)
    new, _ = documents(seed + 1)
    dense = features(15, kernel).fit(rows, labels)
    sparse = features(15, kernel).fit(sp.csr_array(rows), labels)
    record = KERNELS[kernel]
    full = features(15, "precomputed").fit(record.matrix(rows, rows), labels)
    expected = dense.transform(new)
    np.testing.assert_allclose(sparse.transform(sp.csr_array(new)), expected, atol=1e-10)
    np.testing.assert_allclose(full.transform(record.matrix(new, rows)), expected, atol=1e-10)
    assert dense.pivots_.tolist() == sparse.pivots_.tolist() == full.pivots_.tolist()
    for transformer in (sparse, full):
        np.testing.assert_allclose(transformer.residuals_, dense.residuals_, atol=1e-11)
        assert transformer.n_first_ties_ == dense.n_first_ties_


def textbook(rows: np.ndarray, labels: np.ndarray, bias: float, most: int) -> list[int]:
    """The pivots of Gram-Schmidt orthogonalisation of the rows themselves."""
    left, pivots = rows.copy(), []
    for _ in range(most):
        biased = np.where(labels > 0, bias, 1.0) * (left**2).sum(axis=1)
        pivot = int(np.flatnonzero(biased >= biased.max() * (1 - 1e-12))[0])
        direction = left[pivot] / np.linalg.norm(left[pivot])
        left -= np.outer(left @ direction, direction)
        pivots.append(pivot)
    return pivots


@given(seeds, st.sampled_from([1.0, 0.2, 3.0, 100.0, "balanced"]))
def test_pivots_are_those_of_orthogonalising_the_rows(seed: int, bias: Any) -> None:
    rows, labels = documents(seed)
    model = features(10, bias=bias).fit(rows, labels)
    number = min(10.0, 40 / (labels > 0).sum()) if bias == "balanced" else bias
    assert model.bias_ == number
    assert model.pivots_.tolist() == textbook(rows, labels, number, 10)


def test_the_largest_bias_is_ten() -> None:
    rows, _ = documents(1)
    labels = np.where(np.arange(40) == 7, 1, 0)
    model = features(1).fit(rows, labels)
    assert model.bias_ == 10.0
    assert model.pivots_.tolist() == [7]


@given(seeds)
def test_without_ties_the_order_of_the_rows_has_no_effect(seed: int) -> None:
    rows, labels = documents(seed)
    rng = np.random.default_rng(seed)
    rows = rows * rng.uniform(0.5, 2.0, (40, 1))
    order = rng.permutation(40)
    model = features(10).fit(rows, labels)
    again = features(10).fit(rows[order], labels[order])
    assert model.n_first_ties_ == 1
    assert order[again.pivots_].tolist() == model.pivots_.tolist()
    np.testing.assert_allclose(again.transform(rows), model.transform(rows), atol=1e-11)


@given(seeds, st.integers(0, 100), st.booleans())
def test_rounding_of_unit_norms_chooses_no_pivot(seed: int, start: int, sparse: bool) -> None:
    rows, labels = documents(seed)
    noise = 1.0 + 1e-15 * np.random.default_rng(seed).standard_normal((40, 1))
    given_rows = sp.csr_array(rows * noise) if sparse else rows * noise
    model = features(3, pivot_start=start).fit(given_rows, labels)
    tied = np.flatnonzero(labels > 0)
    assert model.n_first_ties_ == len(tied)
    assert model.pivots_[0] == tied[start % len(tied)]


def test_later_ties_go_to_the_lowest_index() -> None:
    rows = np.repeat(np.eye(4), 2, axis=0)
    model = features(4, bias=1.0, pivot_start=3).fit(rows)
    assert model.pivots_.tolist() == [3, 0, 4, 6]


@given(seeds, st.integers(1, 8))
def test_it_stops_at_the_rank(seed: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((30, rank)) @ rng.standard_normal((rank, 50))
    transformer = features(20, bias=1.0)
    image = transformer.fit_transform(rows)
    assert transformer.n_components_ == rank == image.shape[1]
    assert transformer.get_feature_names_out().tolist() == [
        f"gramschmidtfeatures{i}" for i in range(rank)
    ]
    np.testing.assert_allclose(image @ image.T, rows @ rows.T, rtol=1e-9, atol=1e-8)


def test_an_example_without_a_known_word_is_zero() -> None:
    rows, labels = documents(3)
    rows[5] = 0.0
    transformer = features(40)
    assert not transformer.fit_transform(rows, labels)[5].any()
    assert not transformer.transform(np.zeros((1, 60))).any()
    assert 5 not in transformer.pivots_


def test_only_zero_rows_have_no_features() -> None:
    model = features(3, bias=1.0).fit(np.zeros((4, 2)))
    assert model.n_components_ == model.n_first_ties_ == 0
    assert model.transform(np.zeros((4, 2))).shape == (4, 0)


def test_starts_are_spread_over_the_tied_examples() -> None:
    rows, labels = documents(4)
    tied = np.flatnonzero(labels > 0)
    template = features(5, pivot_start=99)
    transformers = list(pivot_starts(template, rows, labels, 5))
    firsts = [int(transformer.pivots_[0]) for transformer in transformers]
    assert firsts == [int(tied[start * len(tied) // 5]) for start in range(5)]
    assert len(set(firsts)) == 5
    assert template.pivot_start == 99
    assert not hasattr(template, "pivots_")
    everyone = [
        int(pivot_start.pivots_[0]) for pivot_start in pivot_starts(template, rows, labels, 1000)
    ]
    assert everyone == tied.tolist()


def test_one_start_without_ties() -> None:
    rows, labels = documents(5)
    rows *= np.arange(1.0, 41.0)[:, None]
    assert len(list(pivot_starts(features(2), rows, labels, 5))) == 1


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"n_components": 0}, "n_components=0; allowed: a whole number, 1 or more"),
        ({"n_components": 2.0}, "n_components=2.0"),
        ({"n_components": True}, "n_components=True"),
        ({"pivot_start": -1}, "pivot_start=-1; allowed: a whole number, 0 or more"),
        ({"bias": 0.0}, "bias=0.0; allowed: 'balanced', or a number above 0"),
        ({"bias": float("nan")}, "bias=nan"),
        ({"bias": float("inf")}, "bias=inf"),
        ({"bias": "high"}, "bias='high'"),
        ({"kernel": "sigmoid"}, "kernel='sigmoid'; allowed: 'linear', 'poly', 'rbf', 'precomp"),
        ({"kernel": "poly", "degree": 0}, "kernel='poly': .*degree 0; allowed: "),
        ({"kernel": "poly", "coef0": -1.0}, "kernel='poly': .*coef0 -1.0; allowed: "),
        ({"kernel": "poly", "gamma": 0.0}, "kernel='poly': .*gamma 0.0; allowed: "),
        ({"kernel": "rbf", "gamma": -2.0}, "kernel='rbf': .*gamma -2.0; allowed: "),
    ],
)
def test_impossible_parameters(parameters: dict[str, Any], reason: str) -> None:
    rows, labels = documents(0)
    with pytest.raises(InputError, match=reason):
        clone(GramSchmidtFeatures()).set_params(**parameters).fit(rows, labels)


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\); give a square one"),
        (np.diag([1.0, -1.0]), r"K\(x, x\) = -1 < 0 for example 1"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "not positive semidefinite"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "differ by 0.1 for examples 0 and 1.*not symmetric"),
    ],
)
def test_no_kernel_matrix(matrix: np.ndarray, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        features(2, "precomputed", bias=1.0).fit(matrix)


def test_labels_that_cannot_bias() -> None:
    rows, labels = documents(0)
    with pytest.raises(InputError, match=r"give labels, or bias=1\.0"):
        features(2).fit(rows)
    with pytest.raises(InputError, match="labels take 1 value"):
        features(2).fit(rows, np.ones(40))
    with pytest.raises(InputError, match="40 examples, but 39 labels"):
        features(2).fit(rows, labels[1:])
    assert features(2, bias=1.0).fit(rows).bias_ == 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_not_finite(bad: float) -> None:
    rows, labels = documents(0)
    rows[3, 3] = bad
    for given_rows in (rows, sp.csr_array(rows)):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            features(2).fit(given_rows, labels)


def test_new_examples_of_another_width() -> None:
    rows, labels = documents(0)
    model = features(2).fit(rows, labels)
    with pytest.raises(ValueError, match="59 features"):
        model.transform(rows[:, 1:])


def test_parameters_and_examples_are_left_alone() -> None:
    rows, labels = documents(0)
    copy = rows.copy()
    transformer = features(7, "poly")
    before = transformer.get_params()
    transformer.fit_transform(rows, labels)
    assert transformer.get_params() == before
    assert (rows == copy).all()
