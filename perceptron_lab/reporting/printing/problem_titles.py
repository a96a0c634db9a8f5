"""Titles of problems in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from perceptron_lab.reporting.evidence import Evidence


def title_of(evidence: Evidence, problem: str, without: str = "") -> str:
    """Return the title of a problem in words, as :func:`in_words` makes it."""
    parameters = dict(evidence.parameters(problem))
    for name, size in zip(("dimension", "rows"), evidence.shapes().get(problem, ()), strict=False):
        if parameters.get(name) is None:
            parameters[name] = size
    return in_words(problem, parameters, without)


def in_words(problem: str, parameters: Mapping[str, Any], without: str = "") -> str:
    """Return the title of a problem in words, or the title itself if it has another form.

    Parameters
    ----------
    problem
        A name of words and numbers, each the value of a parameter, and settings such as degree=2.
    parameters
        Those of its dataset.
    without
        A parameter to leave out.

    Examples
    --------
    >>> sizes = {"rows": 5000, "dimension": 100, "kappa": 0.3}
    >>> in_words("reflected-100x5000-0.3", sizes)
    'reflected, 5000 rows, dimension 100, kappa 0.3'
    >>> in_words("reflected-100x5000-0.3 rows=5000 degree=2", sizes, without="rows")
    'reflected, dimension 100, kappa 0.3, degree 2'
    >>> in_words("digits-3-rest", {}), in_words("digits-8-9 degree=2", {"task": "pairs"})
    ('digits, 3 against the rest', 'digits, 8 against 9, degree 2')
    >>> in_words("mcp100", {})
    'mcp100'
    """
    name, *settings = problem.split(" ")
    words = _words(name, parameters, without)
    if not words or not all("=" in setting for setting in settings):
        return problem
    stated = (setting for setting in settings if setting.partition("=")[0] != without)
    return ", ".join([*words, *(setting.replace("=", " ") for setting in stated)])


def _words(name: str, parameters: Mapping[str, Any], without: str) -> list[str]:
    """Return the words of a name without settings; none if it has another form."""
    if match := re.fullmatch(r"([a-z-]+)-(\w+)-rest", name):
        return [match[1], f"{match[2]} against the rest"]
    if parameters.get("task") == "pairs" and (
        match := re.fullmatch(r"([a-z-]+)-(\w+)-(\w+)", name)
    ):
        return [match[1], f"{match[2]} against {match[3]}"]
    if re.fullmatch("[a-z-]+", name):
        return [name]
    kind = re.match(r"[a-z-]+(?=-\d)", name)
    numbers = {float(number) for number in re.findall(r"\d[\d.]*(?:e[-+]?\d+)?", name)}
    values = {key: value for key, value in parameters.items() if _is_one_of(value, numbers)}
    if kind is None or numbers - {float(value) for value in values.values()}:
        return []
    sizes = {key: values.pop(key) for key in ("rows", "dimension") if key in values}
    flags = [key for key, value in parameters.items() if value is True and f"-{key}" in name]
    words = [_with_value(key, value) for key, value in (sizes | values).items() if key != without]
    return [kind[0], *words, *flags]


def _is_one_of(value: Any, numbers: Collection[float]) -> bool:
    """Return whether a parameter has one of the numbers as its value."""
    try:
        return not isinstance(value, bool) and float(value) in numbers
    except (TypeError, ValueError):
        return False


def _with_value(parameter: str, value: Any) -> str:
    """Return a parameter with its value, in words."""
    number = f"{float(value):.15g}"
    return f"{number} rows" if parameter == "rows" else f"{parameter.replace('_', ' ')} {number}"
