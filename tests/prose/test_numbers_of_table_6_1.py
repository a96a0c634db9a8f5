"""What is said of Table 6.1 is in its sample."""

from __future__ import annotations

import csv
import math
from datetime import datetime

import pandas as pd

from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.reporting.evidence import Evidence, findings
from perceptron_lab.reporting.papers.thesis.table_6_1.table import ROUNDING
from tests.prose.pages import ROOT, numbers, paragraph, rounded, section, spelt

SAMPLE = ROOT / "results" / "sample" / "maxcut"


def claims() -> list[str]:
    """Return the sentences, with the numbers of the sample."""
    table = pd.read_csv(SAMPLE / "table_6_1.csv")
    runs = pd.read_csv(SAMPLE / "runs.csv")
    deviations = table[["PRA deviation percent", "EA deviation percent"]].abs()
    exact = (deviations == 0.0).all(axis=1)
    worst = math.ceil(10.0 * float(deviations.max().max())) / 10.0
    with ROUNDING.open() as lines:
        counts = list(csv.DictReader(lines))
    assert all(row["least"] == row["most"] for row in counts)
    noisy = {}
    for row in counts:
        count, ends = int(row["least"]), (int(row["noisy_least"]), int(row["noisy_most"]))
        noisy[row["problem"]] = max(
            noisy.get(row["problem"], 0.0), *(abs(end / count - 1.0) for end in ends)
        )
    assert {name for name, shifted in noisy.items() if shifted} == set(table["problem"][~exact])
    moved_inside = [
        finding.interior_shift for finding in findings(Evidence.of_folder(SAMPLE).frame)
    ]
    shifts = [shift for shift in moved_inside if shift is not None]
    assert f"{max(shifts):.0e}" == "1e-10"
    assert runs["status"].eq("FEASIBLE").all()
    assert runs["proved"].all()
    with Reader.open(SAMPLE) as reader:
        ended = [stored for _, stored in reader.runs()]
    first, last = min(run.started for run in ended), max(run.ended for run in ended)
    full = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    proofs = runs["proof_seconds"].sum()
    traced = runs["total_seconds"].sum() - runs["seconds"].sum() - proofs
    same, rest = spelt(int(exact.sum())), spelt(int((~exact).sum()))
    shifted = rounded(100.0 * max(noisy.values()))
    spent = [f"{seconds:.1f} s" for seconds in (runs["seconds"].sum(), proofs, traced)]
    return [
        f"each find a feasible point of {len(table)} MAXCUT relaxations",
        f"On {same} instances both algorithms need **exactly the number of queries in the "
        f"thesis**. On the other {rest}, where isolated vertices or exact zero pivots matter, "
        f"the counts differ by at most {worst} %.",
        f"None of the {len(runs)} counts depends on the processor",
        f"changed the counts of these {rest} by up to {shifted} %, and no others.",
        f"Each of the {len(runs)} points is verified to be strictly feasible. On the "
        f"{spelt(len(shifts))} cells where the algorithm ends on the boundary of the cone, the "
        "point was first moved into the interior by at most 1e-10",
        f"The {len(runs)} cells take {full:.0f} s: {spent[0]} in the algorithms, {spent[1]} in "
        f"the verification and {spent[2]} for the margins along the traces",
    ]


PAGE = "# MAXCUT relaxations: chapter 6 of the thesis"
OTHERS = [
    paragraph("**Figure 6.1 is not reproduced.**"),
    paragraph("**EA does not outperform PRA completely"),
    paragraph("`plab run sdplib` runs on"),
]
"""Their numbers are those of other samples."""

NOT_MEASURED = [
    "0.6",  # megabytes of SDPLIB's files
    "1",  # queries are updates + 1
    "2",  # 2^-52, the noise
    "52",
]


def test_its_numbers() -> None:
    text = section("docs/papers/maxcut.md", PAGE)
    for other in OTHERS:
        text = text.replace(other, "")
    for claim in claims():
        assert claim in text
        text = text.replace(claim, "")
    assert numbers(text) == NOT_MEASURED
