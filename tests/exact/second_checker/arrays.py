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
        found = np.load(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:
        require_form(False, f"numpy refuses it: {error}")
    require_form(bool(np.isfinite(found).all()), "an entry that is not finite")
    assert found.shape == shape
    assert found.dtype == np.dtype("<f8")
    return np.asarray(found)


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
    require_form(all(type(one) is int and one >= 0 for one in shape), "no matrix")
    return shape[0], shape[1]


def _system(form: str, content: bytes, blocks: list[tuple[str, int]] | None = None) -> System:
    found = matrix(content)
    rows = [
        {j: fmpq(*one.as_integer_ratio()) for j, one in enumerate(line) if one}
        for line in found.tolist()
    ]
    scale = max((one.q for row in rows for one in row.values()), default=1)
    return System(form, rows, found.shape[1], blocks or [("rows", len(rows))], int(scale))


def cone(data: dict[str, Any], content: bytes) -> System:
    require_form(type(data["blocks"]) is list and bool(data["blocks"]), "no blocks")
    blocks = []
    for block in data["blocks"]:
        require_form(type(block) is list and len(block) == 2, "no pair of kind and order")
        require_form(block[0] in ("rows", "second-order", "matrix"), "another kind of block")
        blocks.append((str(block[0]), integer(block[1], 1)))
    found = _system("cone", content, blocks)
    size = sum(block_size(*block) for block in blocks)
    require_form(size == len(found.rows), "blocks that are not those of the rows")
    return found


def gram(data: dict[str, Any], content: bytes) -> System:
    found = _system("gram", content)
    require_form(len(found.rows) == found.width, "a matrix that is not square")
    for i, row in enumerate(found.rows):
        require_form(row.get(i, 0) >= 0, "a negative number on the diagonal")
        for j, one in row.items():
            require_form(found.rows[j].get(i) == one, "a matrix that is not symmetric")
    return found


def squares(data: dict[str, Any], content: bytes) -> System:
    found = _system("squares", content)
    require_form(len(found.rows) * found.width**2 <= 2**25, "too many products of entries")
    inside = integer(data["inside"], 1, len(found.rows) - 1)
    blocks = [("rows", inside), ("rows", len(found.rows) - inside)]
    return System("squares", found.rows, found.width, blocks, found.scale)
