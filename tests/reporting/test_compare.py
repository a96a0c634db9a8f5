"""Two runs compared: ratios, changes of status, and what else differs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.reporting.compare import (
    ALL,
    METRICS,
    MeanRatio,
    RunPair,
    compare,
    config_differences,
    environment_differences,
)
from tests.reporting.made_stores import made_row, make_store

PROBLEMS = ("p", "q", "r")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """B takes twice the time of A by EA, half of it by PRA; each has a row without partner."""
    first = [
        made_row(p, label, seconds=s) for p in PROBLEMS for label, s in (("EA", 1), ("PRA", 4))
    ]
    second = [made_row(p, label, seconds=2) for p in PROBLEMS for label in ("EA", "PRA")]
    a = make_store(tmp_path / "a", [*first, made_row("only-a")])
    b = make_store(tmp_path / "b", [made_row("only-b", seed=3), *reversed(second)])
    return a, b


def test_ratios_are_geometric_means_of_pairs(folders: tuple[Path, Path]) -> None:
    found = compare(*folders)
    assert {one.label: one.ratio for one in found.ratios} == pytest.approx(
        {"EA": 2.0, "PRA": 0.5, ALL: 1.0}
    )
    assert [(one.label, one.pairs, one.instances) for one in found.ratios] == [
        ("EA", 3, 3),
        ("PRA", 3, 3),
        (ALL, 6, 3),
    ]
    ea, pra, both = found.ratios
    assert (ea.lower, ea.upper) == pytest.approx((2.0, 2.0))
    assert (both.lower, both.upper) == pytest.approx((1.0, 1.0))
    assert pra.upper == pytest.approx(0.5)


def test_what_only_one_has_is_listed(folders: tuple[Path, Path]) -> None:
    found = compare(*folders)
    assert found.only_a == [("only-a", "EA", 0)]
    assert found.only_b == [("only-b", "EA", 3)]
    assert len(found.pairs) == 6


def test_a_run_compared_with_itself(folders: tuple[Path, Path]) -> None:
    found = compare(folders[0], folders[0], metric="products")
    assert all((one.ratio, one.lower, one.upper) == (1.0, 1.0, 1.0) for one in found.ratios)
    assert (found.config, found.environment, found.only_a, found.status_changes) == ([],) * 4
    assert not found.other_environment


def test_every_metric_is_a_column(folders: tuple[Path, Path]) -> None:
    for metric in METRICS:
        found = compare(*folders, metric=metric)
        counted = 0 if metric == "iterations" else 6  # no iterations: the value is 0
        assert sum(pair.ratio is not None for pair in found.pairs) == counted
        assert found.left_out == 6 - counted
        assert len(found.ratios) == (3 if counted else 0)


def test_only_pairs_that_ended_alike_with_a_proof_have_a_ratio(tmp_path: Path) -> None:
    limit = {"status": "UPDATE_LIMIT", "proved": False}
    a = [made_row("p"), made_row("q", **limit), made_row("r"), made_row("s"), made_row("t")]
    b = [
        made_row("p", **limit),
        made_row("q", **limit),
        made_row("r", status="INFEASIBLE"),
        made_row("s", seconds=None),
        made_row("t", seconds=3.0),
    ]
    found = compare(make_store(tmp_path / "a", a), make_store(tmp_path / "b", b))
    assert [pair.problem for pair in found.status_changes] == ["p", "r"]
    assert (found.unproved, found.left_out) == (1, 1)
    (only,) = found.ratios
    assert (only.label, only.pairs, only.ratio) == ("EA", 1, pytest.approx(3.0))
    assert (only.lower, only.upper) == (None, None)
    assert "no interval for a single problem" in str(found)
    assert (
        "5 pairs: 2 with different statuses, 1 with the same status but no proof, 1 with a missing"
        in str(found)
    )


def test_values_of_zero_have_no_ratio() -> None:
    for a, b in ((0.0, 1.0), (1.0, 0.0), (None, 1.0), (1.0, None)):
        assert RunPair("p", "l", 0, "FEASIBLE", "FEASIBLE", True, a, b).ratio is None
    assert RunPair("p", "l", 0, "FEASIBLE", "FEASIBLE", True, 2.0, 1.0).ratio == 0.5


def test_configurations_are_compared_key_by_key(tmp_path: Path) -> None:
    rows = [made_row("p")]
    a = make_store(tmp_path / "a", rows, config={"budget": {"updates": 5, "seconds": 1.0}})
    b = make_store(tmp_path / "b", rows, config={"seeds": [0, 1]})
    found = {one.path: (one.first, one.second) for one in compare(a, b).config}
    assert found["budget.updates"] == ("5", "1000000")
    assert found["seeds.1"] == ("(absent)", "1")
    assert "experiment" not in found


@pytest.mark.parametrize(
    ("change", "path", "comparable"),
    [
        ({"cpu": "two"}, "cpu", False),
        ({"packages": {"numpy": "9"}}, "packages.numpy", False),
        ({"git": {"revision": "def", "dirty": False}}, "git.revision", True),
        ({"time": "2027", "argv": ["other"]}, None, True),
    ],
)
def test_environments_are_compared(
    change: dict[str, object], path: str | None, comparable: bool, tmp_path: Path
) -> None:
    rows = [made_row("p"), made_row("q")]
    a = make_store(tmp_path / "a", rows)
    b = make_store(tmp_path / "b", rows, environment=change | {"id": "22222222"})
    found = compare(a, b)
    assert path is None or path in [one.path for one in found.environment]
    assert bool(found.environment) == (path is not None)
    assert bool(found.other_environment) != comparable
    assert ("do not compare times" in str(found)) != comparable
    assert found.as_json()["times_compare"] == comparable


def test_another_numeric_core_is_a_difference_of_the_package(tmp_path: Path) -> None:
    a = make_store(tmp_path / "a", [made_row("p")])
    b = make_store(tmp_path / "b", [made_row("p")], core="d" * 64)
    found = compare(a, b)
    assert [(one.path, one.first, one.second, one.of_package) for one in found.environment] == [
        ("core", '"cccccccc"', '"dddddddd"', True)
    ]


def test_several_environments_of_one_run_are_all_shown() -> None:
    (found,) = environment_differences([{"cpu": "one"}, {"cpu": "two"}], [{"cpu": "two"}])
    assert (found.path, found.first, found.second) == ("cpu", '"one" | "two"', '"two"')


@given(
    tree=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_equal_trees_do_not_differ(tree: object) -> None:
    assert config_differences(tree, tree) == []
    assert config_differences({"x": tree}, {"x": [tree]}) != [] or tree == []


@given(
    logs=st.lists(st.tuples(st.sampled_from("pqrs"), st.floats(-5, 5)), min_size=1, max_size=12),
    seed=st.integers(0, 5),
)
def test_the_interval_holds_the_means_of_problems(logs: list[tuple[str, float]], seed: int) -> None:
    found = MeanRatio.of("l", logs, 200, 0.95, seed)
    assert found.ratio == pytest.approx(math.exp(np.mean([log for _, log in logs])))
    assert found.instances == len({problem for problem, _ in logs})
    if found.lower is None or found.upper is None:
        assert found.instances == 1
        return
    each = [log for _, log in logs]
    assert math.exp(min(each)) * (1 - 1e-9) <= found.lower <= found.upper
    assert found.upper <= math.exp(max(each)) * (1 + 1e-9)
    assert found == MeanRatio.of("l", logs, 200, 0.95, seed)


def test_the_interval_draws_problems_and_not_rows() -> None:
    """Seeds of one problem are no independent evidence: they are drawn together."""
    logs = [("p", 1.0)] * 50 + [("q", 0.0)] * 50
    found = MeanRatio.of("l", logs, 2000, 0.95, 0)
    assert (found.lower, found.upper) == pytest.approx((1.0, math.e))


def test_the_frame_has_a_row_per_pair(folders: tuple[Path, Path]) -> None:
    frame = compare(*folders).to_frame()
    assert len(frame) == 6
    assert list(frame.loc[frame["label"] == "EA", "ratio"]) == [2.0, 2.0, 2.0]


def test_html_is_escaped(tmp_path: Path) -> None:
    row = made_row("<script>")
    a = make_store(tmp_path / "<i>", [row], config={"title": "<b>"})
    b = make_store(tmp_path / "b", [row])
    shown = compare(a, b)._repr_html_()
    assert "&lt;script&gt;" in shown
    assert not any(word in shown for word in ("<script>", "<b>", "<i>"))


def test_everything_is_json(folders: tuple[Path, Path]) -> None:
    found = compare(*folders)
    tree = json.loads(json.dumps(found.as_json()))
    assert [one["ratio"] for one in tree["ratios"]] == [one.ratio for one in found.ratios]
    assert tree["only_a"] == [["only-a", "EA", 0]]
    assert len(tree["pairs"]) == 6


def test_what_makes_no_sense_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"metric 'second'; allowed: .*did you mean 'seconds'"):
        compare(*folders, metric="second")
    for wrong in ({"resamples": 0}, {"level": 1.0}, {"seed": -1}):
        with pytest.raises(ConfigError, match="allowed: 1 or more resamples"):
            compare(*folders, **wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"no such file or folder in .*; results in .*: a, b"):
        compare(folders[0], tmp_path / "none")
