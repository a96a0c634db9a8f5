"""Between the directional margin of augmented rows and the geometric margin of two classes."""

from __future__ import annotations

import math

from perceptron_lab.core.errors import InputError


def geometric_bracket(
    lower: float, upper: float, *, longest: float, augment: float
) -> tuple[float, float]:
    """Return a bracket of the geometric margin gamma of two classes, of one of gamma_d.

    gamma = max over (w, b) of min_i s_i (w'x_i + b) / norm(w) is half the distance of the hulls of
    the classes. gamma_d is the directional margin of the rows s_i (x_i, rho), in the span of which
    the bias counts as well. With R the largest norm of these rows,

        gamma_d <= gamma <= (R / rho) gamma_d                                            (2.67).

    The first inequality is norm(w) <= norm((w, rho b)); the second holds for the best hyperplane,
    which passes between the classes and so is no further from the origin than the furthest example:
    both classes must occur. R^2 = rho^2 + max norm(x_i)^2: with rho the largest norm of an example
    gamma is found up to a factor sqrt 2, and R / rho tends to 1 as rho grows, while the bounds of
    the algorithms, (R / gamma_d)^2 and more, tend to infinity.

    Parameters
    ----------
    lower, upper
        0 <= lower <= gamma_d <= upper, as in ``margin_lower`` and ``margin_upper`` of a result on
        ``ConicSystem.from_labelled(X, y, margin="directional", augment=rho)``.
    longest
        R, or more: ``system.facts().norm``.
    augment
        rho > 0.

    Returns
    -------
    tuple of float
        Rounded outwards.

    Raises
    ------
    InputError
        If the numbers are not ordered like that, or R < rho.

    References
    ----------
    `TsampoukaShaweTaylor`, section 2.3.

    Examples
    --------
    Two points at a distance of 6, so that gamma = 3; the rows (4, 2) and (2, -2) have
    gamma_d = 6 / sqrt 5.

    >>> low, high = geometric_bracket(2.683, 2.684, longest=20**0.5, augment=2.0)
    >>> low <= 3.0 <= high
    True
    >>> print(f"{low:.2f} {high:.2f}")
    2.68 6.00
    """
    if not 0.0 <= lower <= upper < math.inf:
        raise InputError(f"gamma_d in [{lower}, {upper}]; give 0 <= lower <= upper, finite")
    if not 0.0 < augment <= longest < math.inf:
        raise InputError(
            f"augment={augment} and longest={longest}; give the constant feature, above 0, and the "
            "largest norm of the rows that have it"
        )
    return lower, math.nextafter(upper * (longest / augment) * (1.0 + 2.0**-50), math.inf)
