"""Certificates as files: all that is needed to prove a claim again, or an error."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Bound, Status
from perceptron_lab.core.saved_answers.files import packed, unpacked
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    certificate_of,
    path_of,
    read_certificate,
    write_certificate,
)
from perceptron_lab.experiments.storage.stored import sha256_of
from tests.experiments.artificial_stores import make_planned, make_result

ARRAYS = ("point", "weights", "proof")


def certificate_with(**changes: Any) -> Certificate:
    return certificate_of(make_planned(3), make_result(**changes), Path("/data"))


def assert_same(certificate: Certificate, other: Certificate) -> None:
    for field in fields(Certificate):
        if field.compare and field.name not in ARRAYS:  # the others tell of its file
            assert getattr(certificate, field.name) == getattr(other, field.name), field.name
    np.testing.assert_array_equal(certificate.point, other.point)
    assert (certificate.weights is None) == (other.weights is None)
    assert {name: array.tolist() for name, array in certificate.proof.items()} == {
        name: array.tolist() for name, array in other.proof.items()
    }


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"weights": None, "margin_lower": None, "margin_upper": None},
        {"status": Status.UNVERIFIED, "proved": False, "bound": Bound(float("inf"), "T", "r")},
        {"point": np.empty(0), "proof": {"0.factor": np.eye(2), "json": np.ones(1)}},
        {"certificate": {"exact": np.int64(3), "ü": [None, True]}},
    ],
)
def test_a_certificate_survives_a_round_trip(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = tmp_path / "c.npz"
    written = certificate_with(**changes)
    assert write_certificate(path, written) == sha256_of(path.read_bytes())
    assert_same(read_certificate(path), written)
    assert list(tmp_path.iterdir()) == [path]


def test_a_certificate_names_its_algorithm_and_data() -> None:
    certificate = certificate_with()
    assert certificate.problem == {
        "dataset": "maxcut",
        "parameters": {"instances": ["torus-3x3"]},
        "instance": "torus-3x3",
        "seed": 3,
    }
    assert certificate.algorithm == {
        "name": "ellipsoid",
        "parameters": {},
        "oracle": [],
        "goal": "decide",
    }
    assert certificate.counts == {"updates": 3, "queries": 6, "iterations": 3, "products": 3.5}
    assert (certificate.sha256, certificate.base) == ("5a" * 32, "/data")


def test_equal_results_are_equal_bytes(tmp_path: Path) -> None:
    results: list[dict[str, Any]] = [{}, {"seconds": 7.0, "proof_seconds": 8.0}, {"updates": 4}]
    sums = [
        write_certificate(tmp_path / "c.npz", certificate_with(**changes)) for changes in results
    ]
    assert sums[0] == sums[1] != sums[2]


def test_its_path_is_named_after_its_cell(tmp_path: Path) -> None:
    assert path_of(tmp_path, "ab").relative_to(tmp_path) == Path("certificates/ab.npz")


def test_a_failing_write_leaves_the_earlier_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.npz"
    write_certificate(path, certificate_with())
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_certificate(path, certificate_with(updates=4))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"c\.npz: no such file; `plab run CONFIG`"):
        read_certificate(tmp_path / "c.npz")
    with pytest.raises(DataError, match="not a certificate that can be read"):
        read_certificate(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": None},
        {"cell": 7},
        {"counts": []},
        {"problem": "maxcut"},
        {"status": "PERHAPS"},
        {"bound": {"value": 1.0}},
        {"bound": None},
        {"another": 1},
    ],
)
def test_incomplete_certificates_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = tmp_path / "c.npz"
    write_certificate(path, certificate_with())
    arrays = unpacked(path.read_bytes())
    record = json.loads(str(arrays["json"]))
    for key, value in changes.items():
        record[key] = value
    path.write_bytes(packed(arrays | {"json": np.array(json.dumps(record))}))
    with pytest.raises(DataError, match=r"c\.npz: "):
        read_certificate(path)


@pytest.mark.parametrize("missing", ["json", "point"])
def test_a_missing_array_is_refused(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "c.npz"
    write_certificate(path, certificate_with())
    arrays = unpacked(path.read_bytes())
    del arrays[missing]
    path.write_bytes(packed(arrays))
    with pytest.raises(DataError, match=missing):
        read_certificate(path)


def test_a_certificate_of_a_later_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    record = np.array(json.dumps({"format": 2}))
    path.write_bytes(packed({"json": record}))
    with pytest.raises(DataError, match="a certificate of format 2, this plab reads format 1"):
        read_certificate(path)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    with path.open("wb") as file:
        np.savez(file, json=np.array({"format": 1}, dtype=object))
    with pytest.raises(DataError, match="the array holds objects"):
        read_certificate(path)


@given(location=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
@settings(deadline=None)
def test_a_damaged_file_is_refused_or_reads_as_it_was(
    location: float, bit: int, cut: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "c.npz"
    written = certificate_with()
    write_certificate(path, written)
    content = bytearray(path.read_bytes())
    where = int(location * len(content))
    if cut:
        del content[where:]
    else:
        content[where] ^= 1 << bit
    path.write_bytes(content)
    try:
        certificate = read_certificate(path)
    except DataError:
        return
    assert_same(certificate, written)
