"""Results print as a short summary and survive a round trip through a file."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.goals import Goal, MarginRatio, MarginUpper
from perceptron_lab.core.results import Bound, Result, Status, Trace

RESULT = Result(
    status=Status.FEASIBLE,
    proved=True,
    point=np.array([0.1, -2.5e-310, 1e300]),
    weights=np.array([0.25, 0.0, 0.75, 1 / 3]),
    margin_lower=0.1 + 0.2,
    margin_upper=0.5,
    updates=7,
    queries=8,
    iterations=0,
    products=8.5,
    seconds=0.125,
    proof_seconds=0.05,
    total_seconds=0.25,
    trace=Trace([0, 1], [0, 0], [0, 1], [0.0, 1.0], [0.0, 0.1], ["", "ü 2"], [-math.inf, 0.3]),
    certificate={"method": "rows by dot-product bounds", "exact_rows": 3, "claims_rejected": 0},
    bound=Bound(100.0, "Theorem 2.7 (Novikoff) of Kharechko2009"),
    message="the point is proved strictly feasible",
)


GOALS: list[tuple[Goal, bool]] = [
    ("decide", True),
    ("budget", False),
    (MarginUpper(1e-9), True),
    (MarginRatio(0.1 + 0.2), False),
]


def round_trip(result: Result, path: Path) -> Result:
    result.save(path)
    return Result.load(path)


def assert_equal(left: Result, right: Result) -> None:
    for name in (field.name for field in fields(Result)):
        ours, expected = getattr(left, name), getattr(right, name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == expected.dtype
            np.testing.assert_array_equal(ours, expected)
        else:
            assert ours == expected, name
            assert type(ours) is type(expected), name


def test_a_result_survives_a_round_trip(tmp_path: Path) -> None:
    assert_equal(round_trip(RESULT, tmp_path / "result.npz"), RESULT)


@pytest.mark.parametrize(("goal", "reached"), GOALS, ids=str)
def test_goals_survive_it_as_well(tmp_path: Path, goal: Goal, reached: bool) -> None:
    result = replace(RESULT, goal=goal, goal_reached=reached)
    assert_equal(round_trip(result, tmp_path / "result.npz"), result)


def test_a_file_that_knows_no_goal_is_read(tmp_path: Path) -> None:
    RESULT.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as arrays:
        record = json.loads(str(arrays["json"]))
        del record["goal"], record["goal_reached"]
        np.savez(tmp_path / "old.npz", **{**arrays, "json": np.array(json.dumps(record))})
    assert_equal(Result.load(tmp_path / "old.npz"), RESULT)


def test_the_first_line_states_whether_the_goal_is_reached() -> None:
    missed = replace(RESULT, goal=MarginRatio(0.99), goal_reached=False)
    assert str(missed).startswith("FEASIBLE (proved), goal margin_ratio=0.99 missed: the point")
    reached = replace(RESULT, goal=MarginRatio(0.99), goal_reached=True)
    assert str(reached).startswith("FEASIBLE (proved), goal margin_ratio=0.99 reached: the point")
    limit = replace(RESULT, status=Status.TIME_LIMIT, goal="decide", goal_reached=False)
    assert str(limit).startswith("TIME_LIMIT (proved), goal decide missed: the point")
    decided = replace(RESULT, goal="decide", goal_reached=True)
    assert str(decided).startswith("FEASIBLE (proved): the point")


@pytest.mark.parametrize("name", ["result", "result.result", "größe.npz"])
def test_the_file_has_exactly_the_name_given(tmp_path: Path, name: str) -> None:
    assert_equal(round_trip(RESULT, tmp_path / name), RESULT)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert_equal(Result.load(str(tmp_path / name)), RESULT)


def test_measured_numbers_and_arrays_survive(tmp_path: Path) -> None:
    """One entry per record: numbers, or arrays of one shape, under any name."""
    measures: dict[str, list[Any]] = {
        "test_error": [0.5, 0.25],
        "decision values": [np.array([1.0, -2.0, 5e-324]), np.array([0.0, math.inf, 1e300])],
        "größe": [1, 2],
    }
    traced = replace(RESULT, trace=replace(RESULT.trace, measures=measures))
    loaded = round_trip(traced, tmp_path / "traced.npz").trace.measures
    assert list(loaded) == list(measures)
    for name, values in measures.items():
        assert len(loaded[name]) == 2
        np.testing.assert_array_equal(np.array(loaded[name]), np.array(values))
    assert replace(traced.trace, measures={}) == RESULT.trace


def test_absent_values_remain_absent(tmp_path: Path) -> None:
    bare = replace(
        RESULT,
        status=Status.UPDATE_LIMIT,
        proved=False,
        weights=None,
        margin_lower=None,
        margin_upper=None,
        trace=Trace(),
        certificate={},
        bound=Bound(None, "Theorem 4.4", "no positive margin is known"),
        message="",
    )
    assert_equal(round_trip(bare, tmp_path / "bare.npz"), bare)


def test_infinities_survive(tmp_path: Path) -> None:
    infinite = replace(RESULT, margin_lower=-math.inf, margin_upper=math.inf, seconds=math.inf)
    assert_equal(round_trip(infinite, tmp_path / "infinite.npz"), infinite)


@pytest.mark.parametrize("status", Status)
def test_every_status_survives(tmp_path: Path, status: Status) -> None:
    loaded = round_trip(replace(RESULT, status=status), tmp_path / "status.npz")
    assert loaded.status is status


def test_a_file_is_overwritten(tmp_path: Path) -> None:
    round_trip(RESULT, tmp_path / "result.npz")
    other = replace(RESULT, weights=None, message="another")
    assert_equal(round_trip(other, tmp_path / "result.npz"), other)


def test_the_file_holds_no_pickle(tmp_path: Path) -> None:
    RESULT.save(tmp_path / "result.npz")
    with np.load(tmp_path / "result.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {"point", "weights", "json"}
        assert all(array.dtype != object for array in arrays.values())


def test_the_summary() -> None:
    assert str(RESULT).splitlines() == [
        "FEASIBLE (proved): the point is proved strictly feasible",
        "  margin in [0.3, 0.5]",
        "  7 updates, 8 queries, 0 iterations, 8.5 products, 0.125 s",
        "  bound: 100 updates (Theorem 2.7 (Novikoff) of Kharechko2009)",
    ]


def test_a_bound_names_the_bounded_quantity() -> None:
    expected = Bound(100.0, "Theorem 4.2 of Kharechko2009", kind="expectation")
    assert str(replace(RESULT, bound=expected)).splitlines()[-1] == (
        "  bound: 100 updates in expectation (Theorem 4.2 of Kharechko2009)"
    )
    assert str(Bound(None, "", "no positive margin is known")) == (
        "none (no positive margin is known)"
    )


def test_the_kind_of_a_bound_survives(tmp_path: Path) -> None:
    bound = Bound(100.0, "Theorem 4.2 of Kharechko2009", kind="expectation")
    loaded = round_trip(replace(RESULT, bound=bound), tmp_path / "expected.npz")
    assert loaded.bound == bound


def test_the_summary_of_a_run_without_verified_result() -> None:
    nothing = replace(
        RESULT,
        status=Status.TIME_LIMIT,
        proved=False,
        margin_lower=None,
        margin_upper=None,
        bound=Bound(None, "Theorem 4.4", "no positive margin is known"),
        message="the budget of 1 seconds is spent",
    )
    lines = str(nothing).splitlines()
    assert lines[:2] == [
        "TIME_LIMIT: the budget of 1 seconds is spent",
        "  margin in [?, ?]",
    ]
    assert len(lines) == 3


def test_which_statuses_are_failures() -> None:
    failures = {status.value for status in Status if status.failed}
    assert failures == {
        "NUMERICAL_ERROR",
        "UNVERIFIED",
        "CRASHED",
        "KILLED",
        "OUT_OF_MEMORY",
        "ERROR",
    }


def test_the_length_of_a_trace_is_its_number_of_records() -> None:
    assert len(RESULT.trace) == 2
    assert len(Trace()) == 0
    assert Trace().updates is not Trace().updates


@pytest.mark.parametrize("content", [None, b"", b"prose", b"PK\x03\x04broken"])
def test_a_file_that_is_no_result_is_a_data_error(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "result.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"result\.npz: not a result"):
        Result.load(path)


def test_a_result_is_one_short_line_to_a_prompt() -> None:
    assert repr(RESULT) == "<Result FEASIBLE proved, margin in [0.3, 0.5], 7 updates>"


def test_a_notebook_shows_a_table_with_every_text_escaped() -> None:
    html = replace(RESULT, message="<b>1 < 2</b>")._repr_html_()
    assert html.startswith("<table>")
    assert "&lt;b&gt;1 &lt; 2&lt;/b&gt;" in html
    assert "[0.3, 0.5]" in html
    assert "[0.1, -2.5e-310, 1e+300], 3 in all" in html


@pytest.mark.parametrize("bounds", [(0.1, 0.5), (None, 0.5), (0.1, None), (None, None)])
def test_the_figure_of_a_trace_shows_its_finite_values(bounds: tuple[Any, Any]) -> None:
    lower, upper = bounds
    figure = replace(RESULT, margin_lower=lower, margin_upper=upper).plot()
    (axes,) = figure.axes
    margins = axes.lines[0].get_xydata()
    assert margins.tolist() == [[1.0, 0.3]]  # the first record has no margin
    proved = sorted({line.get_ydata()[0] for line in axes.lines[1:]})
    assert proved == [bound for bound in bounds if bound is not None]


def test_the_figure_of_a_trace_is_a_picture_in_notebooks() -> None:
    assert RESULT.plot()._repr_png_()[:4] == b"\x89PNG"  # type: ignore[attr-defined]
