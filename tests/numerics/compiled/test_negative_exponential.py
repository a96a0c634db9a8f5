"""The compiled exponential against that of numpy, over its whole range."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from perceptron_lab.numerics.compiled.entropic_steps import exponential
from perceptron_lab.numerics.compiled.kernel import load_kernels
from tests.repetitions import examples, repeated

KINDS = [(np.float32, -87.3, 2e-7), (np.float64, -708.0, 5e-16)]
"""The type, where the result becomes 0, and the relative error."""


def _each(x: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
    for i in range(len(x)):
        values[i] = exponential(x[i])


@cache
def _compiled() -> Callable[[Any, Any], None]:
    load_kernels()  # makes the function known to numba
    return cast("Callable[[Any, Any], None]", njit(_each))


def compiled(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    values = np.empty_like(x)
    _compiled()(x, values)
    return values


@pytest.mark.parametrize(("kind", "low", "error"), KINDS)
@pytest.mark.parametrize("points", repeated([40_001, 200_001], kept=1))
def test_the_relative_error_is_small_over_the_whole_range(
    points: int, kind: Any, low: float, error: float
) -> None:
    x = np.concatenate([np.linspace(low, 0.0, points)[1:], -np.logspace(-30, 0, 1001)])
    x = x.astype(kind)
    x = x[x > low]
    exact = np.exp(x.astype(np.longdouble))
    assert np.abs(compiled(x) / exact - 1.0).max() < error


@settings(deadline=None, max_examples=examples(200), derandomize=True)
@given(st.sampled_from(KINDS), st.floats(-1e4, 0.0))
def test_single_numbers_have_the_same_error(case: tuple[Any, float, float], x: float) -> None:
    kind, low, error = case
    value = compiled(np.array([x], kind))[0]
    with np.errstate(under="ignore"):
        exact = np.exp(np.longdouble(kind(x)))
    assert 0.0 <= value <= 1.0
    if kind(x) <= kind(low):
        assert value == 0.0
    else:
        assert value == pytest.approx(float(exact), rel=error)


@pytest.mark.parametrize(("kind", "low", "error"), KINDS)
def test_underflow_gives_0_and_nan_remains_nan(kind: Any, low: float, error: float) -> None:
    x = np.array([-np.inf, np.finfo(kind).min, 1.001 * low, -0.0, 0.0, np.nan], kind)
    values = compiled(x)
    np.testing.assert_array_equal(values, np.array([0, 0, 0, 1, 1, np.nan], kind))
    assert values.dtype == kind
    assert exponential(kind(-1.0)) == pytest.approx(compiled(np.array([-1.0], kind))[0], rel=error)
