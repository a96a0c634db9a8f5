"""What is said of second-order cones and matrices is in the sample of `benchmarks/cones`."""

from __future__ import annotations

import pandas as pd

from perceptron_lab.experiments.configuration.rows import reals
from tests.prose.pages import PAGES, ROOT, numbers, paragraph
from tests.prose.test_numbers_of_tiny_margins import holds, span, times

OTHERS = ["Clarabel", "SCS", "ECOS"]


def medians(rows: pd.DataFrame) -> pd.Series:
    """Clarabel's ratio to `auto` on each family, the median over its seeds."""
    return rows[rows["label"] == "Clarabel"].groupby("problem")["ratio"].median()


def test_who_decides_how_many_and_how_soon() -> None:
    rows = times("cones")
    rows["problem.delta"] = reals(rows["problem.delta"])
    planned = rows[rows["status"] != "SKIPPED"].groupby("label").size()
    answers = rows[rows["status"].isin(["FEASIBLE", "INFEASIBLE"])]
    profile = pd.read_csv(ROOT / "results" / "sample" / "cones" / "profile.csv").set_index("label")
    decided = (profile["solved"] * profile["instances"]).round().astype(int)
    second = rows[(rows["problem.family"] == "second-order") & (rows["problem.side"] == "feasible")]
    thin = second[(second["problem.delta"] <= 1e-5) & second["label"].isin(OTHERS)]
    assert len(thin) == 3 * 12
    assert not (thin["status"] == "FEASIBLE").any()
    at = second[(second["problem.delta"] == 1e-3) & (second["status"] == "FEASIBLE")]
    count = int(planned["auto"])
    assert decided["auto"] == decided["interior-point"] == count
    text = holds(
        paragraph("The cone benchmark has"),
        [
            f"{count} systems",
            f"`` decides {decided['projection-rescaling']},",
            f"Clarabel {decided['Clarabel']} and",
            f"SCS {decided['SCS']}.",
            f"decides {decided['ECOS']} of {planned['ECOS']}",
            "delta of 1e-5 and less",
            f"{span(medians(answers))} times the time",
            f"{span(medians(at))} times on second-order cones with delta of 1e-3",
        ],
    )
    assert numbers(text) == []
    assert f"Share of {count} conic systems" in PAGES["docs/which-algorithm.md"]
