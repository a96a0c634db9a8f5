"""Families of models: links, the data that they need, and the condition for divergence.

docs/notes/existence derives and proves the condition of each family. Its estimates exist if and
only if every direction d that satisfies the condition changes no likelihood: then the condition
holds with equality everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BINARY_LINKS: Final = ("logit", "probit", "cloglog", "loglog", "cauchit")
"""Links with a continuous, strictly increasing F from 0 to 1; the first one is the default."""
VARIABLES: Final = ("counts", "weights", "strata", "offset", "time", "start")
"""Options with a value for each observation."""
THRESHOLDS: Final = ("ordinal", "adjacent")
"""Families with thresholds instead of an intercept."""
RISKS: Final = ("conditional", "cox")
"""Families with neither, whose conditions compare observations."""
TIES: Final = ("breslow", "efron", "exact", "discrete")

OTHER_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("logistic", "bernoulli", "logistic-regression"), "family='binomial'"),
    **{link: f"family='binomial', link={link!r}" for link in BINARY_LINKS},
    **dict.fromkeys(("mlogit", "mnlogit", "softmax", "multilogit"), "family='multinomial'"),
    **dict.fromkeys(("polr", "cumulative", "proportional-odds", "ologit"), "family='ordinal'"),
    **dict.fromkeys(("clogit", "conditional-logit"), "family='conditional'"),
    **dict.fromkeys(("coxph", "phreg", "survival"), "family='cox'"),
    **dict.fromkeys(("ppml", "log-linear", "counts"), "family='poisson'"),
    **dict.fromkeys(("nb", "negbin", "nbinom"), "family='negative-binomial'"),
    **dict.fromkeys(("gaussian", "normal"), "nothing: least squares estimates exist on all data"),
}
"""Names of models elsewhere -> what to give instead."""

_PENALISED = "a penalised likelihood has estimates: Firth's (Kosmidis and Firth 2021), or a ridge"
REST: Final = "on the rows that overlap alone all estimates exist"
"""A sentence on models whose conditions are about one row each, where some rows are separated."""
_COUNTED = "x'd = 0 in rows with y > 0, x'd <= 0 in rows with y = 0"
LINK_NOTES: Final = {"cauchit": "the maximum need not be unique: log F of this link is not concave"}
"""Link -> a sentence on existing estimates."""


@dataclass(frozen=True)
class Family:
    """A family of models.

    Parameters
    ----------
    words
        Its name in sentences.
    modelled
        The quantity that is linear in x; ``{link}`` and ``{first}`` (class) are filled in.
    condition
        The condition on directions d of divergence.
    links
        The links for which it is proved; the first one is the default.
    needs, allows
        Data that are needed, and further ones that are used.
    note
        A sentence on existing estimates.
    remedy
        Alternatives where no estimate exists.
    row_by_row
        Whether each condition is about one row, and each row has one.
    of_counts
        Whether the response is a number, of which only the sign counts.
    """

    words: str
    modelled: str
    condition: str
    links: tuple[str, ...] = ("logit",)
    needs: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    note: str = ""
    remedy: str = _PENALISED
    row_by_row: bool = False
    of_counts: bool = False


_POISSON = Family(
    "Poisson regression",
    "log of the mean of y",
    _COUNTED,
    links=("log",),
    row_by_row=True,
    of_counts=True,
)
FAMILIES: Final[Mapping[str, Family]] = {
    "binomial": Family(
        "binomial regression",
        "{link} of the probability",
        "x'd >= 0 where all trials succeed, x'd <= 0 where none does, x'd = 0 elsewhere",
        BINARY_LINKS,
        row_by_row=True,
    ),
    "log-binomial": Family(
        "log-binomial regression",
        "log of the probability",
        "x'd = 0 where a trial succeeds, x'd <= 0 where none does",
        ("log",),
        note="where a fitted probability is 1, the maximum is on the boundary: it exists, but "
        "standard errors do not",
        row_by_row=True,
    ),
    "poisson": _POISSON,
    "quasi-poisson": Family(**vars(_POISSON) | {"words": "quasi-Poisson regression"}),
    "negative-binomial": Family(
        **vars(_POISSON) | {"words": "negative binomial regression with given dispersion"}
    ),
    "multinomial": Family(
        "multinomial regression",
        "log-odds of each class against {first}",
        "x'(d_y - d_j) >= 0 for each class j other than the row's class y",
    ),
    "ordinal": Family(
        "cumulative ordinal regression",
        "{link} of P(y <= class) = threshold - x'b",
        "t_(y-1) <= x'd <= t_y for the thresholds t around the row's category y",
        BINARY_LINKS,
    ),
    "adjacent": Family(
        "adjacent-category regression",
        "log-odds of each category against the one before it = x'b - threshold",
        "(y - j) x'd - (t_1 + ... + t_(y-1)) + (t_1 + ... + t_(j-1)) >= 0 for each category j",
    ),
    "conditional": Family(
        "conditional logistic regression",
        "log-odds of a case within its stratum",
        "x'd of each case >= x'd of each control of its stratum",
        needs=("strata",),
    ),
    "cox": Family(
        "Cox regression",
        "log of the hazard ratio",
        "x'd of each event >= x'd of everybody at risk at its time",
        ("log",),
        needs=("time",),
        allows=("strata", "start"),
        remedy="a penalised partial likelihood has estimates: Firth's (Heinze and Schemper 2001)",
    ),
}
"""Name -> family."""
