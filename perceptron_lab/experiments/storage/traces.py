"""Traces as bytes: compressed arrays, without pickle."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from perceptron_lab.errors import BROKEN, DataError
from perceptron_lab.results import Trace

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


def encoded_trace(trace: Trace) -> bytes:
    """Return a trace as the bytes of an ``.npz``: its lists, and ``measure.NAME`` stacked."""
    arrays: dict[str, Any] = {
        name: np.array(getattr(trace, name), dtype=kind) for name, kind in _KINDS.items()
    }
    arrays |= {f"{_MEASURE}{name}": np.array(values) for name, values in trace.measures.items()}
    return packed(arrays)


def decoded_trace(content: bytes, where: str, *, measures: bool = True) -> Trace:
    """Return the trace in the bytes that :func:`encoded_trace` made.

    Without ``measures`` these are not read, which may be most of the bytes.
    """
    try:
        arrays = unpacked(content, None if measures else tuple(_KINDS))
        lists: dict[str, Any] = {name: arrays.pop(name).tolist() for name in _KINDS}
    except BROKEN as error:
        raise DataError(f"{where}: damaged ({error}); `plab run` computes it again") from None
    found = {name.removeprefix(_MEASURE): list(values) for name, values in arrays.items()}
    return Trace(**lists, measures=found)


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
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in (arrays.files if names is None else names)}
