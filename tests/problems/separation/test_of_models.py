"""Models of other packages have the verdicts of their arrays, with the models' names."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.miscmodels.ordinal_model import OrderedModel

from perceptron_lab import separation
from perceptron_lab.core.errors import InputError, MissingPackageError
from perceptron_lab.problems.separation.verdict import SeparationVerdict

COUNT = 40
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of statsmodels


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    """Nobody without the dose recovers; other variables overlap."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"dose": rng.integers(0, 2, COUNT), "age": rng.integers(20, 70, COUNT)})
    frame["y"] = frame.dose * rng.integers(0, 2, COUNT)
    frame["visits"] = frame.dose * rng.integers(0, 4, COUNT)
    frame["grade"] = np.where(frame.dose, rng.choice(["b", "c"], COUNT), "a")
    frame["center"] = rng.choice(["north", "south", "west"], COUNT)
    frame["weeks"] = rng.integers(1, 9, COUNT).astype(float)
    frame["trials"] = 3
    return frame


def assert_same(
    of_model: SeparationVerdict, of_arrays: SeparationVerdict, verdict: str = "quasi-complete"
) -> None:
    assert of_model.verdict == of_arrays.verdict == verdict
    assert list(of_model.coefficients.values()) == list(of_arrays.coefficients.values())
    np.testing.assert_array_equal(of_model.separated_rows, of_arrays.separated_rows)


X = ["dose", "age"]
LINKS = sm.families.links


@pytest.mark.parametrize("model", [sm.Logit, sm.Probit])
def test_binary_models(study: pd.DataFrame, model: Any) -> None:
    with_constant = model(study.y, sm.add_constant(study[X]))
    of_model = separation.of(with_constant)
    assert_same(of_model, separation(study[X], study.y))
    assert list(of_model.coefficients) == ["dose", "age", "intercept"]
    assert of_model.constant_columns == ("const",)
    without = separation.of(model(study.y, study[X]))
    assert without.intercept is None
    assert_same(without, separation(study[X], study.y, affine=False), "overlap")


@pytest.mark.parametrize(
    "link", [LINKS.Logit, LINKS.Probit, LINKS.CLogLog, LINKS.LogLog, LINKS.Cauchy]
)
def test_binomial_models_of_trials(study: pd.DataFrame, link: Any) -> None:
    pairs = np.c_[study.visits, study.trials - study.visits]
    model = sm.GLM(pairs, sm.add_constant(study[X]), family=sm.families.Binomial(link()))
    assert_same(separation.of(model), separation(study[X], study.visits, counts=study.trials))
    labels = sm.GLM(study.y, sm.add_constant(study[X]), family=sm.families.Binomial(link()))
    assert_same(separation.of(labels), separation(study[X], study.y))
    shares = sm.GLM(study.visits / 3.1, sm.add_constant(study[X]), family=model.family)
    assert_same(separation.of(shares), separation(study[X], study.visits, counts=study.trials + 1))


@pytest.mark.parametrize("family", ["poisson", "negative-binomial"])
def test_counts(study: pd.DataFrame, family: str) -> None:
    kinds = {"poisson": sm.families.Poisson, "negative-binomial": sm.families.NegativeBinomial}
    kind, weights = kinds[family](), (study.age > 30).astype(float)
    model = sm.GLM(study.visits, sm.add_constant(study[X]), family=kind, freq_weights=weights)
    expected = separation(study[X], study.visits, family=family, weights=weights)
    assert_same(separation.of(model), expected)
    assert_same(separation.of(model.fit(maxiter=1)), expected)  # results too
    exposed = sm.Poisson(study.visits, sm.add_constant(study[X]), exposure=study.age)
    assert_same(separation.of(exposed), separation(study[X], study.visits, family="poisson"))


def test_log_binomial_models_keep_the_offset(study: pd.DataFrame) -> None:
    kind = sm.families.Binomial(LINKS.Log())
    offset = np.full(COUNT, -1.0)
    model = sm.GLM(study.y, study[["dose"]], family=kind, offset=offset)
    options = {"family": "log-binomial", "affine": False}
    expected = separation(study[["dose"]], study.y, offset=offset, **options)
    assert_same(separation.of(model), expected, expected.verdict)
    impossible = sm.GLM(study.y, study[["dose"]], family=kind, offset=-offset)
    with pytest.raises(InputError, match="probability of at most 1"):
        separation.of(impossible)


def test_classes_keep_their_order_and_labels(study: pd.DataFrame) -> None:
    multinomial = separation.of(sm.MNLogit(study.grade, sm.add_constant(study[X])))
    assert_same(multinomial, separation(study[X], study.grade, family="multinomial"))
    assert multinomial.classes == ("a", "b", "c")
    grades = study.grade.astype(pd.CategoricalDtype(["a", "c", "b"], ordered=True))
    ordinal = separation.of(OrderedModel(grades, study[X], distr="logit"))
    assert_same(ordinal, separation(study[X], grades, family="ordinal"))
    assert ordinal.classes == ("a", "c", "b")
    by_formula = OrderedModel.from_formula("grade ~ 0 + dose + age", study.assign(grade=grades))
    assert separation.of(by_formula).coefficients == ordinal.coefficients


def test_times_and_strata(study: pd.DataFrame) -> None:
    start = study.weeks - 0.5
    cox = sm.PHReg(study.weeks, study[X], status=study.y, strata=study.trials, ties="efron")
    assert_same(
        separation.of(cox),
        separation(study[X], study.y, family="cox", time=study.weeks, strata=study.trials),
    )
    late = sm.PHReg(study.weeks, study[X], status=study.y, entry=start)
    expected = separation(study[X], study.y, family="cox", time=study.weeks, start=start)
    assert_same(separation.of(late), expected, expected.verdict)
    early = separation(study[X], study.y, family="cox", time=study.weeks)
    assert early.separated_rows.tolist() != expected.separated_rows.tolist()
    groups = np.arange(COUNT) % 5
    model = ConditionalLogit(study.y.to_numpy(), study[X].to_numpy(), groups=groups)
    assert_same(
        separation.of(model), separation(study[X], study.y, family="conditional", strata=groups)
    )


def test_formulas_have_the_names_of_their_contrasts(study: pd.DataFrame) -> None:
    formula = "y ~ dose + C(center, Treatment('south')) * age"
    of_formula = separation(formula, study)
    of_model = separation.of(smf.logit(formula, study))
    assert of_formula.verdict == "quasi-complete"
    assert of_formula.coefficients == of_model.coefficients
    np.testing.assert_array_equal(of_formula.separated_rows, of_model.separated_rows)
    assert "C(center, Treatment('south'))[T.west]:age" in of_formula.coefficients
    assert of_formula.constant_columns == ("Intercept",)


def test_responses_and_variables_of_formulas(study: pd.DataFrame) -> None:
    texts = study.assign(y=np.where(study.y, "well", "ill")).set_index("center")
    of_texts = separation("y ~ dose + age", texts)
    assert of_texts.classes == ("ill", "well")
    assert_same(of_texts, separation(study[X], study.y))
    trials = separation("visits ~ dose + age", study, counts="trials")
    assert_same(trials, separation(study[X], study.visits, counts=study.trials))
    without = separation("y ~ 0 + dose + age", study)
    assert list(without.coefficients) == X
    expression = separation("I(visits + 0.0) ~ dose + age", study, family="poisson")
    assert_same(expression, separation(study[X], study.visits, family="poisson"))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("~ dose", "has no response; give 'response ~ terms'"),
        ("y ~ dosis", "`dosis` is not present"),
        ("y ~ (dose", "Could not find matching context marker"),
        ("C(center) ~ dose", "has 3 columns; give one"),
        ("y ~ gap", "null values|missing"),
    ],
)
def test_wrong_formulas(study: pd.DataFrame, formula: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        separation(formula, study.assign(gap=np.where(study.y, np.nan, 1.0)))


def test_a_formula_needs_a_frame_and_its_package(
    study: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="needs a pandas frame"):
        separation("y ~ dose", study.to_numpy())
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises((MissingPackageError, ImportError), match="formulaic"):
        separation("y ~ dose", study)


def test_logistic_regression_of_scikit_learn(study: pd.DataFrame) -> None:
    penalised = separation.of(LogisticRegression(), study[X], study.y)
    assert_same(penalised, separation(study[X], study.y))
    assert "penalised (C=1)" in penalised.note
    assert penalised.note in str(penalised)
    free = separation.of(LogisticRegression(C=np.inf, fit_intercept=False), study[X], study.y)
    assert_same(free, separation(study[X], study.y, affine=False), "overlap")
    assert free.note == ""
    classes = separation.of(LogisticRegression(), study[X], study.grade)
    assert_same(classes, separation(study[X], study.grade, family="multinomial"))


@pytest.mark.parametrize("fitted", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_pipelines_transform_their_data(study: pd.DataFrame, fitted: bool, sparse: bool) -> None:
    encoder = OneHotEncoder(drop="first", sparse_output=sparse)
    columns = make_column_transformer(
        (encoder, ["center"]), remainder="passthrough", sparse_threshold=1.0
    )
    model = make_pipeline(columns, LogisticRegression())
    data = study[["center", *X]]
    of_model = separation.of(model.fit(data, study.y) if fitted else model, data, study.y)
    table = columns.fit_transform(data)
    assert sp.issparse(table) == sparse
    assert_same(of_model, separation(table, study.y))
    assert "onehotencoder__center_south" in of_model.coefficients
    assert list(of_model.coefficients)[-3:] == ["remainder__dose", "remainder__age", "intercept"]
    alone = separation.of(make_pipeline(LogisticRegression()), study[X], study.y)
    assert_same(alone, separation(study[X], study.y))
    powers = make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression())
    assert "dose age" in separation.of(powers, study[X], study.y).coefficients


def test_other_models_are_refused(study: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="OLS is no model whose estimates may diverge"):
        separation.of(sm.OLS(study.y, study[X]))
    with pytest.raises(InputError, match="family Gaussian with link Identity"):
        separation.of(sm.GLM(study.y, study[X]))
    with pytest.raises(InputError, match="has its data; leave X and y out"):
        separation.of(sm.Logit(study.y, study[X]), study[X], study.y)
    with pytest.raises(InputError, match="does not keep its data; give X and y too"):
        separation.of(LogisticRegression())
    with pytest.raises(InputError, match="Ridge is no logistic regression"):
        separation.of(Ridge(), study[X], study.y)
