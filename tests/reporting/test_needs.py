"""Needs of tables and figures: the same before anything is run and on the finished runs."""

from __future__ import annotations

from typing import Any

import pytest

from perceptron_lab import check, register
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.experiments.check import Plan
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.reporting import Evidence, Outline, needs, report
from perceptron_lab.reporting.printing.columns import counts
from perceptron_lab.reporting.printing.table import Table
from tests.reporting.artificial_runs import make_row, write_folder

SWEEP: dict[str, Any] = {
    "experiment": "sweep",
    "problems": [
        {
            "dataset": "margin-sets",
            "family": "reflected",
            "difficulty": 0.5,
            "dimension": 5,
            "grid": {"rows": [50, 100]},
        }
    ],
    "algorithms": [{"name": "perceptron"}],
}


@pytest.mark.parametrize(
    ("name", "override", "message"),
    [
        ("quickstart", "report.tables=[learners]", r"report\.tables\.0: .* no label is a learner"),
        ("quickstart", "report.tables=[lp_feasibility]", "no problem has a known answer"),
        ("quickstart", "report.tables=[infeasible_programs]", "add problems of the dataset infeas"),
        ("quickstart", "report.figures=[scaling]", "no two problems differ in their rows"),
        ("quickstart", "report.figures=[figure_1]", "has no parameter difficulty"),
        ("quickstart", "report.figures=[figure_2]", "is not one class against the rest"),
        ("quickstart", "report.figures=[figure_7_4]", "no label is a learner"),
        ("quickstart", "report.tables=[table_figure_7_4]", "no label is a learner"),
        ("quickstart", "report.figures=[figure_8_1]", "no label is a learner"),
        ("kernel", "record_at=[10, 100]", r"no record after 320, 1000 iterations"),
        ("kernel", "trace_measures=false", "trace_measures: true"),
        ("kernel", "problems.0.test_fraction=0", "a test_fraction above 0"),
        ("separation_2d", "algorithms.0.parameters.components=5", "with components: null"),
        ("separation_2d", "report.figures=[figure_7_4]", "lacks the parameters rescaled, exponent"),
        ("soft_separation", "report.figures=[figure_7_2]", "no run has an ellipsoid in dimension"),
        ("quickstart", "report.tables=[mistakes]", "no label counts its mistakes on a stream"),
        (
            "quickstart",
            "report.tables=[separation_verdicts]",
            "no label has a verdict on separation",
        ),
        ("quickstart", "report.figures=[newton_steps]", "no label records Newton's steps"),
        ("separation_2d", "report.figures=[mistakes]", "learners that do are online-perceptron"),
        ("online", "report.figures=[worst_case]", "0 problems with a worst case"),
        ("worst_case", "problems.0.grid.steepness=[4]", "1 problem with a worst case"),
        ("worst_case", "report.figures=[resisting]", "no problem has a resisting oracle"),
        ("sdp_rescaling", "report.figures=[rescaling]", "no problem has a known condition delta"),
        ("worst_case", "report.tables=[rescalings]", "no label is of rescaled-perceptron"),
        ("maxcut", "report.tables=[rescalings]", "the margin of mcp100 is not known"),
        (
            "sdp_rescaling",
            "report.tables=[table_6_1_oracles]",
            "no two labels: labels have to be called",
        ),
        ("quickstart", "report.tables=[optima_reached]", "no label is an optimiser"),
        (
            "figure_6_1",
            "problems.0.instances=[mcp100, mcp124-1]",
            "2 problems, but the figure draws",
        ),
        ("maxcut_factors", "algorithms.2.label=PRA", "PRA are not all combinations"),
        ("maxcut_factors", "algorithms.2.label=VN tau", "there are PRA, EA, VN|there are PRA, VN"),
        ("maxcut", "report.figures=[cuts]", "trace_cuts: true"),
        ("maxcut", "report.tables=[maxcut_density]", "mcp100 is not a random graph"),
        ("maxcut_density", "problems.0.enclose=false", "random-50-63 is not a random graph"),
        ("maxcut_density", "algorithms.1.label=E", "no label EA with the algorithm ellipsoid"),
        ("separation_2d", "report.tables=[precision_differences]", "no label soft-ellipsoid has"),
    ],
)
def test_check_names_missing_requirements(name: str, override: str, message: str) -> None:
    assert check(name)
    with pytest.raises(ConfigError, match=message):
        check(name, [override])


def test_the_location_in_the_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"kernel\.yaml:54:13: report\.figures\.0: .*'figure_2'"):
        check("kernel", ["record_at=[]"])


def test_a_sweep_is_recognised_by_its_plan() -> None:
    full = ExperimentConfig.model_validate(SWEEP | {"report": {"figures": ["scaling"]}})
    assert len(check(full)) == 2
    outline = Plan(load_experiment(full))
    assert sorted(outline.shapes().values()) == [(5, 50), (5, 100)]
    assert [method.learns for method in outline.methods().values()] == [False]
    with pytest.raises(ConfigError, match="no two problems differ"):
        check(full, ["problems.0.grid.rows=[50]"])


def test_figures_of_one_shape_refuse_the_plan_of_several() -> None:
    full = ExperimentConfig.model_validate(SWEEP | {"report": {"figures": ["figure_1"]}})
    with pytest.raises(ConfigError, match=r"problems of 2 shapes \[\(5, 50\), \(5, 100\)\]"):
        check(full)


def two_labels(outline: Outline) -> None:
    if len(outline.methods()) < 2:
        raise DataError("it compares two labels; the experiment has one")


@needs(two_labels)
def user_table(evidence: Evidence) -> Table:
    """Labels that are compared."""
    return Table("mine", [counts("labels", [len(evidence.methods())])])


def test_requirements_of_a_table_of_a_user_are_checked(
    user_registrations: None, tmp_path: Any
) -> None:
    register("table", "mine", user_table)
    overrides = ["report={tables: [mine]}"]
    assert check("quickstart", overrides)
    with pytest.raises(ConfigError, match=r"report\.tables\.0: .*it compares two labels"):
        check("quickstart", [*overrides, "algorithms=[{name: ellipsoid}]"])
    rows = [make_row("a", label, algorithm="ellipsoid", parameters="{}") for label in "xy"]
    both = write_folder(tmp_path / "two", rows)
    assert report.table_frame("mine", both)["labels"].tolist() == [2]
    with pytest.raises(DataError, match="it compares two labels"):
        report.table("mine", write_folder(tmp_path / "one", rows[:1]))


def test_reports_known_only_to_plugins_are_unchecked() -> None:
    report = {
        "plugins": ["mine.py"],
        "algorithms": [{"name": "perceptron"}, {"name": "not-known-here"}],
        "report": {"figures": ["figure_8_1"]},
    }
    assert check(ExperimentConfig.model_validate(SWEEP | report))
