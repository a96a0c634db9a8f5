"""Traces as bytes: compressed arrays, without pickle."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import BROKEN, DataError
from perceptron_lab.core.results import Trace

_KINDS: Final[dict[str, type]] = {
    "updates": np.int64,
    "iterations": np.int64,
    "queries": np.int64,
    "products": np.float64,
    "seconds": np.float64,
    "phase": np.str_,
    "margin": np.float64,
    "upper": np.float64,
}
_MEASURE: Final = "measure."
_NPY: Final = ".npy"


def encoded_trace(trace: Trace) -> bytes:
    """Return a trace as the bytes of an ``.npz``: its lists, and ``measure.NAME`` stacked."""
    arrays: dict[str, Any] = {
        name: np.array(getattr(trace, name), dtype=kind) for name, kind in _KINDS.items()
    }
    arrays |= {f"{_MEASURE}{name}": np.array(values) for name, values in trace.measures.items()}
    return packed(arrays)


def decoded_trace(content: bytes, where: str) -> Trace:
    """Return the trace in the bytes that :func:`encoded_trace` made."""
    with _damage_told(where):
        arrays = unpacked(content)
        lists: dict[str, Any] = {name: arrays.pop(name).tolist() for name in _KINDS}
    found = {name.removeprefix(_MEASURE): list(values) for name, values in arrays.items()}
    return Trace(**lists, measures=found)


def decoded_lists(content: bytes, where: str, names: Sequence[str]) -> list[list[Any]]:
    """Return the lists of these names of a trace, such as ``updates``; no other is unpacked."""
    with _damage_told(where):
        arrays = unpacked(content, names)
    return [arrays[name].tolist() for name in names]


@contextmanager
def _damage_told(where: str) -> Iterator[None]:
    """Turn the errors of damaged arrays into a DataError."""
    try:
        yield
    except BROKEN as error:
        raise DataError(f"{where}: damaged ({error}); `plab run` computes it again") from None


def packed(arrays: dict[str, Any]) -> bytes:
    """Return arrays of numbers or texts as the bytes of an ``.npz``: equal arrays, equal bytes."""
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    if any(array.dtype.hasobject for array in plain.values()):
        raise ValueError("an array of objects would be pickled, and never read")
    content = io.BytesIO()
    np.savez_compressed(content, **plain)  # type: ignore[arg-type]
    return content.getvalue()


def unpacked(content: bytes, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the arrays of an ``.npz``, or those of these names.

    Errors are those of :data:`BROKEN`.
    """
    with ZipFile(io.BytesIO(content)) as archive:
        asked = [one.removesuffix(_NPY) for one in archive.namelist()] if names is None else names
        return {name: _array(archive.read(f"{name}{_NPY}")) for name in asked}


def _array(content: bytes) -> npt.NDArray[Any]:
    """Return the array in the bytes of an ``.npy``, as :func:`numpy.save` writes plain ones."""
    begin = 10 + int.from_bytes(content[8:10], "little")
    shape, by_columns, kind = _head(content[:begin])
    array: npt.NDArray[Any] = np.frombuffer(content, kind, math.prod(shape), begin)
    return array.reshape(shape, order="F" if by_columns else "C").copy("K")


@lru_cache(maxsize=1024)  # numpy parses heads as Python, which takes most of the time of a list
def _head(content: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type of an array from the beginning of its ``.npy``."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("the array is of a later version of the format")
    shape, by_columns, kind = np.lib.format.read_array_header_1_0(stream)
    if kind.hasobject:
        raise ValueError("the array holds objects, which are never read")
    return shape, by_columns, kind
