"""What is said of programs without points is in the sample."""

from __future__ import annotations

import re

import pandas as pd

from tests.prose.pages import ROOT, numbers, paragraph

TABLE = pd.read_csv(ROOT / "results" / "sample" / "infeasible_sdp" / "infeasible_programs.csv")
SOLVERS = ["Clarabel", "SCS", "CSDP", "SDPA"]


def totals(rows: pd.DataFrame, column: str, labels: list[str]) -> list[int]:
    sums = rows.groupby("label")[column].sum()
    return [int(sums[label]) for label in labels]


def check(words: str, claims: list[str]) -> None:
    text = paragraph(words)
    for claim in claims:
        assert claim in text, claim
        text = text.replace(claim, "")
    assert numbers(text) == []


def test_programs_of_liu_and_pataki() -> None:
    rows = TABLE[TABLE["problem"].str.startswith("liu-pataki-")]
    for look in ("clean", "messy"):
        part = rows[rows["problem"].str.contains(look)]
        (seeds,) = {*totals(part, "seeds", ["auto", *SOLVERS])}
        claimed, proved = (totals(part, name, SOLVERS) for name in ("claimed", "proved"))
        (ours,) = totals(part, "proved", ["auto"])
        kinds = part.loc[part["label"] == "auto", "kinds"]
        proved_kinds = [
            sum(map(int, re.findall(rf"(\d+) {kind}", " ".join(kinds))))
            for kind in ("weak", "strong")
        ]
        check(
            f"The {look} programs",
            [
                f"are {seeds}",
                "Clarabel reports {} of them infeasible, SCS {}, CSDP {} and SDPA {}".format(
                    *claimed
                ),
                "prove {}, {}, {} and {}".format(*proved),
                f"proves {ours}",
                "{} are weakly and {} strongly".format(*proved_kinds),
            ],
        )
    assert (TABLE["false"] == 0).all()
    assert (TABLE["right"] == TABLE["claimed"]).all()


def test_other_programs() -> None:
    rows = TABLE[~TABLE["problem"].str.startswith("liu-pataki-")]
    conic = rows["problem"].str.startswith("second-order")
    none = ~rows["problem"].str.contains("-feasible-")
    part = rows[none & ~conic]
    (seeds,) = {*totals(part, "seeds", ["auto", *SOLVERS])}
    twins = rows[~none]
    (ours,) = totals(rows[none], "proved", ["auto"])
    check(
        "Of the others,",
        [
            f"{seeds} semidefinite ones",
            "Clarabel reports {}, SCS {}, CSDP {} and SDPA {}".format(
                *totals(part, "claimed", SOLVERS)
            ),
            f"proves {ours} of {int(rows[none & (rows['label'] == 'auto')]['seeds'].sum())}",
            f"all {int(twins['seeds'].sum())} answers",
        ],
    )
    assert (twins["proved"] == twins["seeds"]).all()
