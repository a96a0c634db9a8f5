"""Linear programs of netlib, feasible and infeasible ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator

from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.datasets.dataset import Dataset, Distinct
from perceptron_lab.datasets.download.fetching import read_registered
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.datasets.problem import Problem

COLLECTION: Final = "linear_programs"
INFEASIBLE: Final = frozenset(
    [
        "bgetam",
        "box1",
        "cplex1",
        "ex72a",
        "forest6",
        "galenet",
        "gams10am",
        "klein1",
        "refinery",
        "vol1",
        "woodinfe",
    ]
)
"""The programs of the collection that have no point; all others have one."""


def _registered(name: str) -> str:
    files = collection(COLLECTION).files
    if name not in files:
        raise ValueError(
            f"no registered linear program is called {name!r}{did_you_mean(name, files)}; known "
            f"are {', '.join(files)}"
        )
    return name


@parameter_record
class Netlib(Dataset):
    """Linear programs of netlib: the conditions of each, decided exactly.

    Files are MPS files that are identified by their sha256.

    Licence: published for research without a licence; cite it.

    Citation: D. M. Gay, Electronic mail distribution of linear programming test problems,
    COAL Newsletter 13:10-12, 1985.

    Parameters
    ----------
    instances
        Names of programs, such as ``afiro``; at least one, each once.
    """

    instances: Annotated[list[Annotated[str, AfterValidator(_registered)]], Distinct]

    def names(self) -> list[str]:
        """Return the names of the instances; nothing is downloaded."""
        return self.instances

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return an instance, from this machine or from its public home."""
        from perceptron_lab.datasets.collections.problem_files import read_problem

        self.check_name(name)
        path, _ = read_registered(COLLECTION, name)
        system = read_problem(path).system
        return Problem(name, system, collection(COLLECTION).file(name).sha256, system.facts())
