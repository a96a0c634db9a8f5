"""Damaged files of numbers: a system, or a DataError that names the file."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.formats.row_files import NumpyRows
from tests.repetitions import examples
from tests.robustness.mutations import mutated, outcome

ROWS = np.random.default_rng(0).normal(size=(6, 3))


def saved(write: Any, *arrays: Any, **named: Any) -> bytes:
    target = io.BytesIO()
    write(target, *arrays, **named)
    return target.getvalue()


SEEDS = {
    ".npy": [
        *(saved(np.save, ROWS), saved(np.save, ROWS.astype("f4")), saved(np.save, ROWS > 0)),
        saved(np.save, np.asfortranarray(ROWS)),
        saved(np.save, np.array([{}], dtype=object), allow_pickle=True),
    ],
    ".npz": [
        saved(np.savez, rows=ROWS),
        saved(np.savez, X=ROWS, y=np.array([0, 1, 0, 1, 0, 1])),
        saved(sp.save_npz, sp.csr_array(ROWS * (ROWS > 0))),
    ],
    ".csv": [b"a,b,c\n1,2,3\n4,5,6\n", b"1,2,3\n-1,2.5e3,4\n"],
    ".svm": [b"1 1:0.5 3:2\n-1 2:1\n", b"+1 1:1 # x\n-1 1:2\n"],
}
PIECES = [
    *(
        b"(9999999999999999999, 3)",
        b"(-1, 3)",
        b"(6, 3, ",
        b"'|O'",
        b"'O'",
        b"fortran_order': True",
    ),
    *(b"\x93NUMPY\x01\x00", b"\x93NUMPY\x03\x00", b"PK\x05\x06", b"PK\x03\x04", b"1:", b"qid:1 "),
    *(b"0:1", b"99999999999999999999:1", b",", b'"', b"#", b"cos\nsystem\n(S'id'\ntR."),
]


DAMAGED = {kind: mutated(seeds, PIECES) for kind, seeds in SEEDS.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder; the libraries that read its files are loaded, which takes memory."""
    folder = tmp_path_factory.mktemp("arrays")
    for kind, seeds in SEEDS.items():
        (folder / f"whole{kind}").write_bytes(seeds[0])
        assert read_system(folder / f"whole{kind}").dimension > 0
    return folder


def blocks(path: Path) -> Iterator[tuple[slice, Any]]:
    yield from NumpyRows(path).blocks()


@pytest.mark.parametrize("kind", SEEDS)
@settings(max_examples=examples(150, few=50))
@given(data=st.data())
def test_damaged_numbers(folder: Path, kind: str, data: st.DataObject) -> None:
    path = folder / f"damaged{kind}"
    path.write_bytes(data.draw(DAMAGED[kind]))
    system, message = outcome(DataError, read_system, path)
    assert message.startswith(f"{path}: ") or system.dimension > 0


@settings(max_examples=examples(150, few=50))
@given(content=DAMAGED[".npy"])
def test_damaged_rows_that_are_read_block_by_block(folder: Path, content: bytes) -> None:
    path = folder / "damaged.npy"
    path.write_bytes(content)
    count, message = outcome(DataError, lambda: sum(len(rows) for _, rows in blocks(path)))
    assert message.startswith(f"{path}: ") or count < len(content)


def test_python_2_arrays_are_read(folder: Path) -> None:
    """Read without the warning that they come from there."""
    path = folder / "old.npy"
    content = saved(np.save, ROWS)
    path.write_bytes(content.replace(b"(6, 3), }  ", b"(6L, 3L), }", 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = np.vstack([rows for _, rows in NumpyRows(path).blocks()])
    assert np.array_equal(read, ROWS)


def test_an_archive_under_another_name_is_closed(folder: Path) -> None:
    path = folder / "archive.npy"
    for content in (SEEDS[".npz"][0], b"PK\x03\x04", b""):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"not a \.npy file that can be read \(it does not"):
            NumpyRows(path)


def test_a_pickle_is_never_opened(folder: Path) -> None:
    objects = np.array([{}], dtype=object)
    (folder / "objects.npy").write_bytes(saved(np.save, objects, allow_pickle=True))
    (folder / "objects.npz").write_bytes(saved(np.savez, objects))
    for read, name in [(read_system, "npy"), (NumpyRows, "npy"), (read_system, "npz")]:
        with pytest.raises(
            DataError, match=r"Python objects in dtype|Object arrays cannot be loaded"
        ):
            read(folder / f"objects.{name}")
