"""The cells of tables: text, counts, seconds and other numbers, rounded for reading.

Cells and notes are written in the TeX of a few commands, which :func:`plain` turns into Unicode.
"""

from __future__ import annotations

import re
from math import floor, isinf, log10

from perceptron_lab.core.outward_rounding import text_above, text_below

NOTHING = "--"
DAGGER = r"$^{\dagger}$"

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_SYMBOLS = {
    **{command.removesuffix("{}"): character for character, command in _SPECIAL.items()},
    **{r"\cdot": "·", r"\dagger": "†", r"\geq": "≥", r"\infty": "∞", r"\leq": "≤", r"\tau": "τ"},
    **{r"\log": "log", r"\ln": "ln", r"\min": "min", r"\max": "max", r"\rho": "ρ", r"\le": "≤"},
    **{r"\|": "‖", r"\ldots": "…", r"\,": " ", "$": "", "``": "“", "''": "”", "_+": "₊"},
    "--": "–",
}
_RAISED = str.maketrans("0123456789-+e", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵉ")
# A dash of ranges stands between digits; "--" alone is a cell without a value
_TOKEN = re.compile(
    r"\^\{(?P<raised>.*?)\}|(?P<symbol>\\[a-z]+|\\.|\$|``|''|_\+|(?<=\d)--(?=\d))(?:\{\})?"
)


def escape(text: str) -> str:
    """Return the text so that LaTeX prints it as it is, on one line."""
    # In one pass, as the braces of \textbackslash{} must not be escaped again
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


def plain(tex: str) -> str:
    r"""Return a cell or a note as Unicode text.

    Examples
    --------
    >>> plain(r"$\leq 2.5\cdot10^{-7}$"), plain(r"50\,\% of a\_b")
    ('≤ 2.5·10⁻⁷', '50 % of a_b')
    """

    def unicode(token: re.Match[str]) -> str:
        if token["raised"] is not None:
            return plain(token["raised"]).translate(_RAISED)
        return _SYMBOLS.get(token["symbol"], token["symbol"])

    return _TOKEN.sub(unicode, tex)


def count(value: float | None) -> str:
    """Return a count; a median may lie halfway between two of them."""
    return NOTHING if value is None else f"{value:.1f}".removesuffix(".0")


def seconds(value: float | None) -> str:
    """Return seconds with three digits, as far as a clock has them."""
    if value is None:
        return NOTHING
    if 0 < value < 0.001:
        # In math mode, as LaTeX's default text fonts print another character for <
        return "$<$0.001"
    decimals = 3 if value < 1 else 2 if value < 10 else 1
    return f"{value:.{decimals}f}"


def percent(value: float | None) -> str:
    """Return a percentage, one digit after the point."""
    return NOTHING if value is None else f"{value:.1f}"


def signed(value: float | None) -> str:
    """Return a difference with its sign, two digits after the point."""
    # In math mode, where LaTeX prints a minus sign and not a hyphen
    return NOTHING if value is None else f"${value:+.2f}$"


def share(value: float | None) -> str:
    """Return a part of 1 with three digits after the point."""
    return NOTHING if value is None else f"{value:.3f}"


def lower_bound(value: float | None) -> str:
    """Return a proved lower bound, rounded down."""
    # Rounded down first, as rounding to three digits alone could raise a proved bound
    return real(None if value is None else float(text_below(value, 3)))


def upper_bound(value: float | None) -> str:
    """Return a proved upper bound, rounded up."""
    # Rounded up first, for the same reason
    return real(None if value is None else float(text_above(value, 3)))


def real(value: float | None) -> str:
    r"""Return a number with three significant digits; far from 1 as ``$1.25\cdot10^{-7}$``."""
    if value is None:
        return NOTHING
    if value == 0 or isinf(value):
        return "0" if value == 0 else r"$\infty$"
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    if -3 <= int(exponent) <= 5:
        # Of the rounded number: 9.996 has a digit more before the point than 9.99.
        decimals = max(0, 2 - floor(log10(abs(float(f"{value:.2e}")))))
        return f"{value:.{decimals}f}"
    return f"${mantissa}\\cdot10^{{{int(exponent)}}}$"
