"""Cells: their order, and what their names depend on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.run_options import TraceOptions
from perceptron_lab.experiments.configuration.plan import Cell, load_problems, plan
from perceptron_lab.numerics.compiled import kernel
from tests.experiments.conftest import Configure


def first(configure: Configure, **changes: Any) -> Cell:
    return plan(configure(**changes))[0]


def test_cells_are_instances_by_seeds_by_algorithms(configure: Configure) -> None:
    cells = plan(configure(seeds=[3, 1]))
    assert [(c.instance.title, c.seed, c.variant.label) for c in cells] == [
        (name, seed, label)
        for name in ("eye-2", "eye-3")
        for seed in (3, 1)
        for label in ("perceptron", "faulty")
    ]


def test_an_algorithm_with_a_list_of_seeds_runs_with_these(configure: Configure) -> None:
    algorithms = [
        {"name": "perceptron", "label": "own", "seeds": [1, 7]},
        {"name": "perceptron", "label": "usual", "parameters": {"normalized": False}},
    ]
    problems = [
        {"dataset": "toy", "instances": ["eye-2"]},
        {"dataset": "toy", "instances": ["eye-3"], "seeds": [5]},
    ]
    cells = plan(configure(seeds=[3, 1], algorithms=algorithms, problems=problems))
    assert [(c.instance.title, c.seed, c.variant.label) for c in cells] == [
        ("eye-2", 1, "own"),
        ("eye-2", 1, "usual"),
        ("eye-2", 7, "own"),
        ("eye-2", 3, "usual"),
        ("eye-3", 1, "own"),
        ("eye-3", 7, "own"),
        ("eye-3", 5, "usual"),
    ]


def test_a_problem_may_name_its_algorithms_and_limit_them(configure: Configure) -> None:
    algorithms = [
        {"name": "perceptron", "label": "own", "budget": {"updates": 3}},
        {"name": "perceptron", "label": "swept", "grid": {"oracle": ["cyclic", "random"]}},
    ]
    problems = [
        {"dataset": "toy", "instances": ["eye-2"], "budget": {"updates": 5, "seconds": 2}},
        {"dataset": "toy", "instances": ["eye-3"], "algorithms": ["swept"]},
        {"dataset": "toy", "instances": ["eye-4"], "algorithms": ["own", "swept random"]},
    ]
    budget = {"updates": 9, "seconds": 8}
    cells = plan(configure(algorithms=algorithms, problems=problems, seeds=[0], budget=budget))
    settings = [(c.instance.title, c.variant.label, c.budget) for c in cells]
    assert settings == [
        ("eye-2", "own", Budget(updates=3, seconds=2)),
        ("eye-2", "swept cyclic", Budget(updates=5, seconds=2)),
        ("eye-2", "swept random", Budget(updates=5, seconds=2)),
        ("eye-3", "swept cyclic", Budget(updates=9, seconds=8)),
        ("eye-3", "swept random", Budget(updates=9, seconds=8)),
        ("eye-4", "own", Budget(updates=3, seconds=8)),
        ("eye-4", "swept random", Budget(updates=9, seconds=8)),
    ]


def test_a_problem_that_names_no_algorithm_of_the_experiment_is_refused(
    configure: Configure,
) -> None:
    problems = [{"dataset": "toy", "instances": ["eye-2"], "algorithms": ["perceptrn"]}]
    message = (
        "problems.0.algorithms.0: no algorithm is labelled 'perceptrn' (did you mean 'perceptron'?)"
    )
    with pytest.raises(ConfigError, match=re.escape(message)):
        configure(problems=problems)


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": {"updates": 7, "seconds": 1}},
        {"algorithms": [{"name": "perceptron", "budget": {"updates": 7}}]},
        {"algorithms": [{"name": "perceptron", "seeds": [0, 7]}]},
        {"trace_measures": True, "trace_cuts": True, "record_at": [3]},
        {"problems": [{"dataset": "toy", "instances": ["eye-2"], "seeds": [0, 7]}]},
        {"title": "another"},
        {"experiment": "another"},
        {"algorithms": [{"name": "perceptron", "label": "another"}]},
        {"algorithms": [{"name": "perceptron", "parameters": {"normalized": True}}]},
        {"problems": [{"dataset": "toy", "instances": ["eye-2", "eye-4"]}]},
        {"problems": [{"dataset": "toy", "instances": ["eye-2"], "scale": 1}]},
    ],
)
def test_a_name_does_not_depend_on(configure: Configure, changes: dict[str, Any]) -> None:
    assert first(configure).identify("a" * 64) == first(configure, **changes).identify("a" * 64)


@pytest.mark.parametrize(
    "changes",
    [
        {"seeds": [1]},
        {"goal": "budget"},
        {"goal": {"margin_upper": 0.1}},
        {"algorithms": [{"name": "faulty", "parameters": {"how": "not"}}]},
        {"algorithms": [{"name": "perceptron", "parameters": {"normalized": False}}]},
        {"algorithms": [{"name": "perceptron", "oracle": "cyclic"}]},
        {"problems": [{"dataset": "toy", "instances": ["eye-4"]}]},
        {"problems": [{"dataset": "toy", "instances": ["eye-2"], "scale": 2}]},
    ],
)
def test_a_name_depends_on(configure: Configure, changes: dict[str, Any]) -> None:
    assert first(configure).identify("a" * 64) != first(configure, **changes).identify("a" * 64)


def test_a_name_depends_on_the_data_and_looks_like_a_name(configure: Configure) -> None:
    cell = first(configure)
    name = cell.identify("a" * 64)
    assert name != cell.identify("b" * 64)
    assert len(name) == 16
    assert set(name) <= set("0123456789abcdef")


def test_a_problem_may_have_a_list_of_seeds(configure: Configure) -> None:
    problems = [
        {"dataset": "toy", "instances": ["eye-2"], "seeds": [5, 4, 6]},
        {"dataset": "toy", "instances": ["eye-3"]},
    ]
    cells = plan(configure(problems=problems, seeds=[1], algorithms=[{"name": "perceptron"}]))
    titles = [(cell.instance.title, cell.seed) for cell in cells]
    assert titles == [("eye-2", 5), ("eye-2", 4), ("eye-2", 6), ("eye-3", 1)]


def test_an_algorithm_may_have_separate_limits(configure: Configure) -> None:
    algorithms = [
        {"name": "perceptron"},
        {"name": "faulty", "parameters": {"how": "not"}, "budget": {"seconds": 2}},
        {"name": "ellipsoid", "budget": {"updates": 0}},
    ]
    cells = plan(configure(algorithms=algorithms, budget={"updates": 50, "seconds": 9}))
    limits = {cell.variant.label: cell.budget for cell in cells}
    assert limits == {
        "perceptron": Budget(50, 9.0),
        "faulty": Budget(50, 2.0),
        "ellipsoid": Budget(0, 9.0),
    }


def test_all_cells_record_the_same_quantities(configure: Configure) -> None:
    cells = plan(configure(record_at=[10, 3], trace_measures=True))
    options = TraceOptions(record_at=[10, 3], trace_measures=True)
    assert all(cell.trace == options for cell in cells)
    assert all(cell.trace == TraceOptions() for cell in plan(configure()))


def test_the_seed_of_an_algorithm_differs_from_that_of_the_data(configure: Configure) -> None:
    seeds = {cell.algorithm_seed for cell in plan(configure(seeds=[0, 1]))}
    assert len(seeds) == 8
    assert first(configure).algorithm_seed == first(configure, goal="budget").algorithm_seed


def test_algorithms_of_one_seed_get_the_same_instance(configure: Configure) -> None:
    cells = plan(configure(problems=[{"dataset": "toy", "instances": ["random-9"]}], seeds=[0, 1]))
    problems = load_problems(cells, Path())
    sums = [problems[cell.problem_key].sha256 for cell in cells]
    assert sums[0] == sums[1]
    assert sums[2] == sums[3]
    assert sums[0] != sums[2]


def test_seeds_that_give_equal_data_are_equal_problems(configure: Configure) -> None:
    cells = plan(configure(seeds=[0, 1, 2]))
    problems = load_problems(cells, Path())
    assert len(problems) == 6
    assert len(set(problems.values())) == 2


def test_a_problem_that_cannot_be_loaded_is_named(configure: Configure) -> None:
    cells = plan(configure(problems=[{"dataset": "toy", "instances": ["eye-2", "absent"]}]))
    with pytest.raises(DataError, match="problem absent: absent: no such file; make it"):
        load_problems(cells, Path())


def test_problems_of_cells_are_loaded_by_compiled_functions(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interpreted ones round otherwise in the last digits, which bounds would show."""
    cell = first(configure)
    dataset, sizes = type(cell.instance.dataset.record), list[int]()
    load = dataset.load

    def noted(record: Any, *arguments: Any, **options: Any) -> Any:
        sizes.append(kernel._SMALL.get())
        return load(record, *arguments, **options)

    monkeypatch.setattr(dataset, "load", noted)
    cell.load(Path())
    assert sizes == [-1]
