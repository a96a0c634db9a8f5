from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.errors import InputError
from perceptron_lab.problems.ellipsoids.ellipsoid import WhiteCoordinates


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(-8, 8))
def test_mean_zero_and_covariance_one(seed: int, features: int, exponent: int) -> None:
    rng = np.random.default_rng(seed)
    scale = np.where(np.arange(features) == 0, 10.0**exponent, 1.0)
    rows = rng.normal(size=(20, features)) * scale + rng.normal(size=features)
    weights = rng.dirichlet(np.ones(20))
    white = WhiteCoordinates.fitted(rows, weights).of(rows)
    assert weights @ white == pytest.approx(np.zeros(features), abs=1e-6)
    assert white.T @ (weights[:, None] * white) == pytest.approx(np.eye(features), abs=1e-6)


@given(st.integers(0, 2**32))
def test_rank_is_that_of_the_examples_with_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(10, 2)) @ rng.normal(size=(2, 5)) + rng.normal(size=5)
    rows[:, 4] = 7.0
    assert WhiteCoordinates.fitted(rows, np.full(10, 0.1)).matrix.shape == (5, 2)
    two = np.where(np.arange(10) < 2, 0.5, 0.0)
    assert WhiteCoordinates.fitted(rows, two).matrix.shape == (5, 1)
    assert np.isfinite(WhiteCoordinates.fitted(rows, two).of(rows)).all()


def test_what_cannot_be_whitened() -> None:
    with pytest.raises(InputError, match="whiten=False"):
        WhiteCoordinates.fitted(sp.csr_array(np.eye(2)), np.full(2, 0.5))
    with pytest.raises(InputError, match="nothing to whiten"):
        WhiteCoordinates.fitted(np.ones((3, 2)), np.full(3, 1 / 3))
