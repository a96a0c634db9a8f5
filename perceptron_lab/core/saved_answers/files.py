"""Reading and writing the files of saved answers.

A file is a compressed ``.npz`` without pickle: arrays of numbers, and a text ``json``, which is one
JSON object whose names occur once each. ``Result.save``, `plab run` (``certificates/CELL.npz``) and
``SeparationVerdict.save`` write them; :mod:`.kinds` lists the fields of each. Equal arrays make
equal bytes. Traces in the database of results are such archives as well, without the text.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt

PROOF: Final = "proof."
MEASURE: Final = "measure."
"""Prefixes of the names of arrays: of proofs, and of measures in the trace."""
_ZIP: Final = b"PK\x03\x04"
_NPY: Final = ".npy"


@dataclass(frozen=True)
class AnswerFile:
    """The contents of a file, checked only for their form.

    Parameters
    ----------
    record
        Its text, read as JSON.
    arrays
        The others, by name.
    """

    record: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]

    @property
    def is_verdict(self) -> bool:
        """Whether the file holds a separation verdict on two classes."""
        return {"verdict", "classes"} <= self.record.keys()

    def tree(self) -> dict[str, Any]:
        """Return text and arrays as one tree; equal names raise ValueError."""
        both = self.record.keys() & self.arrays.keys()
        if both:
            raise ValueError(f"{min(both)[:40]!r} is given twice, as an array and in the text")
        return {**self.record, **self.arrays}

    def named(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays whose names have a prefix, by the names without it."""
        return {
            name.removeprefix(prefix): array
            for name, array in self.arrays.items()
            if name.startswith(prefix)
        }


def read_answer(path: str | Path) -> AnswerFile:
    """Read a file; errors are those of :data:`~perceptron_lab.core.errors.BROKEN`."""
    content = Path(path).read_bytes()
    # A plain message for a wrong file, in place of the one of the zip reader
    if not content.startswith(_ZIP):
        raise ValueError("it is no .npz file")
    arrays = unpacked(content)
    return AnswerFile(mapping_in(str(arrays.pop("json"))), arrays)


def prefixed(prefix: str, arrays: Mapping[str, object]) -> dict[str, Any]:
    """Return arrays with a prefix before their names."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def packed(arrays: Mapping[str, object]) -> bytes:
    """Return arrays as the bytes of an ``.npz``; equal arrays give equal bytes."""
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    # Reading a pickle can run any program
    if any(array.dtype.hasobject for array in plain.values()):
        raise ValueError("arrays of objects are not saved, since only pickle could read them")
    content = io.BytesIO()
    np.savez_compressed(content, **plain)  # type: ignore[arg-type]
    return content.getvalue()


def unpacked(content: bytes, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return all arrays of an ``.npz``, or those with the given names.

    Errors are those of :data:`~perceptron_lab.core.errors.BROKEN`.
    """
    with ZipFile(io.BytesIO(content)) as archive:
        requested = (
            [member.removesuffix(_NPY) for member in archive.namelist()] if names is None else names
        )
        return {name: _array(archive.read(f"{name}{_NPY}")) for name in requested}


def _array(content: bytes) -> npt.NDArray[Any]:
    """Return the array in the bytes of an ``.npy``, as :func:`numpy.save` writes plain ones."""
    # Version 1.0 of the format has the length of its header in two bytes
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


def mapping_in(text: str) -> dict[str, Any]:
    """Return the JSON object in a text; other values and repeated names raise ValueError."""
    # JSON readers keep the last of two equal names, so a claim could be hidden behind another
    record = json.loads(text, object_pairs_hook=_once)
    if not isinstance(record, dict):
        raise ValueError("its text is no JSON object")
    return record


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {repeated[:40]!r} is given twice")
    return mapping
