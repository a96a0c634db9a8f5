"""Tables and figure of proved intervals; listed values."""

from __future__ import annotations

import pandas as pd
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.reporting import Evidence
from perceptron_lab.reporting.studies.optima import ListedOptimum, best_optima, sdplib_optima
from perceptron_lab.reporting.studies.optima import proved_optima_figure as drawn
from perceptron_lab.reporting.studies.optima import proved_optima_table as proved_optima
from tests.reporting.artificial_runs import make_row

RUNS = [
    ("maxG51", "A", "FEASIBLE", 4006.25, 4006.26),
    ("maxG51", "B", "FEASIBLE", 4006.255, 4006.3),
    ("truss1", "A", "FEASIBLE", None, -8.9),
    ("truss1", "B", "UNVERIFIED", -9.1, None),
    ("gone", "A", "SKIPPED", None, None),
    ("gone", "B", "SKIPPED", None, None),
]


def evidence(runs: list[tuple[str, str, str, float | None, float | None]]) -> Evidence:
    rows = []
    for index, (problem, label, status, lower, upper) in enumerate(runs):
        width = None if lower is None or upper is None else (upper - lower) / abs(upper)
        rows.append(
            make_row(
                cell=f"{index:016x}",
                problem=problem,
                algorithm="verified-solver",
                label=label,
                status=status,
                proved=status == "FEASIBLE",
                seconds=0.5,
                optimum_lower=lower,
                optimum_upper=upper,
                optimum_width=width,
            )
        )
    return Evidence.of_runs(pd.DataFrame(rows))


def test_best_bounds_are_those_of_all_labels() -> None:
    frame = best_optima(evidence(RUNS)).frame.set_index("problem")
    assert list(frame.index) == ["maxG51", "truss1"]
    first, second = frame.loc["maxG51"], frame.loc["truss1"]
    assert (first["lower"], first["lower by"]) == (4006.255, "B")
    assert (first["upper"], first["upper by"]) == (4006.26, "A")
    assert first["width"] == pytest.approx(0.005 / 4006.26)
    assert (first["two-sided"], first["asked"], first["agrees"]) == (2, 2, "no")
    assert first["listed"] == 4006.2555
    assert (second["lower"], second["upper"], second["two-sided"]) == (-9.1, -8.9, 0)
    assert second["agrees"] == "yes"


def test_every_cell_names_the_unproved_side() -> None:
    frame = proved_optima(evidence(RUNS)).frame
    assert frame["unproved"].tolist() == ["", "", "lower", "upper", "", ""]
    assert frame["claimed error"].isna().all()


def test_the_figure_needs_an_interval() -> None:
    figure = drawn(evidence(RUNS))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["A (1 of 3)", "B (1 of 3)"]
    with pytest.raises(DataError, match="nothing to draw"):
        drawn(evidence(RUNS[2:]))


def test_listed_values_are_those_of_registered_files() -> None:
    optima = sdplib_optima()
    infeasible = {"infd1", "infd2", "infp1", "infp2"}
    assert set(collection("sdplib").files) - infeasible <= set(optima)
    assert [name for name, optimum in optima.items() if optimum.corrected] == ["maxG51", "maxG55"]
    assert optima["maxG55"].value == 12869.8667
    assert optima["maxG11"].value == 629.1648


@pytest.mark.parametrize(
    ("printed", "lower", "upper", "agrees"),
    [
        ("2.0326e+00", 2.0325, 2.0327, True),
        ("2.0326e+00", 2.03268, 2.04, True),
        ("2.0326e+00", 2.0328, 2.04, False),
        ("-4.360e+02", -437.0, -436.2, False),
        ("4.003809e+03", 4006.2, 4006.3, False),
        ("2e-1", 0.11, 0.12, True),
    ],
)
def test_a_listed_value_agrees_up_to_its_last_digit(
    printed: str, lower: float, upper: float, agrees: bool
) -> None:
    assert ListedOptimum(printed, "").agrees(lower, upper) == agrees


def test_listed_values_are_read_from_the_package() -> None:
    assert (
        pd.Series({name: optimum.value for name, optimum in sdplib_optima().items()}).notna().all()
    )
