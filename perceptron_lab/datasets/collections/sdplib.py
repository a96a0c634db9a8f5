"""The semidefinite programs of SDPLIB as feasibility problems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from perceptron_lab.datasets.download.fetching import fetch
from perceptron_lab.datasets.download.files import sdplib
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.problem import (
    Problem,
    Question,
    asked,
    check_distinct,
    semidefinite_problem,
)
from perceptron_lab.errors import did_you_mean
from perceptron_lab.goals import STRICT


def _known(name: str) -> str:
    known = sdplib().files
    if name not in known:
        raise ValueError(
            f"no registered SDPLIB instance is called {name!r}"
            f"{did_you_mean(name, known)}; known are {len(known)}, such as mcp100 and theta1 "
            "(`plab data verify sdplib` lists them)"
        )
    return name


@dataclass(frozen=True, config=STRICT)
class Sdplib:
    """SDPLIB 1.2: semidefinite programs from MAXCUT, control, truss design, theta functions.

    Each instance is the homogenised feasibility problem of a program: find x_0 > 0 and x with
    x_1 F_1 + ... + x_m F_m - x_0 F_0 positive definite (Proposition 6.2 of `Kharechko2009`,
    without the row of the objective). Files are identified by their sha256; 87 of the
    collection's 92 are registered.

    Licence: published for research without a licence of its own; cite it.

    Citation: B. Borchers, SDPLIB 1.2, a library of semidefinite programming test problems,
    Optimization Methods and Software 11(1):683-690, 1999.

    Parameters
    ----------
    instances
        Names of instances, such as ``mcp100``; at least one, each once.
    question
        ``feasibility`` (default), or ``recession``: find a ray x with x_1 F_1 + ... + x_m F_m
        positive definite and c'x < 0, which proves that no positive semidefinite Y has
        <F_i, Y> = c_i for all i. The instance is then called ``infd1.recession``.
    """

    instances: Annotated[
        list[Annotated[str, AfterValidator(_known)]], AfterValidator(check_distinct)
    ]
    question: Question = "feasibility"

    def names(self) -> list[str]:
        """Return the names of the instances; nothing is downloaded."""
        return [asked(name, self.question) for name in self.instances]

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return an instance, from this machine or from its public home.

        Parameters
        ----------
        name
            One of :meth:`names`.
        seed, base
            Without meaning for fixed files.

        Raises
        ------
        DataError
            If the file cannot be had, or is not the registered one.
        """
        file = dict(zip(self.names(), self.instances, strict=True)).get(name, name)
        data = read_sdpa(fetch("sdplib", file))
        return semidefinite_problem(file, data, sdplib().file(file).sha256, self.question)
