"""Traces as bytes: compressed arrays, without pickle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from perceptron_lab.core.errors import BROKEN, DataError
from perceptron_lab.core.results import Trace
from perceptron_lab.core.saved_answers.files import MEASURE, packed, prefixed, unpacked
from perceptron_lab.experiments.cells.messages import SCALARS


def encoded_trace(trace: Trace) -> bytes:
    """Return a trace as the bytes of an ``.npz``: its lists, and ``measure.NAME`` stacked."""
    arrays: dict[str, Any] = {
        name: np.array(getattr(trace, name), dtype=kind) for name, kind in SCALARS.items()
    }
    return packed(arrays | prefixed(MEASURE, trace.measures))


def decoded_trace(content: bytes, where: str) -> Trace:
    """Return the trace in the bytes that :func:`encoded_trace` made."""
    with _damage_told(where):
        arrays = unpacked(content)
        lists: dict[str, Any] = {name: arrays.pop(name).tolist() for name in SCALARS}
    found = {name.removeprefix(MEASURE): list(values) for name, values in arrays.items()}
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
