"""What a run knows of its cells when it has ended is what the store says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from perceptron_lab.experiments.provenance.code_digest import CellCode
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.runner import ExperimentRows, run_cells
from perceptron_lab.experiments.running.status import CellState, status
from perceptron_lab.experiments.storage.reader import Reader
from tests.experiments.conftest import Configure
from tests.experiments.processes import faulty


def hold(rows: ExperimentRows) -> ExperimentRows:
    """Check a run against its store."""
    now = status(rows.folder)
    assert rows.cells == len(now.cells)
    assert rows.stale == now.counts[CellState.STALE]
    assert rows.missing == now.counts[CellState.MISSING]
    with Reader.open(rows.folder) as reader:
        assert rows.rows == reader.rows()
    return rows


def test_all_cells_have_ended(configure: Configure, tmp_path: Path) -> None:
    first = hold(run_cells(configure(), output=tmp_path))
    assert len(first.rows) == first.cells > 1
    assert hold(run_cells(configure(), output=tmp_path)) == first


def test_the_first_failure_has_ended_it(configure: Configure, tmp_path: Path) -> None:
    config = configure(algorithms=[faulty("not"), faulty("error"), faulty("segfault")])
    held_lock = hold(run_cells(config, output=tmp_path, execution=Execution(fail_fast=True)))
    assert len(held_lock.failed) == 1
    assert held_lock.missing == held_lock.cells - len(held_lock.rows) > 0
    run_cells(config, output=tmp_path)
    again = hold(run_cells(config, output=tmp_path, execution=Execution(fail_fast=True)))
    assert len(again.failed) == 2  # one of them not tried again: that is a failure, not a gap


def test_rows_of_other_code_and_another_budget(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    algorithms = [faulty("not"), faulty("error")]
    with monkeypatch.context() as patch:
        patch.setattr(CellCode, "digest_of", lambda *_: f"cell:{0:064}")
        run_cells(configure(algorithms=algorithms), output=tmp_path)
    more = configure(algorithms=[*algorithms, faulty("not", 2)])
    held_lock = hold(run_cells(more, output=tmp_path))
    assert 0 < held_lock.stale < held_lock.cells
    assert hold(run_cells(more, output=tmp_path, execution=Execution(refresh=True))).stale == 0
