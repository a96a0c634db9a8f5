"""Decide complete, quasi-complete or no separation of two classes, with proofs.

The exact pair of rows is found near a proposal in doubles, for columns that depend on each other as
little as it takes (:mod:`~perceptron_lab.problems.separation.changed_columns`), or by an exact
linear program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from numbers import Real
from operator import mul
from typing import Any, Final, ParamSpec, Protocol, cast

import numpy as np
import numpy.typing as npt

from perceptron_lab.algorithms.linear.exact_optimum import minimised
from perceptron_lab.cones.operators.row_parts import is_dask
from perceptron_lab.core.errors import InputError, refuse_flags
from perceptron_lab.core.results import Status
from perceptron_lab.core.time_limit import TimeIsUp, check_time, time_limit
from perceptron_lab.numerics.input_checks import ArrayOrSparse
from perceptron_lab.problems.separation.changed_columns import (
    conditioned,
    in_original_columns,
    orthogonalised,
)
from perceptron_lab.problems.separation.coefficients import UNDECIDED as NO_CLASS
from perceptron_lab.problems.separation.coefficients import Coefficient, coefficients
from perceptron_lab.problems.separation.equal_rows import merged
from perceptron_lab.problems.separation.families.options import ModelOptions
from perceptron_lab.problems.separation.integer_rows import IntegerRows, column_sizes
from perceptron_lab.problems.separation.labelled import Labelled
from perceptron_lab.problems.separation.modelled import modelled
from perceptron_lab.problems.separation.null_spaces import primitive_vector, span_of
from perceptron_lab.problems.separation.of_models import examples_of, of_formula, require_one_index
from perceptron_lab.problems.separation.pair_verification import CoefficientChecker, faults
from perceptron_lab.problems.separation.pairs import (
    ComplementaryPair,
    PartitionProposal,
    logistic_proposals,
    pair_near,
)
from perceptron_lab.problems.separation.verdict import SeparationVerdict, verdict_on
from perceptron_lab.systems.conditions import bound_conditions, condition, over_common
from perceptron_lab.systems.linear_system import LinearSystem

_PIVOTS: Final = 10_000_000  # Largest number of exact pivots; time limits end before


def seconds_of(max_seconds: float | None) -> float:
    """Return a time limit in seconds, infinity for None; an InputError refuses negative ones."""
    if max_seconds is None:
        return math.inf
    if not isinstance(max_seconds, Real) or not max_seconds >= 0.0:
        raise InputError(f"max_seconds is {max_seconds!r}; give 0 or more, or None for no limit")
    return max_seconds


def exact_pair(
    rows: IntegerRows, proposals: Callable[[Any], Iterator[PartitionProposal]], method: str
) -> ComplementaryPair | None:
    """Return the partition with its verified proof, or None if the time limit ended the search.

    Parameters
    ----------
    rows
        A.
    proposals
        Yields computed partitions of the rows; if none of them can be made exact, exact pivots
        decide.
    method
        The name of a pair near a proposal.
    """
    with suppress(TimeIsUp):
        pair = next(_pairs(rows, proposals, method), None)
        require_no_faults([] if pair is None else faults(rows, pair, []))
        return pair
    return None


def _pairs(
    rows: IntegerRows, proposals: Callable[[Any], Iterator[PartitionProposal]], method: str
) -> Iterator[ComplementaryPair]:
    """Yield exact pairs: near proposals for other and other columns, then by the exact decision."""
    for change in (conditioned, orthogonalised):
        better, columns = change(rows)
        if columns is None and change is orthogonalised:
            break
        for proposal in proposals(better.doubles):
            pair = pair_near(better, proposal, method)
            if pair is not None:
                yield in_original_columns(pair, columns)
    pair = exact_decision_pair(better)
    if pair is not None:
        yield in_original_columns(pair, columns)


def require_no_faults(faults: list[str]) -> None:
    """Raise an AssertionError if a proof has faults."""
    assert not faults, f"a proof does not hold: {'; '.join(faults)}; this is a bug, report it"


def exact_decision_pair(rows: IntegerRows) -> ComplementaryPair | None:
    """Return the pair by an exact linear program, or None if a limit ended it.

    max sum_i s_i subject to a_i'b >= s_i, 0 <= s_i <= 1: on the cone R of all b multiples count,
    so that s_i = 1 at an optimum if a_i'b > 0 somewhere on R, and s_i = 0 otherwise; there the
    multipliers of a_i'b >= s_i are 1 or more.
    """
    system, units = _system(rows)
    costs = {rows.width + i: Fraction(-1) for i in range(rows.count)}
    optimum = minimised(system, costs, _PIVOTS)
    if optimum.status is not Status.FEASIBLE:
        return None
    assert optimum.point is not None
    signs = np.array(optimum.point[rows.width :], dtype=bool)
    overlap, separated = np.flatnonzero(~signs), np.flatnonzero(signs)
    numerators, _ = over_common(map(mul, optimum.point, units))
    return ComplementaryPair(
        separated,
        overlap,
        np.zeros(len(overlap), dtype=np.int64),
        {k: optimum.weights[k] for k in overlap.tolist()},
        primitive_vector(numerators),
        span_of(rows, overlap, overlap[: rows.width]),
        "exact pivots" if optimum.pivots else "a basis of HiGHS",
    )


def _system(rows: IntegerRows) -> tuple[LinearSystem, list[Fraction]]:
    """Return A D x >= s, 0 <= s <= 1, and the diagonal of D: powers of two that scale columns."""
    exponents = np.frexp(column_sizes(rows.doubles))[1] + rows.shifts
    units = [Fraction(2) ** -exponent for exponent in exponents.tolist()]
    conditions = []
    for k, row in enumerate(rows.entries(np.arange(rows.count))):
        check_time()
        columns = (*row, rows.width + k)
        numbers = (*(entry * units[j] for j, entry in row.items()), Fraction(-1))
        conditions.append(condition((columns, numbers), Fraction(), f"row {k}"))
    names = [*(f"b_{j}" for j in range(rows.width)), *(f"s_{k}" for k in range(rows.count))]
    lower, upper = ([None] * rows.width + [Fraction(side)] * rows.count for side in (0, 1))
    bounds = bound_conditions(lower, upper, names)
    return LinearSystem.of_conditions([*conditions, *bounds], names), units


P = ParamSpec("P")


class _Separation(Protocol[P]):
    """The function :func:`separation`, with the question of a model as its attribute ``of``."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> SeparationVerdict: ...

    def of(
        self, model: Any, X: Any = None, y: Any = None, *, max_seconds: float | None = None
    ) -> SeparationVerdict:
        """Decide whether the estimates of a model exist; see :func:`separation_of`."""
        ...


def separation_of(
    model: Any, X: Any = None, y: Any = None, *, max_seconds: float | None = None
) -> SeparationVerdict:
    """Decide whether the maximum likelihood estimates of a model exist: ``separation.of(model)``.

    Parameters
    ----------
    model
        A model of statsmodels, or its results: Logit, Probit, GLM (Binomial, Poisson, or
        NegativeBinomial with the link Log), Poisson, MNLogit, OrderedModel, PHReg or
        ConditionalLogit, with the weights, offset, strata and names of the model. Or
        LogisticRegression of scikit-learn, fitted or not, also as the last step of a pipeline: it
        has a penalty by default, so that its estimate exists; the verdict is on the model without
        it, and ``note`` states this.
    X, y
        The data of an estimator of scikit-learn; models of statsmodels have theirs.
    max_seconds
        As for :func:`separation`.

    Raises
    ------
    InputError
        If the model is of another kind, or its data are missing.
    """
    return verdict_for(examples_of(model, X, y), max_seconds=max_seconds)


def _with_models(function: Callable[P, SeparationVerdict]) -> _Separation[P]:
    function.of = separation_of  # type: ignore[attr-defined]
    return cast(_Separation[P], function)


@_with_models
def separation(
    X: ArrayOrSparse | str,
    y: npt.ArrayLike,
    *,
    affine: bool = True,
    positive: object = None,
    max_seconds: float | None = None,
    family: str = "binomial",
    link: str | None = None,
    counts: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    strata: npt.ArrayLike | None = None,
    offset: npt.ArrayLike | None = None,
    time: npt.ArrayLike | None = None,
    start: npt.ArrayLike | None = None,
    ties: str = "breslow",
) -> SeparationVerdict:
    """Decide whether two classes are separated, and which maximum likelihood estimates diverge.

    Of the rows a_i = y_i (x_i, 1), y_i = 1 or -1, and R = {b : A b >= 0}: the classes are separated
    completely if some b has A b > 0, they overlap if R holds no b with A b != 0, and else they are
    separated quasi-completely. Maximum likelihood estimates exist if and only if they overlap
    (Albert and Anderson, Biometrika 71, 1984); otherwise a coefficient may still be finite, or run
    to +infinity, to -infinity, or where to is not determined by the data.

    The same question of other generalised linear models has an answer of the same form: the rows
    are then the conditions of the ``family``, and R holds the directions of divergence d. Estimates
    exist if and only if every d in R satisfies all conditions with equality
    (docs/notes/existence-of-estimates.md).

    Every answer is proved in exact arithmetic on the original numbers: by a strictly complementary
    pair for the verdict, and by combinations of rows and members of R for the coefficients.

    Parameters
    ----------
    X
        Examples, shape ``(m, k)``, dense, scipy.sparse, or a table of pandas, polars or Arrow, or a
        design matrix of patsy or formulaic, whose names are used. Doubles are the numbers that they
        are; integers, fractions and decimals count exactly too. With ``affine`` k may be 0: then
        there is the intercept alone. Or a formula such as ``"y ~ smoke * age"`` for the columns of
        a pandas frame, which is then y (formulaic reads it); the formula decides whether there is
        an intercept, and texts given for ``weights`` and other variables are names of columns.
        Or a ``dask.array`` or ``dask.dataframe``, with y of dask: workers merge equal rows, and the
        distinct ones have to fit into memory. Row numbers are those of all rows.
    y
        A label each, of two classes. The later one is the positive class, whose log-odds are
        modelled: in the order of the categories of an ordered categorical (pandas, an Enum of
        polars), and in sorted order otherwise.
    affine
        Whether there is an intercept, whose coefficient is the last. Constant columns of the data
        other than 0 (``statsmodels.add_constant``, patsy, formulaic) are then left out:
        ``constant_columns`` of the verdict names them.
    positive
        The label of the positive class, against all other labels, of which there may be several;
        None (default) for the later of two labels.
    max_seconds
        Time limit in seconds, or None. If it is too short, the verdict is ``undecided``, or some
        coefficients have no class, whose number ``method`` states.
    family
        ``binomial`` (default; y holds two labels, or with ``counts`` numbers of successes),
        ``log-binomial`` (the same), ``poisson``, ``quasi-poisson``, ``negative-binomial`` with
        given dispersion (y >= 0), ``multinomial`` (coefficients of each class but the first),
        ``ordinal`` (cumulative) or ``adjacent`` (categories in their order; thresholds take the
        place of the intercept), ``conditional`` (y is the case in its stratum) or ``cox`` (y is 1
        for events, 0 for censored times); the last two have no intercept.
    link
        Of binomial and ordinal models ``logit`` (default), ``probit``, ``cloglog``, ``loglog`` or
        ``cauchit``: all have the same answer.
    counts
        Of binomial and log-binomial models the numbers of trials, with the successes as y;
        otherwise how many equal observations, or how much exposure, a row stands for.
    weights
        Frequencies or weights >= 0. Rows of weight 0 are left out, and may have missing values;
        other weights change nothing.
    strata
        A label each: the strata of ``conditional`` and ``cox``.
    offset
        Finite numbers. They change nothing, except whether a log-binomial model without intercept
        has a likelihood.
    time, start
        Of ``cox``: an observation is at risk in (start, time]; None, or -infinity, for a start
        before all times.
    ties
        Of ``cox``: with ``breslow`` (default) and ``efron``, tied events need equal x'd; with
        ``exact`` and ``discrete`` they are not compared.

    Raises
    ------
    InputError
        If the data are no finite numbers, there are not two classes, there is no label
        ``positive``, labels are texts and numbers, or the time is below 0; if an option does not
        belong to the family, or a value of y or of an option is not allowed: its row is named.

    Examples
    --------
    All patients with the dose recover, and one without it:

    >>> from perceptron_lab import separation
    >>> found = separation([[0], [0], [0], [1], [1]], ["ill", "ill", "well", "well", "well"])
    >>> found.verdict, found.coefficients
    ('quasi-complete', {'x_1': '+INF', 'intercept': 'FINITE'})
    >>> found.overlap_rows.tolist()
    [0, 1, 2]

    No accident is counted without a helmet:

    >>> found = separation([[0], [0], [1], [1]], [0, 0, 3, 1], family="poisson")
    >>> found.verdict, found.coefficients, found.separated_rows.tolist()
    ('quasi-complete', {'x_1': '+INF', 'intercept': '-INF'}, [0, 1])
    """
    refuse_flags(affine=affine)
    variables: dict[str, Any] = {"counts": counts, "weights": weights, "strata": strata}
    variables |= {"offset": offset, "time": time, "start": start}
    if not is_dask(X):
        require_one_index({"X": X, "y": y} | variables)
    if isinstance(X, str):
        X, y, variables, affine = of_formula(X, y, variables)
    options = ModelOptions(family, link, ties, **variables)
    examples = modelled(X, y, options, affine=affine, positive=positive)
    return verdict_for(examples, max_seconds=max_seconds)


def verdict_for(
    examples: Labelled,
    *,
    max_seconds: float | None = None,
    stop: Callable[[], object] | None = None,
) -> SeparationVerdict:
    """Return the verdict on labelled rows.

    Parameters
    ----------
    examples
        The rows, with the names of their columns.
    max_seconds
        As for :func:`separation`.
    stop
        Called repeatedly; a true value ends the work like a time limit.
    """
    with time_limit(seconds_of(max_seconds), stop):
        distinct, pair = merged(examples.rows), None
        with suppress(TimeIsUp):
            if examples.domain is not None:
                examples = replace(examples, domain=examples.domain.with_point())
            pair = exact_pair(distinct.rows, logistic_proposals, "Newton's steps, made exact")
        if pair is None:
            return verdict_on(examples)
        proofs = _proved_coefficients(distinct.rows, pair)
    width, method = examples.rows.width, pair.method
    if len(proofs) < width:
        which = f" for {width - len(proofs)} of {width}" if proofs else " for"
        method += f"; too little time{which} coefficients"
    each = (proofs.get(j, Coefficient(NO_CLASS)) for j in range(width)) if proofs else ()
    classified = tuple(map(distinct.coefficient, each))
    return verdict_on(examples, distinct.pair(pair), classified, method)


def _proved_coefficients(rows: IntegerRows, pair: ComplementaryPair) -> dict[int, Coefficient]:
    """Return the verified classes by column, as many as the time limit allows."""
    check, proved = CoefficientChecker(rows, pair), dict[int, Coefficient]()
    with suppress(TimeIsUp):
        for j, coefficient in coefficients(rows, pair):
            require_no_faults(check.faults(j, coefficient))
            proved[j] = coefficient
    return proved
