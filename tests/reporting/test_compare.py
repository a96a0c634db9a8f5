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
from tests.reporting.artificial_stores import make_store, row_of_run

PROBLEMS = ("p", "q", "r")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """B takes twice the time of A by EA, half of it by PRA; each has a row without partner."""
    first = [
        row_of_run(p, label, seconds=s) for p in PROBLEMS for label, s in (("EA", 1), ("PRA", 4))
    ]
    second = [row_of_run(p, label, seconds=2) for p in PROBLEMS for label in ("EA", "PRA")]
    a = make_store(tmp_path / "a", [*first, row_of_run("only-a")])
    b = make_store(tmp_path / "b", [row_of_run("only-b", seed=3), *reversed(second)])
    return a, b


def test_ratios_are_geometric_means_of_pairs(folders: tuple[Path, Path]) -> None:
    comparison = compare(*folders)
    assert {ratio.label: ratio.ratio for ratio in comparison.ratios} == pytest.approx(
        {"EA": 2.0, "PRA": 0.5, ALL: 1.0}
    )
    assert [(ratio.label, ratio.pairs, ratio.instances) for ratio in comparison.ratios] == [
        ("EA", 3, 3),
        ("PRA", 3, 3),
        (ALL, 6, 3),
    ]
    ea, pra, both = comparison.ratios
    assert (ea.lower, ea.upper) == pytest.approx((2.0, 2.0))
    assert (both.lower, both.upper) == pytest.approx((1.0, 1.0))
    assert pra.upper == pytest.approx(0.5)


def test_cells_of_one_experiment_only_are_listed(folders: tuple[Path, Path]) -> None:
    comparison = compare(*folders)
    assert comparison.only_a == [("only-a", "EA", 0)]
    assert comparison.only_b == [("only-b", "EA", 3)]
    assert len(comparison.pairs) == 6


def test_a_run_compared_with_itself(folders: tuple[Path, Path]) -> None:
    comparison = compare(folders[0], folders[0], metric="products")
    assert all(
        (ratio.ratio, ratio.lower, ratio.upper) == (1.0, 1.0, 1.0) for ratio in comparison.ratios
    )
    assert (
        comparison.config,
        comparison.environment,
        comparison.only_a,
        comparison.status_changes,
    ) == ([],) * 4
    assert not comparison.other_environment


def test_every_metric_is_a_column(folders: tuple[Path, Path]) -> None:
    for metric in METRICS:
        comparison = compare(*folders, metric=metric)
        counted = 0 if metric == "iterations" else 6  # no iterations: the value is 0
        assert sum(pair.ratio is not None for pair in comparison.pairs) == counted
        assert comparison.left_out == 6 - counted
        assert len(comparison.ratios) == (3 if counted else 0)


def test_only_pairs_that_ended_alike_with_a_proof_have_a_ratio(tmp_path: Path) -> None:
    limit = {"status": "UPDATE_LIMIT", "proved": False}
    a = [
        row_of_run("p"),
        row_of_run("q", **limit),
        row_of_run("r"),
        row_of_run("s"),
        row_of_run("t"),
    ]
    b = [
        row_of_run("p", **limit),
        row_of_run("q", **limit),
        row_of_run("r", status="INFEASIBLE"),
        row_of_run("s", seconds=None),
        row_of_run("t", seconds=3.0),
    ]
    comparison = compare(make_store(tmp_path / "a", a), make_store(tmp_path / "b", b))
    assert [pair.problem for pair in comparison.status_changes] == ["p", "r"]
    assert (comparison.unproved, comparison.left_out) == (1, 1)
    (only,) = comparison.ratios
    assert (only.label, only.pairs, only.ratio) == ("EA", 1, pytest.approx(3.0))
    assert (only.lower, only.upper) == (None, None)
    assert "no interval for a single problem" in str(comparison)
    assert (
        "5 pairs: 2 with different statuses, 1 with the same status but no proof, 1 with a missing"
        in str(comparison)
    )


def test_values_of_zero_have_no_ratio() -> None:
    for a, b in ((0.0, 1.0), (1.0, 0.0), (None, 1.0), (1.0, None)):
        assert RunPair("p", "l", 0, "FEASIBLE", "FEASIBLE", True, a, b).ratio is None
    assert RunPair("p", "l", 0, "FEASIBLE", "FEASIBLE", True, 2.0, 1.0).ratio == 0.5


def test_configurations_are_compared_key_by_key(tmp_path: Path) -> None:
    rows = [row_of_run("p")]
    a = make_store(tmp_path / "a", rows, config={"budget": {"updates": 5, "seconds": 1.0}})
    b = make_store(tmp_path / "b", rows, config={"seeds": [0, 1]})
    changes = {change.path: (change.first, change.second) for change in compare(a, b).config}
    assert changes["budget.updates"] == ("5", "1000000")
    assert changes["seeds.1"] == ("(absent)", "1")
    assert "experiment" not in changes


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
    rows = [row_of_run("p"), row_of_run("q")]
    a = make_store(tmp_path / "a", rows)
    b = make_store(tmp_path / "b", rows, environment=change | {"id": "22222222"})
    comparison = compare(a, b)
    assert path is None or path in [difference.path for difference in comparison.environment]
    assert bool(comparison.environment) == (path is not None)
    assert bool(comparison.other_environment) != comparable
    assert ("do not compare times" in str(comparison)) != comparable
    assert comparison.as_json()["times_compare"] == comparable


def test_another_numeric_core_is_a_difference_of_the_package(tmp_path: Path) -> None:
    a = make_store(tmp_path / "a", [row_of_run("p")])
    b = make_store(tmp_path / "b", [row_of_run("p")], core="d" * 64)
    comparison = compare(a, b)
    assert [
        (difference.path, difference.first, difference.second, difference.of_package)
        for difference in comparison.environment
    ] == [("core", '"cccccccc"', '"dddddddd"', True)]


def test_several_environments_of_one_run_are_all_shown() -> None:
    (differences,) = environment_differences([{"cpu": "one"}, {"cpu": "two"}], [{"cpu": "two"}])
    assert (differences.path, differences.first, differences.second) == (
        "cpu",
        '"one" | "two"',
        '"two"',
    )


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
    ratio = MeanRatio.of("l", logs, 200, 0.95, seed)
    assert ratio.ratio == pytest.approx(math.exp(np.mean([log for _, log in logs])))
    assert ratio.instances == len({problem for problem, _ in logs})
    if ratio.lower is None or ratio.upper is None:
        assert ratio.instances == 1
        return
    each = [log for _, log in logs]
    assert math.exp(min(each)) * (1 - 1e-9) <= ratio.lower <= ratio.upper
    assert ratio.upper <= math.exp(max(each)) * (1 + 1e-9)
    assert ratio == MeanRatio.of("l", logs, 200, 0.95, seed)


def test_the_interval_draws_problems_and_not_rows() -> None:
    """Seeds of one problem are no independent evidence: they are drawn together."""
    logs = [("p", 1.0)] * 50 + [("q", 0.0)] * 50
    ratio = MeanRatio.of("l", logs, 2000, 0.95, 0)
    assert (ratio.lower, ratio.upper) == pytest.approx((1.0, math.e))


def test_the_frame_has_a_row_per_pair(folders: tuple[Path, Path]) -> None:
    frame = compare(*folders).to_frame()
    assert len(frame) == 6
    assert list(frame.loc[frame["label"] == "EA", "ratio"]) == [2.0, 2.0, 2.0]


def test_html_is_escaped(tmp_path: Path) -> None:
    row = row_of_run("<script>")
    a = make_store(tmp_path / "<i>", [row], config={"title": "<b>"})
    b = make_store(tmp_path / "b", [row])
    html = compare(a, b)._repr_html_()
    assert "&lt;script&gt;" in html
    assert not any(word in html for word in ("<script>", "<b>", "<i>"))


def test_everything_is_json(folders: tuple[Path, Path]) -> None:
    comparison = compare(*folders)
    tree = json.loads(json.dumps(comparison.as_json()))
    assert [ratio["ratio"] for ratio in tree["ratios"]] == [
        ratio.ratio for ratio in comparison.ratios
    ]
    assert tree["only_a"] == [["only-a", "EA", 0]]
    assert len(tree["pairs"]) == 6


def test_invalid_arguments_are_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"metric 'second'; allowed: .*did you mean 'seconds'"):
        compare(*folders, metric="second")
    for arguments in ({"resamples": 0}, {"level": 1.0}, {"seed": -1}):
        with pytest.raises(ConfigError, match="allowed: 1 or more resamples"):
            compare(*folders, **arguments)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"no such file or folder in .*; results in .*: a, b"):
        compare(folders[0], tmp_path / "none")
