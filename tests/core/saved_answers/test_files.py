"""Arrays in the bytes of an ``.npz``: as numpy reads them, and without objects."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import BROKEN
from perceptron_lab.core.saved_answers.files import packed, unpacked

ARRAYS: dict[str, Any] = {
    "numbers": np.array([1.5, -np.inf, np.nan]),
    "counts": np.arange(6, dtype=np.int16).reshape(2, 3),
    "by columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "texts": np.array(["", "perceptron 3"]),
    "one": np.array(7),
    "none": np.zeros((0, 4)),
    "no texts": np.array([], dtype=np.str_),
    "big-endian": np.array([1, 2], dtype=">i4"),
}


def test_arrays_come_back_as_numpy_reads_them() -> None:
    content = packed(ARRAYS)
    arrays = unpacked(content)
    with np.load(io.BytesIO(content)) as expected:
        assert list(arrays) == expected.files == list(ARRAYS)
        for name in ARRAYS:
            np.testing.assert_array_equal(arrays[name], expected[name], strict=True)
            assert arrays[name].flags.f_contiguous == expected[name].flags.f_contiguous
            assert arrays[name].flags.writeable
    assert list(unpacked(content, ["one", "texts"])) == ["one", "texts"]


def test_objects_are_never_read() -> None:
    content = io.BytesIO()
    np.savez(content, allow_pickle=True, danger=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="never read"):
        unpacked(content.getvalue())


def test_damaged_bytes_raise_the_errors_of_damage_alone() -> None:
    content = packed({"values": np.arange(40.0)})
    rng = np.random.default_rng(0)
    refused = 0
    for index in rng.choice(len(content), 100, replace=False):
        damaged = bytearray(content)
        damaged[index] ^= 1 << int(rng.integers(8))
        try:
            unpacked(bytes(damaged), ["values"])
        except BROKEN:
            refused += 1
    assert refused > 50
    for length in range(0, len(content), 7):
        with pytest.raises(BROKEN):
            unpacked(content[:length])
