"""What is said of Figure 2 and of conic systems is in their samples."""

from __future__ import annotations

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph

SAMPLES = ROOT / "results" / "sample"


def test_figure_2() -> None:
    table = pd.read_csv(SAMPLES / "kernel" / "table_figure_2.csv")
    errors = table.set_index(["label", "iterations"])["median"]
    assert set(table["seeds"]) == {3}
    labels = ["MPKFP", "ISNKPVN", "KPCT"]
    for iterations in (10, 32, 100):
        ranked = [errors[label, iterations] for label in labels]
        assert ranked == sorted(ranked)
    begins = errors["ISNKPVN 2n", 10] / errors["KPCT", 10]
    level = errors["ISNKPVN 2n", 100] / errors["ISNKPVN", 100]
    assert max(abs(begins - 1.0), abs(level - 1.0)) < 0.1
    agreeing = paragraph("Figure 2 is only partly reproduced.")
    text = f"{agreeing} {paragraph('Two observations differ.')}"
    for claim in (
        "reaches the error of ISNKPVN after 100 iterations",
        f"perceptron after 1000 iterations ({errors['KPCT', 1000]:.1f} % of the test digits wrong)",
        f"Mirror-Prox after 10 iterations ({errors['MPKFP', 10]:.1f} %)",
        f"ahead of Mirror-Prox after 10 iterations ({errors['KVN', 10]:.1f} %) and equal to it "
        f"after 32 ({errors['KVN', 32]:.1f} % against {errors['MPKFP', 32]:.1f} %)",
        "medians over 3 splits",
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert errors["KVN", 10] < errors["MPKFP", 10]
    assert errors["KPCT", 1000] < errors["MPKFP", 10]
    assert numbers(text.replace("ISNKPVN 2n", "")) == []


def test_conic() -> None:
    table = pd.read_csv(SAMPLES / "conic" / "conic.csv")
    maxcut = table[table["problem"].str.startswith("mcp")].set_index(["label", "problem"])
    assert maxcut["status"].isin(["FEASIBLE"]).all()
    queries = {label: list(maxcut.loc[label, "queries"]) for label in ("VN", "PRA", "EA")}
    (fewest,) = set(queries["VN"])
    text = paragraph("`plab run conic` compares")
    for claim in (
        f"needs **{fewest} queries**, where PRA needs {min(queries['PRA'])} to "
        f"{max(queries['PRA'])} and EA needs {min(queries['EA'])} to {max(queries['EA'])}",
        "needs {}, {} and {} iterations on mcp100, mcp124-4 and mcp250-1".format(
            *maxcut.loc["MP"].loc[["mcp100", "mcp124-4", "mcp250-1"], "iterations"].astype(int)
        ),
    ):
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == []
