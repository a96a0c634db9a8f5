"""What a dataset yields: one named problem, ready for an algorithm."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from perceptron_lab.datasets.formats.sdpa import SdpaData
from perceptron_lab.datasets.task import Task
from perceptron_lab.facts import Facts
from perceptron_lab.results import FloatArray

if TYPE_CHECKING:
    from perceptron_lab.system import ConicSystem

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Problem:
    """One instance of a dataset.

    Parameters
    ----------
    name
        The instance's name: 1 to 64 letters, digits, dots, underscores and hyphens.
    system
        The conic system to be solved.
    sha256
        Of the data: of the file's bytes, or of a generated instance's canonical SDPA text.
    facts
        What is known of the system before an algorithm runs.
    measure
        Further figures of a point, shape ``(unknowns,)``, by name: numbers or arrays; None if there
        are none.
    tasks
        What learners learn from and are judged by: one task, or repetitions of it; empty where
        there is nothing to be learnt.
    """

    name: str
    system: ConicSystem
    sha256: str
    facts: Facts
    measure: Callable[[FloatArray], dict[str, float | FloatArray]] | None = None
    tasks: tuple[Task, ...] = ()


Question = Literal["feasibility", "recession"]
"""What is asked of a semidefinite program."""

_RAY = ".recession"


def asked(name: str, question: Question) -> str:
    """Return the name of an instance under a question."""
    return name + (_RAY if question == "recession" else "")


def semidefinite_problem(
    name: str, data: SdpaData, sha256: str, question: Question = "feasibility"
) -> Problem:
    """Return the homogenised feasibility problem of a semidefinite program, or that of its rays."""
    # Imported here, so that checking a configuration's names loads no numerical code.
    from perceptron_lab.datasets.pencil import facts, homogenised, recession

    system = homogenised(data) if question == "feasibility" else recession(data)
    return Problem(asked(name, question), system, sha256, facts(system))


def check_instance_name(name: str) -> str:
    """Return the name, which may serve as a file name and in tables.

    Raises
    ------
    ValueError
        If it holds other characters, is too long, or is ``.`` or ``..``.
    """
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise ValueError(
            f"{name!r} cannot name an instance; allowed: 1 to 64 letters, digits, '.', '_', '-'"
        )
    return name


def check_distinct(names: list[str]) -> list[str]:
    """Return the names, each of which must occur once.

    Raises
    ------
    ValueError
        If there is none, or one occurs twice.
    """
    if not names:
        raise ValueError("the list is empty; name at least one instance")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{', '.join(repeated)} occurs more than once; name each instance once")
    return names
