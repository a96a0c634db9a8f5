"""Generated rows on disk: the same ones for the same seed, whole or not there at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.core.errors import ConfigError, DataError, InputError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.dataset import check_instance_name
from perceptron_lab.datasets.generated import rows_on_disk
from perceptron_lab.datasets.generated.rows_on_disk import RowsOnDisk
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.datasets.regular_files import sha256_of
from perceptron_lab.solving.entry import solve
from tests.families import exact_margin

SMALL = RowsOnDisk(dimension=7, rows=300)
NAME = "reflected-7x300-1"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(rows_on_disk, "ENTRIES", 500)  # several blocks
    return tmp_path / "cache" / "rows-on-disk"


def load(dataset: RowsOnDisk = SMALL, seed: int = 0, base: Path = Path()) -> Problem:
    return dataset.load(dataset.names()[0], seed=seed, base=base)


def test_the_rows_are_in_one_file_of_the_cache(cache: Path) -> None:
    problem = load()
    assert problem.name == NAME
    assert sorted(path.name for path in cache.iterdir()) == [
        f"{NAME}-seed0.json",
        f"{NAME}-seed0.npy",
    ]
    content = (cache / f"{NAME}-seed0.npy").read_bytes()
    assert problem.sha256 == hashlib.sha256(content).hexdigest()
    rows = np.load(cache / f"{NAME}-seed0.npy")
    assert (rows.shape, rows.dtype) == ((300, 7), np.float32)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(300), rel=1e-6)
    operator: Any = problem.system.operator
    assert isinstance(operator.stored, RowSource)
    point = np.linspace(-1, 1, 7)
    lengths = np.linalg.norm(rows.astype(float), axis=1)
    assert operator.scores(point) == pytest.approx(rows.astype(float) @ point / lengths)


def test_name_and_seed_determine_the_rows(cache: Path, tmp_path: Path) -> None:
    first = load()
    shutil.rmtree(cache)
    assert load().sha256 == first.sha256
    elsewhere = RowsOnDisk(dimension=7, rows=300, memory=2_000_000, directory="here")
    assert load(elsewhere, base=tmp_path).sha256 == first.sha256
    assert (tmp_path / "here" / f"{NAME}-seed0.npy").is_file()
    variants = [load(seed=1), load(RowsOnDisk(dimension=7, rows=300, difficulty=0.5))]
    assert len({problem.sha256 for problem in (first, *variants)}) == 3


def test_an_existing_file_is_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load()
    monkeypatch.setattr(RowsOnDisk, "blocks", None)
    assert load().sha256 == first.sha256


@pytest.mark.parametrize(
    "damage",
    ["shorter", "changed", "undescribed", "described wrongly", "no margin", "a FIFO", "gone"],
)
def test_an_incomplete_file_is_generated_again(damage: str, cache: Path) -> None:
    first = load()
    file, description = cache / f"{NAME}-seed0.npy", cache / f"{NAME}-seed0.json"
    content = file.read_bytes()
    if damage == "shorter":
        file.write_bytes(content[:-4])
    elif damage == "changed":
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "no margin":
        facts = json.loads(description.read_text()) | {"margin": "much"}
        description.write_text(json.dumps(facts))
    elif damage == "undescribed":
        description.unlink()
    elif damage == "a FIFO":
        description.unlink()
        os.mkfifo(description)
    elif damage == "described wrongly":
        description.write_text(json.dumps({"sha256": first.sha256}))
    else:
        file.unlink()
    assert load().sha256 == first.sha256
    assert file.read_bytes() == content


def test_an_unchanged_file_is_read_once_per_process(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, read = load(), []
    file = cache / f"{NAME}-seed0.npy"

    def counted(path: Path) -> str:
        read.append(path)
        return sha256_of(path)

    monkeypatch.setattr(rows_on_disk, "sha256_of", counted)
    assert [load().sha256 for _ in range(3)] == [first.sha256] * 3
    assert read == [file]
    state = file.stat()
    file.write_bytes(file.read_bytes())
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))  # as somebody who hides it would
    assert load().sha256 == first.sha256
    assert read == [file] * 2


def test_the_stated_margins_are_true(cache: Path) -> None:
    problem = load()
    rows = np.load(cache / f"{NAME}-seed0.npy").astype(float)
    margin = exact_margin(rows / np.linalg.norm(rows, axis=1)[:, None])[0]
    assert problem.facts.margin is not None
    assert 0 < problem.facts.margin <= margin * (1 + 1e-9)
    assert solve(problem.system).status is Status.FEASIBLE


def test_an_unfinished_file_is_removed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(rows_on_disk, "half_sphere", broken)
        with pytest.raises(DataError, match=r"cannot be written \(No space left on device\)"):
            load()
        assert not list(cache.iterdir())
    assert load().sha256


def test_a_full_disk_is_refused_before_anything_is_written(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(3_000_000_000))
    large = RowsOnDisk(dimension=1000, rows=1_000_000)
    with pytest.raises(DataError, match=r"take 4\.0 GB, of which the disk has 3\.0 free; make"):
        load(large)
    assert not list(cache.iterdir())


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"):
        load(RowsOnDisk(dimension=7, rows=300, directory="file/below"), base=tmp_path)


def test_unknown_names_and_seeds_are_refused() -> None:
    with pytest.raises(ConfigError, match="reflected-7x301-1"):
        SMALL.load("reflected-7x301-1", seed=0, base=Path())
    with pytest.raises(InputError, match="seed -1"):
        load(seed=-1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"family": "gaussian"},
        {"dimension": 1},
        {"rows": 0},
        {"difficulty": 0.0},
        {"memory": 10},
        {"ratio": 2.0},
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(RowsOnDisk).validate_python(parameters)


def test_the_largest_instance_has_a_name() -> None:
    large = RowsOnDisk(dimension=100_000, rows=1_000_000_000, difficulty=0.12345678901234567)
    assert check_instance_name(large.names()[0])
