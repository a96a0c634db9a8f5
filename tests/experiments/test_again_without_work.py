"""A run without work reads its file once, each cell a few times, and decodes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import perceptron_lab
from perceptron_lab.cli.main import main
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.experiments.cells import supervisor
from perceptron_lab.experiments.configuration import loader, yaml_source
from perceptron_lab.experiments.running import runner
from perceptron_lab.experiments.storage import certificate_files, reader, schema, stored
from tests.experiments.many_cells import many_cells

pytestmark = pytest.mark.slow

CELLS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    (folder / "many.yaml").write_text(many_cells(CELLS))
    assert main(["run", str(folder / "many.yaml"), "--output", str(folder), "-q"]) == 0
    return folder


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is done with stored cells."""
    counts: Counter[str] = Counter()

    def counted(owner: Any, name: str, alias: str | None = None) -> None:
        before: Callable[..., Any] = getattr(owner, name)

        def called(*arguments: Any, **named: Any) -> Any:
            counts[alias or name] += 1
            return before(*arguments, **named)

        monkeypatch.setattr(owner, name, called)

    counted(reader, "stored_of")
    counted(reader, "record_in", "planned_of")
    counted(reader, "sha256_of", "hashed")
    counted(reader, "decoded_trace", "decoded")
    counted(stored, "unpacked", "decoded")
    counted(certificate_files, "read_answer", "decoded")
    counted(stored.ProcessLimits, "__init__", "limits")
    counted(MarginSets, "load", "loaded")
    counted(yaml_source, "parse", "parsed")
    counted(loader, "validated")
    counted(loader, "algorithm_variants", "expanded")
    counted(loader, "problem_instances", "expanded")
    counted(schema, "_connect", "opened")
    counted(runner, "decide_reuse", "judged")
    counted(supervisor, "Attempt", "launched")
    return counts


def most(calls: Counter[str], **per_cell: int) -> None:
    for name, times in per_cell.items():
        assert calls[name] <= times * CELLS, name


def test_a_run_again(folder: Path, calls: Counter[str]) -> None:
    words = ["run", str(folder / "many.yaml"), "--output", str(folder), "-q"]
    assert main(words) == 0
    most(calls, stored_of=1, planned_of=0, hashed=2)
    assert calls["stored_of"] >= CELLS
    assert calls["loaded"] == CELLS // 2
    assert (calls["decoded"], calls["launched"]) == (0, 0)
    assert calls["limits"] <= 1
    once = ("parsed", "validated", "opened")
    assert {name: calls[name] for name in once} == dict.fromkeys(once, 1)
    assert calls["expanded"] == 3  # its three entries
    assert calls["judged"] == CELLS


def test_a_run_again_from_python(folder: Path, calls: Counter[str]) -> None:
    results = perceptron_lab.run(folder / "many.yaml", output=folder)
    assert len(results.rows) == CELLS
    counts = [calls[name] for name in ("parsed", "validated", "opened", "expanded", "judged")]
    assert counts == [1, 1, 1, 3, CELLS]


def test_status(folder: Path, calls: Counter[str]) -> None:
    assert main(["status", str(folder / "many")]) == 0
    most(calls, stored_of=1, planned_of=1, hashed=2)
    assert (calls["decoded"], calls["loaded"]) == (0, 0)


def test_damage_is_recognised_all_the_same(folder: Path, calls: Counter[str]) -> None:
    path = sorted((folder / "many" / "certificates").iterdir())[0]
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert main(["run", str(folder / "many.yaml"), "--output", str(folder), "-q"]) == 0
    assert calls["launched"] == 1
    assert path.read_bytes() != bytes(content)
