"""Models of statsmodels and scikit-learn, and formulas with their frames, as labelled rows.

Neither package is imported here: a model brings its arrays with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.numerics.input_checks import column_names
from perceptron_lab.problems.separation.families.options import ModelOptions
from perceptron_lab.problems.separation.labelled import (
    Labelled,
    constant_column_indices,
    examples_in,
)
from perceptron_lab.problems.separation.modelled import modelled_of

_LINKS: Final = {"Cauchy": "cauchit", "CLogLog": "cloglog", "LogLog": "loglog"} | {
    name: name.lower() for name in ("Logit", "Probit", "Log")
}
"""Class of a link of statsmodels -> name of the link."""


def examples_of(model: Any, X: Any = None, y: Any = None) -> Labelled:
    """Return the rows of the cone of a model; parameters as for ``separation.of``."""
    if hasattr(model, "get_params"):
        return _of_scikit_learn(model, X, y)
    model = getattr(model, "model", model)  # Of results
    if X is not None or y is not None:
        raise InputError(f"a {type(model).__name__} has its data; leave X and y out")
    for base in type(model).__mro__:
        if base.__name__ in _READERS:
            return _READERS[base.__name__](model)
    classes = ", ".join(sorted(_READERS))
    raise InputError(
        f"a {type(model).__name__} is no model whose estimates may diverge; known: {classes}, "
        "LogisticRegression, pipelines that end with it, and results of these"
    )


def _of_design(model: Any, y: Any, **options: Any) -> Labelled:
    """Return the rows for the design matrix of a model of statsmodels."""
    names = list(map(str, model.exog_names))[: model.exog.shape[1]]
    doubles, numbers = examples_in(np.asarray(model.exog), affine=True)
    affine = bool(constant_column_indices(doubles, numbers))
    return modelled_of(doubles, y, ModelOptions(**options), names, numbers, affine=affine)


def _binary(model: Any) -> Labelled:
    return _of_shares(model, np.asarray(model.endog), {"link": type(model).__name__.lower()})


def _of_shares(model: Any, shares: Any, options: dict[str, Any]) -> Labelled:
    """Return the rows of shares of successes: it matters only which are 0 and which are 1."""
    levels = 1 + (shares == 1.0) - (shares == 0.0).astype(int)
    if (levels != 1).all():
        return _of_design(model, levels // 2, **options)
    return _of_design(model, levels, counts=np.full(len(levels), 2), **options)


def _generalised(model: Any) -> Labelled:
    """Return the rows of a GLM; its weights count where they are 0 alone."""
    family, link = type(model.family).__name__, type(model.family.link).__name__
    weights = np.asarray(model.freq_weights) * np.asarray(model.var_weights)
    options = {} if (weights == 1.0).all() else {"weights": weights}
    kinds = {("Poisson", "Log"): "poisson", ("NegativeBinomial", "Log"): "negative-binomial"}
    if (family, link) in kinds:
        return _of_design(model, model.endog, family=kinds[family, link], **options)
    if family != "Binomial" or link not in _LINKS:
        raise InputError(
            f"family {family} with link {link}: no condition for the existence of its estimates is "
            "known here; known: Binomial with "
            f"{', '.join(_LINKS)}, Poisson and NegativeBinomial with Log"
        )
    return _binomial(model, _LINKS[link], options)


def _binomial(model: Any, link: str, options: dict[str, Any]) -> Labelled:
    """Return the rows of a binomial GLM, whose y are shares of trials."""
    if link == "log":
        offset = getattr(model, "offset", None)
        options |= {"family": "log-binomial"} | ({} if offset is None else {"offset": offset})
    else:
        options["link"] = link
    return _of_shares(model, np.asarray(model.endog), options)


def _counts(model: Any) -> Labelled:
    return _of_design(model, model.endog, family="poisson")


def _multinomial(model: Any) -> Labelled:
    codes = np.asarray(model.wendog.argmax(axis=1))
    labels = [model._ynames_map[k] for k in sorted(model._ynames_map)]
    return _of_design(model, _categories(codes, labels), family="multinomial")


def _ordinal(model: Any) -> Labelled:
    codes = np.asarray(model.endog)
    codes = codes.argmax(axis=1) if codes.ndim == 2 else codes.astype(int)
    return _of_design(model, _categories(codes, list(model.labels)), family="ordinal")


def _categories(codes: Any, labels: list[Any]) -> Any:
    """Return labels in the order of the model."""
    import pandas as pd  # models with labels have loaded it

    kind = pd.CategoricalDtype(labels, ordered=True)
    return pd.Series(pd.Categorical.from_codes(codes, dtype=kind))


def _cox(model: Any) -> Labelled:
    start, strata = model.entry, model.strata
    options = {"time": model.endog, "ties": model.ties, "start": start, "strata": strata}
    return _of_design(model, np.asarray(model.status), family="cox", **options)


def _conditional(model: Any) -> Labelled:
    y = np.asarray(model.endog).astype(int)
    return _of_design(model, y, family="conditional", strata=np.asarray(model.groups))


_READERS: Final[dict[str, Callable[[Any], Labelled]]] = {
    "Logit": _binary,
    "Probit": _binary,
    "GLM": _generalised,
    "Poisson": _counts,
    "MNLogit": _multinomial,
    "OrderedModel": _ordinal,
    "PHReg": _cox,
    "ConditionalLogit": _conditional,
}


def _of_scikit_learn(model: Any, X: Any, y: Any) -> Labelled:
    """Return the rows of LogisticRegression, also as the last step of a pipeline."""
    last, examples, names = model, X, column_names(X)
    if X is None or y is None:
        raise InputError(f"a {type(model).__name__} does not keep its data; give X and y too")
    if hasattr(model, "steps"):
        last, before = model.steps[-1][1], model[:-1]
        if len(model.steps) > 1:
            examples, names = _transformed(before, X, y)
    if type(last).__name__ not in ("LogisticRegression", "LogisticRegressionCV"):
        raise InputError(f"a {type(last).__name__} is no logistic regression; give one")
    family = "binomial" if len(np.unique(np.asarray(y))) <= 2 else "multinomial"
    options = ModelOptions(family)
    doubles, numbers = examples_in(examples, affine=True)
    affine = bool(last.fit_intercept)
    rows = modelled_of(doubles, y, options, names, numbers, affine=affine)
    return replace(rows, note=_note_on_penalty(last))


def _transformed(steps: Any, X: Any, y: Any) -> tuple[Any, list[str] | None]:
    """Return the examples after the steps before the last one, and the names of their columns."""
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(steps)
    except NotFittedError:
        steps = clone(steps).fit(X, y)
    examples = steps.transform(X)
    try:
        return examples, list(map(str, steps.get_feature_names_out()))
    except (AttributeError, ValueError):  # a step without names
        return examples, column_names(examples)


def _note_on_penalty(model: Any) -> str:
    """Return a sentence on the penalty of a model, or an empty text."""
    strength = getattr(model, "C", None)
    if getattr(model, "penalty", "l2") is None or strength == np.inf:
        return ""
    size = f"C={strength:g}" if isinstance(strength, int | float) else "a penalty"
    return (
        f"the model is penalised ({size}), so that its estimate exists; the verdict is on the "
        "model without the penalty"
    )


def require_one_index(arguments: Mapping[str, Any]) -> None:
    """Raise an InputError if frames and series have different indexes."""
    indexes = {
        name: value.index
        for name, value in arguments.items()
        if hasattr(value, "iloc") and hasattr(value, "index")
    }
    first = next(iter(indexes), "")
    for name, index in indexes.items():
        if len(index) == len(indexes[first]) and not index.equals(indexes[first]):
            raise InputError(
                f"{name} has another index than {first}, so that rows may not correspond; bring "
                f"both into one order (.loc, .reindex), or give {name}.to_numpy() if the rows "
                "correspond by position"
            )


def of_formula(
    formula: str, frame: Any, variables: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any], bool]:
    """Return the design matrix and the response of a formula, and whether it has an intercept.

    Parameters
    ----------
    formula
        ``response ~ terms``, as formulaic reads it.
    frame
        A pandas frame.
    variables
        Variables of the model: texts are names of columns.
    """
    from formulaic import Formula
    from formulaic.errors import FormulaicError

    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise InputError(
            f"separation({formula!r}, ...) needs a pandas frame with the named columns"
        )
    data = frame.reset_index(drop=True)
    for name, column in variables.items():
        if isinstance(column, str) and column not in data:
            columns = ", ".join(map(str, data.columns))
            raise InputError(f"{name}={column!r} is no column of the frame; columns: {columns}")
    try:
        parsed = Formula(formula)
        if not hasattr(parsed, "lhs"):
            raise InputError(f"{formula!r} has no response; give 'response ~ terms'")
        design = parsed.rhs.get_model_matrix(data, na_action="raise")
        named = {
            name: data[value] if isinstance(value, str) else value
            for name, value in variables.items()
        }
        response = _response(parsed.lhs, data)
    except (FormulaicError, ValueError, KeyError) as error:
        raise InputError(f"{formula!r}: {str(error).splitlines()[0]}") from error
    affine = "Intercept" in design.columns
    return design, response, named, affine


def _response(side: Any, data: Any) -> Any:
    """Return the column of a response, or the values of its one expression."""
    name = str(side)
    if name in data.columns:
        return data[name]
    values = side.get_model_matrix(data, na_action="raise")
    values = values.drop(columns="Intercept", errors="ignore")
    if values.shape[1] != 1:
        raise InputError(f"the response {name!r} has {values.shape[1]} columns; give one")
    return values.iloc[:, 0]
