"""The Python reference: every public name, by its docstring."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from from_code.written import write_text

TOPICS = {
    "Answers": (
        *("solve", "Result", "Status", "Budget", "ConicSystem", "separation", "maximum_support"),
        *("negative_margin", "optimum", "EllipsoidSeparationClassifier", "SoftEllipsoidClassifier"),
    ),
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


def write(path: Path) -> None:
    """Write the page."""
    write_text(path, page())


def page() -> str:
    """Return the page: ``perceptron_lab`` by topics, then the names beyond it by module."""
    text = "Python reference\n================\n\n.. currentmodule:: perceptron_lab\n\n"
    for topic, names in TOPICS.items():
        text += f"{topic}\n{'-' * len(topic)}\n\n" + _documented("perceptron_lab", names)
    text += "Beyond the front door\n---------------------\n\n"
    for module, names in BEYOND.items():
        text += f"``{module}``\n{'~' * (len(module) + 4)}\n\n" + _documented(module, names)
    return text


def _documented(module: str, names: tuple[str, ...]) -> str:
    return "".join(_directive(getattr(import_module(module), one), module, one) for one in names)


def _directive(subject: Any, module: str, name: str) -> str:
    kind = "class" if inspect.isclass(subject) else "function"
    options = "   :members:\n" if kind == "class" else ""
    return f".. auto{kind}:: {module}.{name}\n{options}\n"
