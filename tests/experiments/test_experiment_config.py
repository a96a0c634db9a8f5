"""Configurations: what is refused and how; overrides; grids."""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.core.goals import Budget, MarginRatio, MarginUpper, Width
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ReportEntry
from perceptron_lab.experiments.configuration.loader import instances_of, load_experiment
from perceptron_lab.experiments.configuration.plan import plan
from perceptron_lab.experiments.configuration.yaml_source import parse
from tests.experiments.conftest import Configure

TEXT = """\
experiment: toy
title: Toys
problems:
  - dataset: toy
    instances: [eye-2, eye-3]
algorithms:
  - name: perceptron
    label: P
    parameters: {normalized: false}
    oracle: cyclic
  - name: rescaled-perceptron
    oracle: {name: pivoted-cholesky, mode: thesis}
goal: decide
budget: {updates: 100, seconds: 5}
seeds: [0, 1]
report: {tables: [table_6_1], figures: []}
"""


def load(text: str, *overrides: str) -> ExperimentConfig:
    return load_experiment(parse("a.yaml", text), overrides).config


def faults(text: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(text, *overrides)
    return str(caught.value).splitlines()


def test_the_whole_schema() -> None:
    config = load(TEXT)
    assert config.experiment == "toy"
    assert config.problems[0].parameters == {"instances": ["eye-2", "eye-3"]}
    assert config.algorithms[0].label == "P"
    assert config.budget == Budget(100, 5.0)
    assert config.seeds == [0, 1]
    assert config.report.tables == ["table_6_1"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: Toys", "titel: Toys", "a.yaml:2:1: titel: unknown key 'titel'; allowed: experim"),
        ("title: Toys", "titel: Toys", "(did you mean 'title'?)"),
        ("title: Toys", "title: 1", "a.yaml:2:8: title: received 1; allowed: text"),
        ("title: Toys", "title: Toys\ntitle: T", "a.yaml:3:1: title: duplicate key"),
        ("experiment: toy\n", "", "a.yaml:1:1: experiment: missing; add it"),
        ("experiment: toy", "experiment: ..", "received the text '..'; allowed: letters, digits"),
        ("experiment: toy", "experiment: a/b", "received the text 'a/b'; allowed: letters"),
        ("experiment: toy", f"experiment: {'a' * 65}", "1 to 64 in all"),
        ("dataset: toy", "dataset: toys", "a.yaml:4:14: problems.0.dataset: unknown dataset"),
        ("dataset: toy", "dataset: toys", "(did you mean 'toy'?)"),
        ("dataset: toy", "dataset: 3", "problems.0.dataset: received 3; allowed: text"),
        ("instances:", "instance:", "5:5: problems.0.instance: unknown key 'instance'; allowed"),
        ("instances:", "instance:", "problems.0.dataset: dataset 'toy' needs instances: missing"),
        ("[eye-2, eye-3]", "eye-2", "instances: received the text 'eye-2'; allowed: a list"),
        ("[eye-2, eye-3]", "[eye-2, 3]", "5:24: problems.0.instances.1: received 3; allowed: te"),
        ("[eye-2, eye-3]", "[]", "problems.0: the dataset 'toy' has no instances here"),
        ("[eye-2, eye-3]", "[eye-2]\n    scale: .nan", "scale: received nan; allowed: a finite"),
        ("[eye-2, eye-3]", "[eye-2]\n    scale: .inf", "scale: received inf; allowed: a finite"),
        ("[eye-2, eye-3]", "[eye-2]\n    scale: 1e999", "received inf; allowed: a finite numb"),
        ("[eye-2, eye-3]", "[eye-2]\n    scale: '1'", "received the text '1'; allowed: a number"),
        ("name: perceptron", "name: perzeptron", "7:11: algorithms.0.name: unknown algorithm"),
        ("name: perceptron", "name: perzeptron", "(did you mean 'perceptron'?)"),
        ("name: perceptron", "nmae: perceptron", "algorithms.0.name: missing"),
        ("label: P", "label: /x", "a.yaml:8:12: algorithms.0.label: received the text '/x'"),
        ("{normalized: false}", "{normalised: false}", "(did you mean 'normalized'?)"),
        ("{normalized: false}", "{normalized: no}", "received the text 'no'; allowed: true or fa"),
        ("{normalized: false}", "[1]", "algorithms.0.parameters: received a list; allowed: a map"),
        ("oracle: cyclic", "oracle: cycle", "unknown oracle 'cycle' (did you mean 'cyclic'?)"),
        ("oracle: cyclic", "oracle: [cyclic, random]", "two oracles for orthant cones; allowed"),
        ("oracle: cyclic", "oracle: 3", "oracle: received 3; allowed: a name, {name: ..., param"),
        ("oracle: cyclic", "oracle: {mode: a}", "oracle: received a mapping; allowed: a name"),
        ("mode: thesis", "mode: thesiss", "received the text 'thesiss'; allowed: 'strict' or 't"),
        ("mode: thesis", "mod: thesis", "oracle.mod: unknown key 'mod'; allowed: mode (did you"),
        ("goal: decide", "goal: decid", "allowed: decide, budget, {margin_upper: more than 0}, {"),
        ("goal: decide", "goal: decid", "(did you mean 'decide'?)"),
        ("goal: decide", "goal: {margin_upper: 0}", "goal.margin_upper: received 0; allowed: mor"),
        ("goal: decide", "goal: {margin_ratio: 1}", "margin_ratio: received 1; allowed: less th"),
        ("goal: decide", "goal: [decide]", "goal: received a list; allowed: decide, budget"),
        ("updates: 100", "updates: -1", "a.yaml:14:19: budget.updates: received -1; allowed: 0 o"),
        ("updates: 100", "updates: 1.5", "budget.updates: received 1.5; allowed: a whole numbe"),
        ("updates: 100", "updates: true", "budget.updates: received true; allowed: a whole nu"),
        ("seconds: 5", "seconds: .nan", "budget.seconds: received nan; allowed: a finite number"),
        ("seconds: 5", "second: 5", "unknown key 'second'; allowed: updates, seconds (did you"),
        ("seeds: [0, 1]", "seeds: 0", "seeds: received 0; allowed: a list"),
        ("seeds: [0, 1]", "seeds: []", "seeds: received an empty list; allowed: 1 or more entr"),
        ("seeds: [0, 1]", "seeds: [1, 1]", "the seed 1 is listed twice; allowed: different see"),
        ("seeds: [0, 1]", "seeds: [-1]", "seeds.0: received -1; allowed: 0 or more"),
        ("seeds: [0, 1]", "record_at: [0]", "record_at.0: received 0; allowed: 1 or more"),
        ("seeds: [0, 1]", "record_at: [2.5]", "record_at.0: received 2.5; allowed: a whole numb"),
        ("seeds: [0, 1]", "record_at: [3, 3]", "the update 3 is listed twice; allowed: different"),
        ("seeds: [0, 1]", "trace_measures: 1", "received 1; allowed: true or false"),
        ("dataset: toy", "seeds: [2, 2]\n    dataset: toy", "problems.0.seeds: the seed 2 is lis"),
        ("dataset: toy", "seeds: []\n    dataset: toy", "problems.0.seeds: received an empty li"),
        ("label: P", "budget: {seconds: -1}", "algorithms.0.budget.seconds: received -1; allowed"),
        ("label: P", "budget: {second: 1}", "unknown key 'second'; allowed: updates, seconds (d"),
        ("label: P", "budget: 30", "algorithms.0.budget: received 30; allowed: a mapping"),
        ("table_6_1", "table_6_2", "the text 'table_6_2'; allowed: summary, table_6_1, tab"),
        ("figures: []", "figure: []", "report.figure: unknown key 'figure'; allowed: tables, fi"),
        ("  - dataset: toy\n    instances: [eye-2, eye-3]\n", "", "problems: received nothing; al"),
    ],
)
def test_a_fault_names_its_location_and_its_fix(old: str, new: str, message: str) -> None:
    assert old in TEXT
    lines = faults(TEXT.replace(old, new, 1))
    assert any(message in line for line in lines), lines
    assert len(lines) <= 2
    assert all(line.startswith("a.yaml:") for line in lines)


def test_every_fault_is_reported_at_once() -> None:
    text = TEXT.replace("goal: decide", "goal: x").replace("name: perceptron", "name: perzeptron")
    text = text.replace("mode: thesis", "mode: y").replace("eye-3]", "eye-3, 4]")
    positions = [line.split(": ")[1] for line in faults(text)]
    assert positions == [
        "problems.0.instances.2",
        "algorithms.0.name",
        "algorithms.1.oracle.mode",
        "goal",
    ]


def test_entries_that_are_no_mapping_are_refused() -> None:
    assert faults("- a\n- b\n") == ["a.yaml:1:1: received a list; allowed: a mapping"]
    assert faults("text") == ["a.yaml:1:1: received the text 'text'; allowed: a mapping"]


@pytest.mark.parametrize("content", ["", "# comment\n", "---\n", "null\n"])
def test_an_empty_file_lists_the_required_keys(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(content)
    with pytest.raises(ConfigError, match="the file is empty; a configuration needs experiment"):
        load_experiment(path)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("budget", "budget"),
        ("{margin_upper: 1e-6}", MarginUpper(1e-6)),
        ("{margin_ratio: 0.99}", MarginRatio(0.99)),
    ],
)
def test_goals(goal: str, expected: object) -> None:
    assert load(TEXT.replace("goal: decide", f"goal: {goal}")).goal == expected


@pytest.mark.parametrize(
    ("override", "check"),
    [
        ("problems.0.instances=[eye-4]", lambda c: c.problems[0].parameters["instances"]),
        ("algorithms.0.label=eye-4", lambda c: [c.algorithms[0].label]),
        ("title=eye-4", lambda c: [c.title]),
    ],
)
def test_an_override_replaces_one_value(override: str, check: Any) -> None:
    assert check(load(TEXT, override)) == ["eye-4"]


def test_overrides_create_missing_keys_and_the_last_one_wins() -> None:
    text = TEXT.replace("budget: {updates: 100, seconds: 5}\n", "")
    config = load(text, "budget.seconds=5", "budget.seconds=7", "seeds.2=9")
    assert config.budget == Budget(seconds=7.0)
    assert config.seeds == [0, 1, 9]


def test_an_override_fixes_the_fault_it_replaces() -> None:
    config = load(TEXT.replace("seeds: [0, 1]", "seeds: *a"), "seeds=[3]")
    assert config.seeds == [3]


def test_an_override_does_not_fix_a_duplicate_key() -> None:
    lines = faults(TEXT + "seeds: [2]\n", "seeds=[3]")
    assert lines == [
        "a.yaml:17:1: seeds: duplicate key, first given in line 15; keep one of the two"
    ]


def test_overrides_alone_make_a_configuration(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("")
    overrides = [
        "experiment=e",
        "problems=[{dataset: toy, instances: [eye-2]}]",
        "algorithms=[{name: perceptron}]",
    ]
    assert load_experiment(path, overrides).config.experiment == "e"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("budget.seconds=x", "-s budget.seconds=x: budget.seconds: received the text 'x'; allow"),
        ("budget.secs=1", "-s budget.secs=1: budget.secs: unknown key 'secs'"),
        ("budget={seconds: .nan}", "budget.seconds: received nan; allowed: a finite number"),
        ("seeds.7=1", "-s seeds.7=1: seeds is a list of 2; allowed: an index from 0 to 2"),
        ("seeds.x=1", "seeds is a list of 2; allowed: an index from 0 to 2 (which appends), not"),
        ("title.x=1", "-s title.x=1: title is the text 'Toys' and has no part 'x'; override titl"),
        ("budget.seconds", "-s budget.seconds: an override is path.to.key=value, such as"),
        ("=3", "-s =3: an override is path.to.key=value"),
        ("a..b=3", "-s a..b=3: an override is path.to.key=value"),
        ("title=[", "-s title=[:1:2: not valid YAML"),
        ("title=*a", "the alias *a is not allowed"),
        ("algorithms.0.name=elipsoid", "unknown algorithm 'elipsoid' (did you mean 'ellipsoid'?)"),
    ],
)
def test_a_wrong_override_is_named(override: str, message: str) -> None:
    lines = faults(TEXT, override)
    assert len(lines) == 1
    assert message in lines[0]
    assert lines[0].startswith("-s ")


def test_a_grid_is_a_product_that_becomes_part_of_labels(configure: Configure) -> None:
    grid = {"normalized": [True, False], "oracle": ["cyclic", {"name": "random"}]}
    config = configure(algorithms=[{"name": "perceptron", "label": "P", "grid": grid}])
    assert [(v.label, v.algorithm.record.normalized) for v in load_experiment(config).variants] == [
        ("P normalized=true cyclic", True),
        ("P normalized=true random()", True),
        ("P normalized=false cyclic", False),
        ("P normalized=false random()", False),
    ]


def test_a_grid_of_a_problem_becomes_part_of_its_name(configure: Configure) -> None:
    config = configure(
        problems=[{"dataset": "toy", "instances": ["eye-2"], "grid": {"scale": [1, 2.5]}}]
    )
    assert [i.title for i in instances_of(config)] == ["eye-2 scale=1", "eye-2 scale=2.5"]
    assert [i.dataset.record.scale for i in instances_of(config)] == [1.0, 2.5]


def test_instances_with_distinct_names_are_titled_by_their_names(
    configure: Configure,
) -> None:
    grid = {"instances": [["eye-2"], ["eye-3"]], "scale": [3]}
    config = configure(problems=[{"dataset": "toy", "grid": grid}])
    assert [i.title for i in instances_of(config)] == ["eye-2", "eye-3"]


@pytest.mark.parametrize("grid", [False, True])
def test_an_oracle_for_an_algorithm_without_oracle_is_refused(grid: bool) -> None:
    oracle = "grid: {oracle: [cyclic]}" if grid else "oracle: cyclic"
    lines = faults(TEXT.replace("goal:", f"  - {{name: unasking, {oracle}}}\ngoal:"))
    assert len(lines) == 1
    field = "grid.oracle.0" if grid else "oracle"
    assert f"algorithms.2.{field}: the algorithm 'unasking' asks no separation oracle" in lines[0]
    assert lines[0].startswith("a.yaml:13:")


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("{nu: [1, x]}", "algorithms.1.grid.nu.1: received the text 'x'; allowed: a number"),
        ("{mu: [1]}", "algorithms.1.grid.mu.0: unknown key 'mu'"),
        ("{nu: []}", "algorithms.1.grid.nu: received an empty list"),
        ("{nu: 1}", "algorithms.1.grid.nu: received 1; allowed: a list"),
        ("{oracle: [random]}", "grid.oracle: 'oracle' is given here and outside of the grid"),
        ("{nu: [1, 1.0]}", "repeats algorithms.1; delete one of the two"),
        (
            "{"
            + ", ".join(
                f"{k}: [{', '.join('12345678')}]" for k in ("c", "d", "nu", "beta", "kappa")
            )
            + "}",
            "the sweep has more than 10000 combinations; shorten its lists",
        ),
    ],
)
def test_a_wrong_grid_is_named(grid: str, message: str) -> None:
    text = TEXT.replace("mode: thesis}\n", f"mode: thesis}}\n    grid: {grid}\n")
    lines = faults(text)
    assert any(message in line for line in lines), lines


def test_a_parameter_in_a_grid_and_outside_is_given_twice() -> None:
    text = TEXT.replace(
        "{normalized: false}", "{normalized: false}\n    grid: {normalized: [true]}"
    )
    assert "'normalized' is given here and outside of the grid" in faults(text)[0]


def test_a_goal_that_no_algorithm_works_towards_is_refused() -> None:
    """Where an optimiser is listed, the others are skipped, each with its reason."""
    (line,) = faults(TEXT.replace("goal: decide", "goal: {width: 1e-6}"))
    assert "goal: width=1e-06 is a goal of optimisers, and none is listed" in line
    both = TEXT.replace("goal: decide", "  - name: low-rank\ngoal: {width: 1e-6}")
    assert load(both).goal == Width(1e-6)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "{name: perceptron, label: Q, parameters: {normalized: false}, oracle: cyclic}",
            "algorithms.2: 'Q' repeats algorithms.0; delete one of the two",
        ),
        (
            "{name: perceptron, label: P}",
            "algorithms.2: algorithms.0 is labelled 'P' too, with other settings; give each",
        ),
    ],
)
def test_repeated_algorithms_are_refused(entry: str, message: str) -> None:
    lines = faults(TEXT.replace("goal:", f"  - {entry}\ngoal:"))
    assert len(lines) == 1
    assert message in lines[0]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "{dataset: toy, instances: [eye-4, eye-2]}",
            "problems.1: the instance 'eye-2' repeats problems.0; delete one",
        ),
        (
            "{dataset: toy, instances: [eye-2], scale: 2}",
            "problems.1: problems.0 has an instance 'eye-2' too, with other settings",
        ),
    ],
)
def test_repeated_instances_are_refused(entry: str, message: str) -> None:
    lines = faults(TEXT.replace("algorithms:", f"  - {entry}\nalgorithms:"))
    assert len(lines) == 1
    assert message in lines[0]


def test_an_instance_may_have_entries_with_different_seeds(tmp_path: Path) -> None:
    entries = "\n".join(
        f"  - {{dataset: toy, instances: [eye-4], seeds: {seeds}}}" for seeds in ([1, 2], [3])
    )
    text = TEXT.replace("algorithms:", f"{entries}\nalgorithms:")
    path = tmp_path / "seeds.yaml"
    path.write_text(text, "utf-8")
    cells = [(cell.instance.title, cell.variant.label, cell.seed) for cell in plan(path)]
    assert len(cells) == len(set(cells))
    assert {seed for title, _, seed in cells if title == "eye-4"} == {1, 2, 3}
    # In common, or decided by an algorithm: a cell would be there twice
    same = faults(text.replace("[3]", "[2, 3]"))
    own = faults(text.replace("goal:", "  - {name: von-neumann, seeds: [0]}\ngoal:"))
    assert ["delete one, or give each its own seeds:" in line for line in same + own] == [True] * 2


def test_a_configuration_made_in_python_is_checked_too() -> None:
    config = ExperimentConfig.model_validate(
        {
            "experiment": "e",
            "problems": [{"dataset": "toy", "instances": ["eye-2"]}],
            "algorithms": [{"name": "perceptron"}],
            "goal": MarginUpper(1e-3),
        }
    )
    assert load_experiment(config).config == config
    assert load_experiment(config, ["seeds=[5]"]).config.seeds == [5]
    with pytest.raises(ConfigError, match=r"^algorithms\.0\.name: unknown algorithm 'x'"):
        load_experiment(
            config.model_copy(
                update={"algorithms": [config.algorithms[0].model_copy(update={"name": "x"})]}
            )
        )


LINES = TEXT.splitlines()


@given(
    seed=st.integers(0, 2**32),
    changes=st.lists(
        st.tuples(
            st.sampled_from(["drop", "double", "swap", "indent", "insert", "word"]),
            st.sampled_from(
                ["&a ", "*a", "!!x ", ": ", "- ", "{", "]", "'", "1", ".nan", "\t", "~"]
            ),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_a_mutated_configuration_is_read_or_refused(
    seed: int, changes: list[tuple[str, str]]
) -> None:
    chance = random.Random(seed)
    lines = list(LINES)
    for change, word in changes:
        index = chance.randrange(len(lines))
        line = lines[index]
        position = chance.randrange(len(line) + 1)
        lines[index : index + 1] = {
            "drop": [],
            "double": [line, line],
            "swap": [lines[chance.randrange(len(lines))]],
            "indent": ["  " + line],
            "insert": [line[:position] + word + line[position:]],
            "word": [line.partition(":")[0] + ": " + word],
        }[change] or [""]
    try:
        config = load("\n".join(lines))
    except ConfigError as error:
        outcome = str(error)
    else:
        outcome = f"a.yaml: {config.experiment}"
    assert outcome.startswith("a.yaml:")


def test_allowed_tables_and_figures_are_those_of_the_reports() -> None:
    for kind in ("table", "figure"):
        for name in registry.names(kind):
            dataset = registry.load(kind, name)
            assert dataset.__name__ in (name, f"{name}_{kind}")
            assert inspect.getdoc(dataset)
            assert ReportEntry(**{f"{kind}s": [name]})


@pytest.mark.parametrize("name", gallery())
def test_every_shipped_configuration_is_valid(name: str) -> None:
    config = load_experiment(gallery()[name]).config
    assert config.experiment == name.rpartition("/")[2]
    assert config.title
