"""Matrices in numpy's format, read by numpy behind an exact check of their header."""

from __future__ import annotations

import ast
import io
from typing import Any

import numpy as np
from flint import fmpq

from tests.exact.second_checker.numbers import integer, require_form
from tests.exact.second_checker.systems import System, block_size

MAGIC = b"\x93NUMPY\x01\x00"


def matrix(content: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    require_form(content[:8] == MAGIC and len(content) >= 10, "no version 1.0 of numpy's format")
    length = int.from_bytes(content[8:10], "little")
    header = content[10 : 10 + length]
    require_form(len(header) == length, "a header that ends early")
    shape = _shape(header.decode("latin-1"))
    require_form(min(shape) > 0, "no entries")
    require_form(len(content) == 10 + length + 8 * shape[0] * shape[1], "another number of bytes")
    try:
        arrays = np.load(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:
        require_form(False, f"numpy refuses it: {error}")
    require_form(bool(np.isfinite(arrays).all()), "an entry that is not finite")
    assert arrays.shape == shape
    assert arrays.dtype == np.dtype("<f8")
    return np.asarray(arrays)


def _shape(header: str) -> tuple[int, int]:
    try:
        tree = ast.parse(header.lstrip(" \t"), mode="eval").body
        value = ast.literal_eval(tree)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        require_form(False, "a header that is no dictionary")
    require_form(type(value) is dict, "a header that is no dictionary")
    assert isinstance(tree, ast.Dict)
    require_form(len(tree.keys) == 3 and header.count(":") == 3, "a key comes twice")
    require_form(set(value) == {"descr", "fortran_order", "shape"}, "other keys")
    require_form(value["descr"] == "<f8" and value["fortran_order"] is False, "other entries")
    shape = value["shape"]
    require_form(type(shape) is tuple and len(shape) == 2, "no matrix")
    require_form(all(type(length) is int and length >= 0 for length in shape), "no matrix")
    return shape[0], shape[1]


def _system(form: str, content: bytes, blocks: list[tuple[str, int]] | None = None) -> System:
    entries = matrix(content)
    rows = [
        {j: fmpq(*entry.as_integer_ratio()) for j, entry in enumerate(line) if entry}
        for line in entries.tolist()
    ]
    scale = max((value.q for row in rows for value in row.values()), default=1)
    return System(form, rows, entries.shape[1], blocks or [("rows", len(rows))], int(scale))


def cone(data: dict[str, Any], content: bytes) -> System:
    require_form(type(data["blocks"]) is list and bool(data["blocks"]), "no blocks")
    blocks = []
    for block in data["blocks"]:
        require_form(type(block) is list and len(block) == 2, "no pair of kind and order")
        require_form(block[0] in ("rows", "second-order", "matrix"), "another kind of block")
        blocks.append((str(block[0]), integer(block[1], 1)))
    system = _system("cone", content, blocks)
    size = sum(block_size(*block) for block in blocks)
    require_form(size == len(system.rows), "blocks that are not those of the rows")
    return system


def gram(data: dict[str, Any], content: bytes) -> System:
    system = _system("gram", content)
    require_form(len(system.rows) == system.width, "a matrix that is not square")
    for i, row in enumerate(system.rows):
        require_form(row.get(i, 0) >= 0, "a negative number on the diagonal")
        for j, entry in row.items():
            require_form(system.rows[j].get(i) == entry, "a matrix that is not symmetric")
    return system


def squares(data: dict[str, Any], content: bytes) -> System:
    system = _system("squares", content)
    require_form(len(system.rows) * system.width**2 <= 2**25, "too many products of entries")
    inside = integer(data["inside"], 1, len(system.rows) - 1)
    blocks = [("rows", inside), ("rows", len(system.rows) - inside)]
    return System("squares", system.rows, system.width, blocks, system.scale)
