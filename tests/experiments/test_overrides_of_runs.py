"""Overrides that change what is run have a folder of their own; the others change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.storage.results_folder import output_folder

CONFIG = """\
experiment: small
problems: [{dataset: maxcut, instances: [random-8-12, torus-3x4]}]
algorithms:
  - {name: ellipsoid, label: EA, budget: {seconds: 20}}
  - {name: perceptron}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(CONFIG)
    return "small.yaml"


@pytest.mark.parametrize(
    "override",
    [
        "title=Another",
        "report.tables=[rates]",
        "process.grace=3",
        "seeds=[0]",
        "goal=decide",
        "budget.seconds=300.0",
        "budget.seconds=3",
        "problems.0.instances=[random-8-12, torus-3x4]",
    ],
)
def test_overrides_without_effect_on_the_runs_keep_the_folder(config: str, override: str) -> None:
    assert load_experiment(config, [override]).name == "small"


@pytest.mark.parametrize(
    "override",
    [
        "seeds=[1]",
        "goal=budget",
        "record_at=[3]",
        "trace_measures=true",
        "problems.0.instances=[random-8-12]",
        "algorithms.0.budget.seconds=2",
        "algorithms.2={name: winnow}",
    ],
)
def test_overrides_of_the_runs_have_a_separate_folder(config: str, override: str) -> None:
    name = load_experiment(config, [override]).name
    assert name.startswith("small--")
    assert len(name) == len("small--") + 8
    assert int(name[-8:], 16) >= 0
    assert load_experiment(config, ["title=Another", override]).name == name
    for chosen_name in ("mine", "small"):
        named = load_experiment(config, [override, f"experiment={chosen_name}"])
        assert (named.name, named.changed) == (chosen_name, False)


def test_the_folder_is_that_of_the_configuration_and_not_of_the_words(config: str) -> None:
    experiment = load_experiment(config, ["seeds=[1]", "goal=budget"])
    two = load_experiment(config, ["goal=budget", "seeds=[7]", "seeds=[1]"])
    again = load_experiment(load_experiment(config, ["seeds=[1]"]), ["goal=budget"])
    assert experiment.name == two.name == again.name
    assert experiment.name != load_experiment(config, ["seeds=[2]", "goal=budget"]).name


def test_a_long_name_has_room_for_the_digest(config: str, tmp_path: Path) -> None:
    experiment = load_experiment(config, [f"experiment={'n' * 64}", "seeds=[1]"])
    assert output_folder(tmp_path, experiment.name).name == "n" * 64
    Path(config).write_text(CONFIG.replace("small", "n" * 64))
    experiment = load_experiment(config, ["seeds=[1]"])
    assert output_folder(tmp_path, experiment.name).name.startswith("n" * 64 + "--")
    with pytest.raises(ConfigError, match="cannot name a folder"):
        output_folder(tmp_path, "../" + "n" * 64)


def test_a_file_completed_by_overrides_has_a_separate_folder(config: str) -> None:
    Path(config).write_text(CONFIG.replace("name: perceptron", "name: perceptrn"))
    assert load_experiment(config, ["algorithms.1.name=perceptron"]).changed


@pytest.mark.parametrize(
    ("override", "limits"),
    [
        ("budget.seconds=1", ["seconds"]),
        ("budget={seconds: 1}", ["seconds"]),
        ("budget.updates=2", []),
    ],
)
def test_a_budget_that_an_algorithm_has_itself_is_warned_of(
    config: str, override: str, limits: list[str]
) -> None:
    expected = tuple(
        f"-s {override} does not reach algorithms.0.budget.{name} (EA); override these as well"
        for name in limits
    )
    assert load_experiment(config, [override]).warnings == expected


def test_a_budget_that_a_problem_has_itself_is_warned_of(config: str) -> None:
    overrides = ["problems.0.budget.seconds=3", "budget.seconds=1"]
    (warning,) = load_experiment(config, overrides).warnings
    assert "does not reach problems.0.budget.seconds (maxcut), algorithms.0.budget" in warning


def test_results_with_and_without_overrides_are_stored_separately(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", config, "-q"]) == 0
    before = Path("results/small/runs.csv").read_bytes()
    capsys.readouterr()
    words = ["-s", "problems.0.instances=[random-8-12]", "-s", "budget.seconds=9"]
    assert main(["run", config, "-q", *words]) == 0
    captured = capsys.readouterr().err.splitlines()
    (folder,) = Path("results").glob("small--*")
    assert captured == [
        f"overrides change what is run: results in {folder} (-s experiment=NAME names it)",
        "warning: -s budget.seconds=9 does not reach algorithms.0.budget.seconds (EA); override "
        "these as well",
    ]
    assert Path("results/small/runs.csv").read_bytes() == before
    assert len(folder.joinpath("runs.csv").read_text().splitlines()) == 3
    assert main(["check", config, *words]) == 0
    assert "warning: -s budget.seconds=9" in capsys.readouterr().err
    assert main(["report", str(folder), "-q"]) == 0
    assert main(["status", config, *words]) == 0
    assert capsys.readouterr().out.startswith(f"{folder}: 2 done of 2 cells")
