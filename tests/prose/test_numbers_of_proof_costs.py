"""The costs of proofs in docs/notes/proof-costs.md are those of the samples."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.reporting.theory import proof_costs
from perceptron_lab.reporting.theory.tightness import stored
from tests.prose.pages import ROOT

PAGE = ROOT / "docs" / "notes" / "proof-costs.md"


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    frame = pd.concat([proof_costs.answers(stored(name)) for name in proof_costs.SAMPLES])
    return frame.assign(ratio=frame["proving"] / frame["solving"])


def test_the_table_of_the_page_is_that_of_the_samples(answers: pd.DataFrame) -> None:
    groups = dict(list(answers.groupby(["cone", "answer"])))
    lines = re.findall(r"^\| (\S+) \| ([a-z ]+) \| (\d+) \| (.*) \|$", PAGE.read_text(), re.M)
    assert {(cone, answer) for cone, answer, *_ in lines} == set(groups)
    for cone, answer, count, rest in lines:
        ratio = groups[cone, answer]["ratio"]
        assert int(count) == len(ratio)
        faster = f"{100 * (ratio < 1).mean():.0f} %"
        assert rest.split(" | ") == [*map(_two_digits, ratio.quantile([0.5, 0.9])), faster]


def _two_digits(value: float) -> str:
    digits = max(0, 1 - int(np.floor(np.log10(value))))
    return f"{value:.{digits}f}"


def test_the_share_of_all_proofs_is_that_of_the_samples(answers: pd.DataFrame) -> None:
    proving, solving = answers["proving"].sum(), answers["solving"].sum()
    sentence = f"Over all {len(answers)} answers the proofs take "
    assert (
        f"{sentence}{100 * proving / (proving + solving):.1f} % of the seconds" in PAGE.read_text()
    )
