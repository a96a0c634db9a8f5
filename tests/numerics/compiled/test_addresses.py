"""What a kernel computes does not depend on where its arrays lie: same numbers, same last bit.

LLVM looks at addresses when a loop begins, and takes the scalar version of one that might write
into what it reads a moment later; short arrays that lie close together are enough for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from perceptron_lab.numerics.compiled.absolute_products import add_combination, products
from perceptron_lab.numerics.compiled.cyclic_sweeps import (
    perceptron_sweep,
    relaxed_sweep,
    stretch_rows,
)
from perceptron_lab.numerics.compiled.entropic_steps import entropic_pass, softmin, write_powers
from perceptron_lab.numerics.compiled.entropic_trials import move
from perceptron_lab.numerics.compiled.hinge_newton import inner
from perceptron_lab.numerics.compiled.hinge_products import best_pace, hinge_slope
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point

Array = npt.NDArray[Any]
Kernel = Callable[..., Any]
GAPS = range(0, 640, 16)
"""Bytes between two arrays; those of numpy begin at multiples of 16."""


def placed(arrays: list[Array], gap: int) -> list[Array]:
    """Return copies that lie one behind the other, so many bytes apart."""
    room = np.zeros(sum(array.nbytes + gap + 16 for array in arrays) + 64, np.uint8)
    at = -room.ctypes.data % 64
    copies = []
    for array in arrays:
        copy = room[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
        copy[...] = array
        copies.append(copy)
        at += -(-array.nbytes // 16) * 16 + gap
    return copies


def outcome(call: Callable[[list[Array]], Any], arrays: list[Array], gap: int) -> list[Any]:
    moved_arrays = placed(arrays, gap)
    returned = call(moved_arrays)
    return [() if returned is None else returned, *moved_arrays]


def drawn(*shapes: int | tuple[int, ...], seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) / 3.0 for shape in shapes]


def softmins(arrays: list[Array]) -> Any:
    sums, scores, new_sums, share = arrays
    return softmin(sums, scores, 0.9, 0.4, new_sums, share)


def powers(arrays: list[Array]) -> Any:
    return write_powers(arrays[0], arrays[1], -0.7, 0.4, arrays[2])


def moves(arrays: list[Array]) -> Any:
    return move(arrays[0], arrays[1], arrays[2], 0.3, arrays[3])


def passes(arrays: list[Array]) -> Any:
    rows, centre, scores, sums, new_sums, share, image = arrays
    return entropic_pass(rows, centre, False, scores, sums, 0.9, 0.4, new_sums, share, image)


CALLS: dict[str, tuple[Callable[[list[Array]], Any], Callable[[int], list[int | tuple[int, ...]]]]]
CALLS = {
    "softmin": (softmins, lambda n: [n, n, n, n]),
    "powers": (powers, lambda n: [n, n, n]),
    "move": (moves, lambda n: [n, n, n, n]),
    "entropic pass": (passes, lambda n: [(7, n), n, 7, 7, 7, 7, n]),
    "perceptron": (lambda g: perceptron_sweep(*g, 0, 50, 0, 99), lambda n: [(5, n), n, 5]),
    "relaxed": (lambda g: relaxed_sweep(*g, 0.05, 0, 50, 0, 99), lambda n: [(5, n), n]),
    "stretch": (lambda g: stretch_rows(*g), lambda n: [(5, n), n]),
    "products": (lambda g: products(*g), lambda n: [(5, n), n, 5, 5]),
    "inner": (lambda g: inner(*g), lambda n: [n, n]),
    "hinge slope": (lambda g: hinge_slope(*g, 0.3), lambda n: [n, n]),
    "best pace": (lambda g: best_pace(*g), lambda n: [n, n]),
    "combination": (lambda g: add_combination(*g), lambda n: [5, (5, n), n, n]),
}


@pytest.mark.parametrize("dimension", [3, 8, 20, 21, 33])
@pytest.mark.parametrize("name", CALLS)
def test_kernels_give_the_same_wherever_their_arrays_lie(name: str, dimension: int) -> None:
    call, shapes = CALLS[name]
    arrays = drawn(*shapes(dimension), seed=dimension)
    first = outcome(call, arrays, GAPS[-1])
    for gap in GAPS:
        for array, second in zip(outcome(call, arrays, gap), first, strict=True):
            assert np.array_equal(array, second, equal_nan=True), gap


@pytest.mark.parametrize("dimension", [5, 20])
def test_points_of_least_norm_too(dimension: int) -> None:
    (rows,) = drawn((30, dimension), seed=dimension)
    first = minimum_norm_point(rows, 100)
    for gap in GAPS:
        moved_rows = placed([np.zeros(gap // 8), rows], 0)[1]
        for array, second in zip(minimum_norm_point(moved_rows, 100), first, strict=True):
            assert np.array_equal(array, second), gap
