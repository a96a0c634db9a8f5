"""Rows in parts: proved answers from passes that dask or this process runs."""

from __future__ import annotations

import operator
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402
from dask.delayed import delayed  # noqa: E402

from perceptron_lab.certificates.margin import prove_weights  # noqa: E402
from perceptron_lab.certificates.rounding import exact_dot  # noqa: E402
from perceptron_lab.cones.operators import row_parts  # noqa: E402
from perceptron_lab.cones.operators.dask_rows import parts_of_dask  # noqa: E402
from perceptron_lab.cones.operators.row_parts import (  # noqa: E402
    Block,
    DelayedRows,
    RowParts,
)
from perceptron_lab.cones.operators.row_source import ArrayRows  # noqa: E402
from perceptron_lab.core import time_limit  # noqa: E402
from perceptron_lab.core.errors import DataError, InputError, RowError  # noqa: E402
from perceptron_lab.core.goals import Budget  # noqa: E402
from perceptron_lab.core.results import FloatArray, Result, Status  # noqa: E402
from perceptron_lab.datasets.formats.row_files import NumpyRows, ParquetRows  # noqa: E402
from perceptron_lab.exact.checker import checker  # noqa: E402
from perceptron_lab.experiments.certifying.certify import certify  # noqa: E402
from perceptron_lab.solving import driver  # noqa: E402
from perceptron_lab.solving.entry import solve  # noqa: E402
from perceptron_lab.systems import ConicSystem, parted_system  # noqa: E402
from perceptron_lab.systems.parted_system import PartedSystem  # noqa: E402
from perceptron_lab.systems.passes import At, changed_blocks  # noqa: E402
from tests.families import infeasible, planted  # noqa: E402
from tests.repetitions import thinned  # noqa: E402


@pytest.fixture(autouse=True)
def here() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def feasible_rows(seed: int, rows: int = 3000) -> FloatArray:
    return planted(6, rows, 0.02, np.random.default_rng(seed))[0]


def split(rows: FloatArray, size: int) -> Any:
    return da.from_array(rows, chunks=(size, rows.shape[1]))


def assert_same_facts(rows: FloatArray, one: Result, other: Result) -> None:
    """Both have one status, and their proved brackets intersect."""
    assert one.status is other.status
    assert one.proved
    assert other.proved
    lower = max(r.margin_lower for r in (one, other) if r.margin_lower is not None)
    assert lower <= min(r.margin_upper for r in (one, other) if r.margin_upper is not None)
    for result in (one, other):
        if result.status is Status.FEASIBLE:
            assert all(exact_dot(row, result.point) > 0 for row in rows)
        else:
            assert result.weights is not None
            assert result.weights.min() >= 0.0


def refused_claims(run: Result, data: Path) -> list[str]:
    """Return what the checker does not accept of the certificate of an answer for a file's rows."""
    answer = data.with_suffix(".npz")
    run.save(answer)
    (cell,) = certify(answer, data.parent / "exact", data=data).cells
    assert cell.path is not None
    assert run.status.value.lower() in cell.claims
    return [reason for _, reason in checker().check(cell.path, str(data)) if reason]


@pytest.mark.parametrize("seed", thinned(range(20), step=13))
def test_data_have_one_answer_in_memory_mapped_in_parquet_and_on_dask(
    seed: int, tmp_path: Path
) -> None:
    """Each is certified, also with the parts permuted and split differently."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(seed)
    rows = infeasible(4, 300, rng) if seed % 2 else feasible_rows(seed, 400)
    np.save(tmp_path / "rows.npy", rows)
    named = {f"x{j}": column for j, column in enumerate(rows.T)}
    parquet.write_table(pa.table(named), tmp_path / "rows.parquet", row_group_size=300)
    order, size = rng.permutation(len(rows)), int(rng.integers(50, 250))
    np.save(tmp_path / "permuted.npy", rows[order])
    expected = solve(rows)
    runs = [expected, solve(split(rows, size)), solve(split(rows, 2 * size + 1))]
    for source in (NumpyRows(tmp_path / "rows.npy"), ParquetRows(tmp_path / "rows.parquet")):
        runs += [solve(source), solve(PartedSystem(RowParts([source])))]
    for run in runs:
        assert_same_facts(rows, expected, run)
        assert refused_claims(run, tmp_path / "rows.npy") == []
    permuted = solve(split(rows[order], size))
    assert_same_facts(rows[order], expected, permuted)
    assert refused_claims(permuted, tmp_path / "permuted.npy") == []


@pytest.mark.parametrize("algorithm", ["auto", "perceptron", "mirror-prox"])
def test_answers_do_not_depend_on_the_splitting(algorithm: str) -> None:
    rows = np.repeat(feasible_rows(2, 1000), 2, axis=0)
    runs = [solve(split(rows, size), algorithm) for size in (2000, 701, 64)]
    assert {run.status for run in runs} == {Status.FEASIBLE}
    assert len({run.point.tobytes() for run in runs}) == 1
    assert len({(run.updates, run.certificate["passes"]) for run in runs}) == 1
    assert_same_facts(rows, solve(rows, algorithm), runs[0])


def test_passes_over_files_arrays_and_dask_find_the_same(tmp_path: Path) -> None:
    """To the last bit, although the blocks of Parquet are stored column by column."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    examples, point = feasible_rows(6), np.append(np.arange(1.0, 7.0), 0.5)
    signs = np.where(examples[:, 0] > 0.0, 1.0, -1.0)
    np.save(tmp_path / "rows.npy", examples)
    named = {f"x{j}": column for j, column in enumerate(examples.T)}
    parquet.write_table(pa.table(named), tmp_path / "rows.parquet", row_group_size=700)
    files = NumpyRows(tmp_path / "rows.npy"), ParquetRows(tmp_path / "rows.parquet")
    passes = [RowParts([some]).signed(signs) for some in (*files, ArrayRows(examples))]
    passes.append(parts_of_dask(split(examples, 3000), da.from_array(signs, chunks=3000)))
    at = At(point, 40, unit=True)
    first, *others = (rows.reduce(at, at.combine) for rows in passes)
    for other in others:
        assert other.margins.tobytes() == first.margins.tobytes()
        assert other.rows.tobytes() == first.rows.tobytes()
        assert other.rows.flags.c_contiguous
        assert other.indices.tolist() == first.indices.tolist()
        assert other.checksums == first.checksums
    swapped = signs.copy()
    swapped[[7, 8]] *= -1.0
    relabelled = RowParts([files[1]]).signed(swapped).reduce(at, at.combine)
    assert changed_blocks(first, relabelled) == [(0, 0)]


def test_equal_margins_go_to_the_lowest_row_numbers() -> None:
    rows = np.ones((50, 2))
    at = At(np.array([1.0, 0.0]), 3, unit=True)
    parts = RowParts([ArrayRows(rows[:20]), ArrayRows(rows[20:])])
    assert parts.reduce(at, at.combine).indices.tolist() == [0, 1, 2]


def test_a_ratio_of_the_margin_is_proved_on_all_rows() -> None:
    rows = feasible_rows(3)
    result = solve(split(rows, 500), goal={"margin_ratio": 0.99})
    assert result.goal_reached
    assert 0.99 * result.margin_upper <= result.margin_lower  # type: ignore[operator]
    system = ConicSystem.from_rows(rows)
    assert system.prove_point(result.point).margin_lower == pytest.approx(result.margin_lower)
    assert result.certificate["passes"] <= 4


def test_infeasible_rows_have_weights_on_few_of_them() -> None:
    rows = infeasible(4, 900, np.random.default_rng(5))
    result = solve(split(rows, 100))
    assert result.status is Status.INFEASIBLE
    few = result.certificate["weights"]
    assert len(few["rows"]) <= 5
    weights = np.zeros(len(rows))
    weights[few["rows"]] = few["values"]
    assert np.array_equal(weights, result.weights)
    system = ConicSystem.from_rows(rows, margin="directional")
    upper = prove_weights(system.operator, system.cone, weights)
    assert upper is not None
    assert upper < 1e-12


def test_of_very_many_rows_only_those_with_weights_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = split(infeasible(4, 900, np.random.default_rng(5)), 100)
    expected = solve(rows)
    monkeypatch.setattr(parted_system, "MOST_WEIGHTS", 899)
    result = solve(rows)
    assert (result.status, result.weights) == (Status.INFEASIBLE, None)
    assert result.certificate["weights"] == expected.certificate["weights"]


@pytest.mark.parametrize("affine_labels", [np.array(["no", "yes"]), np.array([-1, 1])])
def test_labelled_collections_are_signed_where_they_are(affine_labels: Any) -> None:
    rng = np.random.default_rng(7)
    examples = rng.standard_normal((800, 4)).astype(np.float32)
    labels = affine_labels[(examples @ rng.standard_normal(4) > 0.3).astype(int)]
    run = solve(split(examples, 90), da.from_array(labels, chunks=77))
    expected = solve(examples, labels)
    signs = np.where(labels == affine_labels[1], 1.0, -1.0)
    assert_same_facts(np.column_stack([examples, np.ones(800)]) * signs[:, None], expected, run)


def test_a_frame_and_an_array_of_unknown_sizes_are_solved() -> None:
    pd, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    rows = feasible_rows(8, 400)
    frame = frames.from_pandas(pd.DataFrame(rows), npartitions=3)
    assert solve(frame).status is Status.FEASIBLE
    assert solve(frame.to_dask_array()).status is Status.FEASIBLE
    labels = frames.from_pandas(pd.Series(np.where(rows[:, 0] > 0, 1, 0)), npartitions=3)
    assert solve(frame, labels).status is Status.FEASIBLE


def test_a_pass_reads_each_block_once() -> None:
    rows, reads = feasible_rows(9), list[int]()

    def read(block: FloatArray) -> FloatArray:
        reads.append(len(block))
        return block

    array = split(rows, 500).map_blocks(read, dtype=float, meta=np.empty((0, 6)))
    result = solve(array, goal={"margin_ratio": 0.9})
    first = 3  # Blocks of the first working set, 1200 rows
    assert len(reads) == 6 * result.certificate["passes"] + first
    assert {*reads} == {500}


def test_parts_with_labels_are_pickled_without_their_neighbours() -> None:
    rows, signs = np.ones((1000, 3)), np.ones(1000)
    parts = [ArrayRows(rows[:10]), ArrayRows(rows[10:])]
    parted = RowParts(parts).signed(signs)
    assert parted.shape == (1000, 4)
    assert len(pickle.dumps(parted.parts[0])) < 2000
    assert parted.reduce(Sizes(), operator.add) == 4000


class Sizes:
    def __call__(self, block: Any) -> int:
        return int(block.rows.size)


def test_a_part_that_changes_between_passes_is_refused_with_the_bracket() -> None:
    rows, calls = feasible_rows(10), list[int]()

    def changing() -> ArrayRows:
        calls.append(0)
        part = rows[1000:].copy()
        part[7, 3] += 1e-12 * (len(calls) > 2)  # The first working set, the first pass, others
        return ArrayRows(part)

    first = DelayedRows(delayed(ArrayRows)(rows[:1000]), (1000, 6), "first half")
    second = DelayedRows(delayed(changing)(), (2000, 6), "second half")
    system = PartedSystem(RowParts([first, second]))
    changed = r"second half: the rows of block 0 changed between two passes.*was proved before"
    with pytest.raises(DataError, match=changed):
        solve(system, "perceptron", goal={"margin_ratio": 0.99})


def test_a_part_that_cannot_be_read_ends_the_run_with_the_bracket() -> None:
    def lost(block: FloatArray) -> FloatArray:
        raise OSError("the disk is gone")

    rows = feasible_rows(11)
    unreadable = split(rows[2000:], 1000).map_blocks(lost, dtype=float, meta=np.empty((0, 6)))
    array = da.concatenate([split(rows[:2000], 1000), unreadable])
    unread = r"^part 2 \(rows 2000 to 2999\) cannot be read \(OSError: the disk is gone\); a margin"
    with pytest.raises(DataError, match=rf"{unread} between -inf and 0\.\d+ was"):
        solve(array)


def test_a_part_that_kills_its_workers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = pytest.importorskip("distributed.scheduler")
    array = split(feasible_rows(11), 1000)

    def killed(task: Any) -> None:
        raise scheduler.KilledWorker((array.name, 1, 0), SimpleNamespace(address=""), 3)

    rows = parts_of_dask(array)
    monkeypatch.setattr(row_parts, "_in_time", killed)
    with pytest.raises(DataError, match=r"\(KilledWorker at part 1 \(rows 1000 to 1999\)\)"):
        rows.reduce(Sizes(), operator.add)


@pytest.mark.parametrize(("value", "fault"), [(np.nan, "holds NaN"), (0.0, "is zero")])
def test_a_row_that_makes_no_system_is_named_by_its_global_number(value: float, fault: str) -> None:
    for row in (123, 2345):  # of the first working set, and of the first pass
        rows = feasible_rows(12)
        rows[row] = value
        with pytest.raises(RowError, match=f"row {row} {fault}"):
            solve(split(rows, 400))


def test_limits_of_a_run_hold_for_all_rounds() -> None:
    rows = feasible_rows(13)
    run = solve(split(rows, 400), "perceptron", budget=Budget(updates=3))
    assert run.status is Status.UPDATE_LIMIT
    assert run.updates <= 3


class Counted(ArrayRows):
    """Rows that count how often they are read."""

    def __init__(self, array: FloatArray, reads: list[int]) -> None:
        super().__init__(array)
        self.reads = reads

    def blocks(self) -> Any:
        self.reads.append(1)
        return super().blocks()

    def __getitem__(self, indices: Any) -> Any:
        self.reads.append(1)
        return super().__getitem__(indices)


PASS = 3000 // 100
FIRST = PASS * 1200 // 3000  # Parts of the first working set


@pytest.mark.parametrize("scheduler", [None, "synchronous", "threads"])
@pytest.mark.parametrize("reads", [0, 3, FIRST + 1, FIRST + PASS + 4])
def test_a_run_that_is_stopped_reads_no_further_part(
    reads: int, scheduler: str | None, tmp_path: Path
) -> None:
    counts = list[int]()
    parts: list[Any] = [Counted(some, counts) for some in np.split(feasible_rows(13), PASS)]
    if scheduler:
        parts = [
            DelayedRows(delayed(part, traverse=False), part.shape, str(number))
            for number, part in enumerate(parts)
        ]

    def stop() -> str | None:
        return "stopped" if len(counts) >= reads else None

    with dask.config.set(scheduler=scheduler or "synchronous", num_workers=1):
        run = solve(RowParts(parts), "perceptron", goal={"margin_ratio": 0.999}, stop=stop)
    assert len(counts) <= reads + 1
    assert run.message.startswith("stopped; ")
    assert run.certificate["passes"] == (reads > FIRST + PASS)
    # A pass that was ended proves nothing; the bounds before stay
    assert (run.status is Status.FEASIBLE) == run.proved == (run.margin_lower is not None)
    assert (run.margin_upper is None) == (reads < FIRST)
    run.save(tmp_path / "answer")
    assert Result.load(tmp_path / "answer").status is run.status


@pytest.mark.parametrize("seconds", [5, FIRST + 5])
def test_a_time_limit_ends_a_pass(seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = list[int]()
    clock = SimpleNamespace(perf_counter=lambda: len(reads), monotonic=lambda: len(reads))
    monkeypatch.setattr(time_limit, "time", clock)
    parts = RowParts([Counted(some, reads) for some in np.split(feasible_rows(13), PASS)])
    run = solve(parts, budget=Budget(seconds=seconds))
    assert run.status is Status.TIME_LIMIT
    assert not run.proved
    assert run.message == f"the budget of {seconds} seconds is spent; 0 passes over the rows"
    # A part takes a second here, and proofs may take a little longer than the limit
    assert seconds < len(reads) <= 1.05 * seconds + 2.0


def test_for_the_goal_budget_an_algorithm_runs_on_all_rows() -> None:
    rows, limits = feasible_rows(14), Budget(updates=20)
    run = solve(split(rows, 500), "perceptron", goal="budget", budget=limits)
    expected = solve(rows, "perceptron", goal="budget", budget=limits)
    assert (run.status, run.updates) == (expected.status, expected.updates)
    assert run.point.tobytes() == expected.point.tobytes()


def test_problems_that_passes_do_not_solve_are_refused() -> None:
    rows = split(feasible_rows(14), 500)
    with pytest.raises(InputError, match="geometric"):
        solve(rows, da.ones(3000), margin="geometric")
    with pytest.raises(InputError, match="labels have shape"):
        solve(rows, da.ones(7))
    with pytest.raises(InputError, match="both as collections"):
        solve(rows, np.ones(3000))
    with pytest.raises(InputError, match="give rows, shape"):
        solve(da.ones(7))
    with pytest.raises(InputError, match="two classes"):
        solve(rows, da.arange(3000, chunks=500) % 3)


def test_bounds_of_blocks_are_combined_with_their_roundings() -> None:
    rows = feasible_rows(3)[:50]
    at = At(solve(rows).point, 5, unit=True)
    exact, rounded = (at(Block(0, rows, 0, 0, roundings)) for roundings in (0, 1))
    assert 0.0 < rounded.margin_lower < exact.margin_lower
    for pair in ((exact, rounded), (rounded, exact)):
        assert at.combine(*pair).roundings == 1
        assert at.combine(*pair).margin_lower == rounded.margin_lower
    # Positive by less than a rounding: exact arithmetic decides only what was not rounded
    tiny, ones = np.array([[1.0, 2.0**-53 - 1.0]]), At(np.ones(2), 1, unit=True)
    exact, rounded = (ones(Block(0, tiny, 0, 0, roundings)) for roundings in (0, 1))
    assert (exact.feasible, exact.exact_rows, rounded.feasible) == (True, 1, False)


def test_the_rows_of_least_margin_are_those_of_all_rows() -> None:
    lengths = np.linspace(1.0, 9.0, 3000)[:, None]
    rows, point = feasible_rows(4) * lengths, np.arange(1.0, 7.0)
    parts = RowParts([ArrayRows(some) for some in np.split(rows, 3)])
    for unit, norms in ((False, np.ones(3000)), (True, np.linalg.norm(rows, axis=1))):
        at = At(point, 7, unit)
        least = np.argsort(rows @ point / norms)[:7]
        assert parts.reduce(at, at.combine).indices.tolist() == least.tolist()


def test_a_part_of_another_shape_than_announced_is_refused() -> None:
    part = DelayedRows(delayed(ArrayRows)(np.ones((5, 2))), (4, 2), "rows of today")
    with pytest.raises(DataError, match=r"rows of today: .*\(5, 2\), and \(4, 2\) was announced"):
        RowParts([part]).reduce(Sizes(), operator.add)


def test_roundings_that_a_pass_reveals_count_in_later_rounds() -> None:
    rows = feasible_rows(0, 6000)
    first, rest = (
        delayed(ArrayRows)(some, roundings=k) for k, some in enumerate(np.split(rows, 2))
    )
    parts = RowParts([DelayedRows(first, (3000, 6), "a"), DelayedRows(rest, (3000, 6), "b")])
    run = solve(parts, goal={"margin_ratio": 0.999})
    assert run.certificate["passes"] > 1
    assert run.certificate["data"] == "rounded once, enclosed"


def test_the_best_point_of_several_passes_is_kept_and_rows_join_once() -> None:
    run = solve(split(feasible_rows(0, 6000), 1500), goal={"margin_ratio": 0.999})
    assert run.goal_reached
    assert run.certificate["passes"] == 2
    assert 1200 < run.certificate["working_rows"] < 1500


def test_directional_margins_are_those_of_the_rows_as_they_are() -> None:
    rows = feasible_rows(3) * np.linspace(1.0, 9.0, 3000)[:, None]
    run = solve(split(rows, 500), margin="directional")
    system = ConicSystem.from_rows(rows, margin="directional")
    assert system.prove_point(run.point).margin_lower == pytest.approx(run.margin_lower)


def test_later_rounds_have_what_is_left_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets, reads, driven = list[Budget](), list[int](), driver._driven

    def spy(system: Any, algorithm: Any, options: Any) -> Result:
        budgets.append(options.budget)
        return driven(system, algorithm, options)

    clock = SimpleNamespace(perf_counter=lambda: len(reads), monotonic=lambda: len(reads))
    monkeypatch.setattr(driver, "_driven", spy)
    monkeypatch.setattr(time_limit, "time", clock)
    parts = RowParts([Counted(some, reads) for some in np.split(feasible_rows(0, 6000), 60)])
    limits = Budget(updates=10_000, seconds=1000)
    run = solve(parts, "perceptron", goal={"margin_ratio": 0.999}, budget=limits)
    seconds, updates = [budget.seconds for budget in budgets], [b.updates for b in budgets]
    assert run.certificate["passes"] > 1
    assert seconds[:2] == [1000 - 12, 1000 - 72]
    assert 10_000 - run.updates < updates[1] < updates[0] == 10_000


def test_rounded_numbers_widen_the_proofs() -> None:
    wide = np.full((4, 2), 2**53 + 1, dtype=np.int64)
    result = solve(da.from_array(wide, chunks=(2, 2)))
    assert result.status is Status.FEASIBLE
    assert result.certificate["data"] == "rounded once, enclosed"
