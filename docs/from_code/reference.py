"""The Python reference: a page per module, of its public names by their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from from_code.docstrings import prose, summary_and_rest
from from_code.written import keep_only, write_text

TOPICS = {
    "Solving": ("solve", "Result", "Status", "Budget"),
    "Systems": ("ConicSystem",),
    "Labels": ("separation", "maximum_support", "negative_margin"),
    "Optima": ("optimum",),
    "Estimators": ("EllipsoidSeparationClassifier", "SoftEllipsoidClassifier"),
    "Experiments": (
        *("run", "Results", "check", "status", "report", "pages", "verify", "certify", "compare"),
        *("ExperimentConfig", "fetch_data", "verify_data"),
    ),
    "Names": ("list_names", "show", "register"),
}
"""The names of :mod:`perceptron_lab` itself, by topic."""

BEYOND = {
    "perceptron_lab.cones.operators.kernels": ("Linear", "Polynomial", "Rbf"),
    "perceptron_lab.problems.streams": (
        *("online_perceptron", "online_kernel_perceptron", "novikoff_bound", "hinge_loss_bound"),
        *("linear_inequalities", "worst_case", "MistakeBound", "LiftedInequalities", "Farkas"),
    ),
    "perceptron_lab.reporting.theory.exhibit": ("exhibit", "Exhibit"),
    "perceptron_lab.problems.optima.maxcut.program": ("MaxCutProgram",),
    "perceptron_lab.algorithms.base": ("Algorithm", "State", "cut_or_claim"),
    "perceptron_lab.core.claims": ("FeasiblePoint", "MarginBelow"),
    "perceptron_lab.systems": ("Cut",),
    "perceptron_lab.core.facts": ("Facts",),
    "perceptron_lab.core.results": ("Bound", "Trace"),
    "perceptron_lab.core.errors": ("PlabError", "InputError", "DataError", "ConfigError"),
}
"""Further public names by their modules: what a configuration or an own algorithm needs."""


def public_names() -> dict[str, tuple[str, ...]]:
    """Return the documented names of each module."""
    return {"perceptron_lab": tuple(name for names in TOPICS.values() for name in names)} | BEYOND


def write(folder: Path) -> None:
    """Write a page per topic of :mod:`perceptron_lab` and per further module, and their list."""
    pages = {
        topic.lower(): page(topic, "perceptron_lab", names) for topic, names in TOPICS.items()
    } | {module: page(f"``{module}``", module, names) for module, names in BEYOND.items()}
    for name, text in pages.items():
        write_text(folder / f"{name}.rst", text)
    write_text(folder / "index.rst", index())
    keep_only(folder, {"index.rst", *(f"{name}.rst" for name in pages)})


def index() -> str:
    """Return the list of all names with the first sentence of each, by page."""
    text = (
        "Python reference\n================\n\n"
        "Every public name. ``from perceptron_lab import NAME`` imports the names of the "
        "first sections; the others come from the module that heads their section. Each page has "
        "the parameters with shapes and ranges, the errors, examples and a link to the source."
        "\n\n"
    )
    for topic, names in TOPICS.items():
        text += _listed(topic, topic.lower(), "perceptron_lab", names)
    for module, names in BEYOND.items():
        text += _listed(f"``{module}``", module, module, names)
    pages = "".join(f"   {name}\n" for name in (*map(str.lower, TOPICS), *BEYOND))
    return f"{text}.. toctree::\n   :hidden:\n\n{pages}"


def page(title: str, module: str, names: Sequence[str]) -> str:
    """Return the page of some names of a module."""
    heading = f"{title}\n{'=' * len(title)}\n\n"
    return f"{heading}.. currentmodule:: {module}\n\n" + "".join(
        _directive(getattr(import_module(module), name), module, name) for name in names
    )


def _listed(title: str, document: str, module: str, names: Sequence[str]) -> str:
    rows = "".join(_row(module, name) for name in names)
    return (
        f"{title}\n{'-' * len(title)}\n\n:doc:`Page <{document}>`\n\n"
        f".. list-table::\n   :widths: 30 70\n\n{rows}\n"
    )


def _row(module: str, name: str) -> str:
    subject = getattr(import_module(module), name)
    role = "class" if inspect.isclass(subject) else "func"
    summary, _ = summary_and_rest(inspect.getdoc(subject) or "")
    return f"   * - :{role}:`{name} <{module}.{name}>`\n     - {prose(summary)}\n"


def _directive(subject: Any, module: str, name: str) -> str:
    kind = "class" if inspect.isclass(subject) else "function"
    options = "   :members:\n" if kind == "class" else ""
    return f"{name}\n{'-' * len(name)}\n\n.. auto{kind}:: {module}.{name}\n{options}\n"
