"""Verdicts on the test data of other packages are those of their authors."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_iris

from perceptron_lab import separation
from tests.problems.separation.peer_suites import (
    ENDOMETRIAL,
    HEPATITIS,
    LIZARDS,
    POISSON,
    SEX_AGGREGATED,
    SILVAPULLE,
    STEM_CELLS,
)

PAGE = Path(__file__).parents[3] / "docs" / "notes" / "existence-of-estimates.md"


def table(text: str) -> Any:
    return np.array([line.split() for line in text.split("|")], dtype=float)


def dummies(values: Any) -> Any:
    return (values[:, None] == np.unique(values)).astype(float)


def stated_in(name: str, verdict: str, separated: int) -> bool:
    """Whether the table of the page states the answer on a data set."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if f"| {name} " in line]
    return len(lines) == 1 and lines[0].endswith(f"| {verdict} | {separated} |")


@pytest.mark.parametrize("name", POISSON)
def test_poisson_rows_of_ppmlhdfe(name: str) -> None:
    kinds, rows = POISSON[name]
    y, *columns, separated = table(rows).T
    X = [
        x[:, None] if k == "x" else dummies(x) for k, x in zip(kinds.split(), columns, strict=True)
    ]
    found = separation(np.hstack(X), y, family="poisson")
    assert found.proved
    assert found.separated_rows.tolist() == np.flatnonzero(separated).tolist()
    assert stated_in(f"ppmlhdfe {name}", found.verdict, int(separated.sum()))


def test_silvapulle_has_estimates_for_the_log_link_alone() -> None:
    """detectseparation states -Inf, -Inf for the probability of no case, and 0, 0 for log."""
    cases, others = SILVAPULLE
    X = np.array([*cases, *others])[:, None]
    y = np.repeat([0, 1], [len(cases), len(others)])
    logit, log = (separation(X, y, family=family) for family in ("binomial", "log-binomial"))
    assert logit.coefficients == {"x_1": "-INF", "intercept": "+INF"}
    assert stated_in("detectseparation silvapulle1981, logit", logit.verdict, 34)
    assert stated_in("detectseparation silvapulle1981, log", log.verdict, 0)


def test_the_diaphragm_of_logistf_has_no_estimate() -> None:
    """Heinze and Schemper: every woman with a diaphragm is a case."""
    case, *columns, persons = table(SEX_AGGREGATED).T
    names = ["age", "oc", "vic", "vicl", "vis", "dia"]
    X = pd.DataFrame(dict(zip(names, columns, strict=True)))
    found = separation(X, case, weights=persons)
    infinite = {name: c for name, c in found.coefficients.items() if c != "FINITE"}
    assert infinite == {"dia": "+INF"}
    assert found.separated_rows.tolist() == np.flatnonzero(X["dia"]).tolist()
    assert found.remedies().columns.members == ("dia",)
    assert stated_in("logistf sexagg", found.verdict, len(found.separated_rows))


def test_neovasculisation_of_detectseparation_has_no_estimate() -> None:
    *columns, high = table(ENDOMETRIAL).T
    found = separation(np.column_stack(columns), high)
    infinite = {name: c for name, c in found.coefficients.items() if c != "FINITE"}
    assert infinite == {"x_1": "+INF"}
    assert stated_in("detectseparation endometrial", found.verdict, len(found.separated_rows))


def test_iris_is_predicted_perfectly_as_in_the_tests_of_statsmodels() -> None:
    """Their models raise or warn of perfect separation: setosa against versicolor."""
    X, y = load_iris(return_X_y=True)
    two = y < 2
    for family in (sm.Logit, partial(sm.GLM, family=sm.families.Binomial())):
        found = separation.of(family(y[two], sm.add_constant(X[two])))
        assert stated_in("statsmodels iris", found.verdict, len(found.separated_rows))
    three = separation.of(sm.MNLogit(y, sm.add_constant(X)))
    assert three.verdict == separation(X, y, family="multinomial").verdict
    assert stated_in("statsmodels iris, three species", three.verdict, len(three.separated_rows))


def test_lizards_overlap_with_trials() -> None:
    grahami, opalinus, *factors = table(LIZARDS).T
    X = np.hstack([dummies(factor)[:, 1:] for factor in factors])
    found = separation(X, grahami, counts=grahami + opalinus)
    assert set(found.coefficients.values()) == {"FINITE"}
    assert stated_in("detectseparation lizards", found.verdict, len(found.separated_rows))


def test_no_hepatitis_c_where_blood_was_withheld_before() -> None:
    """Bull, Mak and Greenwood: the contrasts of class C with withholding are infinite."""
    kind, withheld, after, persons = table(HEPATITIS).T
    X = np.column_stack([withheld, after, withheld * after])
    found = separation(X, kind.astype(int), family="multinomial", weights=persons)
    infinite = {name: c for name, c in found.coefficients.items() if c != "FINITE"}
    assert infinite == {"1:x_1": "-INF", "1:x_3": "+INF"}
    rows = len(found.separated_rows)
    assert stated_in("brglm2 hepatitis, multinomial", found.verdict, rows)


@pytest.mark.parametrize("family", ["ordinal", "adjacent", "multinomial"])
def test_stem_cells_overlap(family: str) -> None:
    counts = np.array([*STEM_CELLS.values()])
    sex, attitude, religion = np.indices(counts.shape).reshape(3, -1)
    X = np.column_stack([sex, dummies(religion)[:, 1:]])
    found = separation(X, attitude, family=family, weights=counts.ravel())
    assert set(found.coefficients.values()) == {"FINITE"}
    assert stated_in(f"brglm2 stemcell, {family}", found.verdict, len(found.separated_rows))
