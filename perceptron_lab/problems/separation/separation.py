"""The question of two classes: separated completely, quasi-completely, or not, with proofs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy.typing as npt

from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.numerics.input_checks import ArrayOrSparse
from perceptron_lab.problems.separation.coefficients import UNDECIDED as NO_CLASS
from perceptron_lab.problems.separation.coefficients import Coefficient, coefficients
from perceptron_lab.problems.separation.exact_pairs import exact_pair, require_no_faults, seconds_of
from perceptron_lab.problems.separation.labelled import Labelled, labelled
from perceptron_lab.problems.separation.pairs import ComplementaryPair, logistic_proposals
from perceptron_lab.problems.separation.proofs import Checked
from perceptron_lab.problems.separation.verdict import SeparationVerdict, verdict_on
from perceptron_lab.problems.separation.whole_rows import WholeRows


def separation(
    X: ArrayOrSparse,
    y: npt.ArrayLike,
    *,
    affine: bool = True,
    positive: object = None,
    max_seconds: float | None = None,
) -> SeparationVerdict:
    """Decide whether two classes are separated, and which estimates of logistic regression diverge.

    Of the rows a_i = y_i (x_i, 1), y_i = 1 or -1, and R = {b : A b >= 0}: the classes are separated
    completely if some b has A b > 0, they overlap if R holds no b with A b != 0, and else they are
    separated quasi-completely. Maximum likelihood estimates exist if and only if they overlap
    (Albert and Anderson, Biometrika 71, 1984); otherwise a coefficient may still be finite, or run
    to +infinity, to -infinity, or where to is not determined by the data.

    Every answer is proved in exact arithmetic, on the numbers as given: a strictly complementary
    pair for the verdict, combinations of rows and members of R for the coefficients.

    Parameters
    ----------
    X
        Examples, shape ``(m, k)``, dense, scipy.sparse, or a table of pandas, polars or Arrow, or a
        design matrix of patsy or formulaic, whose names are used. Doubles are the numbers that they
        are; integers, fractions and decimals count exactly too. With ``affine`` k may be 0: then
        there is the intercept alone.
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
        Where so many seconds do not suffice, the verdict is ``undecided``, or some coefficients
        have no class: ``method`` says how many. None for no limit.

    Raises
    ------
    InputError
        If the data are no finite numbers, there are not two classes, there is no label
        ``positive``, labels are texts and numbers, or the time is below 0.

    Examples
    --------
    Whoever takes the dose recovers, and one without it:

    >>> from perceptron_lab import separation
    >>> found = separation([[0], [0], [0], [1], [1]], ["ill", "ill", "well", "well", "well"])
    >>> found.verdict, found.coefficients
    ('quasi-complete', {'x_1': '+INF', 'intercept': 'FINITE'})
    >>> found.overlap_rows.tolist()
    [0, 1, 2]
    """
    seconds_of(max_seconds)
    given = labelled(X, y, affine=affine, positive=positive)
    return decided(given, max_seconds=max_seconds)


def decided(
    given: Labelled, *, max_seconds: float | None = None, asked: Callable[[], object] | None = None
) -> SeparationVerdict:
    """Return the verdict on labelled rows.

    Parameters
    ----------
    given
        The rows, with the names of their columns.
    max_seconds
        As for :func:`separation`.
    asked
        Asked again and again whether to end: a true value ends the work as the time does.
    """
    rows = given.rows
    with time_limit(seconds_of(max_seconds), asked):
        pair = exact_pair(rows, logistic_proposals, "Newton's steps, made exact")
        if pair is None:
            return verdict_on(given)
        proofs = _proved_coefficients(rows, pair)
    missing = rows.width - len(proofs)
    method = pair.method
    if missing:
        which = f" for {missing} of {rows.width}" if proofs else " for"
        method += f"; too little time{which} coefficients"
    open_class = Coefficient(NO_CLASS)
    classified = tuple(proofs.get(j, open_class) for j in range(rows.width)) if proofs else ()
    return verdict_on(given, pair, classified, method)


def _proved_coefficients(rows: WholeRows, pair: ComplementaryPair) -> dict[int, Coefficient]:
    """Return the classes that the time suffices for, by column, each of them checked."""
    check, proved = Checked(rows, pair), dict[int, Coefficient]()
    with suppress(TimeIsUp):
        for j, one in coefficients(rows, pair):
            require_no_faults(check.faults(j, one))
            proved[j] = one
    return proved
