"""Configurations that are given in Python, as mappings."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import check, report, run, status
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration.loader import load_experiment

CONFIG: dict[str, Any] = {
    "experiment": "small",
    "problems": [{"dataset": "maxcut", "instances": ["random-8-12"]}],
    "algorithms": [{"name": "ellipsoid", "label": "EA"}],
}


def test_a_mapping_equals_its_file(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(
        "experiment: small\nproblems: [{dataset: maxcut, instances: [random-8-12]}]\n"
        "algorithms: [{name: ellipsoid, label: EA}]\n"
    )
    assert check(CONFIG) == check(tmp_path / "small.yaml")
    assert check(CONFIG, ["seeds=[3]"])[0].seed == 3


def test_numpy_values_and_tuples_equal_yaml_values_and_the_mapping_is_unchanged() -> None:
    config = CONFIG | {
        "seeds": np.arange(2),
        "record_at": range(3, 5),
        "budget": {"seconds": np.float64(2.5)},
        "algorithms": ({"name": "ellipsoid"},),
    }
    before = copy.deepcopy(config)
    cells = check(config, ["budget.updates=7"])
    assert [cell.seed for cell in cells] == [0, 1]
    assert (cells[0].budget.seconds, cells[0].budget.updates) == (2.5, 7)
    assert cells[0].trace.record_at == [3, 4]
    assert list(config) == list(before)
    assert config["budget"] == {"seconds": 2.5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goal": "x"}, r"^goal: received the text 'x'; allowed: decide"),
        ({"problems": [{"dataset": "maxkut"}]}, r"^problems\.0\.dataset: unknown dataset 'maxkut'"),
        ({"budget": {"second": 1}}, r"^budget\.second: unknown key 'second'; allowed: updates"),
        ({"seeds": {1}}, r"^seeds: received \{1\} \(set\); allowed: text, numbers"),
        ({"title": CONFIG.get}, r"^title: received <built-in method get"),
        ({3: "x"}, r"^3: a key must be text, received 3"),
        (
            {"budget": {"seconds": float("nan")}},
            r"^budget\.seconds: received nan; allowed: a fin",
        ),
        (
            {"algorithms": {"name": "ellipsoid"}},
            r"^algorithms: received a mapping; allowed: a",
        ),
    ],
)
def test_messages_name_the_way_to_the_key(change: dict[Any, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check(CONFIG | change)


def test_a_mapping_within_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["inner"] = endless
    with pytest.raises(ConfigError, match="nested deeper than 32 levels"):
        check(CONFIG | {"title": endless})


@pytest.mark.parametrize("arguments", [None, 5, ["quickstart"], b"quickstart"])
@pytest.mark.parametrize("function", [check, run, status])
def test_arguments_that_are_no_configuration_are_refused_with_the_allowed_types(
    function: Any, arguments: Any
) -> None:
    with pytest.raises(ConfigError, match=r"as a configuration; give a file, the name of a ship"):
        function(arguments)


def test_another_budget_keeps_the_folder_and_other_overrides_do_not() -> None:
    assert load_experiment("quickstart", ["budget.seconds=1"]).name == "quickstart"
    assert load_experiment("quickstart", ["seeds=[1]"]).name.startswith("quickstart--")


@pytest.mark.parametrize("overrides", ["budget.seconds=1", {"budget.seconds": 1}])
def test_overrides_are_a_list(overrides: Any) -> None:
    with pytest.raises(ConfigError, match=r"as overrides; give a list of texts, such as \['budget"):
        load_experiment("quickstart", overrides)


@pytest.mark.slow
def test_relative_paths_start_at_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("1,2\n2,1\n")
    config = CONFIG | {"problems": [{"dataset": "files", "files": ["rows.csv"]}]}
    results = run(config)
    assert [row["status"] for row in results.rows] == ["FEASIBLE"]
    assert results.folder == Path("results/small")
    assert status(config).counts["done"] == 1
    assert report(config | {"report": {"tables": ["profile"]}})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": "2"}, "received '2' jobs; allowed: a whole number"),
        ({"retries": 0.5}, "received 0.5 retries; allowed: a whole number"),
        ({"progress": True}, "received True as progress; leave it out"),
    ],
)
def test_invalid_run_options_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run(CONFIG, **arguments)
